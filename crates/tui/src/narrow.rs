//! What lines become where they do not fit: parts that belong together flow into further lines, indented, and nothing
//! of them is cut.
//!
//! ```text
//!   M  src/cart.ts
//!      +12 −5
//!      2 exact, 1 near
//!   A  src/a.ts  +12
//! ```

use relaycode_text::width::cells;

use crate::look::{Look, Paint, Sign};
use crate::part::Part;

/// Below this a row begins nearer to the edge.
const CLOSE: usize = 40;
/// Lines that a title takes where it has them to itself; one more where they are short.
const TITLE_LINES: usize = 2;

/// Parts one behind the other with `gap` blanks between; one that does not fit begins a new line at `indent`. `lead` may
/// already hold something.
pub(crate) fn flow(look: &Look, lead: Part, indent: usize, gap: usize, parts: &[Part]) -> String {
    let room = look.width.unwrap_or(usize::MAX);
    let mut line = lead;
    let mut out = String::new();
    let mut fresh = true;
    for part in parts.iter().filter(|part| part.cells > 0) {
        let blanks = if fresh { 0 } else { gap };
        if line.cells > indent && line.cells + blanks + part.cells > room {
            out += line.text.trim_end();
            out.push('\n');
            line = Part::plain(&" ".repeat(indent));
        } else {
            line = line.then(&Part::plain(&" ".repeat(blanks)));
        }
        line = line.then(part);
        fresh = false;
    }
    out += line.text.trim_end();
    out.push('\n');
    out
}

/// The words of a text in one colour, each a part of its own.
pub(crate) fn words(look: &Look, paint: Paint, text: &str) -> Vec<Part> {
    text.split(' ').filter(|word| !word.is_empty()).map(|word| Part::painted(look, paint, word)).collect()
}

/// A title on lines of its own, behind `lead` and then at `indent`; cut after a few.
pub(crate) fn title(look: &Look, lead: Part, indent: usize, text: &str) -> String {
    let columns = look.columns();
    let room = columns.saturating_sub(indent).max(1);
    let first = columns.saturating_sub(lead.cells).max(1);
    let lines = if columns < CLOSE { TITLE_LINES + 1 } else { TITLE_LINES };
    let breakable = look.safe(text).split(' ').all(|word| cells(word) <= room);
    let parts = match breakable {
        true => words(look, Paint::Strong, &look.clip(text, first + (lines - 1) * room)),
        false => vec![Part::painted(look, Paint::Strong, &look.clip(text, first))],
    };
    flow(look, lead, indent, 1, &parts)
}

/// What a change is called and how large it is, one below the other.
pub(crate) fn head(look: &Look, lead: Part, text: &str, totals: &[Part]) -> String {
    title(look, lead, 2, text) + &flow(look, Part::plain("  "), 2, 2, totals)
}

/// A file in a list: its letter and name on one line, or on two where it moves, then the rest.
pub(crate) fn file(
    look: &Look,
    letter: char,
    (from, path): (Option<&str>, &str),
    counts: &Part,
    about: &str,
) -> String {
    let edge = if look.columns() < CLOSE { 2 } else { 4 };
    numbered(look, Part::plain(&format!("{}{letter}  ", " ".repeat(edge))), (from, path), counts, about)
}

/// The same behind a `lead`.
pub(crate) fn numbered(
    look: &Look,
    lead: Part,
    (from, path): (Option<&str>, &str),
    counts: &Part,
    about: &str,
) -> String {
    let indent = lead.cells;
    let room = look.columns().saturating_sub(indent);
    let about_cells = if about.is_empty() { 0 } else { cells(about) + 3 };
    let whole = cells(&look.safe(path)) + 2 + counts.cells + about_cells;
    let mut out = lead.text;
    if from.is_none() && whole <= room {
        let gap = if counts.cells > 0 { "   " } else { "" };
        let rest = format!("{}{gap}{}", counts.text, look.paint(Paint::Dim, about));
        return format!("{}\n", format!("{out}{}  {rest}", look.safe(path)).trim_end());
    }
    if let Some(from) = from {
        out += &format!("{}\n{}", look.path(from, room), " ".repeat(indent));
        let arrow = look.sign(Sign::Arrow);
        let room = room.saturating_sub(cells(arrow) + 1);
        out += &format!("{arrow} {}\n", look.path(path, room));
    } else {
        out += &format!("{}\n", look.path(path, room));
    }
    let edge = Part::plain(&" ".repeat(indent));
    if counts.cells > 0 {
        if counts.cells + about_cells <= room {
            let rest = format!("{}{}   {}", edge.text, counts.text, look.paint(Paint::Dim, about));
            return format!("{out}{}\n", rest.trim_end());
        }
        out += &format!("{}{}\n", edge.text, counts.text);
    }
    if !about.is_empty() {
        out += &flow(look, edge, indent, 1, &words(look, Paint::Dim, about));
    }
    out
}
