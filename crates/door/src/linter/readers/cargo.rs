//! Cargo and rustc: build, check, clippy, test and fmt, for people, short, and as JSON.
//!
//! ```text
//! error[E0308]: mismatched types
//!  --> src/lib.rs:1:21
//! src/lib.rs:1:21: error[E0308]: mismatched types
//! test parse::empty ... FAILED
//! Diff in /project/src/lib.rs:12:
//! ```
//! What cargo says in the end ("could not compile … due to 3 previous errors") repeats what was counted.

use super::super::{json_scanner::JsonObject, location};
use super::{DiagnosticSink, LinterReader};

/// Errors that only say that there were errors.
const REPEATS: &str =
    "could not compile|aborting due to|test failed, to rerun|doctest failed, to rerun|build failed";

pub(super) struct CargoReader {
    known: bool,
    /// An error whose place comes on a later line.
    pending: Option<(String, String)>,
    /// The place of the message whose JSON is being read.
    span: Option<(String, u64)>,
}

impl CargoReader {
    pub(super) fn new(known: bool) -> CargoReader {
        CargoReader { known, pending: None, span: None }
    }

    /// The error that waited for its place gets none. Without a code and without a place it is one only if
    /// cargo is known to speak.
    fn flush_pending(&mut self, out: &mut DiagnosticSink) {
        if let Some((code, message)) = self.pending.take()
            && (self.known || !code.is_empty())
        {
            out.add_error("", 0, &code, &message);
        }
    }
}

impl LinterReader for CargoReader {
    fn read_line(&mut self, line: &str, out: &mut DiagnosticSink) -> bool {
        if let Some((code, message)) = parse_error(line) {
            self.flush_pending(out);
            if !is_repeat(message) {
                self.pending = Some((code.to_owned(), message.to_owned()));
            }
            return true;
        }
        if let Some(at) = line.trim_start().strip_prefix("--> ")
            && let Some((file, number)) = location::parse_bare_location(at)
        {
            let Some((code, message)) = self.pending.take() else { return false };
            out.add_error(file, number, &code, &message);
            return true;
        }
        if line.is_empty() || line.starts_with("warning") {
            self.flush_pending(out);
            return false;
        }
        if let Some(name) = line.strip_prefix("test ").and_then(|test| test.strip_suffix(" ... FAILED")) {
            out.add_error("", 0, "test", &format!("{name} failed"));
            return true;
        }
        if let Some(place) = line.strip_prefix("Diff in ").and_then(location::parse_colon_location)
            && place.rest.is_empty()
        {
            out.add_error(place.file, place.line, "fmt", "is not formatted");
            return true;
        }
        let Some(place) = location::parse_colon_location(line) else { return false };
        match parse_error(place.rest) {
            Some((code, message)) if place.column && (self.known || !code.is_empty()) => {
                out.add_error(place.file, place.line, code, message);
                true
            }
            _ => false,
        }
    }

    fn read_object(&mut self, object: &JsonObject<'_>, out: &mut DiagnosticSink) {
        if object.is_at(&["", "message", "spans", ""]) {
            if self.span.is_none() && object.get("is_primary") == Some("true") {
                let line = object.get("line_start").map_or(0, location::parse_leading_number);
                self.span = Some((object.get("file_name").unwrap_or_default().to_owned(), line));
            }
        } else if object.is_at(&["", "message", "code"]) {
            self.pending = Some((object.get("code").unwrap_or_default().to_owned(), String::new()));
        } else if object.is_at(&["", "message"]) && object.get_outer(1, "reason") == Some("compiler-message")
        {
            let code = self.pending.take().map(|(code, _)| code).unwrap_or_default();
            let (file, line) = self.span.take().unwrap_or_default();
            let message = object.get("message").unwrap_or_default();
            if object.get("level").is_some_and(|level| level.starts_with("error")) && !is_repeat(message) {
                out.add_error(&file, line, &code, message);
            }
        }
    }

    fn finish(&mut self, out: &mut DiagnosticSink) {
        self.flush_pending(out);
    }
}

/// `error[E0308]: mismatched types` as code and message; the code may be missing.
fn parse_error(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("error")?;
    if let Some(message) = rest.strip_prefix(": ") {
        return Some(("", message));
    }
    let (code, message) = rest.strip_prefix('[')?.split_once("]: ")?;
    let plain = !code.is_empty()
        && code.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b'-'));
    plain.then_some((code, message))
}

fn is_repeat(message: &str) -> bool {
    let targets = message.contains(" target failed:") || message.contains(" targets failed:");
    targets || REPEATS.split('|').any(|repeat| message.starts_with(repeat))
}
