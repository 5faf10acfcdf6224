//! Modes: what an agent may do for a while is less than what it may do else, until the user lets it go on.
//!
//! A mode is one file here that implements [`AgentMode`], and one line in [`ALL`]. What holds in it is a state of the tools'
//! workspace, so that no tool and no rule gets around it; what the model reads of it is a message, so that the beginning of every
//! request stays as it is. The session keeps each change of mode, and is taken up in the mode it was left in.

mod plan;

use std::sync::Arc;

use relaycode_tools::{PlanDecision, Tool, ToolWorkspace};
use serde_json::Value;

/// The mode of a session that is in none.
pub(crate) const NO_MODE: &str = "none";

/// One mode.
pub(crate) trait AgentMode: Sync {
    /// As the session and programs call it.
    fn name(&self) -> &'static str;

    /// Tools of its own. Once offered they stay so, since a change of tools costs the provider's cache.
    fn tools(&self) -> Vec<Arc<dyn Tool>>;

    /// Without these tools it cannot be ended as it should be.
    fn needs(&self) -> &'static [&'static str];

    /// What the session keeps of it, and programs read.
    fn data(&self, workspace: &ToolWorkspace) -> Value;

    /// Makes it hold.
    ///
    /// # Errors
    /// Why it cannot.
    fn enter(&self, workspace: &ToolWorkspace) -> Result<ModeEntry, String>;

    /// Makes it hold in a session that was left in it, with what the session kept; sentences for the user.
    ///
    /// # Errors
    /// Why it cannot.
    fn restore(&self, workspace: &ToolWorkspace, data: Option<&Value>) -> Result<Vec<String>, String>;

    /// It no longer holds.
    fn leave(&self, workspace: &ToolWorkspace);

    /// What the calls of an answer decided about it.
    fn take_outcome(&self, workspace: &ToolWorkspace) -> Option<ModeOutcome>;

    /// Whether that is decided, so that further calls of the answer are of no use.
    fn is_decided(&self, workspace: &ToolWorkspace) -> bool;
}

/// A mode began.
pub(crate) struct ModeEntry {
    /// What the model is told.
    pub(crate) words: String,
    /// Sentences for the user.
    pub(crate) notices: Vec<String>,
}

/// What becomes of a mode.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ModeOutcome {
    /// It is over, and the model goes on.
    GoOn(ModeApproval),
    /// The run ends here.
    End { plan: Box<PlanDecision>, is_over: bool },
}

/// What the user let an agent do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ModeApproval {
    /// The session is called so, if it may be.
    pub(crate) title: String,
    /// The kind of the message.
    pub(crate) note: &'static str,
    /// What the model is told.
    pub(crate) words: String,
    /// Without what was said before.
    pub(crate) is_fresh: bool,
}

pub(crate) const ALL: &[&dyn AgentMode] = &[&plan::PlanMode];

pub(crate) fn by_name(name: &str) -> Option<&'static dyn AgentMode> {
    ALL.iter().copied().find(|mode| mode.name() == name)
}

pub(crate) use plan::{PLAN_MODE, approve};
