//! From a provider's error to a failure class.
//!
//! Codes and types decide if there are any, then the status, and the words last: most providers say only in
//! words that a conversation is too long. A provider's text is foreign: it is clipped, its control
//! characters are made visible and anything like a key is blacked out before it becomes part of a message.

use std::borrow::Cow;

use jiff::Timestamp;
use relaycode_text::{escape, redact};
use reqwest::header::HeaderMap;
use serde_json::Value;

use super::provider_errors::{self, contains_any};
use super::{FailureClass, ModelFailure};
use crate::failure::retry_hints;

#[cfg(test)]
mod tests;

/// Bytes read of an error's body.
pub const MAX_ERROR_BODY: usize = 64 << 10;

/// Most characters shown of a provider's own words.
pub const MAX_ERROR_CHARS: usize = 500;

/// Headers that identify a request for the provider's support.
const REQUEST_IDS: &str = "request-id x-request-id x-goog-request-id x-guploader-uploadid x-amzn-requestid apim-request-id \
    cf-ray";

/// An error in the provider's own terms. What it does not say is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderError {
    /// `error.type`, or Google's `status`: `overloaded_error`, `RESOURCE_EXHAUSTED` …
    pub kind: String,
    /// `error.code`: `context_length_exceeded`, `insufficient_quota` …
    pub code: String,
    pub message: String,
}

/// From an HTTP answer that is not a model's: `status` and `headers` as received, and what was read of its
/// body. `provider` is named in the message.
pub fn from_response(
    provider: &str,
    status: u16,
    headers: &HeaderMap,
    body: &[u8],
    now: Timestamp,
) -> ModelFailure {
    let body = &body[..body.len().min(MAX_ERROR_BODY)];
    let error = parse_error_body(body);
    let said = match &error {
        Some(error) => ProviderError::from_json(error),
        None => ProviderError { message: plain_words(body), ..ProviderError::default() },
    };
    let per_day = error.as_ref().is_some_and(is_used_up_for_today);
    let class = if per_day { FailureClass::Quota } else { classify(Some(status), &said) };
    let limited = matches!(class, FailureClass::RateLimit | FailureClass::Overloaded);
    let retry_after = retry_hints::from_headers(headers, now, limited)
        .or_else(|| error.as_ref().and_then(retry_hints::from_error))
        .or_else(|| if limited { retry_hints::from_text(&said.message) } else { None });
    let page = error.is_none() && is_page(body);
    let words =
        if page { "a web page came back, perhaps from a proxy".to_owned() } else { said.display_words() };
    let mut failure = ModelFailure::new(class, describe_failure(provider, class, Some(status), &words));
    failure.status = Some(status);
    failure.retry_after = retry_after;
    failure.request_id = request_id(headers);
    failure
}

/// From an error in the middle of an answer, without a status. What the provider does not say is empty.
pub fn from_stream_error(provider: &str, kind: &str, code: &str, message: &str) -> ModelFailure {
    let said = ProviderError { kind: kind.to_owned(), code: code.to_owned(), message: message.to_owned() };
    // Some put the status into the code.
    let status = code.parse().ok().filter(|status| (400..600).contains(status));
    let class = classify(status, &said);
    let mut failure =
        ModelFailure::new(class, describe_failure(provider, class, None, &said.display_words()));
    failure.status = status;
    failure.retry_after = retry_hints::from_text(message);
    failure
}

/// From an error in the middle of an answer: the error object, or the whole frame around it.
pub fn from_stream_json(provider: &str, frame: &Value) -> ModelFailure {
    let error = inner_error(frame).unwrap_or(frame);
    let said = ProviderError::from_json(error);
    let mut failure = from_stream_error(provider, &said.kind, &said.code, &said.message);
    if is_used_up_for_today(error) {
        failure.class = FailureClass::Quota;
        failure.message = describe_failure(provider, FailureClass::Quota, None, &said.display_words());
    }
    failure.retry_after = retry_hints::from_error(error).or(failure.retry_after);
    failure
}

/// By code and type, by status, by words.
pub fn classify(status: Option<u16>, error: &ProviderError) -> FailureClass {
    let text = error.message.to_ascii_lowercase();
    for name in [error.code.as_str(), error.kind.as_str()] {
        if let Some(class) = provider_errors::class_by_name(name) {
            return refine_by_status(refine_by_text(class, &text), status);
        }
    }
    let by_words = provider_errors::class_by_words(&text);
    match (status, by_words) {
        // An ordinary rate limit may mention tokens and quotas; only what waiting cannot fix is something
        // else.
        (Some(429), Some(class @ (FailureClass::Quota | FailureClass::ContextOverflow))) => class,
        (Some(429), _) => FailureClass::RateLimit,
        (Some(400 | 403 | 404 | 413 | 422 | 500) | None, Some(class)) => class,
        // A gateway passes on what somebody behind it error.
        (Some(501..=599), Some(class @ (FailureClass::Quota | FailureClass::ContextOverflow))) => class,
        (Some(status), _) => by_status(status),
        (None, None) => FailureClass::Server,
    }
}

/// Some servers call everything an invalid request or an internal error; then the status says more.
fn refine_by_status(class: FailureClass, status: Option<u16>) -> FailureClass {
    match (class, status.map(by_status)) {
        (FailureClass::BadRequest | FailureClass::Server, Some(said))
            if !matches!(said, FailureClass::BadRequest | FailureClass::Server | FailureClass::Config) =>
        {
            said
        }
        _ => class,
    }
}

/// For names that several providers use for more than one thing.
fn refine_by_text(class: FailureClass, text: &str) -> FailureClass {
    match (class, provider_errors::class_by_words(text)) {
        (FailureClass::BadRequest, Some(said)) => said,
        (FailureClass::RateLimit, Some(said @ (FailureClass::Quota | FailureClass::ContextOverflow))) => said,
        // Google reports a wrong key as forbidden, or as an invalid argument.
        (FailureClass::Forbidden, Some(FailureClass::Auth)) => FailureClass::Auth,
        (FailureClass::Server, Some(FailureClass::ContextOverflow)) => FailureClass::ContextOverflow,
        _ => class,
    }
}

fn by_status(status: u16) -> FailureClass {
    match status {
        401 => FailureClass::Auth,
        402 => FailureClass::Quota,
        403 => FailureClass::Forbidden,
        404 | 405 | 410 => FailureClass::NotFound,
        408 | 504 | 522 | 524 => FailureClass::Timeout,
        // Too much at once: less would be accepted.
        413 => FailureClass::ContextOverflow,
        429 => FailureClass::RateLimit,
        503 | 529 => FailureClass::Overloaded,
        409 | 425 => FailureClass::Server,
        300..=399 => FailureClass::Config,
        400..=499 => FailureClass::BadRequest,
        _ => FailureClass::Server,
    }
}

/// What happened, what the provider says about it, what to do.
fn describe_failure(provider: &str, class: FailureClass, status: Option<u16>, words: &str) -> String {
    // What happened, and what to do about it; `{}` is the provider.
    let (what, next) = match class {
        FailureClass::Auth => ("does not accept the key", "Set a key that works: `relay keys set {}`"),
        FailureClass::Forbidden => (
            "does not allow this with the key in use",
            "Check what the key may do, or set another: `relay keys set {}`",
        ),
        FailureClass::NotFound => (
            "has no such model or address",
            "See `relay models` for what there is, and baseUrl in models.yml",
        ),
        FailureClass::BadRequest => ("does not take the request", ""),
        FailureClass::ContextOverflow => (
            "cannot read that much: the conversation is too long for the model",
            "Shorten the conversation, or choose a model that reads more",
        ),
        FailureClass::Quota => (
            "does no more for this account: its quota or credit is used up",
            "See the plan and billing of {}, or choose another provider",
        ),
        FailureClass::RateLimit => ("takes no more requests for now", ""),
        FailureClass::Overloaded => ("has too much to do", ""),
        FailureClass::Timeout => ("took too long", ""),
        FailureClass::Refused => ("declines to answer this", ""),
        FailureClass::Config => (
            "sends the request elsewhere, and relay does not follow with a key",
            "Set baseUrl in models.yml to the final address",
        ),
        _ => ("failed", ""),
    };
    let status = status.map(|status| format!(" (status {status})")).unwrap_or_default();
    let mut text = format!("{provider} {what}{status}");
    if !words.is_empty() {
        text += &format!(": {}", words.trim_end_matches('.'));
    }
    if !next.is_empty() {
        text += &format!(". {}", next.replace("{}", provider));
    }
    text
}

impl ProviderError {
    /// Reads the error object of any wire; Ollama's is a string.
    pub fn from_json(error: &Value) -> ProviderError {
        if let Value::String(message) = error {
            return ProviderError { message: message.clone(), ..ProviderError::default() };
        }
        let text = |name: &str| match error.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        let kind = [text("type"), text("status"), reason(error)];
        let message = [text("message"), text("detail"), text("error_description"), text("error")];
        ProviderError {
            kind: kind.into_iter().find(|kind| !kind.is_empty()).unwrap_or_default(),
            code: text("code"),
            message: inner_message(error)
                .or_else(|| message.into_iter().find(|message| !message.is_empty()))
                .unwrap_or_default(),
        }
    }

    /// The part that is shown.
    fn display_words(&self) -> String {
        let named = [&self.message, &self.code, &self.kind].into_iter().find(|text| !text.trim().is_empty());
        named.map(|text| sanitize_words(text)).unwrap_or_default()
    }
}

/// OpenRouter says "Provider returned error" and includes the provider's error as text.
fn inner_message(error: &Value) -> Option<String> {
    let raw = error.get("metadata")?.get("raw")?.as_str()?;
    let words = parse_error_body(raw.as_bytes())
        .map_or_else(|| raw.to_owned(), |inner| ProviderError::from_json(&inner).message);
    if words.trim().is_empty() { None } else { Some(words) }
}

/// `API_KEY_INVALID` and the like, which Google puts into the details.
fn reason(error: &Value) -> String {
    let details = error.get("details").and_then(Value::as_array).into_iter().flatten();
    details.filter_map(|detail| detail.get("reason")?.as_str()).map(str::to_owned).next().unwrap_or_default()
}

/// The error object in a body.
fn parse_error_body(body: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(body);
    // One error may also come as the first event or line of a stream.
    let text = text.trim_start_matches('\u{feff}').trim();
    let text = text.strip_prefix("data:").unwrap_or(text);
    let value: Value = serde_json::Deserializer::from_str(text).into_iter().next()?.ok()?;
    inner_error(&value).cloned().or(if value.is_object() { Some(value) } else { None })
}

fn inner_error(value: &Value) -> Option<&Value> {
    let value = value.as_array().map_or(Some(value), |list| list.first())?;
    value.get("error").filter(|error| error.is_object() || error.is_string())
}

/// Google: a daily quota is used up, or there is none (`limit: 0`). Others come back within minutes.
fn is_used_up_for_today(error: &Value) -> bool {
    let details = error.get("details").and_then(Value::as_array).into_iter().flatten();
    let violations = details.filter_map(|detail| detail.get("violations")?.as_array()).flatten();
    let by_day = violations
        .filter_map(|violation| violation.get("quotaId")?.as_str())
        .any(|quota| quota.contains("PerDay"));
    let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
    let none = error.get("status").and_then(Value::as_str) == Some("RESOURCE_EXHAUSTED")
        && contains_any(message, "limit: 0,|limit: 0\n");
    by_day || none
}

fn is_page(body: &[u8]) -> bool {
    let start = String::from_utf8_lossy(&body[..body.len().min(512)]).trim_start().to_ascii_lowercase();
    start.starts_with("<!doctype") || start.starts_with("<html") || start.starts_with("<head")
}

/// The words of a body that is not JSON.
fn plain_words(body: &[u8]) -> String {
    if is_page(body) { String::new() } else { String::from_utf8_lossy(body).trim().to_owned() }
}

/// The provider's own id for a request.
pub(crate) fn request_id(headers: &HeaderMap) -> Option<String> {
    let id = REQUEST_IDS.split(' ').find_map(|name| headers.get(name)?.to_str().ok())?;
    Some(escape::escape_line(clip(id, 200)).into_owned())
}

/// Foreign words, safe to show.
pub fn sanitize_words(text: &str) -> String {
    // Cut generously before looking for secrets: a body may be long.
    let text = clip(text.trim(), 8 * MAX_ERROR_CHARS);
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let clean = redact::redact(&one_line);
    let safe: Cow<'_, str> = escape::escape_line(&clean);
    let cut = clip(&safe, MAX_ERROR_CHARS);
    if cut.len() < safe.len() { format!("{cut}…") } else { cut.to_owned() }
}

fn clip(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}
