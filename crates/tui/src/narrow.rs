//! What lines become where they do not fit: parts that belong together flow into further lines, indented, and nothing
//! of them is cut.
//!
//! ```text
//!   M  src/cart.ts
//!      +12 −5
//!      2 exact, 1 near
//! ```

use relaycode_text::width::cells;

use crate::look::{Look, Paint, Sign};
use crate::part::Part;

/// Below this a row begins nearer to the edge.
const CLOSE: usize = 40;
/// Lines that a title takes where it has them to itself.
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

/// A title on lines of its own: behind `lead`, two lines at most.
pub(crate) fn title(look: &Look, lead: Part, indent: usize, text: &str) -> String {
    let room = look.columns().saturating_sub(lead.cells.max(indent)).max(1);
    let safe = look.safe(text);
    let breakable = safe.split(' ').all(|word| cells(word) <= room);
    let text = if breakable { look.clip(text, TITLE_LINES * room) } else { look.clip(text, room) };
    let parts = if breakable {
        words(look, Paint::Strong, &text)
    } else {
        vec![Part::painted(look, Paint::Strong, &text)]
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
    counts: Part,
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
    counts: Part,
    about: &str,
) -> String {
    let indent = lead.cells;
    let room = look.columns().saturating_sub(indent);
    let mut out = lead.text;
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
        let about = words(look, Paint::Dim, about);
        let about_cells: usize = about.iter().map(|word| word.cells + 1).sum();
        if indent + counts.cells + 2 + about_cells <= look.columns() {
            out += &flow(look, edge.then(&counts).then(&Part::plain("   ")), indent, 1, &about);
            return out;
        }
        out += &format!("{}{}\n", edge.text, counts.text);
    }
    if !about.is_empty() {
        out += &flow(look, edge, indent, 1, &words(look, Paint::Dim, about));
    }
    out
}
