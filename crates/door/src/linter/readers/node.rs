//! Node and what runs like it (`node --check`): the place, the line of source, and the error below them.
//!
//! ```text
//! /app/src/a.js:3
//! const = ;
//!       ^
//!
//! SyntaxError: Unexpected token '='
//!     at wrapSafe (node:internal/modules/cjs/loader:1464:18)
//! ```

use super::super::location;
use super::{DiagnosticSink, LinterReader};

/// Lines between a place and its error.
const DISTANCE: usize = 8;

#[derive(Default)]
pub(super) struct NodeReader {
    /// The place that was named last, and how many lines ago.
    place: Option<(String, u64, usize)>,
}

impl LinterReader for NodeReader {
    fn read_line(&mut self, line: &str, out: &mut DiagnosticSink) -> bool {
        if let Some(place) = place_alone(line) {
            self.place = Some((place.0.to_string(), place.1, 0));
            return true;
        }
        let Some((file, number, age)) = &mut self.place else { return false };
        *age += 1;
        if let Some((code, message)) = error_of(line) {
            out.add_error(file, *number, code, message);
            self.place = None;
            return true;
        }
        if *age > DISTANCE {
            self.place = None;
        }
        false
    }
}

/// `/app/src/a.js:3` and nothing else.
fn place_alone(line: &str) -> Option<(&str, u64)> {
    let (file, number) = line.strip_prefix("file://").unwrap_or(line).rsplit_once(':')?;
    let digits = location::leading_digits(number);
    let is_file = file.contains('.') && !file.contains(' ') && !file.ends_with(|c: char| c.is_ascii_digit());
    (is_file && digits > 0 && digits == number.len()).then(|| Some((file, number.parse().ok()?)))?
}

/// `SyntaxError: message`, `Error [ERR_X]: message`
fn error_of(line: &str) -> Option<(&str, &str)> {
    let (name, message) = line.split_once(": ")?;
    let kind = name.split(' ').next().unwrap_or(name);
    (kind.ends_with("Error") && kind.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        .then_some((name, message))
}
