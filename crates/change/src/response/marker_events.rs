//! One pass over the lines that finds the few significant ones: fences, SEARCH/REPLACE and patch markers,
//! START/END markers, wrapper tags, the first lines of diffs. Everything later walks these events and never
//! the text between them, and what lies ahead of an event is known without a search. That keeps reading
//! linear. A text may consist of nothing but events, so they are kept small.

use std::num::NonZeroU32;

use super::file_names;
use super::header::{self, HeaderSubject};
use super::lines::{self, ResponseLines};
use super::markers;
use crate::dialect::heredocs::HeredocEnd;
use crate::dialect::patch_marker::{self, PatchMarker};
use crate::dialect::{tool_calls, xml_tags};

/// A line that may begin or end a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct MarkerEvent {
    line: u32,
    pub kind: MarkerKind,
}

impl MarkerEvent {
    /// From 0.
    pub(super) fn line(&self) -> usize {
        self.line as usize
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum MarkerKind {
    /// A run of backticks or tildes that opens or closes a block.
    Fence(FenceLine),
    /// `<<<<<<< SEARCH`
    Search,
    /// `>>>>>>> REPLACE`
    Replace,
    /// `*** Begin Patch`
    PatchBegin,
    /// `*** End Patch`
    PatchEnd,
    /// `*** Update File: x` and the like.
    PatchFile,
    /// `// START`
    Start,
    /// `// END`
    End,
    /// `<source>` and the like: the index of its name in [`markers::TAGS`].
    TagOpen(u8),
    /// `</source>` and the like.
    TagClose(u8),
    /// A tool call in JSON may begin.
    Call,
    /// An edit between tags may begin.
    TagEdit,
    /// A shell command with a heredoc that changes a file.
    Heredoc,
    /// `diff --git a/x b/x`, or `--- x` above `+++ x` above `@@`.
    Diff,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct FenceLine {
    indent: u32,
    length: u32,
    info_at: u32,
    /// Backtick or tilde.
    pub mark: u8,
    /// No info string, as a closing fence must have.
    pub is_bare: bool,
    /// Its info string names the block's file.
    pub names_file: bool,
    /// Its info string calls the block a diff.
    pub is_diff: bool,
    /// A kind of text that contains fences itself.
    pub is_prose: bool,
}

impl FenceLine {
    /// Columns of blanks before it.
    pub(super) fn indent(&self) -> usize {
        self.indent as usize
    }

    /// How many marks it has.
    pub(super) fn length(&self) -> usize {
        self.length as usize
    }

    /// `line` is its line.
    pub(super) fn info<'a>(&self, line: &'a str) -> &'a str {
        line.get(self.info_at as usize..).unwrap_or_default().trim()
    }

    /// Whether it has the mark of `other`, at least as many times.
    pub(super) fn matches(&self, other: &FenceLine) -> bool {
        self.mark == other.mark && self.length >= other.length
    }
}

/// An optional index, in four bytes: one more than the index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CompactIndex(Option<NonZeroU32>);

impl CompactIndex {
    pub(super) const NONE: CompactIndex = CompactIndex(None);

    pub(super) fn at(index: usize) -> CompactIndex {
        CompactIndex(NonZeroU32::new(to_u32(index + 1)))
    }

    pub(super) fn get(self) -> Option<usize> {
        self.0.map(|next| next.get() as usize - 1)
    }
}

/// Texts have at most [`lines::MOST_BYTES`] bytes, so that every count fits.
fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// What lies ahead of an event (the event itself included).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct EventLookahead {
    /// The next SEARCH or REPLACE marker, if it is a REPLACE.
    pub replace: CompactIndex,
    /// The next patch marker, if it is an End.
    pub patch_end: CompactIndex,
    /// The next END marker with a bare fence right below it.
    pub end: CompactIndex,
    /// The next START marker with a fence right above it.
    pub start: CompactIndex,
    /// Bare fences minus labelled ones, among those of three backticks, up to the next fence whose header
    /// names a file.
    pub excess: i32,
}

#[derive(Debug)]
pub(super) struct MarkerEvents {
    list: Vec<MarkerEvent>,
    ahead: Vec<EventLookahead>,
}

impl MarkerEvents {
    pub(super) fn new(lines: &ResponseLines<'_>) -> MarkerEvents {
        let event = |line| Some(MarkerEvent { line: to_u32(line), kind: classify(lines, line)? });
        let list = (lines.first()..lines.end()).filter_map(event).collect();
        let mut events = MarkerEvents { list, ahead: Vec::new() };
        events.ahead = events.look_ahead(lines);
        events
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// How many blocks name their file.
    pub(super) fn named_block_count(&self) -> usize {
        (0..self.len()).filter_map(|index| self.fence(index)).filter(|fence| fence.names_file).count()
    }

    pub(super) fn get(&self, index: usize) -> Option<&MarkerEvent> {
        self.list.get(index)
    }

    /// The line of an event; `end` if there is none.
    pub(super) fn line(&self, index: usize, end: usize) -> usize {
        self.list.get(index).map_or(end, MarkerEvent::line)
    }

    /// The fence at an index, if it is one.
    pub(super) fn fence(&self, index: usize) -> Option<&FenceLine> {
        match &self.list.get(index)?.kind {
            MarkerKind::Fence(fence) => Some(fence),
            _ => None,
        }
    }

    pub(super) fn lookahead(&self, index: usize) -> EventLookahead {
        self.ahead.get(index).copied().unwrap_or_default()
    }

    /// The first event at or below a line, not before `from`.
    pub(super) fn at_or_after(&self, line: usize, from: usize) -> usize {
        let from = from.min(self.list.len());
        from + self.list[from..].partition_point(|event| event.line() < line)
    }

    fn look_ahead(&self, lines: &ResponseLines<'_>) -> Vec<EventLookahead> {
        let mut all = vec![EventLookahead::default(); self.len() + 1];
        let mut ahead = EventLookahead::default();
        for (index, event) in self.list.iter().enumerate().rev() {
            let here = CompactIndex::at(index);
            match &event.kind {
                MarkerKind::Search => ahead.replace = CompactIndex::NONE,
                MarkerKind::Replace => ahead.replace = here,
                MarkerKind::PatchBegin => ahead.patch_end = CompactIndex::NONE,
                MarkerKind::PatchEnd => ahead.patch_end = here,
                MarkerKind::End if self.is_above_bare_fence(index, lines) => ahead.end = here,
                MarkerKind::Start if self.is_below_fence(index, lines) => ahead.start = here,
                MarkerKind::Fence(fence) if fence.names_file => ahead.excess = 0,
                MarkerKind::Fence(fence) if fence.mark == b'`' && fence.length == 3 => {
                    ahead.excess += if fence.is_bare { 1 } else { -1 };
                }
                _ => {}
            }
            all[index] = ahead;
        }
        all
    }

    fn is_above_bare_fence(&self, index: usize, lines: &ResponseLines<'_>) -> bool {
        self.fence(index + 1).is_some_and(|fence| fence.is_bare) && self.touch(lines, index)
    }

    fn is_below_fence(&self, index: usize, lines: &ResponseLines<'_>) -> bool {
        index > 0 && self.fence(index - 1).is_some() && self.touch(lines, index - 1)
    }

    /// Whether only blank lines are between an event and the next one.
    fn touch(&self, lines: &ResponseLines<'_>, above: usize) -> bool {
        let (above, below) = (self.list[above].line(), self.list[above + 1].line());
        lines.next_nonblank(above + 1, below + 1) == Some(below)
    }
}

fn classify(lines: &ResponseLines<'_>, line: usize) -> Option<MarkerKind> {
    let text = lines.get(line);
    let blanks = text.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let first = *text.as_bytes().get(blanks)?;
    if !b"`~<>+*d-/#;%{([ctgpms$".contains(&first) {
        return None;
    }
    let said = &text[blanks..];
    match first {
        b'`' | b'~' => fence(text, blanks).map(MarkerKind::Fence),
        b'<' => markers::is_search(said)
            .then_some(MarkerKind::Search)
            .or_else(|| markers::parse_tag(said))
            .or_else(|| xml_tags::may_begin_edit(said).then_some(MarkerKind::TagEdit))
            .or_else(|| start_or_end(said)),
        b'{' | b'[' if tool_calls::begins_call(lines.slice(line..line + CALL_LINES)) => {
            Some(MarkerKind::Call)
        }
        b'c' | b't' | b'g' | b'p' | b'm' | b's' | b'$' => {
            (blanks == 0 && HeredocEnd::of(text).is_some()).then_some(MarkerKind::Heredoc)
        }
        b'>' | b'+' => markers::is_replace(said).then_some(MarkerKind::Replace),
        b'*' => match patch_marker::parse(said)? {
            PatchMarker::Begin => Some(MarkerKind::PatchBegin),
            PatchMarker::End => Some(MarkerKind::PatchEnd),
            marker => marker.names_file().then_some(MarkerKind::PatchFile),
        },
        b'd' => text.starts_with("diff --git ").then_some(MarkerKind::Diff),
        b'-' if text.starts_with("--- ") => {
            let headed = lines.get(line + 1).starts_with("+++ ") && lines.get(line + 2).starts_with("@@");
            headed.then_some(MarkerKind::Diff)
        }
        b'-' if markers::is_search(said) => Some(MarkerKind::Search),
        _ => start_or_end(said),
    }
}

/// A tool call has its first key within so many lines.
const CALL_LINES: usize = 4;

fn start_or_end(said: &str) -> Option<MarkerKind> {
    let end = || markers::is_end(said).then_some(MarkerKind::End);
    markers::is_start(said).then_some(MarkerKind::Start).or_else(end)
}

/// A fence by CommonMark's rules, at any indentation: three or more of one mark, and no backtick in the
/// info string of a backtick fence.
fn fence(text: &str, blanks: usize) -> Option<FenceLine> {
    let mark = *text.as_bytes().get(blanks)?;
    let length = text[blanks..].bytes().take_while(|byte| *byte == mark).count();
    let rest = &text[blanks + length..];
    if length < 3 || (mark == b'`' && rest.contains('`')) {
        return None;
    }
    let mut fence = FenceLine {
        indent: to_u32(lines::indent(text)),
        length: to_u32(length),
        info_at: to_u32(blanks + length),
        mark,
        is_bare: rest.trim().is_empty(),
        names_file: false,
        is_diff: false,
        is_prose: false,
    };
    if !fence.is_bare {
        let header = header::read(rest);
        fence.names_file = header.names_file();
        fence.is_diff = header.is_diff();
        fence.is_prose = file_names::is_markdown(match header.subject {
            HeaderSubject::Path(path) => path.rsplit('.').next().unwrap_or_default(),
            _ => header.language,
        });
    }
    Some(fence)
}
