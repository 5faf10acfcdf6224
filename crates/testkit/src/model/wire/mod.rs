//! The wires from the provider's side: how each says a turn. One file each; adding one is a `mod` line and a line in
//! [`ALL`].
//!
//! A wire is pure: a turn and what was asked in, the events of a faithful stream out. What goes wrong is not its
//! concern.

mod anthropic;
mod chat;
mod google;
mod ollama;
mod responses;

use serde_json::{Value, json};

use super::turn::ScriptedTurn;

/// Every wire.
pub(super) static ALL: &[&dyn ScriptedWire] =
    &[&anthropic::Anthropic, &chat::Chat, &google::Google, &ollama::Ollama, &responses::Responses];

/// How much of a tool's arguments goes into one event.
const ARGUMENTS_PIECE: usize = 60;

/// A protocol, from the provider's side.
pub(super) trait ScriptedWire: Sync {
    /// Its name, the same as in `relaycode-llm`.
    fn id(&self) -> &'static str;

    /// Whether a POST to this path is for it.
    fn hears(&self, path: &str) -> bool;

    /// Whether a stream is asked for.
    fn streams(&self, ask: &WireRequest<'_>) -> bool;

    /// The content type of a stream.
    fn content_type(&self, ask: &WireRequest<'_>) -> &'static str;

    /// The events of a stream that says the turn.
    fn frames(&self, turn: &ScriptedTurn, ask: &WireRequest<'_>) -> Vec<WireFrame>;

    /// The same without a stream.
    fn whole(&self, turn: &ScriptedTurn, ask: &WireRequest<'_>) -> Value;

    /// The body beside a status that is no success.
    fn refusal(&self, status: u16) -> Value;

    /// The event that says that something went wrong in the middle.
    fn stream_error(&self, message: &str, ask: &WireRequest<'_>) -> WireFrame;

    /// An event that is broken JSON.
    fn broken(&self) -> &'static str {
        "data: {\"broken\": \n\n"
    }
}

/// What was asked.
pub(super) struct WireRequest<'a> {
    pub(super) path: &'a str,
    pub(super) query: &'a str,
    pub(super) body: &'a Value,
    /// The request's number: what makes ids differ.
    pub(super) serial: u64,
}

impl WireRequest<'_> {
    pub(super) fn model(&self) -> &str {
        self.body.get("model").and_then(Value::as_str).unwrap_or("scripted-model")
    }

    /// The value of a switch in the body.
    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.body.get(name).and_then(Value::as_bool)
    }
}

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WireFrame {
    pub(super) part: WirePart,
    pub(super) text: String,
}

/// What an event is in a stream, for the faults that need to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WirePart {
    /// Before anything is said.
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

/// A text in pieces for as many events.
fn pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(ARGUMENTS_PIECE).map(|piece| piece.iter().collect()).collect()
}

/// What a failure of this status is called in a word.
fn refused(status: u16) -> String {
    format!("scripted failure with status {status}")
}
