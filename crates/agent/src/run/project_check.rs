//! The project's own check, when the model is done: what it finds goes to the model, which goes on, a few times at most.

use std::time::Instant;

use relaycode_door::gate::repair_prompt::check_prompt;
use relaycode_tools::ProjectCheckOutcome;

use super::{Agent, EndedRun, RunStep};
use crate::event::AgentEvent;

/// How often in one prompt the model is told what the check found.
const MAX_CHECK_ROUNDS: u32 = 3;

impl Agent {
    /// Whether the model was told something that it has to see to.
    pub(super) fn check_project(&mut self) -> RunStep<bool> {
        // A check may write.
        if !self.settings.check || self.mode().is_some() {
            return Ok(false);
        }
        let (cancel, deadline) = (self.cancel.clone(), self.deadline);
        let stop = || cancel.is_cancelled() || deadline.is_some_and(|deadline| deadline <= Instant::now());
        let events = &self.shared.events;
        let outcome = self.workspace.check_project(&stop, &mut |command| {
            events.publish(AgentEvent::ProjectCheckStart { command: command.to_string() });
        });
        let check = match outcome {
            ProjectCheckOutcome::NotNeeded => return Ok(false),
            ProjectCheckOutcome::NotTrusted { command } => {
                self.notice(&format!(
                    "the project's check `{command}` did not run: it is not trusted (`relay trust` shows it)"
                ));
                return Ok(false);
            }
            ProjectCheckOutcome::Ran(check) => check,
        };
        let text = check_prompt(&check.report).filter(|_| self.check_rounds < MAX_CHECK_ROUNDS && !stop());
        let step = check.report.steps.last();
        self.shared.events.publish(AgentEvent::ProjectCheckEnd {
            command: step.map(|step| step.command.clone()).unwrap_or_default(),
            result: step.map(|step| step.result_phrase()).unwrap_or_default(),
            errors: check.report.errors_after,
            new_errors: check.report.errors_before.map(|_| check.report.new_count),
            told: text.is_some(),
        });
        if cancel.is_cancelled() {
            return Err(self.stopped_run());
        }
        let Some(text) = text else { return Ok(false) };
        self.check_rounds += 1;
        let told = self.shared.transcript().append_note("project-check", &text);
        told.map_err(|error| EndedRun::session_failed(&error))?;
        Ok(true)
    }
}
