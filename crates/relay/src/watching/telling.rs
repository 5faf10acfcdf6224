//! The approver of a session: the one at the terminal, and a notification beside it when a decision waits.

use std::fs::File;
use std::sync::Arc;
use std::thread;

use relaycode_door::{Approver, Event, Question, Reply};
use relaycode_ledger::Digest;
use relaycode_tui::input::Terminal;
use relaycode_tui::notify::{Notice, Notifier};

use super::taking::files;
use crate::approver::TerminalApprover;

/// An approver that also tells somebody who looks elsewhere.
pub(super) struct Telling {
    inner: TerminalApprover,
    notifier: Option<Arc<Notifier>>,
    project: String,
    terminal: Option<File>,
    asked: bool,
}

impl Telling {
    pub(super) fn new(
        inner: TerminalApprover,
        notifier: Option<Arc<Notifier>>,
        project: &str,
        terminal: Option<&Terminal>,
    ) -> Telling {
        let terminal = terminal.and_then(|terminal| terminal.file().try_clone().ok());
        Telling { inner, notifier, project: project.to_string(), terminal, asked: false }
    }

    /// The digest of the plan whose card was shown.
    pub(super) fn shown(&self) -> Option<Digest> {
        self.inner.shown()
    }

    /// Somebody sat at the terminal and answered: they need not be told what came of it.
    pub(super) fn asked(&self) -> bool {
        self.asked
    }

    /// Tells it, on a thread: whatever a desktop does, nobody waits for it.
    pub(super) fn tell(&self, notice: Notice) {
        let Some(notifier) = self.notifier.clone() else { return };
        let terminal = self.terminal.as_ref().and_then(|file| file.try_clone().ok());
        let told = thread::Builder::new().name("notice".to_string()).spawn(move || match terminal {
            Some(mut terminal) => notifier.tell(&notice, &mut terminal),
            None => notifier.tell(&notice, &mut std::io::sink()),
        });
        // Without a thread nobody is told; that is no reason to fail.
        drop(told);
    }
}

impl Approver for Telling {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn decide(&mut self, question: &Question<'_>) -> Reply {
        let (what, body) = match question {
            Question::Trust { .. } => ("may it run commands?", String::new()),
            Question::NewChange { .. } => ("is this a new change?", String::new()),
            Question::Apply { plan, .. } => ("apply?", files(plan)),
            Question::Keep { plan, .. } => ("keep?", files(plan)),
        };
        // Without a terminal nobody can answer: they hear what came of it.
        if self.terminal.is_some() {
            self.tell(Notice { summary: format!("{}: {what}", self.project), body, urgent: true });
        }
        let reply = self.inner.decide(question);
        self.asked |= !matches!(reply, Reply::Nobody);
        reply
    }

    fn event(&mut self, event: &Event<'_>) {
        self.inner.event(event);
    }

    fn stopped(&self) -> bool {
        self.inner.stopped()
    }
}
