//! The caller's side of an agent: what it may do, and what it gets to read and write.

use serde_json::{Value, json};

use super::{AcpSessionUpdate, AcpToolCall};

/// JSON-RPC error code: no such file.
const NOT_FOUND: i64 = -32002;

/// JSON-RPC error code: not allowed.
const NOT_ALLOWED: i64 = -32003;

/// Decides what an agent may do, and receives what it reports.
pub trait AcpHandler {
    fn on_update(&mut self, session: &str, update: AcpSessionUpdate);

    /// The agent asks whether it may use a tool.
    fn decide_permission(&mut self, request: &AcpPermissionRequest) -> AcpPermissionDecision;

    /// The agent wants `limit` lines of a text file from `line` (counted from 1) on.
    fn read_file(&mut self, path: &str, line: Option<u64>, limit: Option<u64>) -> Result<String, AcpRefusal>;

    /// The agent wants a text file written.
    fn write_file(&mut self, path: &str, content: &str) -> Result<(), AcpRefusal>;

    fn on_stderr(&mut self, bytes: &[u8]);

    /// Whether to give up on the agent ([`super::AcpError::Abandoned`]). Polled often.
    fn should_abort(&self) -> bool {
        false
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcpPermissionRequest {
    /// What the agent wants to do.
    pub call: AcpToolCall,
    /// The possible answers: kind and id.
    options: Vec<(String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcpPermissionDecision {
    /// This once, never for longer.
    Allow,
    Reject,
    /// The prompt is being cancelled; nobody decides any more.
    Cancel,
}

/// Why an agent does not get what it asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcpRefusal {
    pub code: i64,
    /// The reason, for the agent.
    pub message: String,
}

impl AcpRefusal {
    pub fn not_found(path: &str) -> AcpRefusal {
        AcpRefusal { code: NOT_FOUND, message: format!("Resource not found: {path}") }
    }

    pub fn not_allowed(message: impl Into<String>) -> AcpRefusal {
        AcpRefusal { code: NOT_ALLOWED, message: message.into() }
    }
}

/// Options beyond this many are ignored.
const MOST_OPTIONS: usize = 64;

impl AcpPermissionRequest {
    pub(super) fn from_params(params: &Value) -> AcpPermissionRequest {
        let none = Vec::new();
        let option = |option: &Value| {
            Some((option["kind"].as_str()?.to_string(), option["optionId"].as_str()?.to_string()))
        };
        let options = params["options"].as_array().unwrap_or(&none).iter().take(MOST_OPTIONS);
        AcpPermissionRequest {
            call: AcpToolCall::from_json(&params["toolCall"]),
            options: options.filter_map(option).collect(),
        }
    }

    pub fn can_allow_once(&self) -> bool {
        self.option(&["allow_once"]).is_some()
    }

    /// The answer on the wire. If the agent offers no option for the decision, the answer is "cancelled",
    /// which allows nothing.
    pub(super) fn to_response(&self, decision: AcpPermissionDecision) -> Value {
        let option = match decision {
            AcpPermissionDecision::Allow => self.option(&["allow_once"]),
            AcpPermissionDecision::Reject => self.option(&["reject_once", "reject_always"]),
            AcpPermissionDecision::Cancel => None,
        };
        match option {
            Some(id) => json!({"outcome": {"outcome": "selected", "optionId": id}}),
            None => json!({"outcome": {"outcome": "cancelled"}}),
        }
    }

    fn option(&self, kinds: &[&str]) -> Option<&str> {
        kinds.iter().find_map(|wanted| {
            self.options.iter().find(|(kind, _)| kind == wanted).map(|(_, id)| id.as_str())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_allowed_for_longer_than_once_and_no_option_means_cancelled() {
        let cancelled = json!({"outcome": {"outcome": "cancelled"}});
        let always = AcpPermissionRequest::from_params(
            &json!({"options": [{"kind": "allow_always", "optionId": "a"}]}),
        );
        for decision in
            [AcpPermissionDecision::Allow, AcpPermissionDecision::Reject, AcpPermissionDecision::Cancel]
        {
            assert_eq!(always.to_response(decision), cancelled);
            assert_eq!(
                AcpPermissionRequest::from_params(&json!({"toolCall": 7})).to_response(decision),
                cancelled
            );
        }
        let usual = AcpPermissionRequest::from_params(
            &json!({"options": [{"kind": "allow_always", "optionId": "a"},
            {"kind": "allow_once", "optionId": "b"}, {"kind": "reject_once", "optionId": "c"}, {"kind": 1}]}),
        );
        assert_eq!(usual.to_response(AcpPermissionDecision::Allow)["outcome"]["optionId"], "b");
        assert_eq!(usual.to_response(AcpPermissionDecision::Reject)["outcome"]["optionId"], "c");
    }
}
