//! What the log looks like.

use super::{LogBrowser, LogBrowserRow, PaintedDiff, diff_text};
use crate::picker::{PaintedRow, PickerItem, help_row, text_rows};
use crate::theme::{ThemeStyle, ThemeToken};
use crate::views::log::LogRow;
use crate::{Glyph, clock, pluralize};

pub(super) const KEYS: &[(&str, &str)] =
    &[("u", "undo"), ("U", "redo"), ("r", "revert"), ("c", "commit"), ("/", "filter")];

/// Keys while a filter is typed.
const FILTER_KEYS: &[(&str, &str)] = &[("Enter", "keep the filter"), ("Esc", "clear it")];

pub(super) fn item(row: LogBrowserRow) -> PickerItem<LogBrowserRow> {
    let (change, paths) = (&row.row, &row.paths);
    let title = match &change.damage {
        Some(damage) => format!("cannot be read: {damage}"),
        None => change.summary.clone(),
    };
    let mut counts = String::new();
    if change.added > 0 {
        counts += &format!("+{}", change.added);
    }
    if change.removed > 0 {
        counts += &format!("{}-{}", if counts.is_empty() { "" } else { " " }, change.removed);
    }
    let files = pluralize(change.files, "file");
    let detail = format!(
        "{:>12}  {:<10} {files:>8}  {counts:<10}",
        clock::ago(&change.created_at),
        relaycode_text::width::clip_for_message(&change.origin, 10)
    );
    // One line each, so that `file:` and `origin:` find them.
    let mut keywords = format!("origin:{}\n{}", change.origin, change.id.as_deref().unwrap_or_default());
    for path in paths {
        keywords += &format!("\nfile:{path}");
    }
    let short = clock::ago(&change.created_at);
    PickerItem::new(row, title).detail(detail).short_detail(short).keywords(keywords)
}

/// What is special about a change.
fn notes(change: &LogRow) -> String {
    let mut notes = Vec::new();
    if change.edits > 1 {
        notes.push(pluralize(change.edits, "edit"));
    }
    for (holds, note) in [
        (change.interrupted, "interrupted"),
        (change.foreign, "not written by your relay"),
        (change.partly_undone, "partly undone"),
        (!change.revertible && change.damage.is_none(), "can no longer be undone"),
    ] {
        notes.extend(holds.then(|| note.to_string()));
    }
    notes.join(", ")
}

impl LogBrowser {
    pub fn lines(&self, style: &ThemeStyle, width: usize, height: usize) -> Vec<String> {
        if let Some(pager) = &self.pager {
            return pager.lines(style, width, height);
        }
        let preview = |row: &LogBrowserRow, width, height| self.preview(style, row, width, height);
        let sign = |row: &LogBrowserRow| match &row.row {
            row if row.damage.is_some() => "!",
            row if row.undone => style.output.glyph(Glyph::Reverted),
            row if row.foreign || row.interrupted => "!",
            _ => " ",
        };
        let mut lines = self.list.lines_signed(style, width, height, &preview, &sign);
        if height >= 5 && (self.is_filtering || !self.note.is_empty()) {
            lines.truncate(height - 1);
            lines.push(match self.note.is_empty() {
                true => help_row(style, width, FILTER_KEYS),
                false => {
                    let mut row = PaintedRow::new(style, width);
                    row.colored(ThemeToken::Warning, &self.note);
                    row.finish()
                }
            });
        }
        lines
    }

    fn preview(&self, style: &ThemeStyle, row: &LogBrowserRow, width: usize, height: usize) -> Vec<String> {
        let mut lines = text_rows(style, Some(ThemeToken::Accent), &row.row.summary, width, 2);
        lines.extend(text_rows(style, Some(ThemeToken::Warning), &notes(&row.row), width, 2));
        let id = row.row.id.as_deref().unwrap_or_default();
        let Some(diff) = self.diff(id) else {
            lines.extend(row.paths.iter().take(height).map(|path| {
                let mut line = PaintedRow::new(style, width);
                line.path(None, path, width);
                line.finish()
            }));
            lines.truncate(height);
            return lines;
        };
        let look = (style.output.color, style.output.utf8);
        let mut painted = self.painted.borrow_mut();
        let known = painted.take().filter(|painted| painted.id == id && painted.look == look);
        let known = known.unwrap_or_else(|| {
            let text = diff_text(diff, &style.output);
            PaintedDiff { id: id.to_string(), look, lines: text.lines().map(str::to_string).collect() }
        });
        lines.extend(known.lines.iter().take(height.saturating_sub(lines.len())).cloned());
        *painted = Some(known);
        lines.truncate(height);
        lines
    }
}
