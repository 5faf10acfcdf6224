//! What goes wrong with codex, told apart by its own words.

use relaycode_exec::ExecError;
use serde_json::Value;

use super::PROFILE;
use crate::driver::TurnClock;
use crate::{EventSink, FriendEvent, FriendFailure};

/// What codex says when it does not get as far as an answer of its server's.
const NO_CONNECTION: &[&str] =
    &["connection failed", "error sending request", "waiting for network", "connection refused", "dns error"];

#[derive(Debug)]
pub(super) enum AttemptError {
    Fatal(FriendFailure),
    /// This way did not work, before anything was done; it may the next time.
    Retry(String),
    /// This way does not work, before anything was done.
    Fallback(String),
}

impl From<FriendFailure> for AttemptError {
    fn from(failure: FriendFailure) -> AttemptError {
        AttemptError::Fatal(failure)
    }
}

impl From<ExecError> for AttemptError {
    fn from(source: ExecError) -> AttemptError {
        AttemptError::Fatal(PROFILE.exec_failure(source))
    }
}

pub(super) fn classify_error(error: &Value) -> FriendFailure {
    let message = error["message"].as_str().unwrap_or_default();
    let details = error["additionalDetails"].as_str().unwrap_or_default();
    let said = match (message, details) {
        ("", "") => "it does not say why".to_string(),
        (one, "") | ("", one) => one.to_string(),
        (message, details) => format!("{message} {details}"),
    };
    let info = &error["codexErrorInfo"];
    let status = info.as_object().and_then(|kinds| kinds.values().next()).map(|kind| &kind["httpStatusCode"]);
    let said = error_excerpt(&said);
    if *info == "unauthorized" || status.is_some_and(|status| *status == 401) || says_401(&said) {
        return PROFILE.not_signed_in(said);
    }
    if is_unreachable(&said) {
        return PROFILE.unreachable(said);
    }
    PROFILE.failed(said)
}

fn says_401(said: &str) -> bool {
    said.contains("401 Unauthorized")
}

/// Whether these are the words of one who does not get as far as an answer of the server's.
fn is_unreachable(said: &str) -> bool {
    let said = said.to_lowercase();
    NO_CONNECTION.iter().any(|words| said.contains(words))
}

/// Codex says that it tries again. With an answer of its server's it will be all right.
pub(super) fn report_retry(clock: &mut TurnClock<'_>, said: &str, hear: &mut EventSink<'_>) {
    let said = error_excerpt(said);
    if is_unreachable(&said) {
        clock.mark_retrying(&said);
    }
    hear(FriendEvent::Retrying(said));
}

/// The end of what codex said, without secrets.
pub(super) fn error_excerpt(said: &str) -> String {
    crate::driver::stderr_tail::error_excerpt(said, is_worth_telling)
}

/// What codex says at every start on some machines and goes on: of a home below `/tmp`, and of a sandbox of which it has
/// its own copy.
const START_UP_LINES: &[&str] = &["WARNING: proceeding, even though", "could not find bubblewrap on PATH"];

fn is_worth_telling(line: &str) -> bool {
    !START_UP_LINES.iter().any(|words| line.contains(words))
}

/// What a system says when a sandbox lets a program not write, or not at all.
const BLOCKED: &[&str] = &["Read-only file system", "Operation not permitted", "Permission denied"];

/// Whether a command ran against the sandbox, by what it printed: a line that ends in the system's words.
pub(super) fn was_blocked(output: &str) -> bool {
    output
        .lines()
        .any(|line| BLOCKED.iter().any(|words| line.trim_end().trim_end_matches(['.', ')']).ends_with(words)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_went_wrong_is_told_apart_by_what_codex_says() {
        let status = |code| json!({"message": "no", "codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": code}}});
        assert!(matches!(classify_error(&status(401)), FriendFailure::NotSignedIn { .. }));
        assert!(matches!(classify_error(&status(500)), FriendFailure::Failed { .. }));
        let unauthorized = json!({"message": "no", "codexErrorInfo": "unauthorized"});
        assert!(matches!(classify_error(&unauthorized), FriendFailure::NotSignedIn { .. }));
        let refused =
            json!({"message": "stream", "additionalDetails": "Connection failed: error sending request"});
        assert!(matches!(classify_error(&refused), FriendFailure::Unreachable { .. }));
        let FriendFailure::Failed { said, .. } = classify_error(&Value::Null) else { panic!("it failed") };
        assert_eq!(said, "it does not say why");
    }

    #[test]
    fn a_command_that_the_sandbox_stopped_is_known_by_the_systems_words() {
        assert!(was_blocked("touch: cannot touch 'a': Read-only file system\n"));
        assert!(was_blocked("ok\nsh: 1: cannot create a: Permission denied\nmore"));
        assert!(!was_blocked("Read-only file systems are described in mount(8)\n") && !was_blocked(""));
    }

    #[test]
    fn what_codex_says_at_every_start_is_not_its_last_words() {
        let said = "WARNING: proceeding, even though we could not\nNot logged in\n";
        assert_eq!(error_excerpt(said), "Not logged in");
        let said = "\u{1b}[2m2026-11-17T00:00:10.5Z\u{1b}[0m \u{1b}[31mERROR\u{1b}[0m \u{1b}[2mcodex_app_server\u{1b}[0m: \
                    Codex could not find bubblewrap on PATH. Install bubblewrap with your OS package manager.\n";
        assert_eq!(error_excerpt(said), "");
    }
}
