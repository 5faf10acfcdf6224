//! Who decides for an agent: what it may do, and what it gets to read and write.

use serde_json::{Value, json};

use super::tool::ToolCall;
use super::update::Update;

/// The code of an answer that a file is not there.
const NOT_FOUND: i64 = -32002;

/// The code of an answer that something is not allowed.
const NOT_ALLOWED: i64 = -32003;

/// Decides what an agent may do, and hears what it tells.
pub trait Decide {
    /// It tells something about this session.
    fn hear(&mut self, session: &str, update: Update);

    /// It asks whether it may use a tool.
    fn may(&mut self, asked: &Permission) -> Verdict;

    /// It wants a text file: from this line on (the first is 1), so many lines.
    ///
    /// # Errors
    /// That it is refused, or why it cannot be had.
    fn read(&mut self, path: &str, line: Option<u64>, limit: Option<u64>) -> Result<String, Refused>;

    /// It wants a text file to be written.
    ///
    /// # Errors
    /// That it is refused, or why it cannot be done.
    fn write(&mut self, path: &str, content: &str) -> Result<(), Refused>;

    /// It printed this to standard error.
    fn errors(&mut self, bytes: &[u8]);

    /// Whether what was heard is enough to give up ([`super::Broken::Enough`]). Asked often.
    fn enough(&self) -> bool {
        false
    }
}

/// An agent asks whether it may use a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permission {
    /// What it wants to do.
    pub call: ToolCall,
    /// What it can be answered: kind and id.
    options: Vec<(String, String)>,
}

/// What it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// This once. Never for longer.
    Allow,
    /// No.
    Reject,
    /// Nobody decides any more: everything is broken off.
    Cancel,
}

/// Something that an agent does not get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The code of the answer.
    pub code: i64,
    /// Why, in words for the agent.
    pub message: String,
}

impl Refused {
    /// There is no such file.
    pub fn not_found(path: &str) -> Refused {
        Refused { code: NOT_FOUND, message: format!("Resource not found: {path}") }
    }

    /// It is not allowed.
    pub fn not_allowed(message: impl Into<String>) -> Refused {
        Refused { code: NOT_ALLOWED, message: message.into() }
    }
}

/// Options that are looked at.
const MOST_OPTIONS: usize = 64;

impl Permission {
    pub(super) fn read(params: &Value) -> Permission {
        let none = Vec::new();
        let option = |option: &Value| {
            Some((option["kind"].as_str()?.to_string(), option["optionId"].as_str()?.to_string()))
        };
        let options = params["options"].as_array().unwrap_or(&none).iter().take(MOST_OPTIONS);
        Permission {
            call: ToolCall::read(&params["toolCall"]),
            options: options.filter_map(option).collect(),
        }
    }

    /// Whether it can be allowed for this once.
    pub fn can_be_allowed(&self) -> bool {
        self.option(&["allow_once"]).is_some()
    }

    /// The answer. Where there is no option for a verdict, the request is called cancelled: that allows nothing.
    pub(super) fn answer(&self, verdict: Verdict) -> Value {
        let option = match verdict {
            Verdict::Allow => self.option(&["allow_once"]),
            Verdict::Reject => self.option(&["reject_once", "reject_always"]),
            Verdict::Cancel => None,
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
        let always = Permission::read(&json!({"options": [{"kind": "allow_always", "optionId": "a"}]}));
        for verdict in [Verdict::Allow, Verdict::Reject, Verdict::Cancel] {
            assert_eq!(always.answer(verdict), cancelled);
            assert_eq!(Permission::read(&json!({"toolCall": 7})).answer(verdict), cancelled);
        }
        let usual = Permission::read(&json!({"options": [{"kind": "allow_always", "optionId": "a"},
            {"kind": "allow_once", "optionId": "b"}, {"kind": "reject_once", "optionId": "c"}, {"kind": 1}]}));
        assert_eq!(usual.answer(Verdict::Allow)["outcome"]["optionId"], "b");
        assert_eq!(usual.answer(Verdict::Reject)["outcome"]["optionId"], "c");
    }
}
