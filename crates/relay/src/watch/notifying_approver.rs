//! The approver of a session: the one at the terminal, and a notification beside it when a decision waits.

use std::fs::File;
use std::sync::Arc;
use std::thread;

use relaycode_door::{ApprovalQuestion, ApprovalReply, Approver, DoorEvent};
use relaycode_ledger::Digest;
use relaycode_tui::input::Terminal;
use relaycode_tui::notify::{Notification, Notifier};

use super::submit::files_summary;
use crate::approver::TerminalApprover;

/// An approver that also tells somebody who looks elsewhere.
pub(super) struct NotifyingApprover {
    inner: TerminalApprover,
    notifier: Option<Arc<Notifier>>,
    project: String,
    terminal: Option<File>,
    was_answered: bool,
}

impl NotifyingApprover {
    pub(super) fn new(
        inner: TerminalApprover,
        notifier: Option<Arc<Notifier>>,
        project: &str,
        terminal: Option<&Terminal>,
    ) -> NotifyingApprover {
        let terminal = terminal.and_then(|terminal| terminal.file().try_clone().ok());
        NotifyingApprover { inner, notifier, project: project.to_string(), terminal, was_answered: false }
    }

    /// The digest of the plan whose card was shown.
    pub(super) fn shown_digest(&self) -> Option<Digest> {
        self.inner.shown_digest()
    }

    /// Somebody sat at the terminal and answered: they need not be told what came of it.
    pub(super) fn was_answered(&self) -> bool {
        self.was_answered
    }

    /// Tells it, on a thread: whatever a desktop does, nobody waits for it.
    pub(super) fn notify(&self, notice: Notification) {
        let Some(notifier) = self.notifier.clone() else { return };
        let terminal = self.terminal.as_ref().and_then(|file| file.try_clone().ok());
        let told = thread::Builder::new().name("notice".to_string()).spawn(move || match terminal {
            Some(mut terminal) => notifier.notify(&notice, &mut terminal),
            None => notifier.notify(&notice, &mut std::io::sink()),
        });
        // Without a thread nobody is told; that is no reason to fail.
        drop(told);
    }
}

impl Approver for NotifyingApprover {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn decide(&mut self, question: &ApprovalQuestion<'_>) -> ApprovalReply {
        let (what, body) = match question {
            ApprovalQuestion::Trust { .. } => ("may it run commands?", String::new()),
            ApprovalQuestion::NewChange { .. } => ("is this a new change?", String::new()),
            ApprovalQuestion::Apply { plan, .. } => ("apply?", files_summary(plan)),
            ApprovalQuestion::Keep { plan, .. } => ("keep?", files_summary(plan)),
        };
        // Without a terminal nobody can answer: they hear what came of it.
        if self.terminal.is_some() {
            self.notify(Notification { summary: format!("{}: {what}", self.project), body, urgent: true });
        }
        let reply = self.inner.decide(question);
        self.was_answered |= !matches!(reply, ApprovalReply::Unavailable);
        reply
    }

    fn on_event(&mut self, event: &DoorEvent<'_>) {
        self.inner.on_event(event);
    }

    fn stop_requested(&self) -> bool {
        self.inner.stop_requested()
    }
}
