//! Who decides for an agent: what it may do, and what it gets to read and write.

use serde_json::{Value, json};

use super::tool_call::AcpToolCall;
use super::update::AcpSessionUpdate;

/// The code of an answer that a file is not there.
const NOT_FOUND: i64 = -32002;

/// The code of an answer that something is not allowed.
const NOT_ALLOWED: i64 = -32003;

/// Decides what an agent may do, and hears what it tells.
pub trait AcpHandler {
    /// It tells something about this session.
    fn on_update(&mut self, session: &str, update: AcpSessionUpdate);

    /// It asks whether it may use a tool.
    fn decide_permission(&mut self, asked: &AcpPermissionRequest) -> AcpPermissionDecision;

    /// It wants a text file: from this line on (the first is 1), so many lines.
    ///
    /// # Errors
    /// That it is refused, or why it cannot be had.
    fn read_file(&mut self, path: &str, line: Option<u64>, limit: Option<u64>) -> Result<String, AcpRefusal>;

    /// It wants a text file to be written.
    ///
    /// # Errors
    /// That it is refused, or why it cannot be done.
    fn write_file(&mut self, path: &str, content: &str) -> Result<(), AcpRefusal>;

    /// It printed this to standard error.
    fn on_stderr(&mut self, bytes: &[u8]);

    /// Whether what was heard is enough to give up ([`super::Broken::Enough`]). Asked often.
    fn should_abort(&self) -> bool {
        false
    }
}

/// An agent asks whether it may use a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcpPermissionRequest {
    /// What it wants to do.
    pub call: AcpToolCall,
    /// What it can be answered: kind and id.
    options: Vec<(String, String)>,
}

/// What it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcpPermissionDecision {
    /// This once. Never for longer.
    Allow,
    /// No.
    Reject,
    /// Nobody decides any more: everything is broken off.
    Cancel,
}

/// Something that an agent does not get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcpRefusal {
    /// The code of the answer.
    pub code: i64,
    /// Why, in words for the agent.
    pub message: String,
}

impl AcpRefusal {
    /// There is no such file.
    pub fn not_found(path: &str) -> AcpRefusal {
        AcpRefusal { code: NOT_FOUND, message: format!("Resource not found: {path}") }
    }

    /// It is not allowed.
    pub fn not_allowed(message: impl Into<String>) -> AcpRefusal {
        AcpRefusal { code: NOT_ALLOWED, message: message.into() }
    }
}

/// Options that are looked at.
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

    /// Whether it can be allowed for this once.
    pub fn can_allow_once(&self) -> bool {
        self.option(&["allow_once"]).is_some()
    }

    /// The answer. Where there is no option for a verdict, the request is called cancelled: that allows nothing.
    pub(super) fn to_response(&self, verdict: AcpPermissionDecision) -> Value {
        let option = match verdict {
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
        for verdict in
            [AcpPermissionDecision::Allow, AcpPermissionDecision::Reject, AcpPermissionDecision::Cancel]
        {
            assert_eq!(always.to_response(verdict), cancelled);
            assert_eq!(
                AcpPermissionRequest::from_params(&json!({"toolCall": 7})).to_response(verdict),
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
