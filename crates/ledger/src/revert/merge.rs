//! Three texts by lines: what a transaction wrote, what stands there now, and what stood there
//! before. Lines are bytes with their endings, so nothing is lost or made up, whatever the encoding.

use std::borrow::Cow;
use std::ops::Range;

use relaycode_change::lines::align::equal_runs;
use relaycode_change::lines::merge::{LineMerge, merge_lines};

use crate::ConflictRegion;

/// Regions of one file that a conflict lists.
pub const REGIONS_LISTED: usize = 20;

/// Lines of one side of a region that a conflict lists.
pub const LINES_LISTED: usize = 12;

/// Characters of one line that a conflict lists.
pub const LINE_CHARS: usize = 200;

/// A revert of one text, merged into what stands there now.
pub(super) struct RevertMerge<'a> {
    separator: u8,
    /// What the transaction wrote.
    base: Vec<&'a [u8]>,
    /// What stands there now.
    ours: Vec<&'a [u8]>,
    /// What stood there before.
    theirs: Vec<&'a [u8]>,
    merge: LineMerge,
}

/// What takes the place of some lines of `ours`.
enum RevertMergePiece {
    Theirs(Range<usize>),
    Conflict(usize),
}

impl<'a> RevertMerge<'a> {
    /// Carries the way from `written` back to `before` over to `now`; `None` if one of them is not
    /// made of lines.
    pub(super) fn new(written: &'a [u8], now: &'a [u8], before: &'a [u8]) -> Option<RevertMerge<'a>> {
        let texts = [written, now, before];
        if texts.iter().any(|text| text.contains(&0)) {
            return None;
        }
        let separator = separator(&texts);
        let [base, ours, theirs] = texts.map(|text| lines(text, separator));
        // All three in the same way: a byte taken for a character must not equal a real one.
        let utf8 = texts.iter().all(|text| std::str::from_utf8(text).is_ok());
        let readable = |lines: &[&'a [u8]]| -> Vec<Cow<'a, str>> {
            lines.iter().map(|line| characters(line, utf8)).collect()
        };
        let merge = merge_lines(&readable(&base), &readable(&ours), &readable(&theirs));
        Some(RevertMerge { separator, base, ours, theirs, merge })
    }

    /// In how many regions both sides differ.
    pub(super) fn conflicts(&self) -> usize {
        self.merge.conflicts.len()
    }

    /// The merged text. Regions in conflict come with markers; `id` names the transaction there.
    pub(super) fn bytes(&self, id: &str) -> Vec<u8> {
        let edits =
            self.merge.edits.iter().map(|edit| (&edit.ours, RevertMergePiece::Theirs(edit.theirs.clone())));
        let conflicts = self.merge.conflicts.iter().enumerate();
        let conflicts = conflicts.map(|(n, conflict)| (&conflict.ours, RevertMergePiece::Conflict(n)));
        let mut pieces: Vec<(&Range<usize>, RevertMergePiece)> = edits.chain(conflicts).collect();
        pieces.sort_by_key(|(ours, _)| (ours.start, ours.end));
        let mut out = Vec::new();
        let mut next = 0;
        for (ours, piece) in pieces {
            append(&mut out, &self.ours[next..ours.start]);
            match piece {
                RevertMergePiece::Theirs(range) => append(&mut out, &self.theirs[range]),
                RevertMergePiece::Conflict(n) => self.write_conflict_markers(&mut out, n, id),
            }
            next = ours.end;
        }
        append(&mut out, &self.ours[next..]);
        out
    }

    fn write_conflict_markers(&self, out: &mut Vec<u8>, conflict: usize, id: &str) {
        let conflict = &self.merge.conflicts[conflict];
        let ending = self.ending();
        let sections = [
            ("<<<<<<< now".to_string(), &self.ours[conflict.ours.clone()]),
            (format!("||||||| written by {id}"), &self.base[conflict.base.clone()]),
            ("=======".to_string(), &self.theirs[conflict.theirs.clone()]),
        ];
        for (marker, lines) in sections {
            out.extend_from_slice(marker.as_bytes());
            out.extend_from_slice(ending);
            append(out, lines);
            // A marker begins a line, also after a last line that has no ending.
            if lines.last().is_some_and(|line| !line.ends_with(&[self.separator])) {
                out.extend_from_slice(ending);
            }
        }
        out.extend_from_slice(format!(">>>>>>> before {id}").as_bytes());
        out.extend_from_slice(ending);
    }

    /// How lines end here.
    fn ending(&self) -> &'static [u8] {
        let crlf = self.ours.first().or(self.base.first()).is_some_and(|line| line.ends_with(b"\r\n"));
        match (self.separator, crlf) {
            (b'\r', _) => b"\r",
            (_, true) => b"\r\n",
            _ => b"\n",
        }
    }

    /// The regions in conflict, by the lines of the file as it lies on `disk`.
    pub(super) fn regions(&self, disk: &[u8]) -> Vec<ConflictRegion> {
        let disk = lines(disk, self.separator);
        let runs = equal_runs(&disk, &self.ours);
        let line_on_disk = |ours: usize| {
            let run = runs.iter().rev().find(|run| run.new <= ours);
            run.map_or(0, |run| run.old + (ours - run.new).min(run.len)) + 1
        };
        let listed = self.merge.conflicts.iter().take(REGIONS_LISTED);
        listed
            .map(|conflict| ConflictRegion {
                line: line_on_disk(conflict.ours.start),
                now: clip_lines(&self.ours[conflict.ours.clone()]),
                reverted: clip_lines(&self.theirs[conflict.theirs.clone()]),
            })
            .collect()
    }
}

/// In how many places `new` differs from `old`; 1 for what is not made of lines.
pub(super) fn count_differences(old: &[u8], new: &[u8]) -> usize {
    if old == new {
        return 0;
    }
    if old.contains(&0) || new.contains(&0) {
        return 1;
    }
    let separator = separator(&[old, new]);
    let (old, new) = (lines(old, separator), lines(new, separator));
    let mut count = 0;
    let (mut old_next, mut new_next) = (0, 0);
    for run in equal_runs(&old, &new) {
        count += usize::from(run.old > old_next || run.new > new_next);
        (old_next, new_next) = (run.old + run.len, run.new + run.len);
    }
    count + usize::from(old_next < old.len() || new_next < new.len())
}

/// Whether `now` has no line that is not from `written`.
pub(super) fn has_only_lines_of(written: &[u8], now: &[u8]) -> bool {
    if written.contains(&0) || now.contains(&0) {
        return written == now;
    }
    let separator = separator(&[written, now]);
    let (written, now) = (lines(written, separator), lines(now, separator));
    equal_runs(&written, &now).iter().map(|run| run.len).sum::<usize>() == now.len()
}

/// What ends lines: a line feed, or a carriage return where there is no line feed at all.
fn separator(texts: &[&[u8]]) -> u8 {
    let has = |byte: u8| texts.iter().any(|text| text.contains(&byte));
    if !has(b'\n') && has(b'\r') { b'\r' } else { b'\n' }
}

fn lines(text: &[u8], separator: u8) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == separator).collect()
}

fn append(out: &mut Vec<u8>, lines: &[&[u8]]) {
    lines.iter().for_each(|line| out.extend_from_slice(line));
}

/// A line as characters, without loss: as UTF-8, or else one character for each byte.
fn characters(line: &[u8], utf8: bool) -> Cow<'_, str> {
    match std::str::from_utf8(line) {
        Ok(text) if utf8 => Cow::Borrowed(text),
        _ => line.iter().map(|byte| char::from(*byte)).collect(),
    }
}

/// Lines for a person to read.
fn clip_lines(lines: &[&[u8]]) -> Vec<String> {
    let line = |line: &&[u8]| -> String {
        String::from_utf8_lossy(line).trim_end_matches(['\r', '\n']).chars().take(LINE_CHARS).collect()
    };
    let mut shown: Vec<String> = lines.iter().take(LINES_LISTED).map(line).collect();
    match lines.len().saturating_sub(LINES_LISTED) {
        0 => {}
        1 => shown.push("… 1 more line".to_string()),
        more => shown.push(format!("… {more} more lines")),
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_characters_survive_a_merge() {
        let merged = RevertMerge::new(b"\xff\nb\nc\n", b"\xff\nb\nC\xfe", b"\xff\xfd\nb\nc\n").unwrap();
        assert_eq!(merged.conflicts(), 0);
        assert_eq!(merged.bytes("x"), b"\xff\xfd\nb\nC\xfe");
        // Read one by one, the byte E9 and the character of the bytes C3 A9 would be the same.
        let merged = RevertMerge::new(b"\xe9\n", b"\xc3\xa9\n", b"z\n").unwrap();
        assert_eq!(merged.conflicts(), 1);
        assert!(RevertMerge::new(b"a\0", b"b", b"c").is_none());
    }

    #[test]
    fn markers_begin_lines_and_end_them_as_the_file_does() {
        let merged = RevertMerge::new(b"a\r\nb", b"a\r\nnow", b"a\r\nbefore").unwrap();
        let marked = String::from_utf8(merged.bytes("3f9c1e2a")).unwrap();
        let expected = "a\r\n<<<<<<< now\r\nnow\r\n||||||| written by 3f9c1e2a\r\nb\r\n=======\r\nbefore\r\n\
                        >>>>>>> before 3f9c1e2a\r\n";
        assert_eq!(marked, expected);
    }

    #[test]
    fn places_are_counted_apart() {
        assert_eq!(count_differences(b"a\nb\nc\nd\n", b"A\nb\nc\nD\nE\n"), 2);
        assert_eq!(count_differences(b"a\n", b"a\n"), 0);
        assert_eq!(count_differences(b"", b"a\nb\n"), 1);
        assert_eq!(count_differences(b"a\0b", b"a\0c"), 1);
        assert!(has_only_lines_of(b"a\nb\nc\n", b"a\nc\n") && has_only_lines_of(b"a\n", b""));
        assert!(!has_only_lines_of(b"a\nb\n", b"b\na\n"));
    }
}
