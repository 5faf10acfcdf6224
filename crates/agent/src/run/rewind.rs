//! Going back to a mark: the files are there already when the tool is done; here the conversation follows, once every call of
//! the answer has its result.

use relaycode_tools::{CheckpointState, RewindRequest};

use super::{Agent, EndedRun, RunStep};
use crate::event::AgentEvent;

/// Said to a model that ends with a mark still set.
const REMINDER: &str = "(relay: you are in an active checkpoint. Call `rewind` with what you found before you end; what you said \
    since is lost to you then, so the report has to hold it.)";

impl Agent {
    /// Whether the conversation is about to go back: calls that have not begun would be forgotten.
    pub(super) fn is_rewinding(&self) -> bool {
        matches!(*self.workspace.checkpoint(), CheckpointState::Rewinding(_))
    }

    /// Takes the conversation to the mark, if that was asked for; returns whether it did.
    pub(super) fn apply_rewind(&mut self) -> RunStep<bool> {
        if !self.is_rewinding() {
            return Ok(false);
        }
        let CheckpointState::Rewinding(request) = std::mem::take(&mut *self.workspace.checkpoint()) else {
            return Ok(false);
        };
        let rewound = self.shared.transcript().rewind(&request.mark.call, &summary(&request));
        let rewound = rewound.map_err(|error| EndedRun::session_failed(&error))?;
        let Some(entry_id) = rewound else {
            self.notice("the mark of the checkpoint is gone: the conversation goes on as it is");
            return Ok(false);
        };
        // It is kept on the way to where the conversation goes on.
        self.kept_goal = None;
        let told = self.shared.transcript().told_rules();
        self.rules.restore(&told.map_err(|error| EndedRun::session_failed(&error))?);
        self.shared.events.publish(AgentEvent::ConversationRewound { entry_id, report: request.report });
        Ok(true)
    }

    /// Reminds the model of its mark, once; then the mark is forgotten. Returns whether it was reminded.
    pub(super) fn remind_of_checkpoint(&mut self) -> RunStep<bool> {
        let mut state = self.workspace.checkpoint();
        let CheckpointState::Active(mark) = &mut *state else { return Ok(false) };
        if std::mem::replace(&mut mark.is_reminded, true) {
            *state = CheckpointState::None;
            return Ok(false);
        }
        drop(state);
        let reminded = self.shared.transcript().append_note("checkpoint-reminder", REMINDER);
        reminded.map_err(|error| EndedRun::session_failed(&error))?;
        Ok(true)
    }
}

/// What the model reads of what it went back from.
fn summary(request: &RewindRequest) -> String {
    let RewindRequest { mark, report, files } = request;
    let files = match files.as_slice() {
        [] => "No file was taken back.".to_string(),
        files => format!("Taken back, so as it was at the checkpoint: {}.", files.join(", ")),
    };
    format!("Goal: {}\n\n{report}\n\n{files}", mark.goal)
}
