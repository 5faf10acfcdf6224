//! What goes wrong with codex, told apart: by its own words, by its silence, by its end.
//!
//! Invariant: that codex tries again is no sign of life. A server that cannot be reached is waited for
//! [`UNREACHABLE`] at most; codex itself would wait for ever.

use std::time::{Duration, Instant};

use relaycode_exec::ExecError;
use relaycode_text::redact::redact;
use serde_json::Value;

use super::NAME;
use crate::failure::Failure;
use crate::turn::Limits;

/// How long codex may do nothing but try to reach its server.
pub(super) const UNREACHABLE: Duration = Duration::from_secs(10);

/// Lines and characters of codex's last words.
const LAST_LINES: usize = 6;
const LAST_CHARS: usize = 1_000;

/// What to do when codex is not there.
pub(super) const INSTALL: &str = "install it with `npm install -g @openai/codex`";
/// What to do when it is not signed in.
pub(super) const SIGN_IN: &str = "run `codex login`";

/// What codex says when it does not get as far as an answer of its server's.
const NO_CONNECTION: &[&str] =
    &["connection failed", "error sending request", "waiting for network", "connection refused", "dns error"];

/// Why an attempt came to nothing.
#[derive(Debug)]
pub(super) enum Broken {
    /// The turn is over.
    Over(Failure),
    /// This way did not work, before anything was done; it may the next time.
    Again(String),
    /// This way does not work, before anything was done.
    OtherWay(String),
}

impl From<Failure> for Broken {
    fn from(failure: Failure) -> Broken {
        Broken::Over(failure)
    }
}

impl From<ExecError> for Broken {
    fn from(source: ExecError) -> Broken {
        Broken::Over(not_run(source))
    }
}

/// Its process could not be started or watched.
pub(super) fn not_run(source: ExecError) -> Failure {
    let friend = NAME.to_string();
    match source {
        ExecError::NotFound { program } => Failure::Missing { friend, program, hint: INSTALL.to_string() },
        source => Failure::Exec { friend, source },
    }
}

pub(super) fn failed(said: impl Into<String>) -> Failure {
    Failure::Failed { friend: NAME.to_string(), said: said.into() }
}

pub(super) fn not_signed_in(said: impl Into<String>) -> Failure {
    Failure::NotSignedIn { friend: NAME.to_string(), said: said.into(), hint: SIGN_IN.to_string() }
}

/// What an error of codex's stands for.
pub(super) fn failure_of(error: &Value) -> Failure {
    let message = error["message"].as_str().unwrap_or_default();
    let details = error["additionalDetails"].as_str().unwrap_or_default();
    let said = match (message, details) {
        ("", "") => "it does not say why".to_string(),
        (one, "") | ("", one) => one.to_string(),
        (message, details) => format!("{message} {details}"),
    };
    let info = &error["codexErrorInfo"];
    let status = info.as_object().and_then(|kinds| kinds.values().next()).map(|kind| &kind["httpStatusCode"]);
    let said = last_words(said.as_bytes());
    if *info == "unauthorized" || status.is_some_and(|status| *status == 401) || says_401(&said) {
        return not_signed_in(said);
    }
    if is_unreachable(&said) {
        return Failure::Unreachable { friend: NAME.to_string(), said };
    }
    failed(said)
}

fn says_401(said: &str) -> bool {
    said.contains("401 Unauthorized")
}

/// Whether these are the words of one who does not get as far as an answer of the server's.
pub(super) fn is_unreachable(said: &str) -> bool {
    let said = said.to_lowercase();
    NO_CONNECTION.iter().any(|words| said.contains(words))
}

/// The end of what codex said, without secrets.
pub(super) fn last_words(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut lines: Vec<&str> = text.lines().map(str::trim).filter(|line| is_worth_telling(line)).collect();
    let first = lines.len().saturating_sub(LAST_LINES);
    lines.drain(..first);
    let words = redact(&lines.join("\n")).into_owned();
    let skip = words.chars().count().saturating_sub(LAST_CHARS);
    words.chars().skip(skip).collect()
}

/// Codex complains about a home below `/tmp`, and about nothing else, in this way.
fn is_worth_telling(line: &str) -> bool {
    !line.is_empty() && !line.starts_with("WARNING: proceeding, even though")
}

/// Why it is not waited for any longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Halt {
    Stopped,
    Total,
    Idle,
    Unreachable,
}

/// Watches over the time.
#[derive(Debug)]
pub(super) struct Watch {
    limits: Limits,
    life: Instant,
    /// Since when it has only tried to reach its server, and what it said.
    reconnecting: Option<(Instant, String)>,
}

impl Watch {
    pub(super) fn new(limits: Limits) -> Watch {
        Watch { limits, life: Instant::now(), reconnecting: None }
    }

    /// It did something.
    pub(super) fn lives(&mut self) {
        self.life = Instant::now();
        self.reconnecting = None;
    }

    /// It says that it tries again.
    pub(super) fn tries_again(&mut self, said: &str) {
        if is_unreachable(said) && self.reconnecting.is_none() {
            self.reconnecting = Some((Instant::now(), said.to_string()));
        }
    }

    /// Why it should not be waited for any longer.
    pub(super) fn halt(&self, stop: &dyn Fn() -> bool) -> Option<Halt> {
        if stop() {
            return Some(Halt::Stopped);
        }
        if self.limits.left().is_zero() {
            return Some(Halt::Total);
        }
        if self.reconnecting.as_ref().is_some_and(|(since, _)| since.elapsed() >= UNREACHABLE) {
            return Some(Halt::Unreachable);
        }
        (self.life.elapsed() >= self.limits.idle).then_some(Halt::Idle)
    }

    /// The failure for it, with codex's last words.
    pub(super) fn failure(&self, halt: Halt, said: String) -> Failure {
        let friend = NAME.to_string();
        match (halt, &self.reconnecting) {
            (Halt::Stopped, _) => Failure::Cancelled { friend },
            // Whichever limit came first: the cause is known.
            (_, Some((_, said))) => Failure::Unreachable { friend, said: last_words(said.as_bytes()) },
            (Halt::Idle, None) => Failure::TimedOut { friend, after: self.limits.idle, idle: true, said },
            (_, None) => Failure::TimedOut { friend, after: self.limits.total, idle: false, said },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_went_wrong_is_told_apart_by_what_codex_says() {
        let status = |code| json!({"message": "no", "codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": code}}});
        assert!(matches!(failure_of(&status(401)), Failure::NotSignedIn { .. }));
        assert!(matches!(failure_of(&status(500)), Failure::Failed { .. }));
        let unauthorized = json!({"message": "no", "codexErrorInfo": "unauthorized"});
        assert!(matches!(failure_of(&unauthorized), Failure::NotSignedIn { .. }));
        let refused =
            json!({"message": "stream", "additionalDetails": "Connection failed: error sending request"});
        assert!(matches!(failure_of(&refused), Failure::Unreachable { .. }));
        let Failure::Failed { said, .. } = failure_of(&Value::Null) else { panic!("it failed") };
        assert_eq!(said, "it does not say why");
    }

    #[test]
    fn last_words_are_few_and_without_secrets() {
        let long: String = (0..100).map(|n| format!("line {n}\n\n")).collect();
        assert_eq!(last_words(long.as_bytes()).lines().next(), Some("line 94"));
        assert_eq!(last_words("é".repeat(5_000).as_bytes()).chars().count(), LAST_CHARS);
        assert!(!last_words(b"key AKIAIOSFODNN7EXAMPLE").contains("IOSFODNN7"));
        assert_eq!(
            last_words(b"WARNING: proceeding, even though we could not\nNot logged in\n"),
            "Not logged in"
        );
    }
}
