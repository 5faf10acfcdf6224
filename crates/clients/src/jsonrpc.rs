//! JSON-RPC over a child's standard streams, one message per line; both sides ask and answer.
//!
//! Some servers leave out the member `jsonrpc` and do not want it: see [`JsonRpcStyle`]. A line that is not
//! a message is reported ([`JsonRpcEvent::Garbage`]) and skipped: a program may print something else first.

use std::time::Duration;

use relaycode_exec::{ExecError, Job, JobOutcome, Runner};
use serde_json::{Map, Value, json};

use crate::line_process::{LineEvent, LineProcess};

/// JSON-RPC error code.
pub const METHOD_NOT_FOUND: i64 = -32601;

/// Whether messages carry `"jsonrpc": "2.0"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonRpcStyle {
    Versioned,
    Bare,
}

#[derive(Debug)]
pub struct JsonRpcPeer {
    pub lines: LineProcess,
    style: JsonRpcStyle,
    next_id: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub enum JsonRpcEvent {
    /// The answer to our request.
    Response {
        /// Our id, as returned by [`JsonRpcPeer::request`].
        id: u64,
        result: Result<Value, JsonRpcError>,
    },
    /// The peer asks and wants an answer ([`JsonRpcPeer::respond`], [`JsonRpcPeer::respond_error`]).
    Request {
        /// Its own id, of any JSON type.
        id: Value,
        method: String,
        params: Value,
    },
    /// The peer reports something and wants no answer.
    Notification {
        method: String,
        params: Value,
    },
    /// A line that is not a message, clipped for a message to people.
    Garbage(String),
    /// It sent a line over the limit.
    LineTooLong,
    /// It does not read its input, so part of it was never sent.
    NotReading,
    /// Nothing within the time.
    Idle,
    Exited(Box<JobOutcome>),
}

/// The peer's answer when it cannot do what it was asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct JsonRpcError {
    pub code: i64,
    /// In the peer's words.
    pub message: String,
    pub data: Option<Value>,
}

/// Most characters shown of a line that is not a message.
const MOST_GARBAGE: usize = 300;

impl JsonRpcPeer {
    /// Its [`Job::input`] should be [`relaycode_exec::JobInput::Piped`].
    pub fn start(runner: &Runner, job: &Job, style: JsonRpcStyle) -> Result<JsonRpcPeer, ExecError> {
        Ok(JsonRpcPeer { lines: LineProcess::start(runner, job)?, style, next_id: 1 })
    }

    /// Returns the id under which the answer will come.
    pub fn request(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(json!({"id": id, "method": method, "params": params}));
        id
    }

    pub fn notify(&mut self, method: &str, params: Option<&Value>) {
        let mut message = json!({"method": method});
        if let Some(params) = params {
            message["params"] = params.clone();
        }
        self.send(message);
    }

    pub fn respond(&mut self, id: &Value, result: &Value) {
        self.send(json!({"id": id, "result": result}));
    }

    pub fn respond_error(&mut self, id: &Value, code: i64, message: &str) {
        self.send(json!({"id": id, "error": {"code": code, "message": message}}));
    }

    /// Waits for the next message, at most `most`.
    pub fn next(&mut self, most: Duration) -> Result<JsonRpcEvent, ExecError> {
        Ok(match self.lines.next(most)? {
            LineEvent::Line(line) => parse_line(&line),
            LineEvent::LineTooLong => JsonRpcEvent::LineTooLong,
            LineEvent::NotReading => JsonRpcEvent::NotReading,
            LineEvent::Idle => JsonRpcEvent::Idle,
            LineEvent::Exited(finished) => JsonRpcEvent::Exited(finished),
        })
    }

    fn send(&mut self, mut message: Value) {
        if self.style == JsonRpcStyle::Versioned {
            message["jsonrpc"] = "2.0".into();
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
    let params = message.remove("params").unwrap_or_default();
    Some(match (message.remove("method"), id) {
        (Some(Value::String(method)), Some(id)) => JsonRpcEvent::Request { id, method, params },
        (Some(Value::String(method)), None) => JsonRpcEvent::Notification { method, params },
        (Some(_), _) => return None,
        (None, id) => {
            let id = id?.as_u64()?;
            let result = match message.remove("error").filter(|error| !error.is_null()) {
                Some(error) => Err(parse_error(&error)),
                None => Ok(message.remove("result").unwrap_or_default()),
            };
            JsonRpcEvent::Response { id, result }
        }
    })
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
