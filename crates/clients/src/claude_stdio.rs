//! The control protocol that Claude Code speaks over its standard streams: lines of JSON, in which both
//! sides ask.
//!
//! We send prompts and ask it to begin and to stop; it reports what it does and, if told to at the
//! beginning, asks before it takes a prompt and before it uses a tool. It waits for each answer. The keys
//! of a message come in any order. Lines that are not messages are left to the caller to count, never
//! guessed at.

use std::time::Duration;

use relaycode_exec::{ExecError, Job, JobOutcome, Runner};
use serde_json::{Value, json};

use self::{ClaudeRequestKind as Kind, ClaudeStdioEvent as Event};
use crate::line_process::{LineEvent as Line, LineProcess};

/// The ids of the hooks it calls back.
const BEFORE_PROMPT: &str = "prompt";
const BEFORE_TOOL: &str = "tool";

#[derive(Debug)]
pub struct ClaudeStdio {
    pub lines: LineProcess,
    last_request_id: u64,
}

#[derive(Debug)]
pub enum ClaudeStdioEvent {
    /// A message: `system`, `stream_event`, `assistant`, `result` … by its key `type`.
    Message(Value),
    /// It asks, and waits for an answer.
    Request(ClaudeControlRequest),
    /// The answer to our request of this number; `Err`: it refuses, and why.
    Response(u64, Result<Value, String>),
    /// A line that is not a message.
    Garbage,
    /// A line over the limit, which was skipped.
    LineTooLong,
    /// It does not read its input, so part of it was never sent.
    NotReading,
    /// Nothing within the time.
    Idle,
    Exited(Box<JobOutcome>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct ClaudeControlRequest {
    id: String,
    pub kind: ClaudeRequestKind,
    hook: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ClaudeRequestKind {
    /// May this tool be used?
    Tool(ClaudeToolUse),
    /// May this prompt go to the model?
    Prompt,
    /// A request we have no answer for, by its name.
    Other(String),
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClaudeToolUse {
    pub name: String,
    pub input: Value,
    /// The id of this use: the same use may be asked about more than once.
    pub id: String,
}

impl ClaudeStdio {
    /// `job` names Claude Code with the arguments for this protocol (`-p --input-format stream-json
    /// --output-format stream-json --verbose --permission-prompt-tool stdio`); its input is open.
    pub fn start(runner: &Runner, job: &Job) -> Result<ClaudeStdio, ExecError> {
        Ok(ClaudeStdio { lines: LineProcess::start(runner, job)?, last_request_id: 0 })
    }

    /// Asks it to begin, and to ask before every prompt and every tool. Returns the request's number.
    pub fn initialize(&mut self) -> u64 {
        self.send_request(&json!({"subtype": "initialize", "hooks": {
            "PreToolUse": [{"matcher": "*", "hookCallbackIds": [BEFORE_TOOL]}],
            "UserPromptSubmit": [{"hookCallbackIds": [BEFORE_PROMPT]}],
        }}))
    }

    /// Asks it to stop what it does. Returns the request's number.
    pub fn interrupt(&mut self) -> u64 {
        self.send_request(&json!({"subtype": "interrupt"}))
    }

    pub fn prompt(&mut self, text: &str) {
        self.send_message(&json!({"type": "user", "message": {"role": "user", "content": text}}));
    }

    /// Lets the prompt go on, or the tool be used.
    pub fn allow(&mut self, question: &ClaudeControlRequest) {
        let answer = match (&question.kind, question.hook) {
            (Kind::Tool(_), true) => {
                json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}})
            }
            (Kind::Tool(tool), false) => json!({"behavior": "allow", "updatedInput": tool.input}),
            (Kind::Prompt, _) => json!({}),
            (Kind::Other(_), _) => return self.deny(question, "nobody here can answer this"),
        };
        self.send_response(question, &answer);
    }

    /// Says no, and why. The model sees the reason if it was about a tool.
    pub fn deny(&mut self, question: &ClaudeControlRequest, why: &str) {
        let answer = match (&question.kind, question.hook) {
            (Kind::Tool(_), true) => json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": why,
            }}),
            (Kind::Tool(_), false) => json!({"behavior": "deny", "message": why}),
            (Kind::Prompt, _) => json!({"decision": "block", "reason": why}),
            (Kind::Other(_), _) => {
                let response = json!({"subtype": "error", "request_id": question.id, "error": why});
                return self.send_message(&json!({"type": "control_response", "response": response}));
            }
        };
        self.send_response(question, &answer);
    }

    /// Waits for the next event, at most `most`.
    pub fn next(&mut self, most: Duration) -> Result<ClaudeStdioEvent, ExecError> {
        Ok(match self.lines.next(most)? {
            Line::Line(line) => parse_line(&line),
            Line::LineTooLong => Event::LineTooLong,
            Line::NotReading => Event::NotReading,
            Line::Idle => Event::Idle,
            Line::Exited(finished) => Event::Exited(finished),
        })
    }

    fn send_request(&mut self, request: &Value) -> u64 {
        self.last_request_id += 1;
        let id = self.last_request_id.to_string();
        self.send_message(&json!({"type": "control_request", "request_id": id, "request": request}));
        self.last_request_id
    }

    fn send_response(&mut self, question: &ClaudeControlRequest, answer: &Value) {
        let response = json!({"subtype": "success", "request_id": question.id, "response": answer});
        self.send_message(&json!({"type": "control_response", "response": response}));
    }

    fn send_message(&mut self, message: &Value) {
        self.lines.send_line(message.to_string().as_bytes());
    }
}

fn parse_line(line: &[u8]) -> ClaudeStdioEvent {
    let Ok(message) = serde_json::from_slice::<Value>(line) else { return Event::Garbage };
    match message["type"].as_str() {
        Some("control_request") => parse_request(&message).map_or(Event::Garbage, Event::Request),
        Some("control_response") => parse_response(&message["response"]).unwrap_or(Event::Garbage),
        Some(_) => Event::Message(message),
        None => Event::Garbage,
    }
}

fn parse_request(message: &Value) -> Option<ClaudeControlRequest> {
    let id = message["request_id"].as_str()?.to_string();
    let request = &message["request"];
    let word = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let tool = |about: &Value, input: &str| {
        let (name, id) = (word(&about["tool_name"]), word(&about["tool_use_id"]));
        Kind::Tool(ClaudeToolUse { name, input: about[input].clone(), id })
    };
    let (about, hook) = match request["subtype"].as_str()? {
        "can_use_tool" => (tool(request, "input"), false),
        "hook_callback" if request["callback_id"] == BEFORE_PROMPT => (Kind::Prompt, true),
        "hook_callback" if request["callback_id"] == BEFORE_TOOL => {
            (tool(&request["input"], "tool_input"), true)
        }
        other => (Kind::Other(other.to_string()), false),
    };
    Some(ClaudeControlRequest { id, kind: about, hook })
}

fn parse_response(response: &Value) -> Option<ClaudeStdioEvent> {
    let id = response["request_id"].as_str()?.parse().ok()?;
    let result = match response["subtype"].as_str()? {
        "success" => Ok(response["response"].clone()),
        _ => Err(response["error"].as_str().unwrap_or("it does not say why").to_string()),
    };
    Some(Event::Response(id, result))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(line: &str) -> ClaudeStdioEvent {
        parse_line(line.as_bytes())
    }

    #[test]
    fn keys_come_in_any_order_and_what_is_no_message_is_garbage() {
        let result = heard(r#"{"is_error":false,"result":"x","type":"result"}"#);
        assert!(matches!(result, Event::Message(value) if value["result"] == "x"));
        for line in ["", "x", "[]", "7", "{}", r#"{"type":7}"#, r#"{"type":"control_request"}"#, "\u{1b}[31m"]
        {
            assert!(matches!(heard(line), Event::Garbage), "{line}");
        }
        for line in [
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"x"}}"#,
            r#"{"type":"control_request","request_id":7,"request":{"subtype":"can_use_tool"}}"#,
        ] {
            assert!(matches!(heard(line), Event::Garbage), "{line}");
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
        let (Event::Request(asked), Event::Request(called)) = (asked, called) else { panic!("no questions") };
        assert_eq!(asked.kind, called.kind);
        assert_eq!((asked.hook, called.hook), (false, true));
    }

    #[test]
    fn answers_are_known_by_their_number() {
        let no = heard(
            r#"{"type":"control_response","response":{"subtype":"error","request_id":"2","error":"no"}}"#,
        );
        assert!(matches!(no, Event::Response(2, Err(why)) if why == "no"));
        let yes = heard(
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"1","response":{}}}"#,
        );
        assert!(matches!(yes, Event::Response(1, Ok(_))));
    }
}
