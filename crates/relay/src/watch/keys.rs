//! The keys of a session. One list: what each does, and what `?` says about it.

use relaycode_door::Door;
use relaycode_ledger::record::title::reverted_title;
use relaycode_ledger::{LogFilter, RedoTarget, RevertOptions, RevertStep};
use relaycode_tui::input::decode::InputKey;
use relaycode_tui::views::revert::LONGEST_TITLE;
use relaycode_tui::views::{diff, question};
use relaycode_tui::{DiffLayout, OutputStyle, Terminal, clock, pluralize};

use super::last_answer::LastDiff;
use super::{WatchFlow, WatchSession};
use crate::approver::pager::Pager;
use crate::approver::{diff_layout, terminal_program_runner};
use crate::commands::{log, prompt, revert, show};
use crate::terminal::questions::is_yes;
use crate::{CommandResult, UserPrograms, copy_out, project};

/// The keys, and what each does.
const KEYS: question::QuestionKeys = &[
    ("p", "copy the prompt for your model; P shows it"),
    ("u", "undo the last change; again goes further back"),
    ("U", "redo: bring back what u took out"),
    ("c", "copy what the last answer offers: a repair prompt, errors, your reason"),
    ("d", "show the diff of the last change"),
    ("s", "the same side by side"),
    ("a", "take the last answer up again, if it was not applied"),
    ("b", "take up what was collected, in bulk mode"),
    ("l", "show the log"),
    ("q", "leave"),
];

/// Entries of the log that `l` shows.
const LOG_ENTRIES: usize = 10;

impl WatchSession<'_, '_> {
    pub(super) fn handle_key(&mut self, key: InputKey) -> Option<WatchFlow> {
        let InputKey::Char(key) = key else { return None };
        self.status.remark = None;
        let done = match key {
            'q' | 'Q' => return Some(WatchFlow::Quit),
            'p' => self.copy_prompt(),
            'P' => self.show_prompt(),
            'u' => self.undo(),
            'U' => self.redo(),
            'c' => self.copy_offer(),
            'd' => self.show_diff(false),
            's' => self.show_diff(true),
            'a' => self.retry_last_answer(),
            'b' => self.process_bulk(true),
            'l' => self.show_log(),
            '?' | 'h' => {
                let text = question::key_help(KEYS, &self.ctx.style());
                self.print(&format!("\n{text}"));
                Ok(())
            }
            _ => self.remark("? explains the keys"),
        };
        if let Err(failure) = done {
            self.live.erase();
            self.ctx.console.report_failure(&failure, "watch", self.ctx.options.json);
        }
        self.discard_typed_input();
        None
    }

    fn print(&mut self, text: &str) {
        self.live.erase();
        self.ctx.print(text);
        self.ctx.console.flush();
    }

    fn show_log(&mut self) -> CommandResult<()> {
        self.print("\n");
        let Door { root, ledger, .. } = &self.door;
        let shown = log::print_log(root, ledger, &LogFilter::default(), LOG_ENTRIES, false, self.ctx);
        self.ctx.console.flush();
        shown
    }

    fn copy_prompt(&mut self) -> CommandResult<()> {
        let text = prompt::instructions(&self.door, &[])?.text;
        self.copy(&text, "the prompt", ": give it to your model as its instructions")
    }

    fn show_prompt(&mut self) -> CommandResult<()> {
        let text = prompt::instructions(&self.door, &[])?.text;
        self.show_paged(&|look| look.block(&text).into_owned());
        Ok(())
    }

    fn copy_offer(&mut self) -> CommandResult<()> {
        match self.last_answer.copy_offer.clone() {
            Some((what, text)) => self.copy(&text, what, ": paste it to your model"),
            None => self.remark("there is nothing to copy"),
        }
    }

    /// Says it in the live line.
    fn remark(&mut self, said: &'static str) -> CommandResult<()> {
        self.status.remark = Some(said);
        Ok(())
    }

    fn copy(&mut self, text: &str, what: &str, then: &str) -> CommandResult<()> {
        // The clipboard's own watcher may see it before the mark on it does any good elsewhere.
        self.seen_texts.remember_own(text);
        let copied = copy_out::copy_text(text)?;
        let lines = pluralize(text.lines().count(), "line");
        self.print_done(&format!("{what} ({lines}) {}{then}", copied.clause()));
        Ok(())
    }

    fn show_diff(&mut self, side: bool) -> CommandResult<()> {
        match &self.last_answer.diff {
            LastDiff::Nothing => self.remark("there is no diff to show yet"),
            LastDiff::Planned(files) => {
                let layout = self.layout(side);
                let text = |look: &OutputStyle| -> String {
                    diff::files_text(files.iter().map(|(file, of_file)| (file, of_file)), layout, look)
                };
                self.live.erase();
                show_in_pager(self, &text);
                Ok(())
            }
            LastDiff::Applied(id) => {
                let shown = show::record_diffs(&self.door.ledger, *id)?;
                let layout = self.layout(side);
                self.show_paged(&|look| show::diffs_text(&shown, layout, look));
                Ok(())
            }
        }
    }

    fn layout(&self, side: bool) -> DiffLayout {
        self.terminal.as_ref().map_or(DiffLayout::Unified, |terminal| diff_layout(terminal, side))
    }

    /// Shows text that may be long.
    fn show_paged(&mut self, text: &dyn Fn(&OutputStyle) -> String) {
        self.live.erase();
        show_in_pager(self, text);
    }

    fn retry_last_answer(&mut self) -> CommandResult<()> {
        match self.last_answer.text.take() {
            Some(text) => {
                self.seen_texts.forget(&text.text);
                self.process_text(text, true)
            }
            None => self.remark("there is nothing to take up again"),
        }
    }

    /// Goes one step back. What is older than this session is asked about.
    fn undo(&mut self) -> CommandResult<()> {
        let Some(entry) = self.door.ledger.undo_target()? else {
            return self.remark("there is nothing to undo");
        };
        let is_ours = entry.members.iter().any(|item| item.id.is_some_and(|id| self.applied.contains(&id)));
        let when = entry.members.first().map(|item| clock::ago(&item.created_at)).unwrap_or_default();
        if !is_ours
            && !self.confirm_older("undo", entry.title(), &format!(" from before this session ({when})"))
        {
            return self.remark("nothing was undone");
        }
        if self.take_step(RevertStep::Undo)? {
            self.seen_texts.forget_applied();
            self.status.undone += 1;
        }
        Ok(())
    }

    /// Goes one step forward again.
    fn redo(&mut self) -> CommandResult<()> {
        // Nothing that this session undid: then it was undone before.
        if let (0, RedoTarget::Undo(undo)) = (self.status.undone, self.door.ledger.redo_target()?)
            && !self.confirm_older("bring back", reverted_title(undo.title()), "")
        {
            return self.remark("nothing was brought back");
        }
        if self.take_step(RevertStep::Redo)? {
            self.status.undone = self.status.undone.saturating_sub(1);
        }
        Ok(())
    }

    /// Does what `relay undo` or `relay redo` does; says whether something was done.
    fn take_step(&mut self, step: RevertStep) -> CommandResult<bool> {
        self.live.erase();
        let Door { root, ledger, .. } = &self.door;
        project::recover_ledger(root, ledger, self.ctx)?;
        let target = revert::next_step(ledger, step)?;
        let options = RevertOptions::default();
        let request = revert::RevertRequest {
            root,
            ledger,
            target,
            options,
            yes: false,
            allow_foreign: false,
            dry_run: false,
            may_ask: true,
            has_keys: true,
        };
        let outcome = request.run(self.ctx);
        self.ctx.console.flush();
        Ok(outcome?.id.is_some())
    }

    fn confirm_older(&mut self, verb: &str, title: &str, when: &str) -> bool {
        self.live.erase();
        let Some(terminal) = self.terminal.clone() else { return false };
        let look = self.ctx.style();
        let title = look.clip(&look.title(title), LONGEST_TITLE);
        let question = format!("  {verb} \"{title}\"{when}? [y/N]  ");
        let signals = self.signals.clone();
        let answer = terminal.prompt(&question, &look, &|| signals.stop_requested());
        matches!(answer, relaycode_tui::input::PromptAnswer::Line(line) if is_yes(&line))
    }
}

/// Shows text, in the user's pager if it is long.
fn show_in_pager(session: &WatchSession<'_, '_>, text: &dyn Fn(&OutputStyle) -> String) {
    let Some(terminal) = &session.terminal else { return };
    let programs = UserPrograms::from_env();
    let inner = terminal_program_runner(session.door.runner.clone(), session.signals.clone());
    let lender: Terminal = terminal.clone();
    let run: crate::approver::RunProgram = Box::new(move |job| {
        let _lent = lender.lend();
        inner(job)
    });
    let look = session.ctx.style();
    Pager { terminal, style: look, programs: &programs, run: &run }.show(text);
}
