//! Names in code that a change adds and that only look Latin: `pаyment` with a Cyrillic `а`. Comments and strings may be in
//! any language, and so may text that is no code.

use std::collections::HashSet;

use relaycode_text::confusable::{ConfusableName, confusable_names};
use relaycode_text::hidden::code_point;

use super::{CheckedFile, PlanCheck, text_lines};
use crate::plan::{FindingKind, PlanFinding};

/// Names listed per file; the others are counted.
const NAMED: usize = 8;

/// Endings of files that are code.
const CODE: &str = "bash c cc cjs clj cpp cs cts cxx d dart erl ex exs go groovy h hh hpp hs java jl js jsx kt kts lua m mjs ml mm \
    mts nim php pl pm ps1 py pyi r rb rs scala sh sol sql svelte swift ts tsx vue zig";

pub(super) struct ConfusableCheck;

impl PlanCheck for ConfusableCheck {
    fn kind(&self) -> FindingKind {
        FindingKind::Hidden
    }

    fn check(&self, file: &CheckedFile<'_>, out: &mut Vec<PlanFinding>) {
        let Some(after) = file.after.filter(|text| !text.is_ascii()) else { return };
        let extension = file.file.path.extension().unwrap_or_default().to_ascii_lowercase();
        if !CODE.split(' ').any(|ending| ending == extension) {
            return;
        }
        let mut known: HashSet<&str> = HashSet::new();
        for line in text_lines(file.before.unwrap_or_default()).filter(|line| !line.is_ascii()) {
            known.extend(confusable_names(line).map(|found| found.name));
        }
        let mut count = 0;
        for (number, line) in text_lines(after).enumerate().filter(|(_, line)| !line.is_ascii()) {
            for part in code_parts(line, extension == "rs") {
                for found in confusable_names(part) {
                    if known.insert(found.name) {
                        count += 1;
                        if count <= NAMED {
                            out.push(file.finding(self.kind(), Some(number + 1), sentence(&found)));
                        }
                    }
                }
            }
        }
        if count > NAMED {
            let text = format!("{} more names mix letters of several scripts", count - NAMED);
            out.push(file.finding(self.kind(), None, text));
        }
    }
}

fn sentence(found: &ConfusableName<'_>) -> String {
    let ConfusableName { name, letter, script, like, .. } = found;
    format!(
        "the name `{name}` looks Latin, but its `{letter}` is {script} ({}), not `{like}`",
        code_point(*letter)
    )
}

/// The parts of a line outside of strings and comments, as far as the line alone tells.
fn code_parts(line: &str, lifetimes: bool) -> Vec<&str> {
    let mut parts = Vec::new();
    if line.trim_start().starts_with('*') {
        return parts;
    }
    let (mut from, mut at) = (0, 0);
    while let Some(c) = line[at..].chars().next() {
        let rest = &line[at..];
        if rest.starts_with("//") || c == '#' {
            parts.push(&line[from..at]);
            return parts;
        }
        let skipped = match c {
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' | '`' => quoted_length(rest, c),
            '\'' if !lifetimes => quoted_length(rest, c),
            _ => 0,
        };
        if skipped > 0 {
            parts.push(&line[from..at]);
            at += skipped;
            from = at;
        } else {
            at += c.len_utf8();
        }
    }
    parts.push(&line[from..]);
    parts
}

/// Length of the string that begins here; 0 if it does not end on this line.
fn quoted_length(text: &str, quote: char) -> usize {
    let mut escaped = true;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_comments_are_no_code() {
        for (line, expected) in [
            ("a \"b\" c // d", vec!["a ", " c "]),
            ("a 'b\\'c' /* d */ e", vec!["a ", " ", " e"]),
            ("a # b", vec!["a "]),
            (" * comment", vec![]),
            ("a \"b", vec!["a \"b"]),
        ] {
            assert_eq!(code_parts(line, false), expected, "{line}");
        }
        assert_eq!(code_parts("f<'a>(x: &'a str)", true), ["f<'a>(x: &'a str)"]);
    }
}
