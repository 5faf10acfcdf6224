//! A call that the user makes: the tool runs as it does for the model, under the same rules, and is told in the same events. No
//! model reads the result unless somebody tells it.

use std::sync::Mutex;

use relaycode_llm::CancelToken;
use relaycode_llm::message::ToolCall;
use relaycode_tools::Tool;
use serde_json::Value;

use super::Agent;
use super::calls::{CallHost, PreparedCall, content_text};
use crate::event::AgentEvent;

/// What a call of the user's brought.
#[derive(Debug, Clone, PartialEq)]
pub struct UserCallOutcome {
    pub text: String,
    pub is_error: bool,
    /// As the tool keeps them for the session.
    pub details: Option<Value>,
    /// The user stopped it.
    pub is_cancelled: bool,
}

impl Agent {
    /// Runs a tool for the user; [`crate::AgentHandle::abort`] stops it.
    pub fn run_tool(&mut self, tool: &dyn Tool, call: &ToolCall) -> UserCallOutcome {
        self.cancel = CancelToken::default();
        self.shared.set_run_cancel(Some(self.cancel.clone()));
        let (shared, cancel) = (self.shared.clone(), self.cancel.clone());
        let host = CallHost { host: &*self.host, shared: &shared, cancel: &cancel, shown: Mutex::default() };
        let outcome = self.run_call(call, &PreparedCall::Run(tool), &host);
        self.workspace.end_turn();
        self.publish_warnings();
        self.shared.set_run_cancel(None);
        self.shared.events.publish(AgentEvent::ToolExecutionEnd {
            tool_call_id: call.id.clone(),
            tool_name: call.name.clone(),
            is_error: outcome.is_error,
            card: outcome.card,
            duration_ms: u64::try_from(outcome.took.as_millis()).unwrap_or(u64::MAX),
        });
        UserCallOutcome {
            text: content_text(&outcome.content),
            is_error: outcome.is_error,
            details: outcome.details,
            is_cancelled: cancel.is_cancelled(),
        }
    }
}
