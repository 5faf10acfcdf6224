//! The control protocol that Claude Code speaks over its standard streams: lines of JSON, in which both sides ask.
//!
//! We hand it prompts and ask it to begin and to break off; it tells what it does, and asks before it takes a
//! prompt and before it uses a tool, if it was told to at the beginning. It waits for each answer.
//! The keys of a message come in any order. What is no message is counted by whoever hears, never guessed at.

use std::time::Duration;

use relaycode_exec::{ExecError, Finished, Job, Runner};
use serde_json::{Value, json};

use crate::lines::{Heard as Line, Lines};

/// By these names it calls back.
const BEFORE_PROMPT: &str = "prompt";
const BEFORE_TOOL: &str = "tool";

/// A conversation with Claude Code.
#[derive(Debug)]
pub struct ClaudeStdio {
    lines: Lines,
    asked: u64,
}

/// What it says.
#[derive(Debug)]
pub enum Heard {
    /// It tells something: `system`, `stream_event`, `assistant`, `result` … by the key `type`.
    Told(Value),
    /// It asks, and waits for an answer.
    Asked(Question),
    /// It answers what it was asked under this number; `Err`: that it will not, and why.
    Answered(u64, Result<Value, String>),
    /// A line that is no message.
    Garbage,
    /// A line was longer than any may be, and was passed over.
    TooLong,
    /// It does not read what it is told, and has not been told everything.
    Deaf,
    /// Nothing in the given time.
    Nothing,
    /// It has ended.
    Over(Box<Finished>),
}

/// Something that it asks.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    id: String,
    /// What it asks.
    pub about: About,
    hook: bool,
}

/// What it may ask.
#[derive(Debug, Clone, PartialEq)]
pub enum About {
    /// Whether a tool may be used.
    Tool(ToolUse),
    /// Whether a prompt may go to the model.
    Prompt,
    /// Something that has no answer here, by its name.
    Other(String),
}

/// A tool that the model wants to use.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolUse {
    /// The tool.
    pub name: String,
    /// What it is given.
    pub input: Value,
    /// The number of this use: the same use may be asked about more than once.
    pub id: String,
}

impl ClaudeStdio {
    /// Starts it. `job` names it with the arguments for this protocol (`-p --input-format stream-json
    /// --output-format stream-json --verbose --permission-prompt-tool stdio`); its input is open.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(runner: &Runner, job: &Job) -> Result<ClaudeStdio, ExecError> {
        Ok(ClaudeStdio { lines: Lines::start(runner, job)?, asked: 0 })
    }

    /// Asks it to begin, and to ask before every prompt and every tool. Returns the number of the request.
    pub fn initialize(&mut self) -> u64 {
        self.ask(&json!({"subtype": "initialize", "hooks": {
            "PreToolUse": [{"matcher": "*", "hookCallbackIds": [BEFORE_TOOL]}],
            "UserPromptSubmit": [{"hookCallbackIds": [BEFORE_PROMPT]}],
        }}))
    }

    /// Asks it to break off what it does. Returns the number of the request.
    pub fn interrupt(&mut self) -> u64 {
        self.ask(&json!({"subtype": "interrupt"}))
    }

    /// Hands it a prompt.
    pub fn prompt(&mut self, text: &str) {
        self.say(&json!({"type": "user", "message": {"role": "user", "content": text}}));
    }

    /// Yes: the prompt may go on, the tool may be used.
    pub fn allow(&mut self, question: &Question) {
        let answer = match (&question.about, question.hook) {
            (About::Tool(_), true) => {
                json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}})
            }
            (About::Tool(tool), false) => json!({"behavior": "allow", "updatedInput": tool.input}),
            (About::Prompt, _) => json!({}),
            (About::Other(_), _) => return self.deny(question, "nobody here can answer this"),
        };
        self.answer(question, &answer);
    }

    /// No, and why. The model hears it if it was about a tool.
    pub fn deny(&mut self, question: &Question, why: &str) {
        let answer = match (&question.about, question.hook) {
            (About::Tool(_), true) => json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": why,
            }}),
            (About::Tool(_), false) => json!({"behavior": "deny", "message": why}),
            (About::Prompt, _) => json!({"decision": "block", "reason": why}),
            (About::Other(_), _) => {
                let response = json!({"subtype": "error", "request_id": question.id, "error": why});
                return self.say(&json!({"type": "control_response", "response": response}));
            }
        };
        self.answer(question, &answer);
    }

    /// Says nothing more: it ends when it is done.
    pub fn close(&mut self) {
        self.lines.close();
    }

    /// Waits for what it says next, `most` at most. `stop` is asked often; when it says yes, it is ended.
    ///
    /// # Errors
    /// If it could not be started, or not be watched any more.
    pub fn next(&mut self, stop: &dyn Fn() -> bool, most: Duration) -> Result<Heard, ExecError> {
        Ok(match self.lines.next(stop, most)? {
            Line::Line(line) => read(&line),
            Line::TooLong => Heard::TooLong,
            Line::Deaf => Heard::Deaf,
            Line::Nothing => Heard::Nothing,
            Line::Over(finished) => Heard::Over(finished),
        })
    }

    /// What it printed to standard error since this was last asked, as far as it was kept.
    pub fn take_errors(&mut self) -> Vec<u8> {
        self.lines.take_errors()
    }

    /// Ends it and everything that it started. `None` if it had ended before, and was heard.
    ///
    /// # Errors
    /// If it could not be watched.
    pub fn end(self) -> Result<Option<Finished>, ExecError> {
        self.lines.end()
    }

    fn ask(&mut self, request: &Value) -> u64 {
        self.asked += 1;
        self.say(
            &json!({"type": "control_request", "request_id": self.asked.to_string(), "request": request}),
        );
        self.asked
    }

    fn answer(&mut self, question: &Question, answer: &Value) {
        let response = json!({"subtype": "success", "request_id": question.id, "response": answer});
        self.say(&json!({"type": "control_response", "response": response}));
    }

    fn say(&mut self, message: &Value) {
        self.lines.say(message.to_string().as_bytes());
    }
}

/// What a line says.
fn read(line: &[u8]) -> Heard {
    let Ok(message) = serde_json::from_slice::<Value>(line) else { return Heard::Garbage };
    match message["type"].as_str() {
        Some("control_request") => question(&message).map_or(Heard::Garbage, Heard::Asked),
        Some("control_response") => answered(&message["response"]).unwrap_or(Heard::Garbage),
        Some(_) => Heard::Told(message),
        None => Heard::Garbage,
    }
}

fn question(message: &Value) -> Option<Question> {
    let id = message["request_id"].as_str()?.to_string();
    let request = &message["request"];
    let word = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let (about, hook) = match request["subtype"].as_str()? {
        "can_use_tool" => {
            let (name, id) = (word(&request["tool_name"]), word(&request["tool_use_id"]));
            (About::Tool(ToolUse { name, input: request["input"].clone(), id }), false)
        }
        "hook_callback" if request["callback_id"] == BEFORE_PROMPT => (About::Prompt, true),
        "hook_callback" if request["callback_id"] == BEFORE_TOOL => {
            let input = &request["input"];
            let (name, id) = (word(&input["tool_name"]), word(&input["tool_use_id"]));
            (About::Tool(ToolUse { name, input: input["tool_input"].clone(), id }), true)
        }
        other => (About::Other(other.to_string()), false),
    };
    Some(Question { id, about, hook })
}

fn answered(response: &Value) -> Option<Heard> {
    let id = response["request_id"].as_str()?.parse().ok()?;
    let result = match response["subtype"].as_str()? {
        "success" => Ok(response["response"].clone()),
        _ => Err(response["error"].as_str().unwrap_or("it does not say why").to_string()),
    };
    Some(Heard::Answered(id, result))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(line: &str) -> Heard {
        read(line.as_bytes())
    }

    #[test]
    fn keys_come_in_any_order_and_what_is_no_message_is_garbage() {
        let result = heard(r#"{"is_error":false,"result":"x","type":"result"}"#);
        assert!(matches!(result, Heard::Told(value) if value["result"] == "x"));
        for line in ["", "x", "[]", "7", "{}", r#"{"type":7}"#, r#"{"type":"control_request"}"#, "\u{1b}[31m"]
        {
            assert!(matches!(heard(line), Heard::Garbage), "{line}");
        }
        for line in [
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"x"}}"#,
            r#"{"type":"control_request","request_id":7,"request":{"subtype":"can_use_tool"}}"#,
        ] {
            assert!(matches!(heard(line), Heard::Garbage), "{line}");
        }
    }

    #[test]
    fn the_same_use_of_a_tool_is_known_by_either_way_of_asking() {
        let asked = heard(
            r#"{"request":{"input":{"file_path":"a"},"tool_use_id":"t","tool_name":"Read","subtype":"can_use_tool"},
                "type":"control_request","request_id":"q"}"#,
        );
        let called = heard(
            r#"{"type":"control_request","request_id":"q","request":{"subtype":"hook_callback","callback_id":"tool",
                "input":{"tool_name":"Read","tool_input":{"file_path":"a"},"tool_use_id":"t"}}}"#,
        );
        let (Heard::Asked(asked), Heard::Asked(called)) = (asked, called) else { panic!("no questions") };
        assert_eq!(asked.about, called.about);
        assert_eq!((asked.hook, called.hook), (false, true));
    }

    #[test]
    fn answers_are_known_by_their_number() {
        let no = heard(
            r#"{"type":"control_response","response":{"subtype":"error","request_id":"2","error":"no"}}"#,
        );
        assert!(matches!(no, Heard::Answered(2, Err(why)) if why == "no"));
        let yes = heard(
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"1","response":{}}}"#,
        );
        assert!(matches!(yes, Heard::Answered(1, Ok(_))));
    }
}
