//! What a friend's words about a failure mean: not signed in, no server, or something else. No regular expressions:
//! the words are foreign and may be long.

use relaycode_clients::jsonrpc::JsonRpcError;
use relaycode_text::redact::redact;

use crate::FriendFailure;
use crate::driver::ProgramProfile;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AcpFailureKind {
    NotSignedIn,
    Unreachable,
    Other,
}

impl AcpFailureKind {
    pub(crate) fn into_failure(self, known: &ProgramProfile, said: String) -> FriendFailure {
        match self {
            AcpFailureKind::NotSignedIn => known.not_signed_in(said),
            AcpFailureKind::Unreachable => known.unreachable(said),
            AcpFailureKind::Other => known.failed(said),
        }
    }
}

/// Characters of a friend's words that are shown.
const MOST_WORDS: usize = 400;

/// Bytes of a friend's words that are looked at.
const MOST_LOOKED_AT: usize = 8 << 10;

const NOT_SIGNED_IN: &[&str] = &[
    "unauthenticated",
    "unauthorized",
    "status 401",
    "api key",
    "api_key",
    "apikey",
    "authentication required",
    "auth_required",
    "not logged in",
    "invalid auth method",
    "permission_denied",
];

const UNREACHABLE: &[&str] = &[
    "fetch failed",
    "econnrefused",
    "enotfound",
    "eai_again",
    "etimedout",
    "econnreset",
    "cannot connect",
    "unable to connect",
    "connectionrefused",
    "connection refused",
    "network error",
];

pub(crate) fn classify_error(error: &JsonRpcError) -> AcpFailureKind {
    match error.code {
        401 | 403 => AcpFailureKind::NotSignedIn,
        _ => classify_text(&format!("{} {}", error.message, details(error))),
    }
}

pub(crate) fn classify_text(words: &str) -> AcpFailureKind {
    let words = beginning(words, MOST_LOOKED_AT).to_lowercase();
    let has = |list: &[&str]| list.iter().any(|part| words.contains(part));
    match (has(NOT_SIGNED_IN), has(UNREACHABLE)) {
        (true, _) => AcpFailureKind::NotSignedIn,
        (false, true) => AcpFailureKind::Unreachable,
        (false, false) => AcpFailureKind::Other,
    }
}

/// The words of an error, for people. Some hide them in JSON.
pub(crate) fn error_text(error: &JsonRpcError) -> String {
    let inner = serde_json::from_str::<serde_json::Value>(&error.message).ok();
    let inner = inner.and_then(|value| value["error"]["message"].as_str().map(str::to_string));
    let words = inner.unwrap_or_else(|| error.message.clone());
    let more = details(error);
    let words = if more.is_empty() { words } else { format!("{words}: {more}") };
    clip_error(&words)
}

/// The beginning of a friend's words, without secrets.
pub(crate) fn clip_error(said: &str) -> String {
    redact(said.trim()).chars().take(MOST_WORDS).collect()
}

fn details(error: &JsonRpcError) -> &str {
    let data = error.data.as_ref();
    data.and_then(|data| data["details"].as_str().or_else(|| data.as_str())).unwrap_or_default()
}

/// The last line that says something, without the places in a program that lead to it.
pub(crate) fn error_excerpt(errors: &str) -> String {
    let says = |line: &&str| {
        let letters = line.chars().filter(|c| c.is_alphabetic()).count();
        letters > 3 && !line.trim_start().starts_with("at ") && !line.starts_with([' ', '}', ')'])
    };
    let ours = |line: &&str| !NOISE.iter().any(|noise| line.contains(noise));
    let line = errors.lines().rev().filter(says).find(ours).unwrap_or_default();
    clip_error(line)
}

/// Lines that friends print at every run.
const NOISE: &[&str] = &["Ripgrep is not available", "[STARTUP]", "Error handling request"];

pub(crate) fn find_sign_in_error(errors: &str) -> Option<String> {
    let line = errors.lines().find(|line| {
        let line = line.to_lowercase();
        line.contains("error authenticating") || line.contains("authentication failed")
    })?;
    Some(clip_error(line))
}

/// What a line of standard error says of an attempt that failed and is made again.
pub(crate) fn parse_retry(line: &str) -> Option<String> {
    let said = if line.contains("Attempt ") && line.contains("failed") {
        line
    } else if line.contains("message=\"stream error\"") && line.contains(" small=false ") {
        // What opencode logs: the rest of the line is about where.
        line.split("error.error=").nth(1).unwrap_or(line).trim_matches('"')
    } else {
        return None;
    };
    Some(clip_error(said))
}

fn beginning(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(code: i64, message: &str) -> JsonRpcError {
        JsonRpcError { code, message: message.to_string(), data: None }
    }

    #[test]
    fn words_as_friends_say_them_are_told_apart() {
        let said = |code, message: &str| classify_error(&error(code, message));
        assert_eq!(said(-32000, "Gemini API key is missing or not configured."), AcpFailureKind::NotSignedIn);
        assert_eq!(said(401, "anything"), AcpFailureKind::NotSignedIn);
        assert_eq!(
            said(500, "exception TypeError: fetch failed sending request"),
            AcpFailureKind::Unreachable
        );
        assert_eq!(
            said(-32603, "Internal error: scripted failure with status 401"),
            AcpFailureKind::NotSignedIn
        );
        assert_eq!(said(500, "{\"error\":{\"code\":500,\"message\":\"broken\"}}"), AcpFailureKind::Other);
        assert_eq!(error_text(&error(500, "{\"error\":{\"code\":500,\"message\":\"broken\"}}")), "broken");
        assert_eq!(classify_text(&"é".repeat(20_000)), AcpFailureKind::Other);
    }

    #[test]
    fn the_last_words_are_those_that_say_something() {
        let errors =
            "Error: no such model\n    at main (x.js:1)\n  code: 3\n}\nRipgrep is not available. Falling\n";
        assert_eq!(error_excerpt(errors), "Error: no such model");
        assert_eq!(error_excerpt("\n\n"), "");
        for said in [
            error_excerpt("refused: key AKIAIOSFODNN7EXAMPLE"),
            error_text(&error(1, "AKIAIOSFODNN7EXAMPLE")),
        ] {
            assert!(!said.contains("IOSFODNN7"), "{said}");
        }
    }
}
