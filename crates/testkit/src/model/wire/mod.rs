//! The wires from the provider's side: how each expresses a turn. One file each; adding one is a `mod` line
//! and a line in [`ALL`].
//!
//! A wire is pure: a turn and the request in, the events of a faithful stream out. Faults are not its
//! concern.

mod anthropic;
mod chat;
mod google;
mod ollama;
mod responses;

use serde_json::{Value, json};

use super::turn::ScriptedTurn;

pub(super) static ALL: &[&dyn ScriptedWire] =
    &[&anthropic::Anthropic, &chat::Chat, &google::Google, &ollama::Ollama, &responses::Responses];

/// Bytes of a tool's arguments per event.
const ARGUMENTS_PIECE: usize = 60;

/// A protocol, from the provider's side.
pub(super) trait ScriptedWire: Sync {
    /// The same as in `relaycode-llm`.
    fn id(&self) -> &'static str;

    /// Whether a POST to this path is for this wire.
    fn hears(&self, path: &str) -> bool;

    fn streams(&self, request: &WireRequest<'_>) -> bool;

    /// The content type of a stream.
    fn content_type(&self, request: &WireRequest<'_>) -> &'static str;

    /// The events of a stream that expresses the turn.
    fn frames(&self, turn: &ScriptedTurn, request: &WireRequest<'_>) -> Vec<WireFrame>;

    /// The same without a stream.
    fn whole(&self, turn: &ScriptedTurn, request: &WireRequest<'_>) -> Value;

    /// The body of an error status.
    fn refusal(&self, status: u16) -> Value;

    /// The body of a 400 for a request of so many tokens where the model reads fewer.
    fn too_long(&self, tokens: u64, window: u64) -> Value;

    /// The event for an error in the middle of a stream.
    fn stream_error(&self, message: &str, request: &WireRequest<'_>) -> WireFrame;

    /// An event that is broken JSON.
    fn broken(&self) -> &'static str {
        "data: {\"broken\": \n\n"
    }
}

pub(super) struct WireRequest<'a> {
    pub(super) path: &'a str,
    pub(super) query: &'a str,
    pub(super) body: &'a Value,
    /// The request's number, which makes ids differ.
    pub(super) serial: u64,
}

impl WireRequest<'_> {
    pub(super) fn model(&self) -> &str {
        self.body.get("model").and_then(Value::as_str).unwrap_or("scripted-model")
    }

    /// The value of a boolean in the body.
    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.body.get(name).and_then(Value::as_bool)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WireFrame {
    pub(super) part: WirePart,
    pub(super) text: String,
}

/// What an event is in a stream, for the faults that need to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WirePart {
    /// Before any content.
    Start,
    /// Some of the text, or of the thinking.
    Delta,
    /// Anything else.
    Middle,
    /// What ends the stream.
    End,
}

/// A server-sent event with a name.
fn named(part: WirePart, name: &str, mut data: Value) -> WireFrame {
    data["type"] = json!(name);
    WireFrame { part, text: format!("event: {name}\ndata: {data}\n\n") }
}

/// A server-sent event without a name.
fn unnamed(part: WirePart, data: &Value) -> WireFrame {
    WireFrame { part, text: format!("data: {data}\n\n") }
}

/// One piece per event.
fn pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(ARGUMENTS_PIECE).map(|piece| piece.iter().collect()).collect()
}

/// A word for a failure of this status.
fn refused(status: u16) -> String {
    format!("scripted failure with status {status}")
}
