//! The pieces of a line: text that may be painted and knows its width, counts, numbers.

use relaycode_text::plural::pluralize;

use crate::{Glyph, OutputStyle, PaintRole, cells};

/// A list shows this many entries, then how many more there are.
pub const LIST_LIMIT: usize = 12;

/// One part at the beginning and one at the end of a line; two lines if they do not fit.
pub(crate) fn justified_line(style: &OutputStyle, left: &StyledText, right: &StyledText) -> String {
    let room = style.columns();
    let taken = left.cells + right.cells;
    if taken + 2 > room && style.width.is_some() {
        return format!("{}\n  {}\n", left.text, right.text);
    }
    let gap = room.saturating_sub(taken).max(2);
    format!("{}{}{}\n", left.text, " ".repeat(gap), right.text)
}

/// `✗ what happened                everything was put back`: a wrapped sentence, and the resulting state.
pub(crate) fn headline_with_state(style: &OutputStyle, sign: &str, what: &str, state: &str) -> String {
    let wrapped = style.wrap(&format!("  {what}"), 2);
    let (first, rest) = wrapped.split_once('\n').unwrap_or((&wrapped, ""));
    let left = StyledText::plain(&format!("  {}", first.trim_start()));
    // The sign replaces as many blanks, or more in its ASCII form.
    let left = StyledText { text: format!("{sign} {}", first.trim_start()), ..left };
    if rest.is_empty() && left.cells + cells(state) + 2 <= style.width.unwrap_or(usize::MAX) {
        return justified_line(style, &left, &StyledText::painted(style, PaintRole::Dim, state));
    }
    let state = style.paint(PaintRole::Dim, style.wrap(&format!("  {state}"), 2).trim_start());
    let rest = if rest.is_empty() { String::new() } else { format!("{rest}\n") };
    format!("{}\n{rest}  {state}\n", left.text)
}

/// Text (safe, not painted) beside its label, or below it if there is too little room. `taken`: the cells
/// of the label's column.
pub(crate) fn labelled_line(style: &OutputStyle, label: StyledText, taken: usize, text: &str) -> String {
    let room = style.columns().saturating_sub(taken);
    let too_wide = |text: &str| style.is_narrow() && text.split(' ').any(|word| cells(word) > room);
    if !style.is_tight(taken) && !too_wide(text) {
        let wrapped = style.wrap(&format!("{}{text}", " ".repeat(taken)), taken);
        return format!("{}{}\n", label.padded(taken).text, wrapped.trim_start());
    }
    let below = style.wrap(&format!("{}{text}", " ".repeat(BELOW)), BELOW);
    if label.text.trim().is_empty() { format!("{below}\n") } else { format!("{}\n{below}\n", label.text) }
}

/// Indent of text below its label.
const BELOW: usize = 4;

/// Text that may be painted, and its width in cells.
#[derive(Default)]
pub(crate) struct StyledText {
    pub(crate) text: String,
    pub(crate) cells: usize,
}

impl StyledText {
    pub(crate) fn plain(text: &str) -> StyledText {
        StyledText { text: text.to_string(), cells: cells(text) }
    }

    pub(crate) fn painted(style: &OutputStyle, paint: PaintRole, text: &str) -> StyledText {
        StyledText { text: style.paint(paint, text), cells: cells(text) }
    }

    pub(crate) fn append(mut self, other: &StyledText) -> StyledText {
        self.text.push_str(&other.text);
        self.cells += other.cells;
        self
    }

    /// Filled with blanks to `width` cells.
    pub(crate) fn padded(mut self, width: usize) -> StyledText {
        let blanks = width.saturating_sub(self.cells);
        self.text.push_str(&" ".repeat(blanks));
        self.cells += blanks;
        self
    }
}

/// `+12 −5`, without a half that is zero.
pub(crate) fn line_counts(style: &OutputStyle, added: usize, removed: usize) -> StyledText {
    let mut part = StyledText::plain("");
    if added > 0 {
        part = part.append(&StyledText::painted(style, PaintRole::Good, &format!("+{added}")));
    }
    if removed > 0 {
        if added > 0 {
            part = part.append(&StyledText::plain(" "));
        }
        let text = format!("{}{removed}", style.glyph(Glyph::Minus));
        part = part.append(&StyledText::painted(style, PaintRole::Bad, &text));
    }
    part
}

/// `and 3 more`, after `lead`, for a list that is longer than [`LIST_LIMIT`]; else nothing.
pub fn more_line(style: &OutputStyle, lead: &str, total: usize) -> String {
    match total.saturating_sub(LIST_LIMIT) {
        0 => String::new(),
        more => format!("{lead}{}\n", style.paint(PaintRole::Dim, &format!("and {more} more"))),
    }
}

/// `812 bytes`, `12 kB`, `3.4 MB`.
pub(crate) fn human_size(bytes: usize) -> String {
    match bytes {
        0..1_000 => pluralize(bytes, "byte"),
        1_000..1_000_000 => format!("{} kB", (bytes + 500) / 1_000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}
