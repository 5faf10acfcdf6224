//! The wires: the protocols for talking to models. One file each; adding one is a `mod` line and a line in
//! [`ALL`].
//!
//! A wire does no I/O: it makes the one HTTP request of a [`WireCall`], and reads the frames of the answer
//! into an [`Assembly`]. The bytes may come in any chunks; the events are the same.

mod address;
mod anthropic;
mod completions;
#[cfg(test)]
mod conformance;
mod effort;
mod google;
mod history;
pub(crate) mod ids;
mod kept_turns;
mod ollama;
mod picture;
mod request_body;
mod responses;

use serde_json::Value;

pub use kept_turns::KeptTurns;
pub use picture::picture_size;

use crate::failure::{ModelFailure, ModelResult};
use crate::{request::WireCall, stream::assembly::Assembly};

pub static ALL: &[&dyn Wire] = &[
    &anthropic::AnthropicWire,
    &completions::CompletionsWire,
    &google::GoogleWire,
    &ollama::OllamaWire,
    &responses::ResponsesWire,
];

/// A protocol for talking to models.
pub trait Wire: Sync {
    /// In `models.yml` and in messages.
    fn id(&self) -> &'static str;

    /// The HTTP request for a streamed answer.
    ///
    /// # Errors
    /// [`crate::FailureClass::Config`] or [`crate::FailureClass::BadRequest`] for what cannot be requested
    /// this way.
    fn request(&self, call: &WireCall<'_>) -> ModelResult<WireHttpRequest>;

    /// How the answer is split into frames.
    fn framing(&self) -> Framing {
        Framing::Events
    }

    /// A reader for one answer.
    fn reader(&self, call: &WireCall<'_>) -> Box<dyn WireReader>;
}

/// Reads the frames of one answer.
pub trait WireReader: Send {
    /// # Errors
    /// The provider's error, or [`crate::FailureClass::Malformed`]. The caller then ends the answer with
    /// it.
    fn read_frame(&mut self, frame: &AnswerFrame<'_>, into: &mut Assembly) -> ModelResult;

    /// The body has ended. An answer that is not over by then is cut off: [`ModelFailure::cut_off`].
    ///
    /// # Errors
    /// As in [`WireReader::read_frame`].
    fn end(&mut self, into: &mut Assembly) -> ModelResult {
        if into.is_finished() { Ok(()) } else { Err(ModelFailure::cut_off()) }
    }
}

/// How an answer is split into frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events.
    Events,
    /// One JSON object per line.
    Lines,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerFrame<'a> {
    /// Empty if there is none.
    pub name: &'a str,
    pub data: &'a str,
}

/// Takes the frames of an answer.
pub type FrameSink<'s> = dyn FnMut(&AnswerFrame<'_>) -> ModelResult + 's;

#[derive(Clone, PartialEq, Eq)]
pub struct WireHttpRequest {
    pub url: String,
    /// The sender adds `content-type` and the model's headers.
    pub headers: Vec<(String, String)>,
    /// JSON.
    pub body: Vec<u8>,
}

/// Neither the values of headers nor the address's query: they may include a key.
impl std::fmt::Debug for WireHttpRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        let url = self.url.split('?').next();
        f.debug_struct("WireHttpRequest")
            .field("url", &url)
            .field("headers", &names)
            .field("body", &self.body.len())
            .finish()
    }
}

pub fn by_id(id: &str) -> Option<&'static dyn Wire> {
    ALL.iter().copied().find(|wire| wire.id() == id)
}

/// Empty if it is no text.
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Empty if it is no list.
fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}
