//! One pass over the lines that finds the few that mean something: fences, SEARCH/REPLACE and
//! patch markers, START/END markers, wrapper tags, the first lines of diffs. Everything later
//! walks these events and never the text between them, and what lies ahead of an event is known
//! without looking for it. That is what keeps reading linear.

use std::ops::Range;

use super::header;
use super::lines::{self, Lines};
use super::markers;

/// A line that may begin or end a block.
#[derive(Debug, Clone)]
pub(super) struct Event {
    /// The line, 0-based.
    pub line: usize,
    /// What stands there.
    pub kind: Kind,
}

/// What a line that means something is.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// A run of backticks or tildes that opens or closes a block.
    Fence(Fence),
    /// `<<<<<<< SEARCH`
    Search,
    /// `>>>>>>> REPLACE`
    Replace,
    /// `*** Begin Patch`
    PatchBegin,
    /// `*** End Patch`
    PatchEnd,
    /// `// START`
    Start,
    /// `// END`
    End,
    /// `<source>` and its like: the index of its name in [`markers::TAGS`].
    TagOpen(usize),
    /// `</source>` and its like.
    TagClose(usize),
    /// `diff --git a/x b/x`, or `--- x` above `+++ x` above `@@`.
    Diff,
}

/// A fence line.
#[derive(Debug, Clone)]
pub(super) struct Fence {
    /// Columns of blanks before it.
    pub indent: usize,
    /// Backtick or tilde.
    pub mark: u8,
    /// How many of them.
    pub length: usize,
    /// Where in the line its info string stands.
    pub info: Range<usize>,
    /// Whether that info string says which file the block is.
    pub names_file: bool,
}

impl Fence {
    /// Whether it has no info string, as a closing fence must.
    pub(super) fn is_bare(&self) -> bool {
        self.info.is_empty()
    }

    /// Whether this fence, if it is bare, closes a block that `open` opened.
    pub(super) fn closes(&self, open: &Fence) -> bool {
        self.is_bare() && self.mark == open.mark && self.length >= open.length
    }
}

/// What lies ahead of an event (the event itself included).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ahead {
    /// The next SEARCH or REPLACE marker, if it is a REPLACE.
    pub replace: Option<usize>,
    /// The next patch marker, if it is an End.
    pub patch_end: Option<usize>,
    /// The next END marker with a bare fence right below it.
    pub end: Option<usize>,
    /// The next START marker with a fence right above it.
    pub start: Option<usize>,
    /// The next fence whose header names a file.
    pub headed: Option<usize>,
    /// Bare fences minus labelled ones, among those of three backticks, up to `headed`.
    pub excess: i64,
}

/// The events of a response.
#[derive(Debug)]
pub(super) struct Events {
    list: Vec<Event>,
    ahead: Vec<Ahead>,
}

impl Events {
    /// Finds them.
    pub(super) fn new(lines: &Lines<'_>) -> Events {
        let list: Vec<Event> = (0..lines.len())
            .filter_map(|line| {
                Some(Event {
                    line,
                    kind: classify(lines, line)?,
                })
            })
            .collect();
        let ahead = look_ahead(lines, &list);
        Events { list, ahead }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// One of them.
    pub(super) fn get(&self, index: usize) -> Option<&Event> {
        self.list.get(index)
    }

    /// The fence at an index, if a fence is there.
    pub(super) fn fence(&self, index: usize) -> Option<&Fence> {
        match &self.list.get(index)?.kind {
            Kind::Fence(fence) => Some(fence),
            _ => None,
        }
    }

    /// What lies ahead from `index` on.
    pub(super) fn ahead(&self, index: usize) -> Ahead {
        self.ahead.get(index).copied().unwrap_or_default()
    }

    /// The first event at or below a line, not before `from`.
    pub(super) fn at_or_after(&self, line: usize, from: usize) -> usize {
        let from = from.min(self.list.len());
        from + self.list[from..].partition_point(|event| event.line < line)
    }
}

fn classify(lines: &Lines<'_>, line: usize) -> Option<Kind> {
    let text = lines.get(line);
    let said = text.trim_start_matches([' ', '\t']);
    match said.as_bytes().first()? {
        b'`' | b'~' => fence(text).map(Kind::Fence),
        b'<' => markers::search(said)
            .then_some(Kind::Search)
            .or_else(|| markers::tag(said))
            .or_else(|| start_or_end(said)),
        b'>' | b'+' => markers::replace(said).then_some(Kind::Replace),
        b'*' if said.starts_with("***") => match said.trim_end() {
            "*** Begin Patch" => Some(Kind::PatchBegin),
            "*** End Patch" => Some(Kind::PatchEnd),
            _ => None,
        },
        b'd' if text.starts_with("diff --git ") => Some(Kind::Diff),
        b'-' if text.starts_with("--- ") => (lines.get(line + 1).starts_with("+++ ")
            && lines.get(line + 2).starts_with("@@"))
        .then_some(Kind::Diff),
        b'-' if markers::search(said) => Some(Kind::Search),
        b'/' | b'#' | b'-' | b';' | b'%' | b'{' | b'(' => start_or_end(said),
        _ => None,
    }
}

fn start_or_end(said: &str) -> Option<Kind> {
    if markers::start(said) {
        Some(Kind::Start)
    } else {
        markers::end(said).then_some(Kind::End)
    }
}

/// A fence by CommonMark's rules, at any indentation: three or more of one mark, and no backtick
/// in the info string of a backtick fence.
fn fence(text: &str) -> Option<Fence> {
    let blanks = text.len() - text.trim_start_matches([' ', '\t']).len();
    let mark = *text.as_bytes().get(blanks)?;
    let length = text
        .bytes()
        .skip(blanks)
        .take_while(|byte| *byte == mark)
        .count();
    let rest = &text[blanks + length..];
    if length < 3 || (mark == b'`' && rest.contains('`')) {
        return None;
    }
    let info = rest.trim();
    let start = text.len() - rest.trim_start().len();
    Some(Fence {
        indent: lines::indent(text),
        mark,
        length,
        info: start..start + info.len(),
        names_file: !info.is_empty() && header::read(info).names_file(),
    })
}

fn look_ahead(lines: &Lines<'_>, list: &[Event]) -> Vec<Ahead> {
    let mut all = vec![Ahead::default(); list.len() + 1];
    for (index, event) in list.iter().enumerate().rev() {
        let mut ahead = all[index + 1];
        let touches = |other: &Event| {
            let (above, below) = (event.line.min(other.line), event.line.max(other.line));
            lines.next_said(above + 1, below + 1) == Some(below)
        };
        match &event.kind {
            Kind::Search => ahead.replace = None,
            Kind::Replace => ahead.replace = Some(index),
            Kind::PatchBegin => ahead.patch_end = None,
            Kind::PatchEnd => ahead.patch_end = Some(index),
            Kind::End => {
                let below = list.get(index + 1);
                if below
                    .is_some_and(|e| matches!(&e.kind, Kind::Fence(f) if f.is_bare()) && touches(e))
                {
                    ahead.end = Some(index);
                }
            }
            Kind::Start => {
                let above = index.checked_sub(1).and_then(|above| list.get(above));
                if above.is_some_and(|e| matches!(e.kind, Kind::Fence(_)) && touches(e)) {
                    ahead.start = Some(index);
                }
            }
            Kind::Fence(fence) if fence.names_file => {
                ahead.headed = Some(index);
                ahead.excess = 0;
            }
            Kind::Fence(fence) if fence.mark == b'`' && fence.length == 3 => {
                ahead.excess += if fence.is_bare() { 1 } else { -1 };
            }
            _ => {}
        }
        all[index] = ahead;
    }
    all
}
