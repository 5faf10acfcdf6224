//! The lines of diff hunks, for every dialect that has them.
//!
//! Only prefixes are trusted. The line counts of a header are ignored (most of those that models write are
//! wrong), and a line that lost its prefix is context as it is. Completely empty lines at the end of a hunk
//! belong to the layout of the block and are dropped.

use super::super::DialectError;
use crate::proposal::Hunk;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in super::super) struct HunkHeader {
    /// The first line on the old side.
    pub(in super::super) claimed: Option<usize>,
    /// Lines that stand above the place.
    pub(in super::super) scope: Vec<String>,
}

/// Reads the header of a hunk: `@@ -1,2 +3,4 @@ scope`, `@@ ... @@`, `@@ @@`, `@@`, `@@ scope`,
/// `@@ -12 @@`. `None` if the line is none, as the `@@count = 0` of a Ruby class.
pub(in super::super) fn parse_hunk_header(line: &str) -> Option<HunkHeader> {
    let rest = line.strip_prefix("@@")?;
    let apart = rest.is_empty() || rest.starts_with(char::is_whitespace);
    let (head, tail) = match second_mark(rest) {
        Some(at) => (rest[..at].trim(), Some(rest[at + 2..].trim())),
        None => (rest.trim(), None),
    };
    let (claimed, left) = numbers(head);
    let plain = left.is_empty() && !head.is_empty();
    let elided = matches!(left, "..." | "…");
    if !apart && !plain && !elided {
        return None;
    }
    // The rest of `-1,2 +1,2 @@scope` begins with the mark itself.
    let left = if elided { "" } else { left.trim_start_matches("@@") };
    let scope = [left, tail.unwrap_or_default()]
        .into_iter()
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect();
    Some(HunkHeader { claimed, scope })
}

/// The `@@` that closes the numbers: the first one at the end of a word.
fn second_mark(rest: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + memchr::memchr(b'@', &rest.as_bytes()[from..])?;
        let Some(below) = rest[at + 1..].strip_prefix('@') else {
            from = at + 1;
            continue;
        };
        if below.is_empty() || below.starts_with(char::is_whitespace) {
            return Some(at);
        }
        from = at + 2;
    }
}

/// Parses `-1,2 +3,4`: the old side's line, and the rest of the text.
fn numbers(head: &str) -> (Option<usize>, &str) {
    let mut claimed = None;
    let mut left = head;
    loop {
        let (word, rest) =
            left.split_once(char::is_whitespace).map_or((left, ""), |(word, rest)| (word, rest.trim_start()));
        let Some(range) = word.strip_prefix(['-', '+']) else {
            return (claimed, left);
        };
        let (start, count) = range.split_once(',').unwrap_or((range, "1"));
        if !is_number(start) || !is_number(count) {
            return (claimed, left);
        }
        if word.starts_with('-') && claimed.is_none() {
            claimed = start.parse().ok();
        }
        left = rest;
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Collects the hunks of one file, line by line.
#[derive(Debug, Default)]
pub(in super::super) struct HunkReader {
    hunks: Vec<Hunk>,
    open: Option<OpenHunk>,
}

/// The hunk being read.
#[derive(Debug, Default)]
struct OpenHunk {
    hunk: Hunk,
    kept: Vec<(usize, usize)>,
    /// There is a line below the header.
    begun: bool,
    /// An `@@` line opened it.
    headed: bool,
    /// Empty lines that are context only if something follows.
    blanks: usize,
    /// The last line was a removed one.
    last_removed: bool,
    /// A `\ No newline` followed a removed line.
    old_unended: bool,
    /// The number of new lines when a `\ No newline` followed one of them.
    new_unended: Option<usize>,
}

impl HunkReader {
    /// A header directly below another one narrows that one's place.
    pub(in super::super) fn push_header(&mut self, line: usize, header: HunkHeader) {
        if self.open.as_ref().is_some_and(|open| open.begun) {
            self.close();
        }
        let open = self.open.get_or_insert_with(|| OpenHunk::at(line));
        open.headed = true;
        open.hunk.claimed = header.claimed.or(open.hunk.claimed);
        open.hunk.scope.extend(header.scope);
    }

    /// A line of the hunk's body.
    pub(in super::super) fn push_line(&mut self, line: usize, text: &str) {
        if text.is_empty() {
            if let Some(open) = &mut self.open {
                open.blanks += 1;
            }
            return;
        }
        let open = self.open.get_or_insert_with(|| OpenHunk::at(line));
        if is_no_newline(text) {
            open.unended();
            return;
        }
        for _ in 0..std::mem::take(&mut open.blanks) {
            open.context("");
        }
        match text.as_bytes().first() {
            Some(b'+') => open.added(&text[1..]),
            Some(b'-') => open.removed(&text[1..]),
            Some(b' ') => open.context(&text[1..]),
            _ => open.context(text),
        }
    }

    /// The current hunk reaches the end of the file.
    pub(in super::super) fn mark_at_end(&mut self) {
        if let Some(open) = &mut self.open {
            open.hunk.at_end = true;
        }
    }

    pub(in super::super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Whether the current hunk began with an `@@` line.
    pub(in super::super) fn is_headed(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.headed)
    }

    /// Whether the current hunk began without an `@@` line, and has lines.
    pub(in super::super) fn is_headless(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.begun && !open.headed)
    }

    pub(in super::super) fn is_empty(&self) -> bool {
        self.hunks.is_empty() && self.open.is_none()
    }

    /// In order.
    pub(in super::super) fn finish(mut self) -> Result<Vec<Hunk>, DialectError> {
        if let Some(open) = self.open.as_ref().filter(|open| !open.begun) {
            return Err(DialectError::at(
                open.hunk.line,
                "the hunk has a header but no lines; the answer may be cut off here",
            ));
        }
        self.close();
        Ok(self.hunks)
    }

    /// Ends the current hunk.
    pub(in super::super) fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let mut hunk = open.hunk;
        hunk.final_newline = if open.new_unended == Some(hunk.after.len()) {
            Some(false)
        } else {
            open.old_unended.then_some(true)
        };
        hunk.kept = Some(open.kept);
        self.hunks.push(hunk);
    }
}

impl OpenHunk {
    fn at(line: usize) -> OpenHunk {
        OpenHunk { hunk: Hunk { line, ..Hunk::default() }, ..OpenHunk::default() }
    }

    fn context(&mut self, text: &str) {
        self.kept.push((self.hunk.before.len(), self.hunk.after.len()));
        self.hunk.before.push(text.to_owned());
        self.hunk.after.push(text.to_owned());
        self.begun = true;
        self.last_removed = false;
    }

    fn added(&mut self, text: &str) {
        self.hunk.after.push(text.to_owned());
        self.begun = true;
        self.last_removed = false;
    }

    fn removed(&mut self, text: &str) {
        self.hunk.before.push(text.to_owned());
        self.begun = true;
        self.last_removed = true;
    }

    fn unended(&mut self) {
        if self.last_removed {
            self.old_unended = true;
        } else if self.begun {
            self.new_unended = Some(self.hunk.after.len());
        }
    }
}

/// `\ No newline at end of file`, in any wording after the first words.
fn is_no_newline(text: &str) -> bool {
    text.strip_prefix('\\').is_some_and(|rest| {
        rest.trim_start().get(..10).is_some_and(|words| words.eq_ignore_ascii_case("no newline"))
    })
}
