//! Full-screen lists: filter, list, preview, keys; and what the other full-screen views are built from.
//!
//! ```text
//! Resume a session                                   2 of 31
//! › cart▏
//! ▸ round totals to cents           2 min ago  4 messages  │ add rounding to the cart
//!   the cart's tests                yesterday  9 messages  │ …
//! Enter choose · Esc clear
//! ```
//!
//! | module | for |
//! |---|---|
//! | [`list_picker`] | the list itself: state, keys, rows |
//! | `filter` | which items fit what was typed |
//! | [`painted_row`] | one row, never too wide and never raw |
//! | [`text_field`] | one typed line |

mod filter;
pub mod list_picker;
pub mod painted_row;
#[cfg(test)]
pub(crate) mod test_screen;
#[cfg(test)]
mod tests;
pub mod text_field;

pub use list_picker::{ListPicker, PickerItem, PickerOutcome};
pub use painted_row::PaintedRow;
pub use text_field::TextField;

use relaycode_text::width::cells;

use crate::Glyph;
use crate::theme::{ThemeStyle, ThemeToken};

/// From this width on the preview stands beside the list.
const BESIDE_WIDTH: usize = 100;
/// From this height on the preview stands below the list, without a key.
const BELOW_HEIGHT: usize = 20;

/// Where the parts of a full-screen list are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PickerLayout {
    pub(crate) has_title: bool,
    pub(crate) has_filter: bool,
    pub(crate) has_help: bool,
    pub(crate) list_width: usize,
    pub(crate) list_height: usize,
    preview: PreviewPlace,
    /// It is shown only on request.
    pub(crate) preview_needs_key: bool,
    width: usize,
    body: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PreviewPlace {
    None,
    Beside,
    Below,
    Instead,
}

impl PickerLayout {
    pub(crate) fn new(width: usize, height: usize, has_preview: bool, wants_preview: bool) -> PickerLayout {
        let (has_title, has_filter, has_help) = (height >= 8, height >= 3, height >= 5);
        let body = height - usize::from(has_title) - usize::from(has_filter) - usize::from(has_help);
        let preview = match has_preview {
            true if width > BESIDE_WIDTH => PreviewPlace::Beside,
            true if height >= BELOW_HEIGHT => PreviewPlace::Below,
            true if wants_preview => PreviewPlace::Instead,
            _ => PreviewPlace::None,
        };
        let (list_width, list_height) = match preview {
            PreviewPlace::None => (width, body),
            PreviewPlace::Beside => (width * 9 / 20, body),
            PreviewPlace::Below => (width, body / 2),
            PreviewPlace::Instead => (width, 0),
        };
        let preview_needs_key = width <= BESIDE_WIDTH && height < BELOW_HEIGHT;
        PickerLayout {
            has_title,
            has_filter,
            has_help,
            list_width,
            list_height,
            preview,
            preview_needs_key,
            width,
            body,
        }
    }

    /// The rows of the list with the preview at its place; as many as there is room for.
    pub(crate) fn join(
        &self,
        style: &ThemeStyle,
        mut list: Vec<String>,
        preview: &dyn Fn(usize, usize) -> Vec<String>,
    ) -> Vec<String> {
        let clip = |line: &String, width: usize| painted_row::clip_painted(line, width, &style.output);
        match self.preview {
            PreviewPlace::None => {}
            PreviewPlace::Beside => {
                let width = self.width.saturating_sub(self.list_width + 3);
                let beside = preview(width, self.body);
                let rows = list.len().max(beside.len()).min(self.body);
                list.resize(rows.max(self.body), String::new());
                let bar = style.output.glyph(Glyph::Bar);
                for (at, row) in list.iter_mut().enumerate() {
                    let blanks = self.list_width.saturating_sub(painted_row::painted_cells(row)) + 1;
                    let bar = style.paint(ThemeToken::BorderMuted, bar);
                    let beside = beside.get(at).map(|line| clip(line, width)).unwrap_or_default();
                    *row = format!("{row}{}{bar} {beside}", " ".repeat(blanks)).trim_end().to_string();
                }
            }
            PreviewPlace::Below => {
                list.resize(self.list_height, String::new());
                let line = if style.output.utf8 { "─" } else { "-" };
                list.push(style.paint(ThemeToken::BorderMuted, &line.repeat(self.width)));
                let height = self.body.saturating_sub(self.list_height + 1);
                list.extend(
                    preview(self.width, height).iter().take(height).map(|line| clip(line, self.width)),
                );
            }
            PreviewPlace::Instead => {
                list = preview(self.width, self.body).iter().map(|line| clip(line, self.width)).collect();
            }
        }
        list.resize(self.body, String::new());
        list
    }
}

/// `Enter choose · Esc close`, as many keys as fit.
pub(crate) fn help_row(style: &ThemeStyle, width: usize, keys: &[(&str, &str)]) -> String {
    let dot = format!(" {} ", style.output.glyph(Glyph::Dot));
    let mut row = PaintedRow::new(style, width);
    for (at, (key, text)) in keys.iter().enumerate() {
        let lead = if at == 0 { "" } else { &dot };
        if cells(lead) + cells(key) + 1 + cells(text) > row.room() {
            continue;
        }
        row.colored(ThemeToken::Dim, lead).colored(ThemeToken::Muted, key);
        row.plain(" ").colored(ThemeToken::Dim, text);
    }
    row.finish()
}

/// A heading row of a full-screen view, with something at its end.
pub(crate) fn title_row(style: &ThemeStyle, width: usize, title: &str, end: &str) -> String {
    let mut row = PaintedRow::new(style, width);
    let end_cells = cells(&style.output.safe(painted_row::head_for(end, width)));
    let most = if end_cells + 4 < width { width - end_cells - 2 } else { width };
    row.push(Some(ThemeToken::Accent), title, most);
    if most < width {
        row.pad_to(width - end_cells);
        row.colored(ThemeToken::Muted, end);
    }
    row.finish()
}

/// Foreign text of several lines, wrapped between words, at most so many rows.
pub(crate) fn text_rows(
    style: &ThemeStyle,
    token: Option<ThemeToken>,
    text: &str,
    width: usize,
    most: usize,
) -> Vec<String> {
    let text = painted_row::head_for(text, width.saturating_mul(most));
    let rows = text.lines().flat_map(|line| {
        let wrapped = relaycode_text::width::wrap(&style.output.safe(line.trim_end()), width, 0);
        wrapped.lines().map(str::to_string).collect::<Vec<_>>()
    });
    let painted = rows.take(most).map(|line| {
        let mut row = PaintedRow::new(style, width);
        row.push(token, &line, width);
        row.finish()
    });
    painted.collect()
}

/// Cells that a label would take, at most `most`.
fn label_cells(label: &str, most: usize) -> usize {
    cells(painted_row::head_for(label, most)).min(most)
}
