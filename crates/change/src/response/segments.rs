//! Which lines of a response belong to which block, and which are prose. A block that is never closed does
//! not swallow the next one: it is cut where that begins, and marked as damaged.
//!
//! Every event is visited a bounded number of times, however the text is built.

use std::ops::Range;

use super::control;
use super::file_names;
use super::lines::{self, ResponseLines};
use super::marker_events::{FenceLine, MarkerEvent, MarkerEvents, MarkerKind};
use super::nesting::FenceMatcher;
use super::unfenced;
use crate::dialect::heredocs::HeredocEnd;
use crate::dialect::xml_tags::TagExtent;
use crate::dialect::{tool_calls, xml_tags};

/// The lines of one block.
#[derive(Debug)]
pub(super) struct BlockSegment {
    /// Fences included.
    pub range: Range<usize>,
    /// Between the fences.
    pub content: Range<usize>,
    /// Columns of blanks to remove from each line of the content.
    pub indent: usize,
    pub form: SegmentForm,
    /// What is wrong or odd about its ends.
    pub defect: Option<SegmentDefect>,
}

/// What makes some lines a block.
#[derive(Debug)]
pub(super) enum SegmentForm {
    Fence(FenceLine),
    /// A wrapper tag.
    Tag,
    /// Markers or a diff without a fence.
    Bare,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SegmentDefect {
    /// The closing fence is missing, but what follows shows that the block is complete.
    Unclosed,
    /// The closing fence is missing, and the answer ends: it may be cut off.
    Open,
    /// The closing fence is missing, and another block begins on this line.
    RunsInto(usize),
    /// Which of several bare fences closes it was decided by their surroundings.
    Nested,
    /// It has no REPLACE or `*** End Patch`.
    CutOff,
    /// The end of the diff cannot be told from the prose below it.
    UncertainEnd,
}

/// Divides a response into blocks; everything between them is prose.
pub(super) struct SegmentIter<'a> {
    lines: &'a ResponseLines<'a>,
    events: &'a MarkerEvents,
    fences: FenceMatcher<'a>,
    /// The next event to visit.
    at: usize,
    /// Where the last block ends.
    floor: usize,
    /// Closing tags that do not occur below.
    missing_tags: Vec<String>,
    /// Heredocs without an end.
    open_heredocs: usize,
}

/// After so many heredocs without an end no further end is looked for: the answer is refused anyway.
const OPEN_HEREDOCS: usize = 16;

impl Iterator for SegmentIter<'_> {
    type Item = BlockSegment;

    fn next(&mut self) -> Option<BlockSegment> {
        while let Some(event) = self.events.get(self.at) {
            let (segment, next) = self.step(self.at, event);
            self.at = next.max(self.at + 1);
            if let Some(segment) = segment {
                self.floor = segment.range.end;
                return Some(segment);
            }
        }
        None
    }
}

/// What begins at an event, if anything, and the event to continue with.
type SegmentStep = (Option<BlockSegment>, usize);

impl<'a> SegmentIter<'a> {
    pub(super) fn new(lines: &'a ResponseLines<'a>, events: &'a MarkerEvents) -> SegmentIter<'a> {
        SegmentIter {
            lines,
            events,
            fences: FenceMatcher::new(lines, events),
            at: 0,
            floor: lines.first(),
            missing_tags: Vec::new(),
            open_heredocs: 0,
        }
    }

    /// Looks at one event that stands outside of every block.
    fn step(&mut self, at: usize, event: &MarkerEvent) -> SegmentStep {
        let line = event.line();
        let ahead = self.events.lookahead(at + 1);
        match &event.kind {
            MarkerKind::Fence(fence) => self.fenced_segment(at, line, fence),
            MarkerKind::Search => self.unfenced_segment(at, line, ahead.replace.get()),
            // A part that stands outside of an envelope needs at least its end.
            MarkerKind::PatchBegin | MarkerKind::PatchFile => {
                self.unfenced_segment(at, line, ahead.patch_end.get())
            }
            MarkerKind::Diff => self.diff_segment(at, line),
            MarkerKind::TagOpen(name) => match self.tag_edit_segment(at, line) {
                (None, _) => self.tagged_segment(at, line, *name),
                edit => edit,
            },
            MarkerKind::TagEdit => self.tag_edit_segment(at, line),
            MarkerKind::Call => self.call_segment(at, line),
            MarkerKind::Heredoc => self.heredoc_segment(at, line),
            _ => (None, at + 1),
        }
    }

    fn fenced_segment(&mut self, open: usize, line: usize, fence: &FenceLine) -> SegmentStep {
        let close = self.fences.close_of(open, fence);
        let mut segment = BlockSegment {
            range: line..self.lines.end(),
            content: line + 1..self.lines.end(),
            indent: fence.indent(),
            form: SegmentForm::Fence(*fence),
            defect: close.unsure.then_some(SegmentDefect::Nested),
        };
        // A block that holds another one's header is believed to if all fences below it pair up.
        let believed =
            |end: &usize| close.headed.get().is_none() || self.events.lookahead(end + 1).excess == 0;
        if let Some(end) = close.at.get().filter(believed) {
            segment.content.end = self.events.line(end, self.lines.end());
            segment.range.end = segment.content.end + 1;
            return (Some(segment), end + 1);
        }
        let next = match close.headed.get() {
            Some(headed) => Some((headed, true)),
            None => self.block_below(open, fence),
        };
        let Some((next, swallows)) = next else {
            return self.unclosed_segment(segment);
        };
        let next_line = self.events.line(next, self.lines.end());
        let last = self.events.get(next - 1).filter(|event| {
            matches!(event.kind, MarkerKind::Replace | MarkerKind::PatchEnd) && event.line() > line
        });
        // An edit with an end of its own needs no fence to be complete.
        let end = last.map_or(next_line, |event| event.line() + 1);
        segment.range.end = end;
        segment.content.end = self.trimmed_end(&segment, end);
        segment.defect = Some(if swallows && last.is_none() {
            SegmentDefect::RunsInto(end)
        } else {
            SegmentDefect::Unclosed
        });
        (Some(segment), next)
    }

    /// A block without its last fence reaches to the end, or to a control block that stands there.
    fn unclosed_segment(&self, mut segment: BlockSegment) -> SegmentStep {
        segment.defect = Some(SegmentDefect::Open);
        let control = control::find_unfenced(self.lines, segment.content.clone());
        // A control block in a fence of its own needs that fence closed.
        let is_own = |control: &Range<usize>| {
            matches!(&segment.form, SegmentForm::Fence(fence) if !fence.is_bare
                && control::may_be_yaml(fence.info(self.lines.get(segment.range.start))))
                && self.lines.next_nonblank(segment.content.start, control.end) == Some(control.start)
        };
        let is_last = |control: &Range<usize>| control::ends_answer(self.lines, control.clone());
        if let Some(control) = control.filter(|control| !is_own(control) && is_last(control)) {
            segment.range.end = control.start;
            segment.content.end = self.trimmed_end(&segment, control.start);
            segment.defect = Some(SegmentDefect::Unclosed);
        }
        (Some(segment), self.events.len())
    }

    /// The end of a block's content without the blank lines above what follows it.
    fn trimmed_end(&self, segment: &BlockSegment, end: usize) -> usize {
        let last = self.lines.last_nonblank(end, segment.content.start);
        last.map_or(segment.content.start, |last| last + 1)
    }

    /// For a fence that is never closed: a labelled fence below it at which it can be cut. `true`
    /// if the two cannot be told apart with certainty, `false` for the control block.
    fn block_below(&self, open: usize, fence: &FenceLine) -> Option<(usize, bool)> {
        let mut cut = None;
        for at in open + 1..self.events.len() {
            let Some(inner) = self.events.fence(at).filter(|inner| !inner.is_bare) else {
                continue;
            };
            if self.is_control(at, inner) {
                cut = Some((at, false));
            } else if !fence.is_prose && inner.matches(fence) && inner.indent() <= fence.indent() + 3 {
                return Some((at, true));
            }
        }
        cut
    }

    fn is_control(&self, at: usize, fence: &FenceLine) -> bool {
        let line = self.events.line(at, 0);
        if !control::may_be_yaml(fence.info(self.lines.get(line))) {
            return false;
        }
        let end = self.events.line(at + 1, self.lines.end());
        control::has_control_keys(self.lines.slice(line + 1..end))
            && control::ends_answer(self.lines, line + 1..end)
    }

    /// Markers without a fence, up to the event that ends them.
    fn unfenced_segment(&self, at: usize, line: usize, end: Option<usize>) -> SegmentStep {
        let next = match end {
            Some(end) => end + 1,
            None => self.next_edit(at + 1),
        };
        let stop = match end {
            Some(end) => self.events.line(end, self.lines.end()) + 1,
            None => self.events.line(next, self.lines.end()),
        };
        let segment = BlockSegment {
            range: unfenced::with_heredoc(self.lines, line..stop),
            content: line..stop,
            indent: 0,
            form: SegmentForm::Bare,
            defect: end.is_none().then_some(SegmentDefect::CutOff),
        };
        (Some(segment), next)
    }

    /// The first event from `at` on that begins an edit.
    fn next_edit(&self, at: usize) -> usize {
        let begins = |at: &usize| match self.events.get(*at).map(|event| &event.kind) {
            Some(MarkerKind::Fence(fence)) => fence.names_file,
            kind => matches!(kind, Some(MarkerKind::Search | MarkerKind::PatchBegin)),
        };
        (at..self.events.len()).find(begins).unwrap_or(self.events.len())
    }

    fn diff_segment(&self, at: usize, line: usize) -> SegmentStep {
        let diff = unfenced::find_diff_end(self.lines, line);
        let segment = BlockSegment {
            range: line..diff.end,
            content: line..diff.end,
            indent: 0,
            form: SegmentForm::Bare,
            defect: diff.uncertain.then_some(SegmentDefect::UncertainEnd),
        };
        (Some(segment), self.events.at_or_after(diff.end, at + 1))
    }

    /// Lines without a fence that end before `end`; `cut`: their own end is missing.
    fn bare_segment(&self, at: usize, line: usize, end: usize, cut: bool) -> SegmentStep {
        let segment = BlockSegment {
            range: line..end,
            content: line..end,
            indent: 0,
            form: SegmentForm::Bare,
            defect: cut.then_some(SegmentDefect::CutOff),
        };
        (Some(segment), self.events.at_or_after(end, at + 1))
    }

    /// The line below the first `bytes` bytes from `line` on.
    fn line_below(&self, line: usize, bytes: usize) -> usize {
        let text = &self.lines.slice(line..self.lines.end()).as_bytes()[..bytes];
        line + memchr::memchr_iter(b'\n', text).count() + usize::from(!text.ends_with(b"\n"))
    }

    fn call_segment(&self, at: usize, line: usize) -> SegmentStep {
        match tool_calls::leading_call(self.lines.slice(line..self.lines.end())) {
            Some(bytes) => self.bare_segment(at, line, self.line_below(line, bytes), false),
            None => (None, at + 1),
        }
    }

    fn tag_edit_segment(&mut self, at: usize, line: usize) -> SegmentStep {
        let text = self.lines.slice(line..self.lines.end());
        match xml_tags::find_extent(text, &mut self.missing_tags) {
            Some(TagExtent::Closed(bytes)) => {
                self.bare_segment(at, line, self.line_below(line, bytes), false)
            }
            Some(TagExtent::Open) => self.bare_segment(at, line, line + 1, true),
            None => (None, at + 1),
        }
    }

    fn heredoc_segment(&mut self, at: usize, line: usize) -> SegmentStep {
        let Some(end) = HeredocEnd::of(self.lines.get(line)) else { return (None, at + 1) };
        let looks = self.open_heredocs < OPEN_HEREDOCS;
        let mut below = line + 1..if looks { self.lines.end() } else { line + 1 };
        match below.find(|line| end.is(self.lines.get(*line))) {
            Some(last) => self.bare_segment(at, line, last + 1, false),
            None => {
                self.open_heredocs += 1;
                if end.certain || !looks {
                    self.bare_segment(at, line, line + 1, true)
                } else {
                    (None, at + 1)
                }
            }
        }
    }

    /// A wrapper tag counts as a fence if it is closed before the next one opens, and if it names a file,
    /// stands below the name of one, or contains SEARCH blocks.
    fn tagged_segment(&self, open: usize, line: usize, name: u8) -> SegmentStep {
        let Some(close) = self.tag_close(open, name) else {
            return (None, open + 1);
        };
        let end = self.events.line(close, self.lines.end());
        let above = self.lines.last_nonblank(line, self.floor);
        let first = self.lines.next_nonblank(line + 1, end);
        let inner = self.events.get(open + 1).filter(|event| Some(event.line()) == first);
        let holds_fence = inner.is_some_and(|event| matches!(event.kind, MarkerKind::Fence(_)));
        let holds_search = inner.is_some_and(|event| matches!(event.kind, MarkerKind::Search));
        let named = file_names::tag_path(self.lines.get(line)).is_some()
            || above.is_some_and(|above| file_names::path_line(self.lines.get(above)).is_some());
        if holds_fence || !(named || holds_search) {
            return (None, open + 1);
        }
        let segment = BlockSegment {
            range: line..end + 1,
            content: line + 1..end,
            indent: lines::indent(self.lines.get(line)),
            form: SegmentForm::Tag,
            defect: None,
        };
        (Some(segment), close + 1)
    }

    fn tag_close(&self, open: usize, name: u8) -> Option<usize> {
        let mut at = open + 1;
        loop {
            match self.events.get(at)?.kind {
                MarkerKind::Search => at = self.events.lookahead(at + 1).replace.get()?,
                MarkerKind::TagClose(close) if close == name => return Some(at),
                MarkerKind::TagOpen(_) => return None,
                _ => {}
            }
            at += 1;
        }
    }
}
