//! Google Generative AI (the Gemini API), and compatible servers.
//!
//! `POST …/models/{id}:streamGenerateContent?alt=sse`, as ai.google.dev/api/generate-content describes it. The key goes into
//! a header, never into the address.

mod reader;
mod request;
mod thinking;

#[cfg(test)]
mod tests;

use super::{Wire, WireHttpRequest, WireReader, address};
use crate::failure::{ModelFailure, ModelResult};
use crate::models::model::Model;
use crate::request::{Auth, WireCall};

/// Google's own address.
const USUAL: &str = "https://generativelanguage.googleapis.com/v1beta";

pub(crate) struct GoogleWire;

impl Wire for GoogleWire {
    fn id(&self) -> &'static str {
        "google-generative-ai"
    }

    fn request(&self, call: &WireCall<'_>) -> ModelResult<WireHttpRequest> {
        let body = request::body(call);
        Ok(WireHttpRequest { url: url(call.model)?, headers: auth_headers(call.model, call.auth)?, body })
    }

    fn reader(&self, call: &WireCall<'_>) -> Box<dyn WireReader> {
        Box::new(reader::GoogleReader::new(&call.model.provider))
    }
}

fn url(model: &Model) -> ModelResult<String> {
    let id = model.id.strip_prefix("models/").unwrap_or(&model.id);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'/' | b'@');
    if id.is_empty() || id.contains("..") || !id.bytes().all(plain) {
        let id = crate::failure::classify::sanitize_words(&model.id);
        let message = format!("`{id}` is no name that a model of {} can have", model.provider);
        return Err(ModelFailure::config(message));
    }
    let url = address::url(model, USUAL, &format!("/models/{id}:streamGenerateContent"))?;
    let sign = if url.contains('?') { '&' } else { '?' };
    Ok(format!("{url}{sign}alt=sse"))
}

fn auth_headers(model: &Model, auth: &Auth) -> ModelResult<Vec<(String, String)>> {
    let Some(key) = address::checked_key(model, auth)? else { return Ok(Vec::new()) };
    Ok(match model.compat.auth_header {
        Some(true) => vec![("authorization".into(), format!("Bearer {key}"))],
        _ => vec![("x-goog-api-key".into(), key.into())],
    })
}
