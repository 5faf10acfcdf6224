//! The project's own check, once a prompt's changes are done. It runs only if the user trusts it, and only if something changed
//! since it ran.

use std::sync::PoisonError;

use relaycode_door::linter::LinterCount;
use relaycode_door::{ApprovalQuestion, ApprovalReply, Approver, DoorEvent, ProjectCheck, TxId};

use super::ToolWorkspace;

/// What is known of earlier checks.
#[derive(Debug, Default)]
pub(super) struct CheckMemory {
    group: Option<String>,
    /// The newest change that was checked.
    checked: Option<TxId>,
    /// What the last check before this prompt counted: only what is not in it is new.
    baseline: Option<LinterCount>,
    last: Option<LinterCount>,
    is_untrusted_told: bool,
}

/// What became of a check.
#[derive(Debug)]
pub enum ProjectCheckOutcome {
    /// There is none, or nothing changed since it ran.
    NotNeeded,
    /// The user has not said that it may run. Told once.
    NotTrusted {
        command: String,
    },
    Ran(Box<ProjectCheck>),
}

impl ToolWorkspace {
    /// Runs the check, if it is needed; `begin` is told its command first.
    pub fn check_project(&self, stop: &dyn Fn() -> bool, begin: &mut dyn FnMut(&str)) -> ProjectCheckOutcome {
        let command = self.door.config().patch.linter.trim();
        let Some(group) = self.group().filter(|_| !command.is_empty()) else {
            return ProjectCheckOutcome::NotNeeded;
        };
        let mut memory = self.check.lock().unwrap_or_else(PoisonError::into_inner);
        if memory.group.as_ref() != Some(&group) {
            memory.baseline = memory.last.clone();
            memory.group = Some(group.clone());
        }
        let newest = self.door.group_members(&group).ok().and_then(|members| members.first().copied());
        if newest.is_none() || newest == memory.checked {
            return ProjectCheckOutcome::NotNeeded;
        }
        if !self.door.trust_state().allows() {
            if std::mem::replace(&mut memory.is_untrusted_told, true) {
                return ProjectCheckOutcome::NotNeeded;
            }
            return ProjectCheckOutcome::NotTrusted { command: command.to_string() };
        }
        begin(command);
        // Without a baseline, what the first check of the prompt found.
        let before = memory.baseline.as_ref().or(memory.last.as_ref());
        let Some(check) = self.door.check(before, &mut CheckListener { stop }) else {
            return ProjectCheckOutcome::NotNeeded;
        };
        memory.checked = newest;
        if check.count.is_some() {
            memory.last.clone_from(&check.count);
        }
        ProjectCheckOutcome::Ran(Box::new(check))
    }
}

/// Nobody is asked while a check runs.
struct CheckListener<'a> {
    stop: &'a dyn Fn() -> bool,
}

impl Approver for CheckListener<'_> {
    fn name(&self) -> &'static str {
        "agent"
    }

    fn decide(&mut self, _question: &ApprovalQuestion<'_>) -> ApprovalReply {
        ApprovalReply::Unavailable
    }

    fn on_event(&mut self, _event: &DoorEvent<'_>) {}

    fn stop_requested(&self) -> bool {
        (self.stop)()
    }
}
