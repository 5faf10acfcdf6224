//! Google Generative AI (the Gemini API), and those who speak like it.
//!
//! `POST …/models/{id}:streamGenerateContent?alt=sse`, as ai.google.dev/api/generate-content describes it. The key goes into
//! a header, never into the address.

mod body;
mod read;
mod thinking;

#[cfg(test)]
mod tests;

use super::{Framing, Post, Reader, Wire, address};
use crate::failure::{Class, Failure};
use crate::model::Model;
use crate::request::{Auth, Call};

/// Where Google is.
const USUAL: &str = "https://generativelanguage.googleapis.com/v1beta";

/// The wire.
pub(crate) struct Google;

impl Wire for Google {
    fn id(&self) -> &'static str {
        "google-generative-ai"
    }

    fn request(&self, call: &Call<'_>) -> Result<Post, Failure> {
        let body = body::body(call).to_string().into_bytes();
        Ok(Post { url: url(call.model)?, headers: proof(call.model, call.auth)?, body })
    }

    fn framing(&self) -> Framing {
        Framing::Events
    }

    fn reader(&self, call: &Call<'_>) -> Box<dyn Reader> {
        Box::new(read::Chunks::new(&call.model.provider))
    }
}

fn url(model: &Model) -> Result<String, Failure> {
    let id = model.id.strip_prefix("models/").unwrap_or(&model.id);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'/' | b'@');
    if id.is_empty() || id.contains("..") || !id.bytes().all(plain) {
        let id = crate::failure::classify::shown(&model.id);
        let message = format!("`{id}` is no name that a model of {} can have", model.provider);
        return Err(Failure::new(Class::Config, message));
    }
    let url = address::url(model, USUAL, &format!("/models/{id}:streamGenerateContent"))?;
    let sign = if url.contains('?') { '&' } else { '?' };
    Ok(format!("{url}{sign}alt=sse"))
}

fn proof(model: &Model, auth: &Auth) -> Result<Vec<(String, String)>, Failure> {
    let Some(key) = address::key(model, auth)? else { return Ok(Vec::new()) };
    Ok(match model.compat.auth_header {
        Some(true) => vec![("authorization".into(), format!("Bearer {key}"))],
        _ => vec![("x-goog-api-key".into(), key.into())],
    })
}
