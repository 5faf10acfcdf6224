//! The wire `openai-responses`: <https://platform.openai.com/docs/api-reference/responses>.
//!
//! Nothing is stored with the provider (`store: false`): thinking comes encrypted, and goes back as it came to the model
//! that thought it. Azure differs in its address and in the header of its key; both follow from the base URL.

mod item;
mod reader;
mod request;
#[cfg(test)]
mod tests;

use super::{Framing, Post, Reader, Wire, address};
use crate::failure::Failure;
use crate::request::Call;

/// Where the provider itself is.
const BASE: &str = "https://api.openai.com/v1";

/// The wire `openai-responses`.
#[derive(Debug)]
pub(super) struct Responses;

impl Wire for Responses {
    fn id(&self) -> &'static str {
        "openai-responses"
    }

    fn request(&self, call: &Call<'_>) -> Result<Post, Failure> {
        let url = address::url(call.model, BASE, "/responses")?;
        let headers = address::proof(call.model, call.auth)?;
        let body = request::body(call).to_string().into_bytes();
        Ok(Post { url, headers, body })
    }

    fn framing(&self) -> Framing {
        Framing::Events
    }

    fn reader(&self, call: &Call<'_>) -> Box<dyn Reader> {
        Box::new(reader::ResponsesReader::new(&call.model.provider))
    }
}
