//! `relay sessions repair`: what can be read of a damaged session takes its place, and the original stays beside it.

use std::sync::Arc;

use relaycode_durable::Fs;
use relaycode_session::Session;
use relaycode_tui::views::outcome;
use serde_json::json;

use super::locator::{SessionLocator, session_failure};
use crate::{CommandContext, CommandResult, Exit};

/// Oddities that are listed for people; `--json` has more.
const MAX_LISTED: usize = 20;

/// Write what can be read of a damaged session in its place
///
/// The file as it was is kept beside it. A session with which nothing is wrong is left alone.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct SessionsRepairArgs {
    /// A number of `relay sessions`, the beginning of an id, or a path
    #[arg(value_name = "SESSION")]
    session: String,
}

impl SessionsRepairArgs {
    pub(super) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let place = SessionLocator::open(ctx)?;
        let info = place.find(Some(&self.session))?;
        let (dir, name) = place.open_dir(&info)?;
        let fs: Arc<dyn Fs> = Arc::new(place.fs);
        let repaired = Session::repair(fs, dir, &name).map_err(|error| session_failure(&error))?;
        let kept = repaired.original.as_ref().map(|name| info.path.with_file_name(name));
        let found = &repaired.report.issues;
        let look = ctx.style();
        if kept.is_none() {
            ctx.print_info(&outcome::success_line(&look, "nothing to repair"));
        } else {
            let mut text = String::new();
            for oddity in found.iter().take(MAX_LISTED) {
                text += &outcome::warning_line(&look, &look.safe(&oddity.to_string()));
            }
            let more = found.len().saturating_sub(MAX_LISTED) as u64 + repaired.report.unlisted;
            if more > 0 {
                text += &outcome::indented_line(&look, &format!("and {more} more"));
            }
            if found.is_empty() {
                text += &outcome::warning_line(&look, "it was of an older format");
            }
            ctx.print(&text);
            ctx.print_info(&outcome::success_line(
                &look,
                &format!("repaired; entries now: {}", repaired.entries),
            ));
            if let Some(kept) = &kept {
                let said = format!("the file as it was: {}", look.safe(&kept.display().to_string()));
                ctx.print_info(&outcome::indented_line(&look, &said));
            }
        }
        let oddities: Vec<_> = found
            .iter()
            .map(|odd| json!({"offset": odd.offset, "len": odd.len, "message": odd.to_string()}))
            .collect();
        ctx.print_json(&json!({
            "ok": true, "code": Exit::Done as u8, "command": "sessions", "path": info.path.to_string_lossy(),
            "repaired": kept.is_some(), "found": oddities, "more": repaired.report.unlisted, "entries": repaired.entries,
            "original": kept.map(|kept| kept.to_string_lossy().into_owned()),
        }));
        Ok(Exit::Done)
    }
}
