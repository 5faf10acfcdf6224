//! A line as a request: `{"id": …, "type": "prompt", …}`.
//!
//! Invariant: whatever is wrong with a line, the error has its id as far as one can be read.

use serde_json::{Map, Value};

use crate::rpc::error::{RpcError, RpcErrorCode};
use crate::rpc::frame::RequestId;

/// Values of a line: one that takes two bytes there takes up to half a kilobyte in memory.
const MAX_VALUES: usize = 100_000;
/// Bytes of an id.
const MAX_ID_BYTES: usize = 256;

#[derive(Debug, PartialEq)]
pub(crate) struct RpcRequest {
    pub(crate) id: Option<RequestId>,
    pub(crate) command: String,
    /// Without both.
    pub(crate) params: Map<String, Value>,
}

impl RpcRequest {
    /// # Errors
    /// What is wrong, and the id.
    pub(crate) fn parse(line: &[u8]) -> Result<RpcRequest, Box<(Option<RequestId>, RpcError)>> {
        let fail = |code, message: String| Box::new((find_id(line), RpcError::new(code, message)));
        if has_too_many_values(line) {
            let said = format!("the line has more than {MAX_VALUES} values");
            return Err(fail(RpcErrorCode::LineTooLong, said));
        }
        let mut params = match serde_json::from_slice::<Value>(line) {
            Ok(Value::Object(params)) => params,
            Ok(_) => return Err(fail(RpcErrorCode::ParseError, "the line is no JSON object".into())),
            Err(error) => {
                return Err(fail(RpcErrorCode::ParseError, format!("the line is no JSON: {error}")));
            }
        };
        let id = match params.shift_remove("id") {
            None | Some(Value::Null) => None,
            Some(Value::String(id)) if id.len() <= MAX_ID_BYTES => Some(RequestId::Text(id)),
            Some(Value::Number(id)) => Some(RequestId::Number(id)),
            Some(_) => {
                let said = format!("`id` is a text of at most {MAX_ID_BYTES} bytes, or a number");
                return Err(Box::new((None, RpcError::new(RpcErrorCode::InvalidRequest, said))));
            }
        };
        match params.shift_remove("type") {
            Some(Value::String(command)) => Ok(RpcRequest { id, command, params }),
            _ => {
                let error = RpcError::new(RpcErrorCode::InvalidRequest, "`type` names no command");
                Err(Box::new((id, error)))
            }
        }
    }
}

/// The id of a line that is no request, or of which only the beginning is there.
pub(crate) fn find_id(line: &[u8]) -> Option<RequestId> {
    let mut depth = 0_usize;
    let mut at = 0;
    // At depth 1, whether the next text is a name.
    let mut is_name = false;
    while at < line.len() {
        match line[at] {
            b'{' | b'[' => {
                depth += 1;
                is_name = depth == 1 && line[at] == b'{';
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' => is_name = depth == 1,
            b'"' => {
                let end = string_end(line, at)?;
                let follows = line.get(end..).unwrap_or_default().trim_ascii_start();
                if depth == 1 && is_name && &line[at..end] == b"\"id\"" && follows.first() == Some(&b':') {
                    return read_id(follows[1..].trim_ascii_start());
                }
                is_name = false;
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Behind the text that begins here.
fn string_end(line: &[u8], from: usize) -> Option<usize> {
    let mut at = from + 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', line.get(at..)?) {
        if line[at + found] == b'"' {
            return Some(at + found + 1);
        }
        at += found + 2;
    }
    None
}

fn read_id(value: &[u8]) -> Option<RequestId> {
    let end = match value.first()? {
        b'"' => string_end(value, 0)?,
        _ => value.iter().position(|byte| matches!(byte, b',' | b'}' | b' ' | b'\t'))?,
    };
    if end > MAX_ID_BYTES {
        return None;
    }
    serde_json::from_slice(&value[..end]).ok()
}

/// Judged by its separators, without those in texts.
fn has_too_many_values(line: &[u8]) -> bool {
    if line.len() < MAX_VALUES {
        return false;
    }
    let (mut at, mut values) = (0, 0);
    while at < line.len() {
        let text = memchr::memchr(b'"', &line[at..]).map_or(line.len(), |found| at + found);
        values += line[at..text].iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
        if values > MAX_VALUES {
            return true;
        }
        at = if text < line.len() { string_end(line, text).unwrap_or(line.len()) } else { text };
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(id: &str) -> Option<RequestId> {
        Some(RequestId::Text(id.into()))
    }

    #[test]
    fn a_request_has_a_type_and_may_have_an_id() {
        let request = RpcRequest::parse(br#"{"type":"prompt","id":"a","message":"Go"}"#).unwrap();
        assert_eq!((request.id, request.command.as_str()), (text("a"), "prompt"));
        assert_eq!(Value::Object(request.params), serde_json::json!({"message": "Go"}));
        let request = RpcRequest::parse(br#"{"id":7,"type":"abort"}"#).unwrap();
        assert_eq!(request.id, Some(RequestId::Number(7.into())));
        assert_eq!(RpcRequest::parse(br#"{"type":"abort","id":null}"#).unwrap().id, None);
    }

    #[test]
    fn an_error_has_the_id_as_far_as_one_can_be_read() {
        let deep = format!("{{\"id\":\"d\",\"type\":\"prompt\",\"x\":{}", "[".repeat(50_000));
        let many = format!("{{\"x\":[{}0],\"id\":\"m\"}}", "0,".repeat(MAX_VALUES));
        for (line, id, code) in [
            (&br#"{"id":"a","type":"prompt","message":"#[..], text("a"), RpcErrorCode::ParseError),
            (
                br#"{"message":"\"id\":\"no\"","n":{"id":"no"},"id" : "b", oops"#,
                text("b"),
                RpcErrorCode::ParseError,
            ),
            (b"{\"id\":\"c\",\"message\":\"\xff\"}", text("c"), RpcErrorCode::ParseError),
            (deep.as_bytes(), text("d"), RpcErrorCode::ParseError),
            (many.as_bytes(), text("m"), RpcErrorCode::LineTooLong),
            (br#"{"id":"e","type":7}"#, text("e"), RpcErrorCode::InvalidRequest),
            (br#"{"id":{},"type":"abort"}"#, None, RpcErrorCode::InvalidRequest),
            (br#"["id","f"]"#, None, RpcErrorCode::ParseError),
            (br#"{"type":"id","x":"#, None, RpcErrorCode::ParseError),
            (br#"{"id":"half"#, None, RpcErrorCode::ParseError),
            (b"", None, RpcErrorCode::ParseError),
        ] {
            let (found, error) = *RpcRequest::parse(line).unwrap_err();
            let shown = String::from_utf8_lossy(&line[..line.len().min(60)]);
            assert_eq!((found, error.code), (id, code), "{shown}");
        }
    }

    #[test]
    fn texts_count_as_one_value_whatever_is_in_them() {
        let long = ",".repeat(2 * MAX_VALUES);
        let line = format!("{{\"type\":\"prompt\",\"message\":\"{long}\"}}");
        assert!(RpcRequest::parse(line.as_bytes()).is_ok());
    }
}
