//! Anthropic Messages, and compatible servers.
//!
//! `POST /v1/messages` with `stream: true`, as platform.claude.com/docs/en/api/messages describes it.

mod reader;
mod request;
mod thinking;

#[cfg(test)]
mod tests;

use super::address::{self, host, is_beneath};
use super::{Wire, WireHttpRequest, WireReader};
use crate::request::{Auth, WireCall};
use crate::{failure::ModelResult, models::model::Model};

const USUAL: &str = "https://api.anthropic.com";

/// The version of the protocol.
const VERSION: &str = "2023-06-01";

/// Lets models of the fourth generation think between their calls; later ones do so anyway.
const INTERLEAVED: &str = "interleaved-thinking-2025-05-14";

pub(crate) struct AnthropicWire;

impl Wire for AnthropicWire {
    fn id(&self) -> &'static str {
        "anthropic-messages"
    }

    fn request(&self, call: &WireCall<'_>) -> ModelResult<WireHttpRequest> {
        let plan = thinking::thinking_plan(call);
        let mut headers = auth_headers(call.model, call.auth)?;
        headers.push(("anthropic-version".into(), VERSION.into()));
        if plan.interleaves && !call.request.tools.is_empty() && is_anthropic(call.model) {
            headers.push(("anthropic-beta".into(), INTERLEAVED.into()));
        }
        let body = request::body(call, &plan);
        Ok(WireHttpRequest { url: url(call.model)?, headers, body })
    }

    fn reader(&self, call: &WireCall<'_>) -> Box<dyn WireReader> {
        Box::new(reader::AnthropicReader::new(&call.model.provider))
    }
}

/// Some write the base with the version, some without.
fn url(model: &Model) -> ModelResult<String> {
    let place = model.base_url.split('?').next().unwrap_or_default().trim().trim_end_matches('/');
    let place = place.strip_suffix("/messages").unwrap_or(place);
    let path = if place.ends_with("/v1") { "/messages" } else { "/v1/messages" };
    address::url(model, USUAL, path)
}

/// The server is Anthropic's own.
fn is_anthropic(model: &Model) -> bool {
    model.base_url.trim().is_empty() || is_beneath(&host(&model.base_url), "anthropic.com")
}

/// Compatible servers want the one header or the other: unless it is configured, they get both.
fn auth_headers(model: &Model, auth: &Auth) -> ModelResult<Vec<(String, String)>> {
    let Some(key) = address::checked_key(model, auth)? else { return Ok(Vec::new()) };
    let own = ("x-api-key".to_owned(), key.to_owned());
    let bearer = ("authorization".to_owned(), format!("Bearer {key}"));
    Ok(match model.compat.auth_header {
        Some(true) => vec![bearer],
        Some(false) => vec![own],
        None if is_anthropic(model) => vec![own],
        None => vec![own, bearer],
    })
}
