//! The wires: the protocols in which models are spoken to. One file each; adding one is a `mod` line and a line in
//! [`ALL`].
//!
//! A wire does no I/O: it makes the one HTTP request of a [`WireCall`], and reads the frames of the answer into an
//! [`Assembly`]. The bytes may come in any pieces; the events are the same.

mod address;
mod anthropic;
mod completions;
#[cfg(test)]
mod conformance;
mod effort;
mod google;
mod history;
pub(crate) mod ids;
mod ollama;
mod picture;
mod responses;

use crate::failure::ModelFailure;
use crate::request::WireCall;
use crate::stream::assembly::Assembly;

/// Every wire.
pub static ALL: &[&dyn Wire] = &[
    &anthropic::AnthropicWire,
    &completions::CompletionsWire,
    &google::GoogleWire,
    &ollama::OllamaWire,
    &responses::ResponsesWire,
];

/// A protocol in which models are spoken to.
pub trait Wire: Sync {
    /// Its name in `models.yml` and in messages.
    fn id(&self) -> &'static str;

    /// The HTTP request that asks for a streamed answer.
    ///
    /// # Errors
    /// [`crate::Class::Config`] or [`crate::Class::BadRequest`] for what cannot be asked this way.
    fn request(&self, call: &WireCall<'_>) -> Result<WireHttpRequest, ModelFailure>;

    /// How the answer is cut into frames.
    fn framing(&self) -> Framing;

    /// What reads the frames of one answer.
    fn reader(&self, call: &WireCall<'_>) -> Box<dyn WireReader>;
}

/// What reads the frames of one answer.
pub trait WireReader: Send {
    /// One frame.
    ///
    /// # Errors
    /// What the provider says went wrong, or [`crate::Class::Malformed`]. The caller then ends the answer with it.
    fn read_frame(&mut self, frame: &AnswerFrame<'_>, into: &mut Assembly) -> Result<(), ModelFailure>;

    /// The body has ended. An answer that is not over by then is cut off: [`ModelFailure::cut_off`].
    ///
    /// # Errors
    /// See above.
    fn end(&mut self, into: &mut Assembly) -> Result<(), ModelFailure> {
        if into.is_finished() { Ok(()) } else { Err(ModelFailure::cut_off()) }
    }
}

/// How an answer is cut into frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events.
    Events,
    /// One JSON object per line.
    Lines,
}

/// One frame of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerFrame<'a> {
    /// The event's name; empty where there is none.
    pub name: &'a str,
    /// What it says.
    pub data: &'a str,
}

/// An HTTP request.
#[derive(Clone, PartialEq, Eq)]
pub struct WireHttpRequest {
    /// Where to.
    pub url: String,
    /// Its headers; `content-type` and those of the model are added by who sends it.
    pub headers: Vec<(String, String)>,
    /// JSON.
    pub body: Vec<u8>,
}

/// Neither the values of headers nor the address's query: a key may be among them.
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

/// The wire of that name.
pub fn by_id(id: &str) -> Option<&'static dyn Wire> {
    ALL.iter().copied().find(|wire| wire.id() == id)
}
