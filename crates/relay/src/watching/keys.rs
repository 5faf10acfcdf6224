//! The keys of a session. One list: what each does, and what `?` says about it.

use relaycode_tui::diff::Layout;
use relaycode_tui::input::Terminal;
use relaycode_tui::input::decode::Key;
use relaycode_tui::look::Look;
use relaycode_tui::{diff, number, question};

use super::offer::Shown;
use super::{Go, Session};
use crate::approver::pager::Pager;
use crate::approver::{layout, programs_at_the_terminal};
use crate::ask::is_yes;
use crate::commands::{log, prompt, revert, show};
use crate::context::Act;
use crate::copying;
use crate::failure::Failure;
use crate::programs::Programs;

/// The keys, and what each does.
const KEYS: question::Keys = &[
    ("p", "copy the prompt for your model; P shows it"),
    ("u", "undo the last change"),
    ("c", "copy what the last card offers: a repair prompt, errors, your reason"),
    ("d", "show the diff of the last change"),
    ("s", "the same side by side"),
    ("a", "take the last answer up again, if it was not applied"),
    ("b", "take up what was collected, in bulk mode"),
    ("l", "show the log"),
    ("q", "leave"),
];

/// Entries of the log that `l` shows.
const LOGGED: usize = 10;

impl Session<'_, '_> {
    /// A key was pressed.
    pub(super) fn key(&mut self, key: Key) -> Option<Go> {
        let Key::Char(key) = key else { return None };
        self.status.clear();
        let done = match key {
            'q' | 'Q' => return Some(Go::Leave),
            'p' => self.copy_prompt(),
            'P' => self.show_prompt(),
            'u' => self.undo(),
            'c' => self.copy_offer(),
            'd' => self.show_diff(false),
            's' => self.show_diff(true),
            'a' => self.take_again(),
            'b' => self.take_bulk(true),
            'l' => {
                self.print("\n");
                self.run_command(&log::Args::newest(LOGGED))
            }
            '?' | 'h' => {
                let text = question::keys(KEYS, &self.context.look());
                self.print(&format!("\n{text}"));
                Ok(())
            }
            _ => {
                self.status.remark("? explains the keys");
                Ok(())
            }
        };
        if let Err(failure) = done {
            self.live.erase();
            self.context.console.failure(&failure, "watch", self.context.options.json);
        }
        self.settle();
        None
    }

    fn print(&mut self, text: &str) {
        self.live.erase();
        self.context.tell(text);
        self.context.console.flush();
    }

    /// Runs another command here, as if it had been typed.
    fn run_command(&mut self, command: &dyn Act) -> Result<(), Failure> {
        self.live.erase();
        let done = command.run(self.context).map(|_| ());
        self.context.console.flush();
        done
    }

    fn copy_prompt(&mut self) -> Result<(), Failure> {
        let text = prompt::instructions(&self.door, &[])?.text;
        self.copy(&text, "the prompt", ": give it to your model as its instructions")
    }

    fn show_prompt(&mut self) -> Result<(), Failure> {
        let text = prompt::instructions(&self.door, &[])?.text;
        self.paged(&|look| look.block(&text).into_owned());
        Ok(())
    }

    fn copy_offer(&mut self) -> Result<(), Failure> {
        match self.last.offer.take() {
            Some((what, text)) => {
                let copied = self.copy(&text, what, ": paste it to your model");
                self.last.offer = Some((what, text));
                copied
            }
            None => {
                self.status.remark("the last card offers nothing to copy");
                Ok(())
            }
        }
    }

    fn copy(&mut self, text: &str, what: &str, then: &str) -> Result<(), Failure> {
        // The clipboard's own watcher may see it before the mark on it does any good elsewhere.
        self.seen.ours(text);
        let copied = copying::copy(text)?;
        let lines = number(text.lines().count(), "line");
        self.say_line(&format!("{what} ({lines}) {}{then}", copied.said()));
        Ok(())
    }

    fn show_diff(&mut self, side: bool) -> Result<(), Failure> {
        match &self.last.shown {
            Shown::Nothing => {
                self.status.remark("there is no diff to show yet");
                Ok(())
            }
            Shown::Planned(files) => {
                let layout = self.layout(side);
                let text = |look: &Look| -> String {
                    files.iter().map(|(file, of_file)| diff::file_in(file, of_file, layout, look)).collect()
                };
                self.live.erase();
                page(self, &text);
                Ok(())
            }
            Shown::Applied(id) => {
                let shown = show::files_of(&self.door.ledger, *id)?;
                let layout = self.layout(side);
                self.paged(&|look| shown.iter().map(|one| one.text(layout, look)).collect());
                Ok(())
            }
        }
    }

    fn layout(&self, side: bool) -> Layout {
        self.terminal.as_ref().map_or(Layout::Unified, |terminal| layout(terminal, side))
    }

    /// Shows text that may be long.
    fn paged(&mut self, text: &dyn Fn(&Look) -> String) {
        self.live.erase();
        page(self, text);
    }

    fn take_again(&mut self) -> Result<(), Failure> {
        match self.last.text.take() {
            Some((text, how)) => {
                self.seen.forget(&text);
                self.take(text, how, true)
            }
            None => {
                self.status.remark("there is nothing to take up again");
                Ok(())
            }
        }
    }

    /// Undoes the last change of this session; before that one of an earlier time, if the user says so.
    fn undo(&mut self) -> Result<(), Failure> {
        let id = match self.applied.last() {
            Some(id) => *id,
            None => match revert::newest_open(&self.door.ledger)? {
                Some((id, title)) if self.asked_to_undo(&title) => id,
                Some(_) => {
                    self.status.remark("nothing was undone");
                    return Ok(());
                }
                None => {
                    self.status.remark("there is nothing to undo");
                    return Ok(());
                }
            },
        };
        self.run_command(&revert::Args::of(id))?;
        self.applied.retain(|applied| *applied != id);
        self.seen.undone();
        self.status.undone += 1;
        Ok(())
    }

    fn asked_to_undo(&mut self, title: &str) -> bool {
        self.live.erase();
        let Some(terminal) = self.terminal.clone() else { return false };
        let look = self.context.look();
        let question = format!("  this session applied nothing. Undo {}? [y/N]  ", look.safe(title));
        let signals = self.signals.clone();
        let answer = terminal.prompt(&question, &look, &|| signals.asked());
        matches!(answer, relaycode_tui::input::Answer::Line(line) if is_yes(&line))
    }
}

/// Shows text, in the user's pager if it is long.
fn page(session: &Session<'_, '_>, text: &dyn Fn(&Look) -> String) {
    let Some(terminal) = &session.terminal else { return };
    let programs = Programs::read();
    let inner = programs_at_the_terminal(session.door.runner.clone(), session.signals.clone());
    let lender: Terminal = terminal.clone();
    let run: crate::approver::Run = Box::new(move |job| {
        let _lent = lender.lend();
        inner(job)
    });
    let look = session.context.look();
    Pager { terminal, look, programs: &programs, run: &run }.show(text);
}
