//! Which lines of a response belong to which block, and which are prose. A block that is never
//! closed does not swallow the next one: it is cut where that begins, and said to be damaged.
//!
//! Every event is looked at a bounded number of times, however the text is built.

use std::ops::Range;

use super::bare;
use super::control;
use super::lines::{self, Lines};
use super::naming;
use super::nesting::Fences;
use super::scan::{Event, Events, Fence, Kind};

/// A stretch of lines that is one block.
#[derive(Debug)]
pub(super) struct Segment {
    /// All of its lines, fences included.
    pub range: Range<usize>,
    /// The lines between the fences.
    pub content: Range<usize>,
    /// Columns of blanks to take off each line of the content.
    pub indent: usize,
    /// What makes it a block.
    pub form: Form,
    /// What is wrong or odd about its ends.
    pub trouble: Option<Trouble>,
}

/// What makes a stretch of lines a block.
#[derive(Debug)]
pub(super) enum Form {
    /// A fence.
    Fence(Fence),
    /// A wrapper tag.
    Tag,
    /// Markers or a diff that stand in the text without a fence.
    Bare,
}

/// What is wrong or odd about the ends of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Its closing fence is missing; it was taken to reach to the end.
    Unclosed,
    /// Its closing fence is missing, and another block begins on this line.
    Swallows(usize),
    /// Which of several bare fences closes it was decided by what stands around them.
    Nested,
    /// It has no REPLACE or `*** End Patch`.
    CutOff,
    /// Where the diff ends cannot be told from the prose below it.
    Endless,
}

/// Divides a response into blocks, one after the other; everything between them is prose.
pub(super) struct Segments<'a> {
    lines: &'a Lines<'a>,
    events: &'a Events,
    fences: Fences<'a>,
    /// The next event to look at.
    at: usize,
    /// Where the last block ends.
    floor: usize,
}

impl Iterator for Segments<'_> {
    type Item = Segment;

    fn next(&mut self) -> Option<Segment> {
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

/// What begins at an event, if anything does, and the event to go on with.
type Step = (Option<Segment>, usize);

impl<'a> Segments<'a> {
    /// For the events of a response.
    pub(super) fn new(lines: &'a Lines<'a>, events: &'a Events) -> Segments<'a> {
        Segments { lines, events, fences: Fences::new(lines, events), at: 0, floor: lines.first() }
    }

    /// Looks at one event that stands outside of every block.
    fn step(&mut self, at: usize, event: &Event) -> Step {
        let line = event.line();
        let ahead = self.events.ahead(at + 1);
        match &event.kind {
            Kind::Fence(fence) => self.fenced(at, line, fence),
            Kind::Search => self.bare(at, line, ahead.replace.get()),
            Kind::PatchBegin if lines::indent(self.lines.get(line)) == 0 => {
                self.bare(at, line, ahead.patch_end.get())
            }
            Kind::Diff => self.diff(at, line),
            Kind::TagOpen(name) => self.tagged(at, line, *name),
            _ => (None, at + 1),
        }
    }

    fn fenced(&mut self, open: usize, line: usize, fence: &Fence) -> Step {
        let close = self.fences.close_of(open, fence);
        let mut segment = Segment {
            range: line..self.lines.end(),
            content: line + 1..self.lines.end(),
            indent: fence.indent(),
            form: Form::Fence(*fence),
            trouble: close.unsure.then_some(Trouble::Nested),
        };
        // A block that holds another one's header is believed to if all fences below it pair up.
        let believed = |end: &usize| close.headed.get().is_none() || self.events.ahead(end + 1).excess == 0;
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
            return self.unclosed(segment);
        };
        let next_line = self.events.line(next, self.lines.end());
        let last = self
            .events
            .get(next - 1)
            .filter(|event| matches!(event.kind, Kind::Replace | Kind::PatchEnd) && event.line() > line);
        // An edit with an end of its own needs no fence to be complete.
        let end = last.map_or(next_line, |event| event.line() + 1);
        segment.range.end = end;
        segment.content.end = self.after_said(&segment, end);
        segment.trouble =
            Some(if swallows && last.is_none() { Trouble::Swallows(end) } else { Trouble::Unclosed });
        (Some(segment), next)
    }

    /// A block without its last fence reaches to the end, or to a control block that stands there.
    fn unclosed(&self, mut segment: Segment) -> Step {
        if let Some(control) = control::bare_range(self.lines, segment.content.clone()) {
            segment.range.end = control.start;
            segment.content.end = self.after_said(&segment, control.start);
        }
        segment.trouble = Some(Trouble::Unclosed);
        (Some(segment), self.events.len())
    }

    /// The end of a block's content without the blank lines above what follows it.
    fn after_said(&self, segment: &Segment, end: usize) -> usize {
        let last = self.lines.last_said(end, segment.content.start);
        last.map_or(segment.content.start, |last| last + 1)
    }

    /// For a fence that is never closed: a labelled fence below it at which it can be cut. `true`
    /// if the two cannot be told apart with certainty, `false` for the control block.
    fn block_below(&self, open: usize, fence: &Fence) -> Option<(usize, bool)> {
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

    fn is_control(&self, at: usize, fence: &Fence) -> bool {
        let line = self.events.line(at, 0);
        if !control::is_yaml(fence.info(self.lines.get(line))) {
            return false;
        }
        let end = self.events.line(at + 1, self.lines.end());
        control::has_keys(self.lines.slice(line + 1..end))
    }

    /// Markers without a fence, up to the event that ends them.
    fn bare(&self, at: usize, line: usize, end: Option<usize>) -> Step {
        let next = match end {
            Some(end) => end + 1,
            None => self.next_edit(at + 1),
        };
        let stop = match end {
            Some(end) => self.events.line(end, self.lines.end()) + 1,
            None => self.events.line(next, self.lines.end()),
        };
        let segment = Segment {
            range: bare::with_heredoc(self.lines, line..stop),
            content: line..stop,
            indent: 0,
            form: Form::Bare,
            trouble: end.is_none().then_some(Trouble::CutOff),
        };
        (Some(segment), next)
    }

    /// The first event from `at` on that begins an edit.
    fn next_edit(&self, at: usize) -> usize {
        let begins = |at: &usize| match self.events.get(*at).map(|event| &event.kind) {
            Some(Kind::Fence(fence)) => fence.names_file,
            kind => matches!(kind, Some(Kind::Search | Kind::PatchBegin)),
        };
        (at..self.events.len()).find(begins).unwrap_or(self.events.len())
    }

    fn diff(&self, at: usize, line: usize) -> Step {
        let diff = bare::diff(self.lines, line);
        let segment = Segment {
            range: line..diff.end,
            content: line..diff.end,
            indent: 0,
            form: Form::Bare,
            trouble: diff.endless.then_some(Trouble::Endless),
        };
        (Some(segment), self.events.at_or_after(diff.end, at + 1))
    }

    /// A wrapper tag counts as a fence if it is closed before the next one opens, and if it names a
    /// file, stands below the name of one, or holds SEARCH blocks.
    fn tagged(&self, open: usize, line: usize, name: u8) -> Step {
        let Some(close) = self.tag_close(open, name) else {
            return (None, open + 1);
        };
        let end = self.events.line(close, self.lines.end());
        let above = self.lines.last_said(line, self.floor);
        let first = self.lines.next_said(line + 1, end);
        let inner = self.events.get(open + 1).filter(|event| Some(event.line()) == first);
        let holds_fence = inner.is_some_and(|event| matches!(event.kind, Kind::Fence(_)));
        let holds_search = inner.is_some_and(|event| matches!(event.kind, Kind::Search));
        let named = naming::tag_path(self.lines.get(line)).is_some()
            || above.is_some_and(|above| naming::path_line(self.lines.get(above)).is_some());
        if holds_fence || !(named || holds_search) {
            return (None, open + 1);
        }
        let segment = Segment {
            range: line..end + 1,
            content: line + 1..end,
            indent: lines::indent(self.lines.get(line)),
            form: Form::Tag,
            trouble: None,
        };
        (Some(segment), close + 1)
    }

    fn tag_close(&self, open: usize, name: u8) -> Option<usize> {
        let mut at = open + 1;
        loop {
            match self.events.get(at)?.kind {
                Kind::Search => at = self.events.ahead(at + 1).replace.get()?,
                Kind::TagClose(close) if close == name => return Some(at),
                Kind::TagOpen(_) => return None,
                _ => {}
            }
            at += 1;
        }
    }
}
