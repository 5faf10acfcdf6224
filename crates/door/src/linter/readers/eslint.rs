//! ESLint: stylish, unix, compact and JSON. Warnings are not errors.
//!
//! ```text
//! /project/a.js
//!   2:5   error    'y' is not defined                      no-undef
//! ✖ 6 problems (5 errors, 1 warning)
//!
//! /project/a.js:2:5: 'y' is not defined. [Error/no-undef]
//! /project/a.js: line 2, col 5, Error - 'y' is not defined. (no-undef)
//! ```

use super::super::{json_scanner::JsonObject, location};
use super::{DiagnosticSink, LinterReader, split_code};

#[derive(Default)]
pub(super) struct EslintReader {
    /// The file whose problems follow.
    file: String,
}

impl LinterReader for EslintReader {
    fn read_line(&mut self, line: &str, out: &mut DiagnosticSink) -> bool {
        if line.starts_with(' ') {
            return self.read_stylish(line.trim_start(), out);
        }
        if let Some(problems) = line.find(" problem").map(|at| &line[at..])
            && let Some((_, counts)) = problems.split_once('(')
            && let Some(errors) = location::count_before(counts, " error")
        {
            out.add_reported_total(errors);
            return true;
        }
        if read_unix(line, out) || read_compact(line, out) {
            return true;
        }
        if !line.is_empty() {
            line.clone_into(&mut self.file);
        }
        false
    }

    fn read_object(&mut self, object: &JsonObject<'_>, out: &mut DiagnosticSink) {
        if !object.is_at(&["", "", "messages", ""]) {
            return;
        }
        let Some(file) = object.get_outer(2, "filePath") else { return };
        if object.get("severity") == Some("2") || object.get("fatal") == Some("true") {
            let line = object.get("line").map_or(0, location::parse_leading_number);
            let code = object.get("ruleId").unwrap_or_default();
            out.add_error(file, line, code, without_stop(object.get("message").unwrap_or_default()));
        }
    }
}

impl EslintReader {
    /// `2:5   error    'y' is not defined   no-undef`
    fn read_stylish(&self, line: &str, out: &mut DiagnosticSink) -> bool {
        let digits = location::leading_digits(line);
        let Some(column) = line[digits..].strip_prefix(':').filter(|_| digits > 0) else { return false };
        let columns = location::leading_digits(column);
        let rest = &column[columns..];
        if columns == 0 || !rest.starts_with("  ") {
            return false;
        }
        let rest = rest.trim_start();
        if rest.starts_with("warning  ") {
            return true;
        }
        let Some(rest) = rest.strip_prefix("error  ") else { return false };
        let (message, code) = match rest.trim().rsplit_once("  ") {
            Some((message, code)) if !code.contains(' ') => (message, code),
            _ => (rest, ""),
        };
        out.add_error(&self.file, location::parse_leading_number(line), code, message);
        true
    }
}

fn read_unix(line: &str, out: &mut DiagnosticSink) -> bool {
    let split = line.strip_suffix(']').and_then(|line| line.rsplit_once(" ["));
    let Some((before, kind)) = split else { return false };
    let (level, code) = kind.split_once('/').unwrap_or((kind, ""));
    let place = location::parse_colon_location(before).filter(|place| place.column);
    let Some(place) = place else { return false };
    if level == "Error" {
        out.add_error(place.file, place.line, code, without_stop(place.rest));
    }
    matches!(level, "Error" | "Warning")
}

fn read_compact(line: &str, out: &mut DiagnosticSink) -> bool {
    let Some((file, rest)) = line.split_once(": line ") else { return false };
    let Some((_, rest_of)) = rest.split_once(", col ") else { return false };
    let Some((_, problem)) = rest_of.split_once(", ") else { return false };
    if problem.starts_with("Warning - ") {
        return true;
    }
    let Some(text) = problem.strip_prefix("Error - ") else { return false };
    let (message, code) = split_code(text, " (", ")");
    out.add_error(file, location::parse_leading_number(rest), code, without_stop(message));
    true
}

/// Stylish leaves the full stop out; so that formats agree, so does everybody.
fn without_stop(message: &str) -> &str {
    message.strip_suffix('.').unwrap_or(message)
}
