//! What goes wrong with claude, told apart by its own words and by its end.

use relaycode_exec::JobOutcome;
use serde_json::Value;

use super::PROFILE;
use crate::FriendFailure;
use crate::driver::{StderrTail, describe_exit};

/// What claude says when nobody is signed in, or the key is not taken.
const NO_ACCOUNT: &[&str] = &[
    "not logged in",
    "please run /login",
    "invalid api key",
    "failed to authenticate",
    "authentication_error",
    "oauth token has expired",
    "oauth token revoked",
];

/// What claude says when it does not get as far as an answer of its server's.
const NO_CONNECTION: &[&str] = &[
    "connection refused",
    "connection error",
    "unable to connect",
    "econnrefused",
    "enotfound",
    "econnreset",
    "etimedout",
    "eai_again",
    "ehostunreach",
];

pub(super) fn classify_result(result: &Value, session: Option<&str>) -> FriendFailure {
    let errors = result["errors"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let errors = errors.collect::<Vec<_>>().join("\n");
    let said = match result["result"].as_str() {
        Some(said) if !said.is_empty() => said,
        _ if !errors.is_empty() => &errors,
        _ => result["subtype"].as_str().unwrap_or("it does not say why"),
    };
    if result["subtype"].as_str().is_some_and(|kind| kind.contains("structured_output")) {
        let (friend, fault) = (PROFILE.name.to_string(), "it did not hand in one that does".to_string());
        return FriendFailure::SchemaMismatch { friend, fault, text: String::new() };
    }
    match result["api_error"] == "connection_failed" {
        true => PROFILE.unreachable(error_excerpt(said)),
        false => classify_text(said, result["api_error_status"].as_u64(), session),
    }
}

/// What claude's last words stand for.
pub(super) fn classify_text(said: &str, status: Option<u64>, session: Option<&str>) -> FriendFailure {
    let low = said.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|words| low.contains(words));
    let said = error_excerpt(said);
    if let Some(id) = session.filter(|_| low.contains("no conversation found")) {
        return PROFILE.unknown_session(id);
    }
    if status == Some(401) || (status.is_none() && says(NO_ACCOUNT)) {
        return PROFILE.not_signed_in(said);
    }
    if status.is_none() && says(NO_CONNECTION) {
        return PROFILE.unreachable(said);
    }
    PROFILE.failed(said)
}

pub(super) fn exit_failure(job: &JobOutcome, errors: &StderrTail, session: Option<&str>) -> FriendFailure {
    let said = error_excerpt(&errors.text());
    let how = describe_exit(job.reason, &said);
    if said.is_empty() { PROFILE.failed(how) } else { classify_text(&how, None, session) }
}

/// The end of what claude said, without secrets.
pub(super) fn error_excerpt(said: &str) -> String {
    crate::driver::stderr_tail::error_excerpt(said, |_| true)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn failures_are_told_apart_by_status_and_words() {
        let of = |result: Value| classify_result(&result, Some("id"));
        let wrong_key =
            json!({"is_error": true, "subtype": "success", "api_error_status": 401, "result": "no"});
        assert!(matches!(of(wrong_key), FriendFailure::NotSignedIn { .. }));
        let nobody = json!({"is_error": true, "result": "Not logged in · Please run /login"});
        assert!(matches!(of(nobody), FriendFailure::NotSignedIn { .. }));
        let refused = json!({"is_error": true, "api_error": "connection_failed", "result": "API Error: x"});
        assert!(matches!(of(refused), FriendFailure::Unreachable { .. }));
        // What a server writes into an answer of its own is no lack of one.
        let upstream =
            json!({"api_error_status": 500, "result": "API Error: 500 upstream: connection refused"});
        assert!(matches!(of(upstream), FriendFailure::Failed { .. }));
        let unknown =
            json!({"subtype": "error_during_execution", "errors": ["No conversation found with …"]});
        assert!(matches!(of(unknown), FriendFailure::UnknownSession { .. }));
        let schema = json!({"subtype": "error_max_structured_output_retries", "is_error": true});
        assert!(matches!(of(schema), FriendFailure::SchemaMismatch { .. }));
        let secret = json!({"result": "key sk-ant-REDACTED refused"});
        assert!(!of(secret).to_string().contains("secretsecret"));
    }
}
