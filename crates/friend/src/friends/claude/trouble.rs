//! What goes wrong with claude, told apart: by its own words, by its silence, by its end.
//!
//! Invariant: that claude tries again is no sign of life. A server that cannot be reached is waited for
//! [`UNREACHABLE`] at most.

use std::time::{Duration, Instant};

use relaycode_exec::{End, ExecError, Finished};
use relaycode_text::redact::redact;
use serde_json::Value;

use super::NAME;
use crate::failure::Failure;
use crate::turn::Limits;

/// How long claude may do nothing but try to reach its server.
const UNREACHABLE: Duration = Duration::from_secs(10);

/// Lines and characters of claude's last words.
const LAST_LINES: usize = 6;
const LAST_CHARS: usize = 1_000;

/// What to do when claude is not there.
pub(super) const INSTALL: &str = "install it with `npm install -g @anthropic-ai/claude-code`";
/// What to do when it is not signed in.
pub(super) const SIGN_IN: &str = "run `claude auth login`, or set ANTHROPIC_API_KEY";

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

/// Why an attempt came to nothing.
#[derive(Debug)]
pub(super) enum Broken {
    /// The turn is over.
    Over(Failure),
    /// This way does not work, before anything was said.
    OtherWay(String),
}

impl From<Failure> for Broken {
    fn from(failure: Failure) -> Broken {
        Broken::Over(failure)
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

/// What a result stands for that is none.
pub(super) fn failure_of(result: &Value, session: Option<&str>) -> Failure {
    let errors = result["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    let errors = errors.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n");
    let said = match result["result"].as_str() {
        Some(said) if !said.is_empty() => said,
        _ if !errors.is_empty() => &errors,
        _ => result["subtype"].as_str().unwrap_or("it does not say why"),
    };
    if result["subtype"].as_str().is_some_and(|kind| kind.contains("structured_output")) {
        let fault = "it did not hand in one that does".to_string();
        return Failure::NotByTheSchema { friend: NAME.to_string(), fault, text: String::new() };
    }
    let status = result["api_error_status"].as_u64();
    if result["api_error"] == "connection_failed" {
        return Failure::Unreachable { friend: NAME.to_string(), said: last_words(said.as_bytes()) };
    }
    failure_of_words(said, status, session)
}

/// What claude's last words stand for.
pub(super) fn failure_of_words(said: &str, status: Option<u64>, session: Option<&str>) -> Failure {
    let friend = NAME.to_string();
    let low = said.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|words| low.contains(words));
    let said = last_words(said.as_bytes());
    if let Some(id) = session.filter(|_| low.contains("no conversation found")) {
        return Failure::NoSession { friend, id: id.to_string() };
    }
    if status == Some(401) || (status.is_none() && says(NO_ACCOUNT)) {
        return Failure::NotSignedIn { friend, said, hint: SIGN_IN.to_string() };
    }
    if status.is_none() && says(NO_CONNECTION) {
        return Failure::Unreachable { friend, said };
    }
    Failure::Failed { friend, said }
}

/// What it stands for that claude ended before it was done.
pub(super) fn ended_early(finished: &Finished, errors: &[u8], session: Option<&str>) -> Failure {
    let how = match finished.end {
        End::Exited(code) => format!("it ended with code {code} before it was done"),
        End::Signalled(signal) => format!("it was ended by signal {signal}"),
        _ => "it was ended".to_string(),
    };
    let said = last_words(errors);
    if said.is_empty() { failed(how) } else { failure_of_words(&format!("{how}: {said}"), None, session) }
}

/// The end of what claude said, without secrets.
pub(super) fn last_words(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let first = lines.len().saturating_sub(LAST_LINES);
    lines.drain(..first);
    let words = redact(&lines.join("\n")).into_owned();
    let skip = words.chars().count().saturating_sub(LAST_CHARS);
    words.chars().skip(skip).collect()
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
    /// Since when it has only tried to reach its server.
    reconnecting: Option<Instant>,
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

    /// It says that it tries again; `answered`: its server did say something.
    pub(super) fn tries_again(&mut self, answered: bool) {
        if answered {
            self.reconnecting = None;
        } else {
            self.reconnecting.get_or_insert_with(Instant::now);
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
        if self.reconnecting.is_some_and(|since| since.elapsed() >= UNREACHABLE) {
            return Some(Halt::Unreachable);
        }
        (self.life.elapsed() >= self.limits.idle).then_some(Halt::Idle)
    }

    /// The failure for it, with claude's last words.
    pub(super) fn failure(&self, halt: Halt, said: String) -> Failure {
        let friend = NAME.to_string();
        match (halt, self.reconnecting) {
            (Halt::Stopped, _) => Failure::Cancelled { friend },
            // Whichever limit came first: the cause is known.
            (_, Some(_)) => Failure::Unreachable { friend, said: "it gets no answer".to_string() },
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
    fn failures_are_told_apart_by_status_and_words() {
        let of = |result: Value| failure_of(&result, Some("id"));
        let wrong_key =
            json!({"is_error": true, "subtype": "success", "api_error_status": 401, "result": "no"});
        assert!(matches!(of(wrong_key), Failure::NotSignedIn { .. }));
        let nobody = json!({"is_error": true, "result": "Not logged in · Please run /login"});
        assert!(matches!(of(nobody), Failure::NotSignedIn { .. }));
        let refused = json!({"is_error": true, "api_error": "connection_failed", "result": "API Error: x"});
        assert!(matches!(of(refused), Failure::Unreachable { .. }));
        // What a server writes into an answer of its own is no lack of one.
        let upstream =
            json!({"api_error_status": 500, "result": "API Error: 500 upstream: connection refused"});
        assert!(matches!(of(upstream), Failure::Failed { .. }));
        let unknown =
            json!({"subtype": "error_during_execution", "errors": ["No conversation found with …"]});
        assert!(matches!(of(unknown), Failure::NoSession { .. }));
        let schema = json!({"subtype": "error_max_structured_output_retries", "is_error": true});
        assert!(matches!(of(schema), Failure::NotByTheSchema { .. }));
        let secret = json!({"result": "key sk-ant-REDACTED refused"});
        assert!(!of(secret).to_string().contains("secretsecret"));
    }
}
