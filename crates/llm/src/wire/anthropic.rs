//! Anthropic Messages, and those who speak like it.
//!
//! `POST /v1/messages` with `stream: true`, as platform.claude.com/docs/en/api/messages describes it.

mod body;
mod read;
mod thinking;

#[cfg(test)]
mod tests;

use super::address::{self, host, is_beneath};
use super::{Framing, Post, Reader, Wire};
use crate::failure::Failure;
use crate::model::Model;
use crate::request::{Auth, Call};

/// Where Anthropic is.
const USUAL: &str = "https://api.anthropic.com";

/// The version of the protocol.
const VERSION: &str = "2023-06-01";

/// Lets models of the fourth generation think between their calls; later ones do without being asked.
const INTERLEAVED: &str = "interleaved-thinking-2025-05-14";

/// The wire.
pub(crate) struct Anthropic;

impl Wire for Anthropic {
    fn id(&self) -> &'static str {
        "anthropic-messages"
    }

    fn request(&self, call: &Call<'_>) -> Result<Post, Failure> {
        let plan = thinking::plan(call);
        let mut headers = proof(call.model, call.auth)?;
        headers.push(("anthropic-version".into(), VERSION.into()));
        if plan.interleaves && !call.request.tools.is_empty() && is_anthropic(call.model) {
            headers.push(("anthropic-beta".into(), INTERLEAVED.into()));
        }
        let body = body::body(call, &plan).to_string().into_bytes();
        Ok(Post { url: url(call.model)?, headers, body })
    }

    fn framing(&self) -> Framing {
        Framing::Events
    }

    fn reader(&self, call: &Call<'_>) -> Box<dyn Reader> {
        Box::new(read::Messages::new(&call.model.provider))
    }
}

/// Some write the base with the version, some without.
fn url(model: &Model) -> Result<String, Failure> {
    let place = model.base_url.split('?').next().unwrap_or_default().trim().trim_end_matches('/');
    let place = place.strip_suffix("/messages").unwrap_or(place);
    let path = if place.ends_with("/v1") { "/messages" } else { "/v1/messages" };
    address::url(model, USUAL, path)
}

/// The server is Anthropic's own.
fn is_anthropic(model: &Model) -> bool {
    model.base_url.trim().is_empty() || is_beneath(&host(&model.base_url), "anthropic.com")
}

/// The header with the key. Others who speak this wire want the one header or the other: unless it is said which, they
/// get both.
fn proof(model: &Model, auth: &Auth) -> Result<Vec<(String, String)>, Failure> {
    let Some(key) = address::key(model, auth)? else { return Ok(Vec::new()) };
    let own = ("x-api-key".to_owned(), key.to_owned());
    let bearer = ("authorization".to_owned(), format!("Bearer {key}"));
    Ok(match model.compat.auth_header {
        Some(true) => vec![bearer],
        Some(false) => vec![own],
        None if is_anthropic(model) => vec![own],
        None => vec![own, bearer],
    })
}
