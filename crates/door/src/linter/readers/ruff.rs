//! Ruff: full, concise and JSON; and, because they look alike, flake8 and pylint.
//!
//! ```text
//! F401 [*] `os` imported but unused
//!  --> a.py:1:8
//! a.py:1:8: F401 [*] `os` imported but unused
//! b.py:1:7: invalid-syntax: Expected a parameter
//! Found 6 errors.
//! ```

use super::super::{json_scanner::JsonObject, location};
use super::{DiagnosticSink, LinterReader};

#[derive(Default)]
pub(super) struct RuffReader {
    /// A problem whose place must come on the next line.
    pending: Option<(String, String)>,
    /// The line of the problem whose JSON is being read.
    row: u64,
}

impl LinterReader for RuffReader {
    fn read_line(&mut self, line: &str, out: &mut DiagnosticSink) -> bool {
        let pending = self.pending.take();
        if let Some(at) = line.trim_start().strip_prefix("--> ") {
            let place = location::parse_bare_location(at);
            let (Some((code, message)), Some((file, number))) = (pending, place) else { return false };
            out.add_error(file, number, &code, &message);
            return true;
        }
        if let Some(place) = location::parse_colon_location(line).filter(|place| is_python(place.file)) {
            let Some((code, message)) = parse_problem(place.rest) else { return false };
            out.add_error(place.file, place.line, code, message);
            return true;
        }
        if let Some(file) = line.strip_prefix("Would reformat: ") {
            out.add_error(file, 0, "unformatted", "would be reformatted");
            return true;
        }
        if let Some(rest) = line.strip_prefix("Found ") {
            return read_total(rest, out);
        }
        if let Some((code, message)) = parse_problem(line) {
            self.pending = Some((code.to_owned(), message.to_owned()));
        }
        // Whether it is ours the next line says.
        false
    }

    fn read_object(&mut self, object: &JsonObject<'_>, out: &mut DiagnosticSink) {
        if object.is_at(&["", "", "location"]) {
            self.row = object.get("row").map_or(0, location::parse_leading_number);
        } else if object.is_at(&["", ""])
            && let (Some(file), Some(message)) = (object.get("filename"), object.get("message"))
        {
            let row = std::mem::take(&mut self.row);
            out.add_error(file, row, object.get("code").unwrap_or("invalid-syntax"), message);
        }
    }
}

/// `F401 [*] message`, `C0114: message`, `invalid-syntax: message` as code and message.
fn parse_problem(text: &str) -> Option<(&str, &str)> {
    let (code, message) = text.split_once(' ')?;
    let bare = code.strip_suffix(':').unwrap_or(code);
    let letters = bare.bytes().take_while(u8::is_ascii_uppercase).count();
    let rule = (1..=6).contains(&letters) && (1..=5).contains(&(bare.len() - letters));
    let rule = rule && bare[letters..].bytes().all(|byte| byte.is_ascii_digit());
    let named = matches!(code, "invalid-syntax:" | "SyntaxError:" | "unformatted:" | "io-error:" | "panic:");
    if !rule && !named {
        return None;
    }
    let message = message.trim_start();
    Some((bare, message.strip_prefix("[*] ").unwrap_or(message)))
}

/// `6 errors.`, `3 errors (1 fixed, 2 remaining).`
fn read_total(rest: &str, out: &mut DiagnosticSink) -> bool {
    let remaining = location::count_before(rest, " remaining");
    let all = rest.ends_with("errors.") || rest.ends_with("error.");
    match remaining.or_else(|| location::count_before(rest, " error").filter(|_| all)) {
        Some(count) => out.add_reported_total(count),
        None => return false,
    }
    true
}

fn is_python(file: &str) -> bool {
    [".py", ".pyi", ".ipynb", ".toml"].iter().any(|end| file.ends_with(end)) || file.contains(".ipynb")
}
