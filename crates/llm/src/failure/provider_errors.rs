//! The names and words that providers use for errors. Facts about others, kept in one place; gathered from
//! their documentation and from reports of their users.

use super::FailureClass;

/// Codes, types and statuses that mean one thing; in each row Anthropic's, then OpenAI's and those of its kin, then
/// Google's.
const NAMES: &[(FailureClass, &str)] = &[
    (
        FailureClass::Auth,
        "authentication_error invalid_api_key invalid_authentication API_KEY_INVALID UNAUTHENTICATED",
    ),
    (FailureClass::Forbidden, "permission_error account_deactivated PERMISSION_DENIED"),
    (FailureClass::NotFound, "not_found_error model_not_found NOT_FOUND"),
    (FailureClass::BadRequest, "invalid_request_error INVALID_ARGUMENT FAILED_PRECONDITION"),
    (
        FailureClass::ContextOverflow,
        "request_too_large context_length_exceeded context_window_exceeded \
         model_max_prompt_tokens_exceeded string_above_max_length exceed_context_size_error",
    ),
    (
        FailureClass::Quota,
        "billing_error insufficient_quota insufficient_balance billing_hard_limit_reached \
         billing_not_active usage_not_included",
    ),
    (
        FailureClass::RateLimit,
        "rate_limit_error rate_limit_exceeded rate_limit_reached usage_limit_reached requests tokens \
         RESOURCE_EXHAUSTED",
    ),
    (
        FailureClass::Overloaded,
        "overloaded_error slow_down server_is_overloaded overloaded unavailable_error UNAVAILABLE",
    ),
    (FailureClass::Timeout, "timeout_error DEADLINE_EXCEEDED"),
    (FailureClass::Server, "api_error server_error internal_server_error INTERNAL"),
    (FailureClass::Refused, "content_filter content_policy_violation invalid_prompt"),
];

/// Phrases for a conversation that is too long.
const OVERFLOW: &str = "prompt is too long|prompt too long|input is too long|input too long|maximum context length|\
    maximum prompt length|maximum allowed input length|maximum model length|exceeds the context window|\
    exceeds the available context size|exceeds the context size|exceed context limit|\
    exceeded max context length|exceeded model token limit|exceeds max length|exceeds max_seq_len|\
    exceeds max_model_len|exceeds the maximum number of tokens|context length exceeded|\
    context_length_exceeded|context window exceeds limit|context window exceeded|\
    greater than the context length|larger than the context|reduce the length of the messages|\
    too large for model with|too many total text bytes|request too large for";

/// Phrases for an account that is used up.
const QUOTA: &str = "credit balance is too low|insufficient credits|insufficient balance|insufficient quota|\
    insufficient_quota|out of credits|requires more credits|billing hard limit|\
    billing_hard_limit_reached|monthly spending limit|spending cap|all available credits|\
    account is not active";

const AUTH: &str = "api key not valid|invalid api key|incorrect api key|invalid x-api-key|api key expired|\
    no auth credentials found";

const OVERLOADED: &str = "overloaded|model is currently loading|no slot available";

const NOT_FOUND: &str = "try pulling it first|model not found|unknown model|no such model";

const RATE_LIMIT: &str = "rate limit|too many requests|too many tokens, please wait";

/// By code, type or status.
pub(super) fn class_by_name(name: &str) -> Option<FailureClass> {
    NAMES.iter().find(|(_, names)| names.split(' ').any(|known| known == name)).map(|(class, _)| *class)
}

/// `text` is in lower case.
pub(super) fn class_by_words(text: &str) -> Option<FailureClass> {
    let input_count = text.contains("token count") && (text.contains("exceeds the"));
    let table: [(&str, FailureClass); 6] = [
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

/// `list` is separated by bars.
pub(super) fn contains_any(text: &str, list: &str) -> bool {
    list.split('|').any(|words| text.contains(words))
}
