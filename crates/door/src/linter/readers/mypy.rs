//! Mypy, plain, pretty and as JSON. Notes are not errors.
//!
//! ```text
//! a.py:4: error: Name "undefined" is not defined  [name-defined]
//! a.py:4:16: error: Name "undefined" is not defined  [name-defined]
//! Found 3 errors in 1 file (checked 1 source file)
//! ```

use super::super::{json_scanner::JsonObject, location};
use super::{DiagnosticSink, LinterReader, split_code};

pub(super) struct MypyReader;

impl LinterReader for MypyReader {
    fn read_line(&mut self, line: &str, out: &mut DiagnosticSink) -> bool {
        if let Some(rest) = line.strip_prefix("Found ")
            && (rest.contains("(checked ") || rest.contains("(errors prevented"))
            && let Some(count) = location::count_before(rest, " error")
        {
            out.add_reported_total(count);
            return true;
        }
        if line.starts_with(' ') {
            return false;
        }
        let (file, number, rest) = match location::parse_colon_location(line) {
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
        let (message, code) = split_code(text, "  [", "]");
        out.add_error(file, number, code, message);
        true
    }

    fn read_object(&mut self, object: &JsonObject<'_>, out: &mut DiagnosticSink) {
        if object.is_at(&[""])
            && object.get("severity") == Some("error")
            && let (Some(file), Some(message)) = (object.get("file"), object.get("message"))
        {
            let line = object.get("line").map_or(0, location::parse_leading_number);
            out.add_error(file, line, object.get("code").unwrap_or_default(), message);
        }
    }
}
