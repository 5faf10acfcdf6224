//! JSON-RPC over a child's standard streams, one message per line, both sides asking and answering.
//!
//! Some servers leave the member `jsonrpc` out and do not want it: [`JsonRpcStyle`] says which. What is no message is
//! told ([`JsonRpcEvent::Garbage`]) and passed over: a program may print something else first.

use std::time::Duration;

use relaycode_exec::{ExecError, Job, JobOutcome, Runner};
use serde_json::{Map, Value, json};

use crate::line_process::{LineEvent, LineProcess};

/// The answer of one who does not know the method.
pub const METHOD_NOT_FOUND: i64 = -32601;

/// Whether messages say that they are JSON-RPC 2.0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonRpcStyle {
    /// They do.
    Versioned,
    /// They do not.
    Bare,
}

/// The other side of a conversation in JSON-RPC.
#[derive(Debug)]
pub struct JsonRpcPeer {
    lines: LineProcess,
    style: JsonRpcStyle,
    next_id: u64,
}

/// What the other side sent.
#[derive(Debug, Clone, PartialEq)]
pub enum JsonRpcEvent {
    /// The answer to what was asked under this id.
    Response {
        /// Our id, as [`JsonRpcPeer::ask`] gave it out.
        id: u64,
        /// What it answers.
        result: Result<Value, JsonRpcError>,
    },
    /// It asks, and wants an answer ([`JsonRpcPeer::answer`], [`JsonRpcPeer::refuse`]).
    Request {
        /// Its id for it, of whatever kind.
        id: Value,
        /// What it asks.
        method: String,
        /// The details.
        params: Value,
    },
    /// It tells something, and wants no answer.
    Notification {
        /// What it tells.
        method: String,
        /// The details.
        params: Value,
    },
    /// It printed something that is no message; as much of it as is good for a message to people.
    Garbage(String),
    /// It sent a line that is longer than any may be.
    LineTooLong,
    /// It does not read what it is told, and has not been told everything.
    NotReading,
    /// Nothing in the given time.
    Idle,
    /// It has ended.
    Exited(Box<JobOutcome>),
}

/// What the other side says when it cannot do what it was asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct JsonRpcError {
    /// The kind of error.
    pub code: i64,
    /// Its words.
    pub message: String,
    /// More about it.
    pub data: Option<Value>,
}

/// Characters of a line that is no message.
const MOST_GARBAGE: usize = 300;

impl JsonRpcPeer {
    /// Starts the other side. Its [`Job::input`] should be [`relaycode_exec::Input::Open`].
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(runner: &Runner, job: &Job, style: JsonRpcStyle) -> Result<JsonRpcPeer, ExecError> {
        Ok(JsonRpcPeer { lines: LineProcess::start(runner, job)?, style, next_id: 1 })
    }

    /// Asks, and says under which id the answer will come.
    pub fn request(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(json!({"id": id, "method": method, "params": params}));
        id
    }

    /// Tells something that wants no answer.
    pub fn notify(&mut self, method: &str, params: Option<&Value>) {
        let mut message = json!({"method": method});
        if let (Some(params), Some(object)) = (params, message.as_object_mut()) {
            object.insert("params".to_string(), params.clone());
        }
        self.send(message);
    }

    /// Answers what it asked.
    pub fn respond(&mut self, id: &Value, result: &Value) {
        self.send(json!({"id": id, "result": result}));
    }

    /// Answers that what it asked cannot be had.
    pub fn respond_error(&mut self, id: &Value, code: i64, message: &str) {
        self.send(json!({"id": id, "error": {"code": code, "message": message}}));
    }

    /// Says nothing more.
    pub fn close_input(&mut self) {
        self.lines.close_input();
    }

    /// What it printed to standard error since this was last asked.
    pub fn take_stderr(&mut self) -> Vec<u8> {
        self.lines.take_stderr()
    }

    /// Waits for the next message, `most` at most. `stop` is asked often; when it says yes, the other side is
    /// ended, and what comes next leads to [`JsonRpcEvent::Exited`].
    ///
    /// # Errors
    /// If it could not be started, or not be watched any more.
    pub fn next(&mut self, stop: &dyn Fn() -> bool, most: Duration) -> Result<JsonRpcEvent, ExecError> {
        Ok(match self.lines.next(stop, most)? {
            LineEvent::Line(line) => parse_line(&line),
            LineEvent::LineTooLong => JsonRpcEvent::LineTooLong,
            LineEvent::NotReading => JsonRpcEvent::NotReading,
            LineEvent::Idle => JsonRpcEvent::Idle,
            LineEvent::Exited(finished) => JsonRpcEvent::Exited(finished),
        })
    }

    /// Ends the other side and everything that it started. `None` if it had ended before, and was heard.
    ///
    /// # Errors
    /// If it could not be watched.
    pub fn end(self) -> Result<Option<JobOutcome>, ExecError> {
        self.lines.end()
    }

    fn send(&mut self, mut message: Value) {
        if let (JsonRpcStyle::Versioned, Some(object)) = (self.style, message.as_object_mut()) {
            object.insert("jsonrpc".to_string(), "2.0".into());
        }
        self.lines.send_line(message.to_string().as_bytes());
    }
}

fn parse_line(line: &[u8]) -> JsonRpcEvent {
    match serde_json::from_slice::<Value>(line) {
        Ok(Value::Object(message)) => parse_message(message).unwrap_or_else(|| garbage(line)),
        _ => garbage(line),
    }
}

fn parse_message(mut message: Map<String, Value>) -> Option<JsonRpcEvent> {
    let id = message.remove("id").filter(|id| !id.is_null());
    let method = match message.remove("method") {
        Some(Value::String(method)) => Some(method),
        Some(_) => return None,
        None => None,
    };
    let params = message.remove("params").unwrap_or(Value::Null);
    match (id, method) {
        (Some(id), Some(method)) => Some(JsonRpcEvent::Request { id, method, params }),
        (None, Some(method)) => Some(JsonRpcEvent::Notification { method, params }),
        (Some(id), None) => {
            let id = id.as_u64()?;
            let result = match message.remove("error").filter(|error| !error.is_null()) {
                Some(error) => Err(parse_error(&error)),
                None => Ok(message.remove("result").unwrap_or(Value::Null)),
            };
            Some(JsonRpcEvent::Response { id, result })
        }
        (None, None) => None,
    }
}

fn parse_error(error: &Value) -> JsonRpcError {
    JsonRpcError {
        code: error["code"].as_i64().unwrap_or(0),
        message: error["message"].as_str().unwrap_or("it does not say why").to_string(),
        data: error.get("data").cloned(),
    }
}

fn garbage(line: &[u8]) -> JsonRpcEvent {
    JsonRpcEvent::Garbage(String::from_utf8_lossy(line).chars().take(MOST_GARBAGE).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_message_is_told_from_the_others() {
        let asks = |id: Value| JsonRpcEvent::Request { id, method: "m".into(), params: json!({"a": 1}) };
        assert_eq!(parse_line(br#"{"id":0,"method":"m","params":{"a":1}}"#), asks(json!(0)));
        assert_eq!(
            parse_line(br#"{"jsonrpc":"2.0","id":"x","method":"m","params":{"a":1}}"#),
            asks(json!("x"))
        );
        assert_eq!(
            parse_line(br#"{"method":"m"}"#),
            JsonRpcEvent::Notification { method: "m".into(), params: Value::Null }
        );
        assert_eq!(
            parse_line(br#"{"id":3,"result":7}"#),
            JsonRpcEvent::Response { id: 3, result: Ok(json!(7)) }
        );
        let JsonRpcEvent::Response { id: 4, result: Err(error) } =
            parse_line(br#"{"id":4,"result":null,"error":{"code":-1,"message":"no"}}"#)
        else {
            panic!("an error is an answer")
        };
        assert_eq!((error.code, error.message.as_str()), (-1, "no"));
    }

    #[test]
    fn what_is_no_message_is_told_and_cut_short() {
        for line in ["", "hello", "[1]", "{}", r#"{"id":"ours are numbers","result":1}"#, r#"{"method":7}"#] {
            assert_eq!(parse_line(line.as_bytes()), JsonRpcEvent::Garbage(line.to_string()));
        }
        let JsonRpcEvent::Garbage(text) = parse_line(&[0xff; 5000]) else { panic!("it is no message") };
        assert_eq!(text.chars().count(), MOST_GARBAGE);
    }
}
