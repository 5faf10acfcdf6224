//! Notifications for somebody who looks elsewhere: a question waits, or something became of an answer.

use std::sync::Arc;
use std::{io, thread};

use relaycode_change::plan::{FileChangeKind, Plan};
use relaycode_door::{ApprovalQuestion, SubmitOutcome};
use relaycode_tui::notify::{Notification, Notifier};
use relaycode_tui::views::refusal;
use relaycode_tui::{Terminal, pluralize};

#[derive(Clone)]
pub(super) struct SessionNotices {
    /// `None`: they are switched off.
    pub(super) notifier: Option<Arc<Notifier>>,
    pub(super) project: String,
    pub(super) terminal: Option<Terminal>,
}

impl SessionNotices {
    pub(super) fn on_question(&self, question: &ApprovalQuestion<'_>) {
        let (what, body) = match question {
            ApprovalQuestion::Trust { .. } => ("may it run commands?", String::new()),
            ApprovalQuestion::NewChange { .. } => ("is this a new change?", String::new()),
            ApprovalQuestion::Apply { plan, .. } => ("apply?", files_summary(plan)),
            ApprovalQuestion::Keep { plan, .. } => ("keep?", files_summary(plan)),
        };
        self.notify(what, body, true);
    }

    pub(super) fn on_outcome(&self, outcome: &SubmitOutcome) {
        match outcome {
            SubmitOutcome::Applied(applied) => self.notify("applied", files_summary(&applied.plan), false),
            SubmitOutcome::Refused(refused) => self.notify("refused", refusal::headline(refused), false),
            SubmitOutcome::GateFailed { plan, .. } => {
                self.notify("not kept, everything was put back", files_summary(plan), false);
            }
            SubmitOutcome::PreCheckFailed { plan, .. } | SubmitOutcome::ApprovalRequired { plan, .. } => {
                self.notify("not applied", files_summary(plan), true);
            }
            _ => {}
        }
    }

    /// On a thread: whatever a desktop does, nobody waits for it.
    fn notify(&self, what: &str, body: String, urgent: bool) {
        let Some(notifier) = self.notifier.clone() else { return };
        let notice = Notification { summary: format!("{}: {what}", self.project), body, urgent };
        let terminal = self.terminal.as_ref().and_then(|terminal| terminal.file().try_clone().ok());
        let told = thread::Builder::new().name("notice".to_string()).spawn(move || match terminal {
            Some(mut terminal) => notifier.notify(&notice, &mut terminal),
            None => notifier.notify(&notice, &mut io::sink()),
        });
        // Without a thread nobody is told; that is no reason to fail.
        drop(told);
    }
}

/// `src/cart.ts and 2 more files`
fn files_summary(plan: &Plan) -> String {
    let mut changing = plan.files.iter().filter(|file| file.change != FileChangeKind::Unchanged);
    let Some(first) = changing.next() else { return String::new() };
    match changing.count() {
        0 => first.path.to_string(),
        more => format!("{} and {}", first.path, pluralize(more, "more file")),
    }
}
