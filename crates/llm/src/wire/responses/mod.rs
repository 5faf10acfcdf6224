//! The wire `openai-responses`: <https://platform.openai.com/docs/api-reference/responses>.
//!
//! Nothing is stored with the provider (`store: false`): thinking comes encrypted, and goes back unchanged
//! to the model that produced it. Azure differs in its address and in the header of its key; both follow
//! from the base URL.

mod item;
mod reader;
mod request;
#[cfg(test)]
mod tests;

use super::{Wire, WireHttpRequest, WireReader, address};
use crate::{failure::ModelResult, request::WireCall};

/// OpenAI's own address.
const BASE: &str = "https://api.openai.com/v1";

#[derive(Debug)]
pub(super) struct ResponsesWire;

impl Wire for ResponsesWire {
    fn id(&self) -> &'static str {
        "openai-responses"
    }

    fn request(&self, call: &WireCall<'_>) -> ModelResult<WireHttpRequest> {
        address::post(call, BASE, "/responses", request::body(call))
    }

    fn reader(&self, call: &WireCall<'_>) -> Box<dyn WireReader> {
        Box::new(reader::ResponsesReader::new(&call.model.provider))
    }
}
