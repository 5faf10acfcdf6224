//! Go: build, vet and test; and linters that print the same way.
//!
//! ```text
//! # sample/b
//! b/y.go:6:15: undefined: undefined
//! vet: b/y.go:6:15: undeclared name: undefined
//! --- FAIL: TestFails (0.00s)
//! ```

use super::super::place;
use super::{Reader, Sink, any};

pub(super) struct Go {
    pub(super) known: bool,
}

/// What the `go` command says of its own doing, which is no error.
const DOING: &[&str] =
    &["downloading", "finding", "extracting", "added", "upgraded", "downgraded", "removed", "found"];

impl Reader for Go {
    fn name(&self) -> &'static str {
        "go"
    }

    fn recognises(&self, words: &[String]) -> bool {
        let told = ["vet", "build", "test", "run", "install", "tool", "generate"];
        words.windows(2).any(|pair| pair[0] == "go" && told.contains(&pair[1].as_str()))
            || any(words, &["gofmt", "golangci-lint", "staticcheck", "revive"])
    }

    fn line(&mut self, line: &str, out: &mut Sink) -> bool {
        if let Some(test) = line.strip_prefix("--- FAIL: ") {
            let name = test.split(' ').next().unwrap_or(test);
            out.error("", 0, "test", &format!("{name} failed"));
            return true;
        }
        if let Some(said) = line.strip_prefix("go: ").filter(|_| self.known) {
            if !DOING.iter().any(|doing| said.starts_with(doing)) {
                out.error("", 0, "", said);
            }
            return true;
        }
        let text = line.strip_prefix("vet: ").unwrap_or(line);
        let Some(place) = place::colons(text) else { return false };
        if !place.file.ends_with(".go")
            || place.file.starts_with(char::is_whitespace)
            || place.rest.is_empty()
        {
            return false;
        }
        if !place.column && !self.known {
            return false;
        }
        out.error(place.file, place.line, "", place.rest);
        true
    }
}
