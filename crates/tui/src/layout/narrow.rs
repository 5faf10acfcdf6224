//! Lines that do not fit: their parts flow into further, indented lines, and nothing is cut.
//!
//! ```text
//!   M  src/cart.ts
//!      +12 −5
//!      2 exact, 1 near
//!   A  src/a.ts  +12
//! ```

use crate::{Glyph, OutputStyle, PaintRole, StyledText, cells};

/// On narrower terminals rows begin closer to the edge.
const CLOSE: usize = 40;
/// Lines a title may take on its own; one more where they are short.
const TITLE_LINES: usize = 2;

/// Joins `parts` with `gap` blanks between; one that does not fit begins a new line at `indent`. `lead` may
/// already hold something.
pub(crate) fn flow_parts(
    style: &OutputStyle,
    lead: StyledText,
    indent: usize,
    gap: usize,
    parts: &[StyledText],
) -> String {
    let room = style.width.unwrap_or(usize::MAX);
    let mut line = lead;
    let mut out = String::new();
    let mut fresh = true;
    for part in parts.iter().filter(|part| part.cells > 0) {
        let blanks = if fresh { 0 } else { gap };
        if line.cells > indent && line.cells + blanks + part.cells > room {
            out += &format!("{}\n", line.text.trim_end());
            line = StyledText::plain(&" ".repeat(indent));
        } else {
            line = line.append(&StyledText::plain(&" ".repeat(blanks)));
        }
        line = line.append(part);
        fresh = false;
    }
    format!("{out}{}\n", line.text.trim_end())
}

/// Each word as its own part.
pub(crate) fn painted_words(style: &OutputStyle, paint: PaintRole, text: &str) -> Vec<StyledText> {
    let words = text.split(' ').filter(|word| !word.is_empty());
    words.map(|word| StyledText::painted(style, paint, word)).collect()
}

/// A title on its own lines, after `lead` and then at `indent`; cut after a few.
pub(crate) fn title_rows(style: &OutputStyle, lead: StyledText, indent: usize, text: &str) -> String {
    let columns = style.columns();
    let room = columns.saturating_sub(indent).max(1);
    let first = columns.saturating_sub(lead.cells).max(1);
    let lines = if columns < CLOSE { TITLE_LINES + 1 } else { TITLE_LINES };
    let breakable = style.safe(text).split(' ').all(|word| cells(word) <= room);
    let parts = match breakable {
        true => painted_words(style, PaintRole::Strong, &style.clip(text, first + (lines - 1) * room)),
        false => vec![StyledText::painted(style, PaintRole::Strong, &style.clip(text, first))],
    };
    flow_parts(style, lead, indent, 1, &parts)
}

/// A file in a list: letter and name on one line, or two for a rename, then the rest.
pub(crate) fn file_rows(
    style: &OutputStyle,
    letter: char,
    (from, path): (Option<&str>, &str),
    counts: &StyledText,
    about: &str,
) -> String {
    let edge = if style.columns() < CLOSE { 2 } else { 4 };
    let lead = StyledText::plain(&format!("{}{letter}  ", " ".repeat(edge)));
    file_rows_after(style, lead, (from, path), counts, about)
}

/// The same after a `lead`.
pub(crate) fn file_rows_after(
    style: &OutputStyle,
    lead: StyledText,
    (from, path): (Option<&str>, &str),
    counts: &StyledText,
    about: &str,
) -> String {
    let indent = lead.cells;
    let room = style.columns().saturating_sub(indent);
    let about_cells = if about.is_empty() { 0 } else { cells(about) + 3 };
    let whole = cells(&style.safe(path)) + 2 + counts.cells + about_cells;
    let mut out = lead.text;
    if from.is_none() && whole <= room {
        let gap = if counts.cells > 0 { "   " } else { "" };
        let rest = format!("{}{gap}{}", counts.text, style.paint(PaintRole::Dim, about));
        return format!("{}\n", format!("{out}{}  {rest}", style.safe(path)).trim_end());
    }
    if let Some(from) = from {
        let arrow = style.glyph(Glyph::Arrow);
        let [from, to] = style.rename((from, path), (room, room.saturating_sub(cells(arrow) + 1)));
        out += &format!("{from}\n{}{arrow} {to}\n", " ".repeat(indent));
    } else {
        out += &format!("{}\n", style.path(path, room));
    }
    let edge = StyledText::plain(&" ".repeat(indent));
    if counts.cells > 0 {
        if counts.cells + about_cells <= room {
            let rest = format!("{}{}   {}", edge.text, counts.text, style.paint(PaintRole::Dim, about));
            return format!("{out}{}\n", rest.trim_end());
        }
        out += &format!("{}{}\n", edge.text, counts.text);
    }
    if !about.is_empty() {
        out += &flow_parts(style, edge, indent, 1, &painted_words(style, PaintRole::Dim, about));
    }
    out
}
