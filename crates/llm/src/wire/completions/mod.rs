//! The wire `openai-completions`: <https://platform.openai.com/docs/api-reference/chat>, as OpenAI and
//! everybody else speak it.
//!
//! How servers differ is in `compat`; how they write their streams is in `reader`, which reads all dialects
//! at once, whoever the server is. Text in `<think>` tags stays text: a model may well write such tags on
//! purpose.

mod calls;
mod compat;
mod messages;
mod reader;
mod reasoning_details;
mod request;
#[cfg(test)]
mod tests;
mod usage;

use super::{Wire, WireHttpRequest, WireReader, address};
use crate::{failure::ModelResult, request::WireCall};

/// OpenAI's own address.
const BASE: &str = "https://api.openai.com/v1";

#[derive(Debug)]
pub(super) struct CompletionsWire;

impl Wire for CompletionsWire {
    fn id(&self) -> &'static str {
        "openai-completions"
    }

    fn request(&self, call: &WireCall<'_>) -> ModelResult<WireHttpRequest> {
        address::post(call, BASE, "/chat/completions", request::body(call))
    }

    fn reader(&self, call: &WireCall<'_>) -> Box<dyn WireReader> {
        Box::new(reader::CompletionsReader::new(&call.model.provider))
    }
}
