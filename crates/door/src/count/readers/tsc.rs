//! The TypeScript compiler, plain and pretty.
//!
//! ```text
//! src/a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.
//! src/a.ts:1:7 - error TS2322: Type 'string' is not assignable to type 'number'.
//! error TS18003: No inputs were found in config file 'tsconfig.json'.
//! ```

use super::super::place;
use super::{Reader, Sink, any};

pub(super) struct Tsc;

impl Reader for Tsc {
    fn name(&self) -> &'static str {
        "tsc"
    }

    fn recognises(&self, words: &[String]) -> bool {
        any(words, &["tsc", "vue-tsc", "tsgo", "svelte-check", "tspc"])
    }

    fn line(&mut self, line: &str, out: &mut Sink) -> bool {
        if let Some((code, message)) = error(line) {
            out.error("", 0, code, message);
            return true;
        }
        let Some((place, (code, message))) = [place::brackets(line), place::colons(line)]
            .into_iter()
            .flatten()
            .find_map(|place| Some((place, error(place.rest)?)))
        else {
            return said(line, out);
        };
        out.error(place.file, place.line, code, message);
        true
    }
}

/// `error TS2322: Type …` as code and message.
fn error(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("error ")?.trim_start();
    let digits = place::digits(rest.strip_prefix("TS")?);
    let message = rest[2 + digits..].strip_prefix(':')?;
    (digits > 0).then_some((&rest[..2 + digits], message.trim_start()))
}

/// `Found 4 errors in 2 files.`; mypy's and ruff's sums look alike.
fn said(line: &str, out: &mut Sink) -> bool {
    let Some(rest) = line.strip_prefix("Found ") else { return false };
    let ours = rest.contains(" in ") && !rest.contains("(checked") && !rest.contains("(errors prevented");
    match place::count_before(rest, " error") {
        Some(count) if ours => out.said(count),
        _ => return false,
    }
    true
}
