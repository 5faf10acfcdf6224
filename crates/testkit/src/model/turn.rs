//! One turn of a script: what the model says to one request, and what goes wrong meanwhile.
//!
//! A turn is the same for every wire; a wire leaves out what it has no place for.

use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// No pause is longer than this, whatever a script says.
const MAX_PAUSE: Duration = Duration::from_secs(3600);

/// What the model says to one request.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScriptedTurn {
    /// The answer's text.
    pub text: TurnText,
    /// What it thinks first, where the wire has a place for it.
    pub reasoning: Option<TurnText>,
    /// What the provider signs the thinking with; a default where the wire demands one, none when empty.
    pub thinking_signature: Option<String>,
    /// The name of the field that carries thinking in chat completions; `reasoning_content` unless given.
    pub reasoning_field: Option<String>,
    /// The tools it calls.
    pub tool_calls: Vec<ScriptedToolCall>,
    /// Why it stops, in the wire's own word; what fits the turn unless given.
    pub stop: Option<String>,
    /// What it costs.
    pub usage: TurnUsage,
    /// How many requests this turn serves; 1 unless given.
    pub repeat: Option<u32>,
    /// What the request's body must contain: see [`super::Consume`].
    pub expect: Option<String>,

    /// The status of the answer; with one that is no success, `body` follows instead of an answer.
    pub status: Option<u16>,
    /// What stands in a failure; the wire's own shape unless given.
    pub body: Option<Value>,
    /// More headers.
    pub headers: BTreeMap<String, String>,

    /// Silence before the status line, in milliseconds.
    pub delay_ms: u64,
    /// Silence before the status line, in seconds or for ever.
    pub stall_before_headers: Option<TurnDelay>,
    /// The connection is closed before anything is sent.
    pub close_before_headers: bool,
    /// Silence between two events, in milliseconds.
    pub chunk_delay_ms: u64,
    /// Silence after the first delta, in seconds or for ever.
    pub hang_s: Option<TurnDelay>,
    /// One event in the middle is broken JSON.
    pub malformed: bool,
    /// After so many events the connection is reset.
    pub disconnect_after: Option<usize>,
    /// The body ends well, without the wire's last event.
    pub truncate: bool,
    /// After the text, the wire's own error event with this message, and nothing more.
    pub stream_error: Option<String>,
    /// The body is exactly these pieces, each sent on its own.
    pub chunks: Option<Vec<BodyPiece>>,
    /// A seed: the stream is cut into random pieces.
    pub split: Option<u64>,
    /// The last delta is sent again and again until the client goes.
    pub never_end: bool,
    /// Every event is sent twice.
    pub duplicate: bool,
    /// Bytes that are no UTF-8 stand in the first delta of the text.
    pub invalid_utf8: bool,
    /// One delta has a text of so many bytes.
    pub big_line: Option<usize>,
}

/// A text, whole or in the pieces in which it is streamed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum TurnText {
    /// Streamed in three pieces.
    Whole(String),
    /// Each piece is one delta.
    Pieces(Vec<String>),
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedToolCall {
    /// The tool.
    pub name: String,
    /// Its arguments; a string is sent as it is, whether it is JSON or not.
    #[serde(default)]
    pub arguments: Value,
    /// What a custom tool of the Responses wire gets instead of arguments.
    #[serde(default)]
    pub input: Option<String>,
    /// The call's id; one of ours unless given.
    #[serde(default)]
    pub id: Option<String>,
    /// The tool's namespace, on the Responses wire.
    #[serde(default)]
    pub namespace: Option<String>,
}

/// What a turn costs, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TurnUsage {
    /// Read, and not from a cache.
    #[serde(rename = "in")]
    pub input: u64,
    /// Written, thinking included.
    #[serde(rename = "out")]
    pub output: u64,
    /// Read from a cache.
    pub cache_read: u64,
    /// Put into a cache.
    pub cache_write: u64,
    /// Of those written, thought.
    pub reasoning: u64,
}

impl Default for TurnUsage {
    fn default() -> TurnUsage {
        TurnUsage { input: 10, output: 5, cache_read: 0, cache_write: 0, reasoning: 0 }
    }
}

/// How long to be silent.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum TurnDelay {
    /// So many seconds.
    Seconds(f64),
    /// `true`: until the client goes.
    Forever(bool),
}

/// Bytes that are sent as they are.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum BodyPiece {
    /// Text.
    Text(String),
    /// Any bytes.
    Bytes(Vec<u8>),
}

impl ScriptedTurn {
    /// An answer of this text.
    pub fn text(text: impl Into<String>) -> ScriptedTurn {
        ScriptedTurn { text: TurnText::Whole(text.into()), ..ScriptedTurn::default() }
    }

    /// An answer whose deltas are these.
    pub fn pieces<S: Into<String>>(pieces: impl IntoIterator<Item = S>) -> ScriptedTurn {
        ScriptedTurn {
            text: TurnText::Pieces(pieces.into_iter().map(Into::into).collect()),
            ..ScriptedTurn::default()
        }
    }

    /// An answer that is nothing but the call of a tool.
    pub fn call(name: &str, arguments: Value) -> ScriptedTurn {
        ScriptedTurn::default().tool(name, arguments)
    }

    /// An HTTP status instead of an answer.
    pub fn status(status: u16) -> ScriptedTurn {
        ScriptedTurn { status: Some(status), ..ScriptedTurn::default() }
    }

    /// A body of exactly these pieces.
    pub fn raw<P: Into<BodyPiece>>(chunks: impl IntoIterator<Item = P>) -> ScriptedTurn {
        ScriptedTurn { chunks: Some(chunks.into_iter().map(Into::into).collect()), ..ScriptedTurn::default() }
    }

    /// Also calls this tool.
    #[must_use]
    pub fn tool(mut self, name: &str, arguments: Value) -> ScriptedTurn {
        let name = name.to_owned();
        self.tool_calls.push(ScriptedToolCall { name, arguments, input: None, id: None, namespace: None });
        self
    }

    /// Also calls this custom tool, whose input is plain text.
    #[must_use]
    pub fn custom_tool(mut self, name: &str, input: &str) -> ScriptedTurn {
        let (name, input) = (name.to_owned(), Some(input.to_owned()));
        self.tool_calls.push(ScriptedToolCall {
            name,
            arguments: Value::Null,
            input,
            id: None,
            namespace: None,
        });
        self
    }

    /// Thinks this first.
    #[must_use]
    pub fn reasoning(mut self, text: impl Into<String>) -> ScriptedTurn {
        self.reasoning = Some(TurnText::Whole(text.into()));
        self
    }

    /// Signs the thinking with this.
    #[must_use]
    pub fn signature(mut self, signature: &str) -> ScriptedTurn {
        self.thinking_signature = Some(signature.to_owned());
        self
    }

    /// Stops for this reason.
    #[must_use]
    pub fn stop(mut self, reason: &str) -> ScriptedTurn {
        self.stop = Some(reason.to_owned());
        self
    }

    /// Costs this.
    #[must_use]
    pub fn usage(mut self, usage: TurnUsage) -> ScriptedTurn {
        self.usage = usage;
        self
    }

    /// Serves so many requests.
    #[must_use]
    pub fn repeat(mut self, times: u32) -> ScriptedTurn {
        self.repeat = Some(times);
        self
    }

    /// Is for a request whose body contains this.
    #[must_use]
    pub fn expect(mut self, part: &str) -> ScriptedTurn {
        self.expect = Some(part.to_owned());
        self
    }

    /// Has this header, too.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> ScriptedTurn {
        self.headers.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Has this body, if it is a failure.
    #[must_use]
    pub fn body(mut self, body: Value) -> ScriptedTurn {
        self.body = Some(body);
        self
    }

    /// Changes any other field: `ScriptedTurn::text("…").with(|turn| turn.truncate = true)`.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut ScriptedTurn)) -> ScriptedTurn {
        change(&mut self);
        self
    }
}

impl Default for TurnText {
    fn default() -> TurnText {
        TurnText::Pieces(Vec::new())
    }
}

impl TurnText {
    /// The deltas: pieces as they are, a whole text in three.
    pub fn deltas(&self) -> Vec<String> {
        match self {
            TurnText::Pieces(pieces) => pieces.clone(),
            TurnText::Whole(text) => thirds(text),
        }
    }
}

impl ScriptedToolCall {
    /// The arguments as the text that is streamed.
    pub(super) fn text(&self) -> String {
        match &self.arguments {
            Value::String(text) => text.clone(),
            Value::Null => "{}".to_owned(),
            other => other.to_string(),
        }
    }

    /// The arguments as an object, for wires that send no text.
    pub(super) fn object(&self) -> Value {
        match &self.arguments {
            Value::Null => Value::Object(serde_json::Map::new()),
            other => other.clone(),
        }
    }
}

impl TurnDelay {
    /// As a time; for ever is the longest there is.
    pub(super) fn time(self) -> Duration {
        match self {
            TurnDelay::Seconds(seconds) => {
                Duration::try_from_secs_f64(seconds).unwrap_or(MAX_PAUSE).min(MAX_PAUSE)
            }
            TurnDelay::Forever(true) => MAX_PAUSE,
            TurnDelay::Forever(false) => Duration::ZERO,
        }
    }
}

/// So many milliseconds.
pub(super) fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count).min(MAX_PAUSE)
}

impl BodyPiece {
    /// Its bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            BodyPiece::Text(text) => text.as_bytes(),
            BodyPiece::Bytes(bytes) => bytes,
        }
    }
}

impl From<&str> for BodyPiece {
    fn from(text: &str) -> BodyPiece {
        BodyPiece::Text(text.to_owned())
    }
}

impl From<String> for BodyPiece {
    fn from(text: String) -> BodyPiece {
        BodyPiece::Text(text)
    }
}

impl From<Vec<u8>> for BodyPiece {
    fn from(bytes: Vec<u8>) -> BodyPiece {
        BodyPiece::Bytes(bytes)
    }
}

impl From<&[u8]> for BodyPiece {
    fn from(bytes: &[u8]) -> BodyPiece {
        BodyPiece::Bytes(bytes.to_vec())
    }
}

/// Three pieces of about the same length, none empty; a short text is one piece.
fn thirds(text: &str) -> Vec<String> {
    let count = text.chars().count();
    if count == 0 {
        return Vec::new();
    }
    let step = if count < 6 { count } else { count.div_ceil(3) };
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(step).map(|piece| piece.iter().collect()).collect()
}
