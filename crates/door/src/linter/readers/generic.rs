//! Any other tool: compilers of C, test runners, scripts. What is plainly an error counts.
//!
//! ```text
//! h.c:1:38: error: 'y' undeclared
//! a.sh:3:1: missing space
//! app.cs(3,5): error CS1002: ; expected
//! FAILED test_a.py::test_a - assert 1 == 2
//! Error: something is wrong
//! 2 failed, 3 passed
//! ```

use super::super::location::{self, LinterLocation};
use super::{DiagnosticSink, LinterReader};

pub(super) struct GenericReader;

/// What a place is said to have that is no error.
const NON_ERROR_LABELS: &str = "warning|warn|note|info|hint|help|remark|style|suggestion|convention|refactor|debug|notice|\
    required from|in function|at ";

/// Lines that begin with "error" and only say that a command failed, or that there is none.
const NON_ERROR_STARTS: &str =
    "error command failed|error code elifecycle|error lifecycle|errors: 0|error: 0 |error 0";

impl LinterReader for GenericReader {
    fn read_line(&mut self, line: &str, out: &mut DiagnosticSink) -> bool {
        let line = line.trim_start();
        if let Some(place) = location::parse_colon_location(line).filter(is_file) {
            return read_located(&place, out);
        }
        if let Some(place) = location::parse_paren_location(line).filter(is_file)
            && let Some(text) = after_error(place.rest)
        {
            let (code, message) =
                text.split_once(": ").filter(|(code, _)| !code.contains(' ')).unwrap_or(("", text));
            out.add_error(place.file, place.line, code, message);
            return true;
        }
        if let Some(test) = line.strip_prefix("FAILED ") {
            let (file, _) = test.split_once("::").unwrap_or(("", test));
            out.add_error(file, 0, "test", test);
            return true;
        }
        let start = line.get(..line.len().min(24)).unwrap_or_default().to_ascii_lowercase();
        if let Some(message) = after_error(line)
            && !NON_ERROR_STARTS.split('|').any(|none| start.starts_with(none))
        {
            out.add_error("", 0, "", message);
            return true;
        }
        read_total(line, out)
    }
}

/// Whether the place is in something that looks like a file, not a time of day or an address.
fn is_file(place: &LinterLocation<'_>) -> bool {
    let file = place.file;
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    !file.contains("://")
        && (name.contains('.') || file.contains('/'))
        && name.chars().any(char::is_alphabetic)
}

fn read_located(place: &LinterLocation<'_>, out: &mut DiagnosticSink) -> bool {
    if let Some(message) = after_error(place.rest) {
        out.add_error(place.file, place.line, "", message);
        return true;
    }
    let start = place.rest.get(..place.rest.len().min(24)).unwrap_or_default().to_ascii_lowercase();
    let milder = NON_ERROR_LABELS.split('|').any(|milder| start.starts_with(milder));
    // Without the word "error" only a place with a column counts: logs name files and lines too.
    let spaced = place.file.contains(' ');
    if milder || !place.column || place.rest.is_empty() || spaced {
        return false;
    }
    out.add_error(place.file, place.line, "", place.rest);
    true
}

/// What follows the word "error" at the start, if it stands there as a label.
fn after_error(text: &str) -> Option<&str> {
    let labels = ["fatal error", "Fatal error", "error", "Error", "ERROR", "fatal", "FATAL"];
    let rest = labels.iter().find_map(|word| text.strip_prefix(word))?;
    match rest.bytes().next()? {
        b':' => Some(rest[1..].trim_start()),
        b' ' | b'[' | b'(' | b'\t' => Some(rest.trim_start()),
        _ => None,
    }
    .filter(|message| !message.is_empty())
}

/// `3 errors generated.`, `Found 3 errors`, `Tests: 2 failed, 1 passed`, `2 failed in 0.02s`
fn read_total(line: &str, out: &mut DiagnosticSink) -> bool {
    let start = line.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    let numbered =
        location::leading_digits(start) > 0 || start.starts_with("Found ") || start.starts_with("Tests:");
    if !numbered || line.len() > 200 {
        return false;
    }
    let counts = [" error", " failed"].iter().find_map(|word| location::count_before(start, word));
    if let Some(count) = counts {
        out.add_reported_total(count);
    }
    counts.is_some()
}
