//! A file on its way from its old lines to its new ones. Every line knows whether it is one of the file's
//! own, so that those keep exactly their bytes.

use std::borrow::Cow;

use super::fit::LineEdit;
use crate::lines::text_file::TextFilePiece;

#[derive(Debug)]
struct DraftLine<'a> {
    text: Cow<'a, str>,
    /// The line of the file, if it is one.
    origin: Option<usize>,
    /// The line of the file whose ending a new line takes.
    like: usize,
}

/// The lines of a file while hunks are applied.
#[derive(Debug)]
pub(super) struct FileDraft<'a> {
    lines: Vec<DraftLine<'a>>,
}

impl<'a> FileDraft<'a> {
    pub(super) fn new(lines: impl Iterator<Item = &'a str>) -> FileDraft<'a> {
        let line =
            |(i, text): (usize, &'a str)| DraftLine { text: Cow::Borrowed(text), origin: Some(i), like: i };
        FileDraft { lines: lines.enumerate().map(line).collect() }
    }

    /// The current lines.
    pub(super) fn texts(&self) -> Vec<&str> {
        self.lines.iter().map(|line| line.text.as_ref()).collect()
    }

    /// Whether these lines are the file's own and consecutive there.
    pub(super) fn is_untouched(&self, start: usize, end: usize) -> bool {
        let own = self.lines[start..end].iter().map(|line| line.origin);
        own.clone().all(|origin| origin.is_some())
            && own.clone().zip(own.skip(1)).all(|(a, b)| a.map(|a| a + 1) == b)
    }

    /// The line of the old file (from 0) that `at` is, or would come after.
    pub(super) fn origin(&self, at: usize) -> usize {
        let upto = &self.lines[..self.lines.len().min(at + 1)];
        upto.iter().rev().find_map(|line| line.origin).unwrap_or(0)
    }

    /// The edits must be in order and not overlap.
    pub(super) fn apply(&mut self, edits: &[LineEdit]) {
        let mut lines = Vec::with_capacity(self.lines.len());
        let mut old = std::mem::take(&mut self.lines).into_iter();
        let mut cursor = 0;
        let mut like = 0;
        for edit in edits {
            let kept = old.by_ref().take(edit.range.start - cursor);
            lines.extend(kept.inspect(|line| like = line.like));
            like = old
                .by_ref()
                .take(edit.range.len())
                .map(|line| line.like)
                .reduce(|first, _| first)
                .unwrap_or(like);
            cursor = edit.range.end;
            let new = |text: &String| DraftLine { text: Cow::Owned(text.clone()), origin: None, like };
            lines.extend(edit.new.iter().map(new));
        }
        lines.extend(old);
        self.lines = lines;
    }

    pub(super) fn into_pieces(self) -> Vec<TextFilePiece> {
        let piece = |line: DraftLine<'_>| match line.origin {
            Some(origin) => TextFilePiece::Keep(origin),
            None => TextFilePiece::New { text: line.text.into_owned(), like: line.like },
        };
        self.lines.into_iter().map(piece).collect()
    }
}
