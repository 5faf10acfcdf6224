//! Go: build, vet and test; and linters that print the same way.
//!
//! ```text
//! # sample/b
//! b/y.go:6:15: undefined: undefined
//! vet: b/y.go:6:15: undeclared name: undefined
//! --- FAIL: TestFails (0.00s)
//! ```

use super::{super::location, DiagnosticSink, LinterReader};

pub(super) struct GoReader {
    pub(super) known: bool,
}

/// What the `go` command says of its own doing, which is no error.
const PROGRESS_WORDS: &[&str] =
    &["downloading", "finding", "extracting", "added", "upgraded", "downgraded", "removed", "found"];

impl LinterReader for GoReader {
    fn read_line(&mut self, line: &str, out: &mut DiagnosticSink) -> bool {
        if let Some(test) = line.strip_prefix("--- FAIL: ") {
            let name = test.split(' ').next().unwrap_or(test);
            out.add_error("", 0, "test", &format!("{name} failed"));
            return true;
        }
        if let Some(said) = line.strip_prefix("go: ").filter(|_| self.known) {
            if !PROGRESS_WORDS.iter().any(|doing| said.starts_with(doing)) {
                out.add_error("", 0, "", said);
            }
            return true;
        }
        let text = line.strip_prefix("vet: ").unwrap_or(line);
        let Some(place) = location::parse_colon_location(text) else { return false };
        let named = place.file.ends_with(".go") && !place.file.starts_with(char::is_whitespace);
        if !named || place.rest.is_empty() || !(place.column || self.known) {
            return false;
        }
        out.add_error(place.file, place.line, "", place.rest);
        true
    }
}
