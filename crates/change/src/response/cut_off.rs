//! Whether an answer ends where another block begins: the rest of it is missing, and what was read before was written
//! with that in mind.

use serde::de::IgnoredAny;

use super::file_names;
use super::lines::ResponseLines;
use super::segments::{BlockSegment, SegmentDefect, SegmentForm};
use crate::dialect::xml_tags;

/// Most lines at the end of an answer in which the beginning of a JSON value is looked for.
const JSON_LINES: usize = 60;

/// Whether the answer ends inside of a block.
pub(super) fn ends_inside(lines: &ResponseLines<'_>, segment: &BlockSegment) -> bool {
    let opens = matches!(&segment.form, SegmentForm::Fence(fence) if !fence.is_bare);
    segment.defect == Some(SegmentDefect::Open)
        && (opens || lines.next_nonblank(segment.content.start, segment.content.end).is_some())
}

/// The line below the last block, which ends on `floor`, where the answer ends before another one, and how: a sentence
/// that ends in a colon or the name of a file announces one, or it begins.
pub(super) fn find_missing_block(lines: &ResponseLines<'_>, floor: usize) -> Option<(usize, &'static str)> {
    let last = lines.last_nonblank(lines.end(), floor)?;
    let text = lines.get(last);
    if text.trim_end().ends_with(':') || file_names::path_line(text).is_some() {
        return Some((last, "the answer ends where it announces another block; it may be cut off"));
    }
    if announces_more(text) {
        return Some((last, "the answer says that it goes on; its rest is missing"));
    }
    let json_from = floor.max(lines.end().saturating_sub(JSON_LINES));
    let begun = if begins_block(text.trim()) { Some(last) } else { find_open_json(lines, json_from) };
    begun.map(|line| (line, "the answer ends where another block begins; it may be cut off"))
}

/// What stands in brackets below an answer that goes on elsewhere.
const IN_BRACKETS: &[&str] = &["truncated", "continued", "continues", "length limit", "to be continued"];
/// What a sentence says that promises more.
const PROMISES: &[&str] = &[
    "to be continued",
    "in the next message",
    "in my next message",
    "in the next response",
    "in my next response",
    "in the next reply",
    "send the rest",
    "continue with the rest",
    "continue in the next",
    "reached the length limit",
];
/// How a sentence begins that promises a file.
const NEXT_FILE: &[&str] =
    &["next, i will ", "next, i'll ", "next: ", "the next file is ", "continuing with ", "next up: "];

/// Whether the last line of an answer says that more was to follow.
fn announces_more(line: &str) -> bool {
    let line = line.trim().trim_start_matches(['*', '_', '.', '…', ' ']).trim_end_matches(['*', '_', ' ']);
    let lower = line.to_lowercase();
    let inner = lower.rfind(['(', '[']).map(|at| &lower[at..]).filter(|inner| inner.ends_with([')', ']']));
    inner.is_some_and(|inner| IN_BRACKETS.iter().any(|said| inner.contains(said)))
        || PROMISES.iter().any(|said| lower.contains(said))
        || NEXT_FILE.iter().any(|begin| lower.strip_prefix(begin).is_some_and(names_file))
        || is_part_of_several(&lower)
}

fn names_file(rest: &str) -> bool {
    rest.split([' ', '`']).any(|word| {
        let word = word.trim_end_matches(['.', ',', ':', '…']);
        word.split_once('.').is_some_and(|(stem, end)| {
            !stem.is_empty() && !end.is_empty() && end.chars().all(|c| c.is_ascii_alphanumeric())
        })
    })
}

/// `part 1 of 2`
fn is_part_of_several(line: &str) -> bool {
    let words: Vec<&str> = line.trim_matches(['(', ')', '[', ']', '.']).split(' ').collect();
    let [.., "part", this, "of", all] = words.as_slice() else { return false };
    matches!((this.parse::<u32>(), all.parse::<u32>()), (Ok(this), Ok(all)) if this < all)
}

/// Whether a line is the first one of a block, perhaps cut off itself.
fn begins_block(line: &str) -> bool {
    const PATCH_MARKERS: &[&str] =
        &["*** Begin Patch", "*** Update File: ", "*** Add File: ", "*** Delete File: "];
    let is_part_of = |whole: &str| whole.starts_with(line);
    match line.as_bytes() {
        [b'`' | b'~', rest @ ..] => rest.len() < 2 && rest.iter().all(|byte| *byte == line.as_bytes()[0]),
        [b'<', b'<', ..] | [b'<'] => true,
        [b'<', b'/' | b'a'..=b'z' | b'A'..=b'Z', ..] => !line.contains('>') || xml_tags::is_open_tag(line),
        [b'*', b'*', b'*', b' ', ..] => PATCH_MARKERS.iter().any(|marker| is_part_of(marker)),
        [b'-', ..] => line.starts_with("--- a/") || (line.len() > 8 && is_part_of("------- SEARCH")),
        [b'+', ..] => line.starts_with("+++ "),
        [b'@', ..] => line.starts_with("@@ -"),
        [b'd', ..] => line.starts_with("diff --"),
        _ => begins_heredoc(line),
    }
}

fn begins_heredoc(line: &str) -> bool {
    let command = line.strip_prefix("$ ").unwrap_or(line);
    let fed = ["cat ", "tee ", "git apply ", "patch ", "apply_patch "];
    fed.iter().any(|name| command.starts_with(name)) && command.contains('<') || command.starts_with("cat >")
}

/// The line where a JSON value begins that has no end.
fn find_open_json(lines: &ResponseLines<'_>, from: usize) -> Option<usize> {
    (from..lines.end()).find(|line| {
        let text = || lines.slice(*line..lines.end()).trim_end();
        let value = || serde_json::Deserializer::from_str(text()).into_iter::<IgnoredAny>().next();
        lines.get(*line).trim_start().starts_with(['{', '['])
            && value().is_some_and(|value| value.is_err_and(|error| error.is_eof()))
    })
}

#[cfg(test)]
mod tests {
    use super::announces_more;

    #[test]
    fn an_answer_that_goes_on_elsewhere_says_so() {
        for line in [
            "(continued in next message)",
            "[Response truncated]",
            "... (truncated)",
            "To be continued...",
            "I'll send the rest in the next message.",
            "Part 1 of 2",
            "(Message length limit reached: [truncated])",
            "Next, I will update `b.py`.",
            "Next: b.py",
            "Continuing with src/b.py…",
        ] {
            assert!(announces_more(line), "{line}");
        }
        for line in [
            "Long titles are truncated now.",
            "Part 2 of 2",
            "Next, I will wait for your tests.",
            "Let me know if you want the rest refactored.",
            "This continues to work with e.g. Python 3.",
        ] {
            assert!(!announces_more(line), "{line}");
        }
    }
}
