//! Where a fenced block ends. CommonMark's rule, with three additions that real answers need: what stands
//! between SEARCH and REPLACE, between the two ends of a patch, or between START and END is content
//! whatever it looks like; a labelled fence inside a block opens a nested one; and in Markdown a bare fence
//! may do so too.
//!
//! Results for nested fences are cached, so that a text of fences is walked once and not once per fence.

use super::file_names;
use super::lines::{self, ResponseLines};
use super::marker_events::{CompactIndex, FenceLine, MarkerEvent, MarkerEvents, MarkerKind};

pub(super) struct FenceMatcher<'a> {
    lines: &'a ResponseLines<'a>,
    events: &'a MarkerEvents,
    /// Results for nested fences; empty until there is one.
    known: Vec<FenceClose>,
    /// The open fences, kept for reuse.
    stack: Vec<OpenFence>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FenceClose {
    is_known: bool,
    /// A bare fence was taken for a nested one, or could have been.
    pub unsure: bool,
    /// The event that closes it.
    pub at: CompactIndex,
    /// The first fence inside whose header names a file.
    pub headed: CompactIndex,
}

struct OpenFence {
    at: usize,
    fence: FenceLine,
    headed: CompactIndex,
}

impl<'a> FenceMatcher<'a> {
    pub(super) fn new(lines: &'a ResponseLines<'a>, events: &'a MarkerEvents) -> FenceMatcher<'a> {
        FenceMatcher { lines, events, known: Vec::new(), stack: Vec::new() }
    }

    /// Where the block that a fence opens ends.
    pub(super) fn close_of(&mut self, open: usize, fence: &FenceLine) -> FenceClose {
        if let Some(end) = self.marked_end(open, fence) {
            return FenceClose { at: CompactIndex::at(end), ..FenceClose::default() };
        }
        if let Some(known) = self.known.get(open).filter(|known| known.is_known) {
            return *known;
        }
        let mut stack = std::mem::take(&mut self.stack);
        stack.clear();
        stack.push(OpenFence::new(open, fence));
        let close = self.walk(open + 1, fence, &mut stack);
        self.stack = stack;
        close
    }

    fn walk(&mut self, from: usize, fence: &FenceLine, stack: &mut Vec<OpenFence>) -> FenceClose {
        let mut unsure = false;
        let mut at = from;
        while let Some(event) = self.events.get(at) {
            if let Some(end) = self.delimited(at, event, fence) {
                at = end + 1;
                continue;
            }
            match &event.kind {
                MarkerKind::Fence(inner) if is_content(inner, fence) => {}
                MarkerKind::Fence(inner) if !inner.is_bare => open_nested(stack, at, inner),
                MarkerKind::Fence(inner) if stack.last().is_some_and(|top| inner.matches(&top.fence)) => {
                    let several = stack.len() == 1 && self.several_bare(at, fence);
                    unsure |= several;
                    if several && self.opens_code(event.line()) {
                        stack.push(OpenFence::new(at, inner));
                    } else if let Some(close) = self.close_innermost(stack, at) {
                        return FenceClose { unsure, ..close };
                    }
                }
                _ => {}
            }
            at += 1;
        }
        self.remember_unclosed(stack)
    }

    /// Closes the innermost fence; returns the result if that was also the outermost.
    fn close_innermost(&mut self, stack: &mut Vec<OpenFence>, at: usize) -> Option<FenceClose> {
        let top = stack.pop()?;
        let close = FenceClose {
            is_known: true,
            at: CompactIndex::at(at),
            headed: top.headed,
            ..FenceClose::default()
        };
        let Some(parent) = stack.last_mut() else { return Some(close) };
        if parent.headed == CompactIndex::NONE {
            parent.headed = top.headed;
        }
        self.remember(top.at, close);
        None
    }

    /// Remembers that none of these is closed; returns the result for the outermost.
    fn remember_unclosed(&mut self, stack: &[OpenFence]) -> FenceClose {
        let mut close = FenceClose { is_known: true, ..FenceClose::default() };
        for open in stack.iter().rev() {
            if open.headed != CompactIndex::NONE {
                close.headed = open.headed;
            }
            self.remember(open.at, close);
        }
        close
    }

    fn remember(&mut self, at: usize, close: FenceClose) {
        if self.known.is_empty() {
            self.known = vec![FenceClose::default(); self.events.len()];
        }
        self.known[at] = close;
    }

    /// The bare fence below an END marker, for a block whose first line is a START marker.
    fn marked_end(&self, open: usize, fence: &FenceLine) -> Option<usize> {
        if self.events.lookahead(open + 1).start != CompactIndex::at(open + 1) {
            return None;
        }
        let ahead = self.events.lookahead(open + 2);
        let end = ahead.end.get()?;
        let below = self.events.fence(end + 1)?;
        let is_ours = ahead.start.get().is_none_or(|next| next > end);
        (is_ours && below.is_bare && below.matches(fence)).then_some(end + 1)
    }

    /// The end of content that begins at an event and that no fence can end.
    fn delimited(&self, at: usize, event: &MarkerEvent, fence: &FenceLine) -> Option<usize> {
        let ahead = self.events.lookahead(at + 1);
        // In a diff, a context line that looks like a marker has a blank before it.
        let outward = || lines::indent(self.lines.get(event.line())) <= fence.indent();
        match event.kind {
            MarkerKind::Search if !fence.is_diff || outward() => ahead.replace.get(),
            MarkerKind::PatchBegin if outward() => ahead.patch_end.get(),
            _ => None,
        }
    }

    /// Whether more bare fences follow, in a text that may contain some, than are needed to close it: they
    /// may belong to a nested block without a language.
    fn several_bare(&self, at: usize, fence: &FenceLine) -> bool {
        fence.is_prose && fence.mark == b'`' && fence.length() == 3 && self.events.lookahead(at).excess >= 3
    }

    /// Whether the text below a bare fence reads like code rather than like the text after a block.
    fn opens_code(&self, line: usize) -> bool {
        let below = self.lines.get(line + 1).trim();
        let sentence = below.starts_with(char::is_uppercase)
            && below.contains(' ')
            && below.ends_with(['.', ':', '!', '?', ',']);
        !below.is_empty() && !sentence && !below.starts_with("##") && file_names::path_line(below).is_none()
    }
}

impl OpenFence {
    fn new(at: usize, fence: &FenceLine) -> OpenFence {
        OpenFence { at, fence: *fence, headed: CompactIndex::NONE }
    }
}

/// A labelled fence inside a block opens a nested one, if the block's own fence could close it.
fn open_nested(stack: &mut Vec<OpenFence>, at: usize, inner: &FenceLine) {
    let outer_is_prose = stack.first().is_some_and(|outer| outer.fence.is_prose);
    let Some(top) = stack.last_mut() else { return };
    let other_mark = outer_is_prose && inner.mark != top.fence.mark;
    if !inner.matches(&top.fence) && !other_mark {
        return;
    }
    if inner.names_file && top.headed == CompactIndex::NONE {
        top.headed = CompactIndex::at(at);
    }
    stack.push(OpenFence::new(at, inner));
}

/// Whether a fence is indented too far to end or to open anything in the block. In a diff every context
/// line begins with a blank.
fn is_content(inner: &FenceLine, outer: &FenceLine) -> bool {
    let deepest = if outer.is_diff { 0 } else { 3 };
    inner.indent() > outer.indent() + deepest
}
