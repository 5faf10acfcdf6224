//! A piece of text and what is known of its bytes: which were pasted, which stand for something folded.
//!
//! Spans are in order, do not overlap, are not empty, and lie on characters. A chip's label is text like any other; only the
//! span says that it stands for something.

use std::ops::Range;
use std::sync::Arc;

use relaycode_text::width::clip_for_message;

/// Cells of the name of an image in its label.
const NAME_CELLS: usize = 32;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct EditorFragment {
    pub(super) text: String,
    pub(super) spans: Vec<EditorSpan>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EditorSpan {
    pub(super) range: Range<usize>,
    pub(super) kind: EditorSpanKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EditorSpanKind {
    /// Nobody typed it.
    Pasted,
    /// Moved over and deleted as one.
    Chip(Arc<EditorChip>),
}

/// What a label stands for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EditorChip {
    /// A long paste.
    Text(String),
    Image(EditorImage),
}

/// An image that goes with the words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditorImage {
    pub name: String,
    pub mime_type: String,
    /// In pixels.
    pub size: Option<(u32, u32)>,
    /// In base64.
    pub data: Arc<str>,
}

impl EditorFragment {
    pub(super) fn plain(text: impl Into<String>) -> EditorFragment {
        EditorFragment { text: text.into(), spans: Vec::new() }
    }

    pub(super) fn pasted(text: String) -> EditorFragment {
        let spans = EditorSpan { range: 0..text.len(), kind: EditorSpanKind::Pasted };
        let spans = if text.is_empty() { Vec::new() } else { vec![spans] };
        EditorFragment { text, spans }
    }

    pub(super) fn chip(label: String, chip: EditorChip) -> EditorFragment {
        let kind = EditorSpanKind::Chip(Arc::new(chip));
        let spans = vec![EditorSpan { range: 0..label.len(), kind }];
        EditorFragment { text: label, spans }
    }

    /// Bytes that it takes when it is sent, without images.
    pub(super) fn sent_bytes(&self) -> usize {
        let folded = self.spans.iter().filter_map(EditorSpan::chip).map(|chip| match chip {
            EditorChip::Text(text) => text.len(),
            EditorChip::Image(_) => 0,
        });
        self.text.len() + folded.sum::<usize>()
    }

    /// A part of it; a chip that is cut is text.
    pub(super) fn part(&self, range: Range<usize>) -> EditorFragment {
        let spans = self.spans.iter().filter_map(|span| span.within(&range));
        let spans = spans.map(|span| span.shifted_back(range.start)).collect();
        EditorFragment { text: self.text[range].to_string(), spans }
    }

    /// Replaces the bytes of `range`; what stood there.
    pub(super) fn splice(&mut self, range: Range<usize>, with: &EditorFragment) -> EditorFragment {
        let removed = self.part(range.clone());
        let before = self.spans.iter().filter_map(|span| span.within(&(0..range.start)));
        let inserted = with.spans.iter().map(|span| span.shifted(range.start));
        let behind = self.spans.iter().filter_map(|span| span.within(&(range.end..self.text.len())));
        let behind = behind.map(|span| span.shifted_back(range.end).shifted(range.start + with.text.len()));
        let spans: Vec<EditorSpan> = before.chain(inserted).chain(behind).collect();
        self.spans = joined(spans);
        self.text.replace_range(range, &with.text);
        removed
    }

    pub(super) fn append(&mut self, other: &EditorFragment) {
        let end = self.text.len();
        self.splice(end..end, other);
    }

    pub(super) fn prepend(&mut self, other: &EditorFragment) {
        self.splice(0..0, other);
    }

    /// The chip that `at` lies strictly within.
    pub(super) fn chip_around(&self, at: usize) -> Option<&Range<usize>> {
        let index = self.spans.partition_point(|span| span.range.end <= at);
        let span = self.spans.get(index).filter(|span| span.range.start < at && span.chip().is_some())?;
        Some(&span.range)
    }

    /// From the last chip that ends at or before `at` to the first that begins at or behind it.
    pub(super) fn chipless_around(&self, at: usize) -> Range<usize> {
        let index = self.spans.partition_point(|span| span.range.end <= at);
        let chips_before = self.spans[..index].iter().rev().find(|span| span.chip().is_some());
        let chips_behind = self.spans[index..].iter().find(|span| span.chip().is_some());
        let start = chips_before.map_or(0, |span| span.range.end);
        start..chips_behind.map_or(self.text.len(), |span| span.range.start.max(at))
    }

    /// The whole chip that begins at `at`, or ends there.
    pub(super) fn chip_beside(&self, at: usize, begins: bool) -> Option<Range<usize>> {
        let edge = |span: &&EditorSpan| if begins { span.range.start == at } else { span.range.end == at };
        self.spans.iter().find(|span| edge(span) && span.chip().is_some()).map(|span| span.range.clone())
    }
}

impl EditorSpan {
    pub(super) fn chip(&self) -> Option<&EditorChip> {
        match &self.kind {
            EditorSpanKind::Chip(chip) => Some(chip),
            EditorSpanKind::Pasted => None,
        }
    }

    fn within(&self, range: &Range<usize>) -> Option<EditorSpan> {
        let part = self.range.start.max(range.start)..self.range.end.min(range.end);
        let is_cut = part != self.range;
        let kind = if is_cut { EditorSpanKind::Pasted } else { self.kind.clone() };
        (part.start < part.end).then_some(EditorSpan { range: part, kind })
    }

    fn shifted(&self, by: usize) -> EditorSpan {
        EditorSpan { range: self.range.start + by..self.range.end + by, kind: self.kind.clone() }
    }

    fn shifted_back(&self, by: usize) -> EditorSpan {
        EditorSpan { range: self.range.start - by..self.range.end - by, kind: self.kind.clone() }
    }
}

impl EditorImage {
    /// `[image 1: a.png 640×480]`
    pub(super) fn label(&self, number: usize) -> String {
        let name = clip_for_message(&self.name, NAME_CELLS);
        let size = self.size.map(|(width, height)| format!(" {width}×{height}")).unwrap_or_default();
        format!("[image {number}: {name}{size}]")
    }
}

fn joined(spans: Vec<EditorSpan>) -> Vec<EditorSpan> {
    let mut joined: Vec<EditorSpan> = Vec::with_capacity(spans.len());
    for span in spans {
        match joined.last_mut() {
            Some(last)
                if last.range.end == span.range.start
                    && last.kind == EditorSpanKind::Pasted
                    && span.kind == EditorSpanKind::Pasted =>
            {
                last.range.end = span.range.end;
            }
            _ => joined.push(span),
        }
    }
    joined
}
