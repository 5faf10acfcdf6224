//! What an agent tells while it works.

use serde_json::Value;

use super::tool::ToolCall;

/// What an agent tells while it works (`session/update`). All text is foreign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Update {
    /// The next words of its answer.
    Text(String),
    /// The next words of what it thinks.
    Thought(String),
    /// It begins to use a tool, or wants to.
    Tool(ToolCall),
    /// Something is new about a tool.
    ToolChanged(ToolCall),
    /// It works in another mode now.
    Mode(String),
    /// Something else: a plan, its commands, what was said earlier. The kind.
    Other(String),
}

impl Update {
    /// Reads the parameters of `session/update`: of which session, and what.
    pub(super) fn read(params: &Value) -> (String, Update) {
        let session = params["sessionId"].as_str().unwrap_or_default().to_string();
        let update = &params["update"];
        let kind = update["sessionUpdate"].as_str().unwrap_or_default();
        let text = || update["content"]["text"].as_str().unwrap_or_default().to_string();
        let update = match kind {
            "agent_message_chunk" => Update::Text(text()),
            "agent_thought_chunk" => Update::Thought(text()),
            "tool_call" => Update::Tool(ToolCall::read(update)),
            "tool_call_update" => Update::ToolChanged(ToolCall::read(update)),
            "current_mode_update" => {
                Update::Mode(update["currentModeId"].as_str().unwrap_or_default().to_string())
            }
            other => Update::Other(other.to_string()),
        };
        (session, update)
    }
}
