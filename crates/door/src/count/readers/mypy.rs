//! Mypy, plain, pretty and as JSON. Notes are not errors.
//!
//! ```text
//! a.py:4: error: Name "undefined" is not defined  [name-defined]
//! a.py:4:16: error: Name "undefined" is not defined  [name-defined]
//! Found 3 errors in 1 file (checked 1 source file)
//! ```

use super::super::json::Object;
use super::super::place;
use super::{Reader, Sink, any};

pub(super) struct Mypy;

impl Reader for Mypy {
    fn name(&self) -> &'static str {
        "mypy"
    }

    fn recognises(&self, words: &[String]) -> bool {
        any(words, &["mypy", "dmypy"])
    }

    fn line(&mut self, line: &str, out: &mut Sink) -> bool {
        if let Some(rest) = line.strip_prefix("Found ")
            && (rest.contains("(checked ") || rest.contains("(errors prevented"))
            && let Some(count) = place::count_before(rest, " error")
        {
            out.said(count);
            return true;
        }
        if line.starts_with(' ') {
            return false;
        }
        let (file, number, rest) = match place::colons(line) {
            Some(place) => (place.file, place.line, place.rest),
            // `a.py: error: Source file found twice`
            None => match line.split_once(": error: ") {
                Some((file, message)) => (file, 0, &line[line.len() - message.len() - 7..]),
                None => return false,
            },
        };
        if !(file.ends_with(".py") || file.ends_with(".pyi") || file == "mypy") {
            return false;
        }
        if rest.starts_with("note: ") {
            return true;
        }
        let Some(text) = rest.strip_prefix("error: ") else { return false };
        let (message, code) = match text.strip_suffix(']').and_then(|text| text.rsplit_once("  [")) {
            Some((message, code)) if !code.contains(' ') => (message, code),
            _ => (text, ""),
        };
        out.error(file, number, code, message);
        true
    }

    fn object(&mut self, object: &Object<'_>, out: &mut Sink) {
        if object.is_at(&[""])
            && object.get("severity") == Some("error")
            && let (Some(file), Some(message)) = (object.get("file"), object.get("message"))
        {
            let line = object.get("line").map_or(0, place::number);
            out.error(file, line, object.get("code").unwrap_or_default(), message);
        }
    }
}
