//! How the session stands: the line it begins with, the live line, and the one it ends with.

use relaycode_project::config::ApprovalMode;
use relaycode_text::width::cells;
use relaycode_tui::{Glyph, PaintRole, outcome, pluralize};
use relaycode_watch::clipboard::ClipboardUnavailable;
use serde_json::json;

use super::WatchSession;
use crate::{CommandFailure, CommandResult};

#[derive(Debug, Clone, Default)]
pub(super) struct WatchStatus {
    /// The clipboard that is watched.
    pub(super) clipboard: Option<&'static str>,
    pub(super) applied: usize,
    pub(super) refused: usize,
    pub(super) declined: usize,
    pub(super) undone: usize,
    /// What is said in the live line until something else happens.
    pub(super) remark: Option<&'static str>,
}

impl WatchStatus {
    /// `2 applied, 1 declined`; `None` if nothing happened.
    pub(super) fn summary_since(&self, before: &WatchStatus) -> Option<String> {
        let parts = [
            (self.applied - before.applied, "applied"),
            (self.refused - before.refused, "not applied"),
            (self.declined - before.declined, "declined"),
            (self.undone.saturating_sub(before.undone), "undone"),
        ];
        let happened = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = happened.map(|(count, what)| format!("{count} {what}")).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// What the session ends with.
    pub(super) fn closing_line(&self) -> String {
        match self.summary_since(&WatchStatus::default()) {
            None => "no longer watching".to_string(),
            Some(said) => format!("no longer watching: {said}"),
        }
    }
}

impl WatchSession<'_, '_> {
    /// The first line: what is watched, how changes are decided, and the keys.
    pub(super) fn print_greeting(&mut self, opened: Result<(), ClipboardUnavailable>) -> CommandResult<()> {
        let look = self.ctx.style();
        if let (Err(why), None) = (&opened, &self.terminal) {
            let said = format!("there is nothing to watch: {why}, and no terminal to paste into");
            return Err(CommandFailure::usage(said).hint("`relay doctor` says what this system can do"));
        }
        self.ctx.print_json(&json!({
            "event": "watching", "command": "watch", "project": self.door.root.to_string_lossy(),
            "projectId": self.door.project_id(), "clipboard": self.status.clipboard,
        }));
        let dot = look.glyph(Glyph::Dot);
        let room = if look.is_narrow() { look.columns() } else { look.columns() / 2 };
        let (version, id) = (env!("CARGO_PKG_VERSION"), self.door.project_id());
        let mode = look.clip(&self.mode_summary(), room);
        let left = format!("relay {version} {dot} {} {dot} {mode}", look.safe(&id));
        let right = if self.terminal.is_some() { self.keys_hint() } else { String::new() };
        let gap = look.columns().saturating_sub(cells(&left) + cells(&right));
        let line = match gap {
            0 | 1 => format!("{}\n{}", look.wrap(&left, 2), look.wrap(&right, 0)),
            gap => format!("{left}{}{right}", " ".repeat(gap)),
        };
        self.ctx.print_info(&format!("{}\n", line.trim_end()));
        if self.door.key().is_none() && self.terminal.is_some() {
            let said = outcome::indented_line(&look, "p copies the prompt for your model");
            self.ctx.print_info(&format!("{}\n", look.paint(PaintRole::Dim, said.trim_end())));
        }
        if let Err(why) = opened {
            self.eprint_remark(&format!("the clipboard cannot be watched: {why}"));
            self.ctx.print_detail("paste answers into this window; `relay doctor` says more");
        }
        self.ctx.console.flush();
        Ok(())
    }

    /// `auto, tsc --noEmit`
    fn mode_summary(&self) -> String {
        let patch = &self.door.config().patch;
        let mode = match patch.approval_mode {
            ApprovalMode::Auto => "auto",
            ApprovalMode::Manual => "manual",
        };
        match patch.linter.trim() {
            "" => format!("{mode}, no linter"),
            linter => format!("{mode}, {linter}"),
        }
    }

    fn keys_hint(&self) -> String {
        let dot = self.ctx.style().glyph(Glyph::Dot);
        format!("p prompt {dot} u undo {dot} ? keys")
    }

    pub(super) fn draw_live_line(&mut self) {
        self.ctx.console.flush();
        let look = self.ctx.style();
        let dot = look.glyph(Glyph::Dot);
        let mut parts = Vec::new();
        if let Some(said) = self.status.remark {
            parts.push(said.to_string());
        }
        let watcher = &self.door.config().watcher;
        if !self.bulk.is_empty() {
            let key =
                if self.terminal.is_some() { format!(" {dot} b takes them up now") } else { String::new() };
            parts.push(format!("{} of {} collected{key}", self.bulk.len(), watcher.bulk_size));
        }
        if parts.is_empty() {
            parts.push(match self.status.clipboard {
                Some(name) => format!("watching the clipboard ({name})"),
                None => "waiting for what is pasted".to_string(),
            });
            if self.status.applied > 0 {
                parts.push(format!("{} applied", self.status.applied));
            }
            if self.status.undone > 0 {
                parts.push(format!("{} undone", self.status.undone));
            }
            let waiting = self.inbox.waiting_texts();
            if waiting > 0 {
                parts.push(format!("{} waiting", pluralize(waiting, "answer")));
            }
            parts.push("? keys".to_string());
        }
        let text = parts.join(&format!(" {dot} "));
        self.live.draw(|columns| look.paint(PaintRole::Dim, &look.clip(&text, columns)));
    }
}
