//! What an agent reports while it works (`session/update`). All text is foreign.

use serde_json::Value;

use super::AcpToolCall;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AcpSessionUpdate {
    /// The next piece of its answer.
    Text(String),
    /// The next piece of its thinking.
    Thought(String),
    /// It begins to use a tool, or wants to.
    ToolCall(AcpToolCall),
    /// News about a tool call.
    ToolCallUpdate(AcpToolCall),
    /// It switched to this mode.
    Mode(String),
    /// Anything else, by its kind: a plan, its commands, earlier messages.
    Other(String),
}

impl AcpSessionUpdate {
    /// Reads the parameters of `session/update`: the session's id and the update.
    pub(super) fn from_params(params: &Value) -> (String, AcpSessionUpdate) {
        let session = params["sessionId"].as_str().unwrap_or_default().to_string();
        let update = &params["update"];
        let kind = update["sessionUpdate"].as_str().unwrap_or_default();
        let text = || update["content"]["text"].as_str().unwrap_or_default().to_string();
        let update = match kind {
            "agent_message_chunk" => AcpSessionUpdate::Text(text()),
            "agent_thought_chunk" => AcpSessionUpdate::Thought(text()),
            "tool_call" => AcpSessionUpdate::ToolCall(AcpToolCall::from_json(update)),
            "tool_call_update" => AcpSessionUpdate::ToolCallUpdate(AcpToolCall::from_json(update)),
            "current_mode_update" => {
                AcpSessionUpdate::Mode(update["currentModeId"].as_str().unwrap_or_default().to_string())
            }
            other => AcpSessionUpdate::Other(other.to_string()),
        };
        (session, update)
    }
}
