//! Ruff: full, concise and JSON; and, because they look alike, flake8 and pylint.
//!
//! ```text
//! F401 [*] `os` imported but unused
//!  --> a.py:1:8
//! a.py:1:8: F401 [*] `os` imported but unused
//! b.py:1:7: invalid-syntax: Expected a parameter
//! Found 6 errors.
//! ```

use super::super::json::Object;
use super::super::place;
use super::{Reader, Sink, any};

#[derive(Default)]
pub(super) struct Ruff {
    /// A problem whose place must come on the next line.
    pending: Option<(String, String)>,
    /// The line of the problem whose JSON is being read.
    row: u64,
}

impl Reader for Ruff {
    fn name(&self) -> &'static str {
        "ruff"
    }

    fn recognises(&self, words: &[String]) -> bool {
        any(words, &["ruff", "flake8", "pylint"])
    }

    fn line(&mut self, line: &str, out: &mut Sink) -> bool {
        let pending = self.pending.take();
        if let Some(at) = line.trim_start().strip_prefix("--> ") {
            let (Some((code, message)), Some((file, number))) = (pending, place::bare(at)) else {
                return false;
            };
            out.error(file, number, &code, &message);
            return true;
        }
        if let Some(place) = place::colons(line).filter(|place| is_python(place.file)) {
            let Some((code, message)) = problem(place.rest) else { return false };
            out.error(place.file, place.line, code, message);
            return true;
        }
        if let Some(file) = line.strip_prefix("Would reformat: ") {
            out.error(file, 0, "unformatted", "would be reformatted");
            return true;
        }
        if let Some(rest) = line.strip_prefix("Found ") {
            return said(rest, out);
        }
        if let Some((code, message)) = problem(line) {
            self.pending = Some((code.to_owned(), message.to_owned()));
        }
        // Whether it is ours the next line says.
        false
    }

    fn object(&mut self, object: &Object<'_>, out: &mut Sink) {
        if object.is_at(&["", "", "location"]) {
            self.row = object.get("row").map_or(0, place::number);
        } else if object.is_at(&["", ""])
            && let (Some(file), Some(message)) = (object.get("filename"), object.get("message"))
        {
            let row = std::mem::take(&mut self.row);
            out.error(file, row, object.get("code").unwrap_or("invalid-syntax"), message);
        }
    }
}

/// `F401 [*] message`, `C0114: message`, `invalid-syntax: message` as code and message.
fn problem(text: &str) -> Option<(&str, &str)> {
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
fn said(rest: &str, out: &mut Sink) -> bool {
    let remaining = place::count_before(rest, " remaining");
    let all = rest.ends_with("errors.") || rest.ends_with("error.");
    match remaining.or_else(|| place::count_before(rest, " error").filter(|_| all)) {
        Some(count) => out.said(count),
        None => return false,
    }
    true
}

fn is_python(file: &str) -> bool {
    [".py", ".pyi", ".ipynb", ".toml"].iter().any(|end| file.ends_with(end)) || file.contains(".ipynb")
}
