//! What an agent reports about itself and its sessions.

use serde_json::{Value, json};

/// What relay offers to do for an agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AcpClientCapabilities {
    /// Read text files for it ([`super::AcpHandler::read_file`]).
    pub read: bool,
    /// Write text files for it ([`super::AcpHandler::write_file`]).
    pub write: bool,
}

impl AcpClientCapabilities {
    pub(super) fn initialize_params(self) -> Value {
        let fs = json!({"readTextFile": self.read, "writeTextFile": self.write});
        json!({"protocolVersion": super::PROTOCOL_VERSION, "clientCapabilities": {"fs": fs, "terminal": false},
               "clientInfo": {"name": "relaycode", "title": "relaycode", "version": env!("CARGO_PKG_VERSION")}})
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AcpInitializeResponse {
    /// The protocol version it wants to speak.
    pub version: u64,
    /// The version of the agent itself, if it says.
    pub agent_version: Option<String>,
    /// It can resume an earlier session.
    pub can_load_session: bool,
}

impl AcpInitializeResponse {
    pub(super) fn from_response(answer: &Value) -> AcpInitializeResponse {
        AcpInitializeResponse {
            version: answer["protocolVersion"].as_u64().unwrap_or(0),
            agent_version: answer["agentInfo"]["version"].as_str().map(str::to_string),
            can_load_session: answer["agentCapabilities"]["loadSession"].as_bool().unwrap_or(false),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AcpSession {
    pub id: String,
    /// The mode it works in, if it has modes.
    pub mode: Option<String>,
    /// The model it works with, if it says.
    pub model: Option<String>,
}

impl AcpSession {
    /// Reads the answer to `session/new` or, with a known id, `session/load`. Agents report their mode in
    /// `modes`, or among the options that can be set.
    pub(super) fn from_response(answer: &Value, known: Option<&str>) -> Option<AcpSession> {
        let none = Vec::new();
        let options = answer["configOptions"].as_array().unwrap_or(&none);
        let option = |name: &str| {
            let found = options.iter().find(|option| option["id"] == name || option["category"] == name);
            found.and_then(|option| option["currentValue"].as_str()).map(str::to_string)
        };
        let current = |value: &Value| value.as_str().map(str::to_string);
        Some(AcpSession {
            id: known.or_else(|| answer["sessionId"].as_str()).filter(|id| !id.is_empty())?.to_string(),
            mode: current(&answer["modes"]["currentModeId"]).or_else(|| option("mode")),
            model: current(&answer["models"]["currentModelId"]).or_else(|| option("model")),
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AcpStopReason {
    /// The agent is done.
    EndTurn,
    /// The model reached its output limit.
    MaxTokens,
    /// The model reached its limit of requests.
    MaxRequests,
    Refusal,
    Cancelled,
    /// A reason not known here.
    Other(String),
}

impl AcpStopReason {
    pub(super) fn from_response(answer: &Value) -> AcpStopReason {
        match answer["stopReason"].as_str().unwrap_or("none") {
            "end_turn" => AcpStopReason::EndTurn,
            "max_tokens" => AcpStopReason::MaxTokens,
            "max_turn_requests" => AcpStopReason::MaxRequests,
            "refusal" => AcpStopReason::Refusal,
            "cancelled" => AcpStopReason::Cancelled,
            other => AcpStopReason::Other(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_says_its_mode_in_either_way_and_needs_an_id() {
        let modes = json!({"sessionId": "s", "modes": {"currentModeId": "default"}, "models": {"currentModelId": "m"}});
        let read = AcpSession::from_response(&modes, None).unwrap();
        assert_eq!((read.mode.as_deref(), read.model.as_deref()), (Some("default"), Some("m")));
        let options = json!({"configOptions": [{"id": "mode", "currentValue": "plan"}, {"id": "x"}]});
        let read = AcpSession::from_response(&options, Some("k")).unwrap();
        assert_eq!((read.id.as_str(), read.mode.as_deref(), read.model), ("k", Some("plan"), None));
        assert_eq!(AcpSession::from_response(&options, None), None);
        assert_eq!(AcpSession::from_response(&json!({"sessionId": ""}), None), None);
    }
}
