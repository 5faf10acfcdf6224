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

use crate::layout::style::{Glyph, OutputStyle, PaintRole};
use crate::layout::styled_text::StyledText;

/// Below this a row begins nearer to the edge.
const CLOSE: usize = 40;
/// Lines that a title takes where it has them to itself; one more where they are short.
const TITLE_LINES: usize = 2;

/// Parts one behind the other with `gap` blanks between; one that does not fit begins a new line at `indent`. `lead` may
/// already hold something.
pub(crate) fn flow_parts(
    look: &OutputStyle,
    lead: StyledText,
    indent: usize,
    gap: usize,
    parts: &[StyledText],
) -> String {
    let room = look.width.unwrap_or(usize::MAX);
    let mut line = lead;
    let mut out = String::new();
    let mut fresh = true;
    for part in parts.iter().filter(|part| part.cells > 0) {
        let blanks = if fresh { 0 } else { gap };
        if line.cells > indent && line.cells + blanks + part.cells > room {
            out += line.text.trim_end();
            out.push('\n');
            line = StyledText::plain(&" ".repeat(indent));
        } else {
            line = line.append(&StyledText::plain(&" ".repeat(blanks)));
        }
        line = line.append(part);
        fresh = false;
    }
    out += line.text.trim_end();
    out.push('\n');
    out
}

/// The words of a text in one colour, each a part of its own.
pub(crate) fn painted_words(look: &OutputStyle, paint: PaintRole, text: &str) -> Vec<StyledText> {
    text.split(' ')
        .filter(|word| !word.is_empty())
        .map(|word| StyledText::painted(look, paint, word))
        .collect()
}

/// A title on lines of its own, behind `lead` and then at `indent`; cut after a few.
pub(crate) fn title_rows(look: &OutputStyle, lead: StyledText, indent: usize, text: &str) -> String {
    let columns = look.columns();
    let room = columns.saturating_sub(indent).max(1);
    let first = columns.saturating_sub(lead.cells).max(1);
    let lines = if columns < CLOSE { TITLE_LINES + 1 } else { TITLE_LINES };
    let breakable = look.safe(text).split(' ').all(|word| cells(word) <= room);
    let parts = match breakable {
        true => painted_words(look, PaintRole::Strong, &look.clip(text, first + (lines - 1) * room)),
        false => vec![StyledText::painted(look, PaintRole::Strong, &look.clip(text, first))],
    };
    flow_parts(look, lead, indent, 1, &parts)
}

/// What a change is called and how large it is, one below the other.
pub(crate) fn title_and_totals(
    look: &OutputStyle,
    lead: StyledText,
    text: &str,
    totals: &[StyledText],
) -> String {
    title_rows(look, lead, 2, text) + &flow_parts(look, StyledText::plain("  "), 2, 2, totals)
}

/// A file in a list: its letter and name on one line, or on two where it moves, then the rest.
pub(crate) fn file_rows(
    look: &OutputStyle,
    letter: char,
    (from, path): (Option<&str>, &str),
    counts: &StyledText,
    about: &str,
) -> String {
    let edge = if look.columns() < CLOSE { 2 } else { 4 };
    file_rows_after(
        look,
        StyledText::plain(&format!("{}{letter}  ", " ".repeat(edge))),
        (from, path),
        counts,
        about,
    )
}

/// The same behind a `lead`.
pub(crate) fn file_rows_after(
    look: &OutputStyle,
    lead: StyledText,
    (from, path): (Option<&str>, &str),
    counts: &StyledText,
    about: &str,
) -> String {
    let indent = lead.cells;
    let room = look.columns().saturating_sub(indent);
    let about_cells = if about.is_empty() { 0 } else { cells(about) + 3 };
    let whole = cells(&look.safe(path)) + 2 + counts.cells + about_cells;
    let mut out = lead.text;
    if from.is_none() && whole <= room {
        let gap = if counts.cells > 0 { "   " } else { "" };
        let rest = format!("{}{gap}{}", counts.text, look.paint(PaintRole::Dim, about));
        return format!("{}\n", format!("{out}{}  {rest}", look.safe(path)).trim_end());
    }
    if let Some(from) = from {
        out += &format!("{}\n{}", look.path(from, room), " ".repeat(indent));
        let arrow = look.glyph(Glyph::Arrow);
        let room = room.saturating_sub(cells(arrow) + 1);
        out += &format!("{arrow} {}\n", look.path(path, room));
    } else {
        out += &format!("{}\n", look.path(path, room));
    }
    let edge = StyledText::plain(&" ".repeat(indent));
    if counts.cells > 0 {
        if counts.cells + about_cells <= room {
            let rest = format!("{}{}   {}", edge.text, counts.text, look.paint(PaintRole::Dim, about));
            return format!("{out}{}\n", rest.trim_end());
        }
        out += &format!("{}{}\n", edge.text, counts.text);
    }
    if !about.is_empty() {
        out += &flow_parts(look, edge, indent, 1, &painted_words(look, PaintRole::Dim, about));
    }
    out
}
