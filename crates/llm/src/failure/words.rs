//! The names and words in which providers say what went wrong. Facts about others, kept in one place; gathered from their
//! documentation and from what their users report.

use super::Class;

/// Codes, types and statuses that mean one thing.
const NAMES: &[(&str, Class)] = &[
    // Anthropic
    ("authentication_error", Class::Auth),
    ("permission_error", Class::Forbidden),
    ("not_found_error", Class::NotFound),
    ("invalid_request_error", Class::BadRequest),
    ("request_too_large", Class::ContextOverflow),
    ("billing_error", Class::Quota),
    ("rate_limit_error", Class::RateLimit),
    ("overloaded_error", Class::Overloaded),
    ("timeout_error", Class::Timeout),
    ("api_error", Class::Server),
    // OpenAI and those who speak like it
    ("invalid_api_key", Class::Auth),
    ("invalid_authentication", Class::Auth),
    ("account_deactivated", Class::Forbidden),
    ("model_not_found", Class::NotFound),
    ("context_length_exceeded", Class::ContextOverflow),
    ("context_window_exceeded", Class::ContextOverflow),
    ("model_max_prompt_tokens_exceeded", Class::ContextOverflow),
    ("string_above_max_length", Class::ContextOverflow),
    ("exceed_context_size_error", Class::ContextOverflow),
    ("insufficient_quota", Class::Quota),
    ("insufficient_balance", Class::Quota),
    ("billing_hard_limit_reached", Class::Quota),
    ("billing_not_active", Class::Quota),
    ("usage_not_included", Class::Quota),
    ("rate_limit_exceeded", Class::RateLimit),
    ("rate_limit_reached", Class::RateLimit),
    ("usage_limit_reached", Class::RateLimit),
    ("requests", Class::RateLimit),
    ("tokens", Class::RateLimit),
    ("slow_down", Class::Overloaded),
    ("server_is_overloaded", Class::Overloaded),
    ("overloaded", Class::Overloaded),
    ("unavailable_error", Class::Overloaded),
    ("server_error", Class::Server),
    ("internal_server_error", Class::Server),
    ("content_filter", Class::Refused),
    ("content_policy_violation", Class::Refused),
    ("invalid_prompt", Class::Refused),
    // Google
    ("API_KEY_INVALID", Class::Auth),
    ("UNAUTHENTICATED", Class::Auth),
    ("PERMISSION_DENIED", Class::Forbidden),
    ("NOT_FOUND", Class::NotFound),
    ("INVALID_ARGUMENT", Class::BadRequest),
    ("FAILED_PRECONDITION", Class::BadRequest),
    ("RESOURCE_EXHAUSTED", Class::RateLimit),
    ("UNAVAILABLE", Class::Overloaded),
    ("DEADLINE_EXCEEDED", Class::Timeout),
    ("INTERNAL", Class::Server),
];

/// The conversation is too long, in words.
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

/// The account is used up, in words.
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

/// What a code, type or status means.
pub(super) fn by_name(name: &str) -> Option<Class> {
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, class)| *class)
}

/// What words in small letters mean.
pub(super) fn by_words(text: &str) -> Option<Class> {
    let input_count = text.contains("token count") && (text.contains("exceeds the"));
    let table: [(&[&str], Class); 6] = [
        (QUOTA, Class::Quota),
        (OVERFLOW, Class::ContextOverflow),
        (AUTH, Class::Auth),
        (RATE_LIMIT, Class::RateLimit),
        (NOT_FOUND, Class::NotFound),
        (OVERLOADED, Class::Overloaded),
    ];
    let found = table.iter().find(|(list, _)| contains_any(text, list)).map(|(_, class)| *class);
    found.or(if input_count { Some(Class::ContextOverflow) } else { None })
}

pub(super) fn contains_any(text: &str, list: &[&str]) -> bool {
    list.iter().any(|words| text.contains(words))
}
