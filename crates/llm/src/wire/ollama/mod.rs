//! The wire `ollama`: <https://docs.ollama.com/api/chat>. One JSON object per line; the last one says `done`.
//!
//! Tool calls come whole. Older servers send no ids, so ids are generated here, and results go back by the
//! tool's name.

mod reader;
mod request;
#[cfg(test)]
mod tests;

use super::{Framing, Wire, WireHttpRequest, WireReader, address};
use crate::{failure::ModelResult, request::WireCall};

/// The server's default address.
const BASE: &str = "http://127.0.0.1:11434";

#[derive(Debug)]
pub(super) struct OllamaWire;

impl Wire for OllamaWire {
    fn id(&self) -> &'static str {
        "ollama"
    }

    fn request(&self, call: &WireCall<'_>) -> ModelResult<WireHttpRequest> {
        address::post(call, BASE, "/api/chat", request::body(call))
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn reader(&self, call: &WireCall<'_>) -> Box<dyn WireReader> {
        Box::new(reader::OllamaReader::new(call))
    }
}
