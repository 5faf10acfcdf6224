//! The names and words that providers use for errors. Facts about others, kept in one place; gathered from
//! their documentation and from reports of their users.

use super::FailureClass;

/// Codes, types and statuses that mean one thing.
const NAMES: &[(&str, FailureClass)] = &[
    // Anthropic
    ("authentication_error", FailureClass::Auth),
    ("permission_error", FailureClass::Forbidden),
    ("not_found_error", FailureClass::NotFound),
    ("invalid_request_error", FailureClass::BadRequest),
    ("request_too_large", FailureClass::ContextOverflow),
    ("billing_error", FailureClass::Quota),
    ("rate_limit_error", FailureClass::RateLimit),
    ("overloaded_error", FailureClass::Overloaded),
    ("timeout_error", FailureClass::Timeout),
    ("api_error", FailureClass::Server),
    // OpenAI and those that follow it
    ("invalid_api_key", FailureClass::Auth),
    ("invalid_authentication", FailureClass::Auth),
    ("account_deactivated", FailureClass::Forbidden),
    ("model_not_found", FailureClass::NotFound),
    ("context_length_exceeded", FailureClass::ContextOverflow),
    ("context_window_exceeded", FailureClass::ContextOverflow),
    ("model_max_prompt_tokens_exceeded", FailureClass::ContextOverflow),
    ("string_above_max_length", FailureClass::ContextOverflow),
    ("exceed_context_size_error", FailureClass::ContextOverflow),
    ("insufficient_quota", FailureClass::Quota),
    ("insufficient_balance", FailureClass::Quota),
    ("billing_hard_limit_reached", FailureClass::Quota),
    ("billing_not_active", FailureClass::Quota),
    ("usage_not_included", FailureClass::Quota),
    ("rate_limit_exceeded", FailureClass::RateLimit),
    ("rate_limit_reached", FailureClass::RateLimit),
    ("usage_limit_reached", FailureClass::RateLimit),
    ("requests", FailureClass::RateLimit),
    ("tokens", FailureClass::RateLimit),
    ("slow_down", FailureClass::Overloaded),
    ("server_is_overloaded", FailureClass::Overloaded),
    ("overloaded", FailureClass::Overloaded),
    ("unavailable_error", FailureClass::Overloaded),
    ("server_error", FailureClass::Server),
    ("internal_server_error", FailureClass::Server),
    ("content_filter", FailureClass::Refused),
    ("content_policy_violation", FailureClass::Refused),
    ("invalid_prompt", FailureClass::Refused),
    // Google
    ("API_KEY_INVALID", FailureClass::Auth),
    ("UNAUTHENTICATED", FailureClass::Auth),
    ("PERMISSION_DENIED", FailureClass::Forbidden),
    ("NOT_FOUND", FailureClass::NotFound),
    ("INVALID_ARGUMENT", FailureClass::BadRequest),
    ("FAILED_PRECONDITION", FailureClass::BadRequest),
    ("RESOURCE_EXHAUSTED", FailureClass::RateLimit),
    ("UNAVAILABLE", FailureClass::Overloaded),
    ("DEADLINE_EXCEEDED", FailureClass::Timeout),
    ("INTERNAL", FailureClass::Server),
];

/// Phrases for a conversation that is too long.
const OVERFLOW: &[&str] = &[
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "input too long",
    "maximum context length",
    "maximum prompt length",
    "maximum allowed input length",
    "maximum model length",
    "exceeds the context window",
    "exceeds the available context size",
    "exceeds the context size",
    "exceed context limit",
    "exceeded max context length",
    "exceeded model token limit",
    "exceeds max length",
    "exceeds max_seq_len",
    "exceeds max_model_len",
    "exceeds the maximum number of tokens",
    "context length exceeded",
    "context_length_exceeded",
    "context window exceeds limit",
    "context window exceeded",
    "greater than the context length",
    "larger than the context",
    "reduce the length of the messages",
    "too large for model with",
    "too many total text bytes",
    "request too large for",
];

/// Phrases for an account that is used up.
const QUOTA: &[&str] = &[
    "credit balance is too low",
    "insufficient credits",
    "insufficient balance",
    "insufficient quota",
    "insufficient_quota",
    "out of credits",
    "requires more credits",
    "billing hard limit",
    "billing_hard_limit_reached",
    "monthly spending limit",
    "spending cap",
    "all available credits",
    "account is not active",
];

const AUTH: &[&str] = &[
    "api key not valid",
    "invalid api key",
    "incorrect api key",
    "invalid x-api-key",
    "api key expired",
    "no auth credentials found",
];

const OVERLOADED: &[&str] = &["overloaded", "model is currently loading", "no slot available"];

const NOT_FOUND: &[&str] = &["try pulling it first", "model not found", "unknown model", "no such model"];

const RATE_LIMIT: &[&str] = &["rate limit", "too many requests", "too many tokens, please wait"];

/// By code, type or status.
pub(super) fn class_by_name(name: &str) -> Option<FailureClass> {
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, class)| *class)
}

/// `text` is in lower case.
pub(super) fn class_by_words(text: &str) -> Option<FailureClass> {
    let input_count = text.contains("token count") && (text.contains("exceeds the"));
    let table: [(&[&str], FailureClass); 6] = [
        (QUOTA, FailureClass::Quota),
        (OVERFLOW, FailureClass::ContextOverflow),
        (AUTH, FailureClass::Auth),
        (RATE_LIMIT, FailureClass::RateLimit),
        (NOT_FOUND, FailureClass::NotFound),
        (OVERLOADED, FailureClass::Overloaded),
    ];
    let found = table.iter().find(|(list, _)| contains_any(text, list)).map(|(_, class)| *class);
    found.or(if input_count { Some(FailureClass::ContextOverflow) } else { None })
}

pub(super) fn contains_any(text: &str, list: &[&str]) -> bool {
    list.iter().any(|words| text.contains(words))
}
