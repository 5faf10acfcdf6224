//! Which lines of a text are new and which are gone.
//!
//! Lines are byte slices with their endings, so that a changed line ending is a changed line.

use memchr::{memchr, memrchr};
use similar::DiffOp;

use crate::lines::align::diff_operations;
use crate::lines::text_file::{line_ranges, returns_end_lines};

/// Each with its ending; the last one may have none.
pub(super) fn split(text: &[u8]) -> Vec<&[u8]> {
    line_ranges(text).map(|line| &text[line]).collect()
}

/// What git calls lines: a `\r` alone ends none.
pub(super) fn split_feeds(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Added and removed lines; none for binary content.
///
/// ```
/// use relaycode_change::diff::count_changed_lines;
/// assert_eq!(count_changed_lines(b"a\nb\nc\n", b"a\nx\ny\nc\n"), (2, 1));
/// assert_eq!(count_changed_lines(b"a\n", b"a"), (1, 1), "a lost newline is a changed line");
/// ```
pub fn count_changed_lines(before: &[u8], after: &[u8]) -> (usize, usize) {
    if memchr(0, before).is_none() && memchr(0, after).is_none() {
        return count_text(before, after);
    }
    match (super::decode_text(before), super::decode_text(after)) {
        (Some(before), Some(after)) => count_text(before.as_bytes(), after.as_bytes()),
        _ => (0, 0),
    }
}

fn count_text(before: &[u8], after: &[u8]) -> (usize, usize) {
    let operations = if returns_end_lines(before) || returns_end_lines(after) {
        diff_operations(&split(before), &split(after))
    } else {
        let (head, tail) = equal_ends(before, after);
        let middle = |text: &'_ [u8]| head..text.len() - tail;
        diff_operations(&split_feeds(&before[middle(before)]), &split_feeds(&after[middle(after)]))
    };
    let (mut added, mut removed) = (0, 0);
    for op in operations {
        if !matches!(op, DiffOp::Equal { .. }) {
            removed += op.old_range().len();
            added += op.new_range().len();
        }
    }
    (added, removed)
}

/// How many bytes of whole lines both texts share at the beginning, and how many after that at the end.
pub(crate) fn equal_ends(before: &[u8], after: &[u8]) -> (usize, usize) {
    /// Compared at once: most of two versions of a file is the same.
    const CHUNK: usize = 1024;
    let chunks = before.chunks(CHUNK).zip(after.chunks(CHUNK)).take_while(|(a, b)| a == b);
    let same = chunks.map(|(a, _)| a.len()).sum::<usize>();
    let same = same + before[same..].iter().zip(&after[same..]).take_while(|(a, b)| a == b).count();
    let start = memrchr(b'\n', &before[..same]).map_or(0, |at| at + 1);
    let (before, after) = (&before[start..], &after[start..]);
    let chunks = before.rchunks(CHUNK).zip(after.rchunks(CHUNK)).take_while(|(a, b)| a == b);
    let same = chunks.map(|(a, _)| a.len()).sum::<usize>();
    let rest = (&before[..before.len() - same], &after[..after.len() - same]);
    let same = same + rest.0.iter().rev().zip(rest.1.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_end, new_end) = (before.len() - same, after.len() - same);
    let begins_line = |text: &[u8], at: usize| at == 0 || text[at - 1] == b'\n';
    if begins_line(before, old_end) && begins_line(after, new_end) {
        return (start, same);
    }
    let tail = &before[old_end..];
    (start, memchr(b'\n', tail).map_or(0, |at| tail.len() - at - 1))
}
