//! What a server says went wrong in the middle of an answer, where no status tells it: the error objects of OpenAI and of
//! those who speak like it.

use serde_json::Value;

use crate::failure::{Class, Failure};

/// Characters of a server's message that are kept.
const MESSAGE_MOST: usize = 2000;

/// The failure that an error tells of: an object with `message`, `type` and `code`, or bare text.
pub(crate) fn reported(provider: &str, error: &Value) -> Failure {
    let word = |name: &str| match &error[name] {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    };
    let (code, kind) = (word("code"), word("type"));
    let said = error.as_str().map_or_else(|| word("message"), str::to_owned);
    let said = said.trim();
    let status = [&code, &word("status")].into_iter().find_map(|code| code.parse::<u16>().ok());
    let class = class(&code, &kind, status, said);
    let message = match (said.is_empty(), code.is_empty()) {
        (false, _) => format!("{provider} failed: {}", said.chars().take(MESSAGE_MOST).collect::<String>()),
        (true, false) => format!("{provider} reported `{code}` and nothing more"),
        (true, true) => format!("{provider} reported an error and nothing more"),
    };
    Failure { status: status.filter(|status| (400..600).contains(status)), ..Failure::new(class, message) }
}

fn class(code: &str, kind: &str, status: Option<u16>, said: &str) -> Class {
    let said = said.to_ascii_lowercase();
    let any = |words: &[&str]| words.iter().any(|word| code == *word || kind == *word);
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    if any(&["context_length_exceeded", "string_above_max_length", "exceed_context_size_error"])
        || says(&[
            "context length",
            "context window",
            "context size",
            "too many tokens",
            "prompt is too long",
        ])
    {
        return Class::ContextOverflow;
    }
    if any(&["insufficient_quota", "billing_hard_limit_reached", "insufficient_balance"]) {
        return Class::Quota;
    }
    if any(&["rate_limit_exceeded", "rate_limit_error", "rate_limited", "too_many_requests"]) {
        return Class::RateLimit;
    }
    if any(&["content_filter", "content_policy_violation", "invalid_prompt", "cyber_policy", "safety"]) {
        return Class::Refused;
    }
    if any(&["overloaded_error", "server_overloaded", "slow_down", "engine_overloaded_error"])
        || says(&["overloaded"])
    {
        return Class::Overloaded;
    }
    if any(&["invalid_api_key", "authentication_error"]) {
        return Class::Auth;
    }
    if any(&["model_not_found", "not_found_error"]) {
        return Class::NotFound;
    }
    match status {
        Some(401) => Class::Auth,
        Some(402) => Class::Quota,
        Some(403) => Class::Forbidden,
        Some(404) => Class::NotFound,
        Some(408) => Class::Timeout,
        Some(429) => Class::RateLimit,
        Some(503 | 529) => Class::Overloaded,
        Some(400..=499) => Class::BadRequest,
        _ if any(&["invalid_request_error"]) => Class::BadRequest,
        _ => Class::Server,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_is_known_by_its_code_its_kind_or_its_words() {
        for (error, expected) in [
            (json!({"code": "rate_limit_exceeded", "message": "slower"}), Class::RateLimit),
            (json!({"code": 429, "message": "slower"}), Class::RateLimit),
            (json!({"code": "429", "message": "slower"}), Class::RateLimit),
            (json!({"type": "server_error", "message": "sorry"}), Class::Server),
            (json!({"type": "invalid_request_error", "code": null, "message": "no"}), Class::BadRequest),
            (
                json!({"type": "exceed_context_size_error", "code": 400, "message": "no"}),
                Class::ContextOverflow,
            ),
            (json!("the prompt is too long: 9 > 8"), Class::ContextOverflow),
            (json!({"code": "insufficient_quota"}), Class::Quota),
            (json!({}), Class::Server),
            (json!(null), Class::Server),
        ] {
            let failure = reported("example", &error);
            assert_eq!(failure.class, expected, "{error}");
            assert!(!failure.message.is_empty());
        }
        assert_eq!(reported("example", &json!({"code": 503, "message": "x"})).status, Some(503));
        assert_eq!(
            reported("example", &json!({"message": "x".repeat(9000)})).message.len(),
            MESSAGE_MOST + 16
        );
    }
}
