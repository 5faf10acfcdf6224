//! Which lines of a response belong to which block. Fences follow CommonMark, with three
//! additions that real answers need: what stands between SEARCH and REPLACE, between the two ends of
//! a patch, or between START and END is content whatever it looks like; a labelled fence inside a
//! block opens a nested one; and a block that is never closed does not swallow the next one.
//!
//! Every event is looked at a bounded number of times, however the text is built.

use std::collections::HashMap;
use std::ops::Range;

use super::bare;
use super::control;
use super::header::{self, Subject};
use super::lines::{self, Lines};
use super::naming;
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
    /// A fence; its info string is at these bytes of the first line.
    Fence(Range<usize>),
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

/// Divides a response into blocks; everything between them is prose.
pub(super) fn find(lines: &Lines<'_>, events: &Events) -> Vec<Segment> {
    let mut walker = Walker {
        lines,
        events,
        closes: HashMap::new(),
        found: Vec::new(),
    };
    let mut at = 0;
    while at < events.len() {
        at = walker.step(at).max(at + 1);
    }
    walker.found
}

struct Walker<'a> {
    lines: &'a Lines<'a>,
    events: &'a Events,
    /// Where nested fences were found to end, so that none is looked for twice.
    closes: HashMap<usize, Close>,
    found: Vec<Segment>,
}

/// Where a fence is closed.
#[derive(Debug, Clone, Copy, Default)]
struct Close {
    /// The event that closes it.
    at: Option<usize>,
    /// The first fence inside whose header names a file.
    headed: Option<usize>,
    /// Whether a bare fence was taken for a nested one, or could have been.
    unsure: bool,
}

impl Walker<'_> {
    /// Looks at one event that stands outside of every block; returns where to go on.
    fn step(&mut self, at: usize) -> usize {
        let Some(event) = self.events.get(at) else {
            return at + 1;
        };
        match &event.kind {
            Kind::Fence(fence) => self.fenced(at, event.line, fence),
            Kind::Search => {
                let end = self.events.ahead(at + 1).replace;
                self.bare(at, event.line, end)
            }
            Kind::PatchBegin if lines::indent(self.lines.get(event.line)) == 0 => {
                let end = self.events.ahead(at + 1).patch_end;
                self.bare(at, event.line, end)
            }
            Kind::Diff => self.diff(at, event.line),
            Kind::TagOpen(name) => self.tagged(at, event.line, *name),
            _ => at + 1,
        }
    }

    fn fenced(&mut self, open: usize, line: usize, fence: &Fence) -> usize {
        let close = self.close_of(open, fence);
        let mut segment = Segment {
            range: line..self.lines.len(),
            content: line + 1..self.lines.len(),
            indent: fence.indent,
            form: Form::Fence(fence.info.clone()),
            trouble: close.unsure.then_some(Trouble::Nested),
        };
        let balanced = |end: usize| self.events.ahead(end + 1).excess == 0;
        if let Some(end) = close
            .at
            .filter(|end| close.headed.is_none() || balanced(*end))
        {
            let last = self
                .events
                .get(end)
                .map_or(self.lines.len(), |event| event.line);
            segment.range.end = last + 1;
            segment.content.end = last;
            self.found.push(segment);
            return end + 1;
        }
        let next = match close.headed {
            Some(headed) => Some((headed, true)),
            None => self.block_below(open, fence),
        };
        let Some((next, swallows)) = next else {
            return self.unclosed(segment);
        };
        let end = self
            .events
            .get(next)
            .map_or(self.lines.len(), |event| event.line);
        segment.range.end = end;
        segment.content.end = end;
        segment.trouble = Some(if swallows {
            Trouble::Swallows(end)
        } else {
            Trouble::Unclosed
        });
        self.found.push(segment);
        next
    }

    /// A block without its last fence reaches to the end, or to a control block that stands there.
    fn unclosed(&mut self, mut segment: Segment) -> usize {
        if let Some(control) = control::bare_range(self.lines, segment.content.clone()) {
            segment.content.end = control.start;
            segment.range.end = control.start;
        }
        segment.trouble = Some(Trouble::Unclosed);
        self.found.push(segment);
        self.events.len()
    }

    /// For a fence that is never closed: a labelled fence below it at which it can be cut. `true`
    /// if the two cannot be told apart with certainty, `false` for the control block.
    fn block_below(&self, open: usize, fence: &Fence) -> Option<(usize, bool)> {
        let is_prose = self.may_nest(open, fence);
        let mut cut = None;
        for at in open + 1..self.events.len() {
            let Some(inner) = self.events.fence(at).filter(|inner| !inner.is_bare()) else {
                continue;
            };
            if self.is_control(at, inner) {
                cut = Some((at, false));
            } else if !is_prose
                && inner.mark == fence.mark
                && inner.length >= fence.length
                && inner.indent <= fence.indent + 3
            {
                return Some((at, true));
            }
        }
        cut
    }

    fn is_control(&self, at: usize, fence: &Fence) -> bool {
        let line = self.events.get(at).map_or(0, |event| event.line);
        let info = self
            .lines
            .get(line)
            .get(fence.info.clone())
            .unwrap_or_default();
        if !control::is_yaml(info) {
            return false;
        }
        let end = self
            .events
            .get(at + 1)
            .map_or(self.lines.len(), |event| event.line);
        control::has_keys(self.lines.slice(line + 1..end))
    }

    /// Where the block that a fence opens ends.
    fn close_of(&mut self, open: usize, fence: &Fence) -> Close {
        if let Some(end) = self.marked_end(open, fence) {
            return Close {
                at: Some(end),
                ..Close::default()
            };
        }
        if let Some(known) = self.closes.get(&open) {
            return *known;
        }
        let is_diff = self.header(open, fence).is_diff();
        let may_nest = self.may_nest(open, fence);
        let mut unsure = false;
        let mut stack = vec![Nested {
            at: open,
            fence,
            headed: None,
        }];
        let mut at = open + 1;
        while let Some(event) = self.events.get(at) {
            if let Some(end) = self.delimited(at, event, fence, is_diff) {
                at = end + 1;
                continue;
            }
            let Kind::Fence(inner) = &event.kind else {
                at += 1;
                continue;
            };
            let deepest = if is_diff {
                fence.indent
            } else {
                fence.indent + 3
            };
            let top = stack.last().map_or(fence, |nested| nested.fence);
            let same = inner.mark == top.mark && inner.length >= top.length;
            if inner.indent > deepest {
                // Content by its indentation.
            } else if !inner.is_bare() {
                if same || (may_nest && inner.mark != top.mark && top.mark == fence.mark) {
                    if inner.names_file
                        && let Some(parent) = stack.last_mut()
                    {
                        parent.headed.get_or_insert(at);
                    }
                    stack.push(Nested {
                        at,
                        fence: inner,
                        headed: None,
                    });
                }
            } else if same {
                let nesting = stack.len() == 1 && may_nest && self.several_bare(at, fence);
                unsure |= nesting;
                if nesting && self.opens_code(event.line) {
                    stack.push(Nested {
                        at,
                        fence: inner,
                        headed: None,
                    });
                } else if let Some(closed) = stack.pop() {
                    let close = Close {
                        at: Some(at),
                        headed: closed.headed,
                        unsure,
                    };
                    let Some(parent) = stack.last_mut() else {
                        return close;
                    };
                    parent.headed = parent.headed.or(closed.headed);
                    self.closes.insert(closed.at, close);
                }
            }
            at += 1;
        }
        self.forget_unclosed(&stack)
    }

    /// Remembers that none of these is closed, and answers for the outermost.
    fn forget_unclosed(&mut self, stack: &[Nested<'_>]) -> Close {
        let mut headed = None;
        for nested in stack.iter().rev() {
            headed = nested.headed.or(headed);
            self.closes.insert(
                nested.at,
                Close {
                    at: None,
                    headed,
                    unsure: false,
                },
            );
        }
        Close {
            at: None,
            headed,
            unsure: false,
        }
    }

    /// The bare fence below an END marker, for a block whose first line is a START marker.
    fn marked_end(&self, open: usize, fence: &Fence) -> Option<usize> {
        let start = self
            .events
            .ahead(open + 1)
            .start
            .filter(|start| *start == open + 1)?;
        let ahead = self.events.ahead(start + 1);
        let end = ahead
            .end
            .filter(|end| ahead.start.is_none_or(|next| next > *end))?;
        let below = self.events.fence(end + 1)?;
        below.closes(fence).then_some(end + 1)
    }

    /// Where content ends that begins at an event and that no fence can end.
    fn delimited(&self, at: usize, event: &Event, fence: &Fence, is_diff: bool) -> Option<usize> {
        let ahead = self.events.ahead(at + 1);
        let outward = || lines::indent(self.lines.get(event.line)) <= fence.indent;
        match event.kind {
            Kind::Search if !is_diff || outward() => ahead.replace,
            Kind::PatchBegin if outward() => ahead.patch_end,
            _ => None,
        }
    }

    /// Whether more bare fences follow than it takes to close the block: some of them may belong to
    /// a nested block without a language.
    fn several_bare(&self, at: usize, fence: &Fence) -> bool {
        fence.mark == b'`' && fence.length == 3 && self.events.ahead(at).excess >= 3
    }

    /// Whether what stands below a bare fence reads like code rather than like the text that
    /// follows a block.
    fn opens_code(&self, line: usize) -> bool {
        let below = self.lines.get(line + 1).trim();
        let sentence = below.starts_with(char::is_uppercase)
            && below.contains(' ')
            && below.ends_with(['.', ':', '!', '?', ',']);
        !below.is_empty()
            && !sentence
            && !below.starts_with("##")
            && naming::path_line(below).is_none()
    }

    /// Whether the block is a kind of text that holds fences of its own.
    fn may_nest(&self, open: usize, fence: &Fence) -> bool {
        let header = self.header(open, fence);
        let extension = match header.subject {
            Subject::Path(path) => path.rsplit('.').next().unwrap_or_default(),
            _ => "",
        };
        naming::is_markdown(extension)
            || (extension.is_empty() && naming::is_markdown(header.language))
    }

    fn header(&self, open: usize, fence: &Fence) -> header::Header<'_> {
        let line = self.events.get(open).map_or(0, |event| event.line);
        header::read(
            self.lines
                .get(line)
                .get(fence.info.clone())
                .unwrap_or_default(),
        )
    }

    /// Markers without a fence, up to the event that ends them.
    fn bare(&mut self, at: usize, line: usize, end: Option<usize>) -> usize {
        let last = end
            .and_then(|end| self.events.get(end))
            .map(|event| event.line);
        let next = match end {
            Some(end) => end + 1,
            None => (at + 1..self.events.len())
                .find(
                    |next| match self.events.get(*next).map(|event| &event.kind) {
                        Some(Kind::Fence(fence)) => fence.names_file,
                        kind => matches!(kind, Some(Kind::Search | Kind::PatchBegin)),
                    },
                )
                .unwrap_or(self.events.len()),
        };
        let stop = || {
            self.events
                .get(next)
                .map_or(self.lines.len(), |event| event.line)
        };
        let content = line..last.map_or_else(stop, |last| last + 1);
        self.found.push(Segment {
            range: bare::with_heredoc(self.lines, content.clone()),
            content,
            indent: 0,
            form: Form::Bare,
            trouble: end.is_none().then_some(Trouble::CutOff),
        });
        next
    }

    fn diff(&mut self, at: usize, line: usize) -> usize {
        let diff = bare::diff(self.lines, line);
        self.found.push(Segment {
            range: line..diff.end,
            content: line..diff.end,
            indent: 0,
            form: Form::Bare,
            trouble: diff.endless.then_some(Trouble::Endless),
        });
        self.events.at_or_after(diff.end, at + 1)
    }

    /// A wrapper tag counts as a fence if it is closed before the next one opens, and if it names a
    /// file, stands below the name of one, or holds SEARCH blocks.
    fn tagged(&mut self, open: usize, line: usize, name: usize) -> usize {
        let mut at = open + 1;
        let end = loop {
            let Some(event) = self.events.get(at) else {
                return open + 1;
            };
            match &event.kind {
                Kind::Search => match self.events.ahead(at + 1).replace {
                    Some(end) => at = end,
                    None => return open + 1,
                },
                Kind::TagClose(close) if *close == name => break event.line,
                Kind::TagOpen(_) => return open + 1,
                _ => {}
            }
            at += 1;
        };
        let floor = self.found.last().map_or(0, |segment| segment.range.end);
        let above = self
            .lines
            .last_said(line, floor)
            .map_or("", |above| self.lines.get(above));
        let first = self.lines.next_said(line + 1, end);
        let inner = self
            .events
            .get(open + 1)
            .filter(|event| Some(event.line) == first);
        let holds_fence = inner.is_some_and(|event| matches!(event.kind, Kind::Fence(_)));
        let holds_search = inner.is_some_and(|event| matches!(event.kind, Kind::Search));
        let named =
            naming::tag_path(self.lines.get(line)).is_some() || naming::path_line(above).is_some();
        if holds_fence || !(named || holds_search) {
            return open + 1;
        }
        self.found.push(Segment {
            range: line..end + 1,
            content: line + 1..end,
            indent: lines::indent(self.lines.get(line)),
            form: Form::Tag,
            trouble: None,
        });
        at + 1
    }
}

/// A fence inside the block being measured.
struct Nested<'a> {
    at: usize,
    fence: &'a Fence,
    headed: Option<usize>,
}
