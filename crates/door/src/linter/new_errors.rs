//! Which errors are new: those of the second run that the first one did not have.
//!
//! A change moves lines, so an error is known by its file, its code and its words, with positions in the
//! words left out. The same error twice is two errors: sets with counts are compared.

use std::collections::HashMap;

use super::LinterCount;
use crate::gate::Diagnostic;

/// How many errors are new in `after`, and the first `most` of them.
///
/// Where a run has more errors than it lists, its unlisted ones are given the benefit of the doubt: they may be
/// any. So the number is never more than can be shown, and never less than the difference of the totals.
#[must_use]
pub fn find_new_errors(before: &LinterCount, after: &LinterCount, most: usize) -> (u64, Vec<Diagnostic>) {
    let mut known: HashMap<(&str, &str, String), u64> = HashMap::new();
    for old in &before.diagnostics {
        *known.entry(diagnostic_key(old)).or_default() += 1;
    }
    let mut unmatched = Vec::new();
    for error in &after.diagnostics {
        match known.get_mut(&diagnostic_key(error)) {
            Some(left) if *left > 0 => *left -= 1,
            _ => unmatched.push(error),
        }
    }
    let unlisted = before.errors.saturating_sub(before.diagnostics.len() as u64);
    let shown = (unmatched.len() as u64).saturating_sub(unlisted);
    let count = shown.max(after.errors.saturating_sub(before.errors));
    let listed = usize::try_from(count).unwrap_or(usize::MAX).min(most);
    (count, unmatched.into_iter().take(listed).cloned().collect())
}

fn diagnostic_key(diagnostic: &Diagnostic) -> (&str, &str, String) {
    (&diagnostic.file, &diagnostic.code, without_positions(&diagnostic.message))
}

/// The message with every number that is a position replaced: after `line`, `column`, `col`, `:` or `(`, and
/// the second of a pair of those.
fn without_positions(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    let mut rest = message;
    let mut after_position = false;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let between = &rest[..at];
        let digits = super::location::leading_digits(&rest[at..]);
        let follows = after_position && matches!(between, ":" | "," | ", " | "-" | " and ");
        out.push_str(between);
        let position = follows || {
            let before = out.trim_end().to_ascii_lowercase();
            ["line", "lines", "column", "col", "row", "offset"].iter().any(|word| before.ends_with(word))
                || (between.ends_with(':') && between.len() > 1)
                || (between.ends_with('(') && rest[at + digits..].starts_with([',', ':']))
        };
        out.push_str(if position { "#" } else { &rest[at..at + digits] });
        after_position = position;
        rest = &rest[at + digits..];
    }
    out.push_str(rest);
    out
}
