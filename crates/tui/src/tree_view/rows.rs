//! What the tree looks like.

use relaycode_session::EntryRole;
use relaycode_text::width::cells;

use super::{SUMMARY_CHOICES, TreeEntry, TreeStage, TreeView};
use crate::Glyph;
use crate::picker::{PaintedRow, help_row, title_row};
use crate::theme::{ThemeStyle, ThemeToken};
use crate::views::sessions::tree_shape::TreeShapeRow;

/// The list has at least so many rows where there is room.
const LEAST_ROWS: usize = 5;
/// A text keeps so many cells; lines of branches in front of it give way.
const LEAST_TEXT: usize = 16;
/// Most cells of a label.
const LABEL: usize = 24;

impl TreeView {
    pub fn lines(&self, style: &ThemeStyle, width: usize, height: usize) -> Vec<String> {
        let (has_title, has_head, has_help) = (height >= 8, height >= 3, height >= 5);
        let around = usize::from(has_title) + usize::from(has_head) + usize::from(has_help);
        let rows = (height / 2).max(LEAST_ROWS).min(height.saturating_sub(around));
        let mut lines = Vec::with_capacity(height);
        if has_title {
            lines.push(title_row(style, width, "Session tree", &self.state_text(style)));
        }
        if has_head {
            lines.push(self.head_row(style, width));
        }
        match &self.stage {
            TreeStage::Summary { choice, .. } => lines.extend(summary_rows(style, width, rows, *choice)),
            _ => lines.extend(self.list_rows(style, width, rows)),
        }
        if has_help {
            lines.push(help_row(style, width, self.help_keys()));
        }
        lines
    }

    fn state_text(&self, style: &ThemeStyle) -> String {
        let (shown, passing) = (self.visible.rows().len(), self.visible.passing());
        let dot = style.output.glyph(Glyph::Dot);
        match self.query.is_empty() {
            true => format!("{} {dot} {passing} of {}", self.filter.name(), self.entries.len()),
            false => format!("{} {dot} {shown} of {passing}", self.filter.name()),
        }
    }

    /// What is typed, or asked.
    fn head_row(&self, style: &ThemeStyle, width: usize) -> String {
        let mut row = PaintedRow::new(style, width);
        let utf8 = style.output.utf8;
        match &self.stage {
            TreeStage::Browse => {
                row.colored(ThemeToken::Accent, if utf8 { "› " } else { "> " });
                self.query.draw(&mut row, utf8);
                if self.query.is_empty() {
                    row.colored(ThemeToken::Muted, " type to search");
                }
            }
            TreeStage::Label(field) => {
                row.colored(ThemeToken::Accent, "label: ");
                field.draw(&mut row, utf8);
            }
            TreeStage::Summary { .. } => {
                row.plain("Summarize what you leave behind?");
            }
            TreeStage::CustomPrompt { words, .. } => {
                row.colored(ThemeToken::Accent, "what matters: ");
                words.draw(&mut row, utf8);
            }
            TreeStage::Summarizing => {
                row.plain("summarizing what is left behind");
            }
        }
        row.finish()
    }

    fn list_rows(&self, style: &ThemeStyle, width: usize, height: usize) -> Vec<String> {
        self.page.set(height);
        let rows = self.visible.rows();
        if rows.is_empty() {
            let text = match (self.entries.is_empty(), self.query.is_empty()) {
                (true, _) => "nothing was said yet",
                (false, true) => "no entry passes this filter; Ctrl+O shows others",
                (false, false) => "nothing fits what you typed; Escape clears it",
            };
            let mut row = PaintedRow::new(style, width);
            row.plain("  ").colored(ThemeToken::Muted, text);
            return vec![row.finish()];
        }
        let top = self.selected.saturating_sub(height / 2).min(rows.len().saturating_sub(height));
        let shown = rows.iter().enumerate().skip(top).take(height);
        shown.map(|(place, row)| self.entry_row(style, width, row, place == self.selected)).collect()
    }

    fn entry_row(&self, style: &ThemeStyle, width: usize, shape: &TreeShapeRow, is_selected: bool) -> String {
        let entry = &self.entries[shape.at];
        let mut row = PaintedRow::new(style, width);
        match is_selected {
            true => row.glyph(ThemeToken::Accent, Glyph::Incoming).plain(" "),
            false => row.plain("  "),
        };
        let levels = width.saturating_sub(LEAST_TEXT + 2) / 3;
        let lead = shape.lead(u32::try_from(levels).unwrap_or(u32::MAX), &style.output);
        row.colored(ThemeToken::BorderMuted, &lead);
        if entry.on_path {
            row.colored(ThemeToken::Accent, if style.output.utf8 { "• " } else { "* " });
        }
        if let Some(label) = &entry.label {
            let label = format!("[{}] ", style.output.clip(label, LABEL));
            row.colored(ThemeToken::Warning, &label);
        }
        row.push(Some(speaker_token(entry)), &entry.who, width / 3);
        if !entry.text.is_empty() && row.room() > cells(": ") {
            let token = if entry.on_path { ThemeToken::Text } else { ThemeToken::Muted };
            row.plain(": ").colored(token, &entry.text);
        }
        if is_selected { row.finish_selected() } else { row.finish() }
    }

    fn help_keys(&self) -> &'static [(&'static str, &'static str)] {
        match &self.stage {
            TreeStage::Browse if self.query.is_empty() => {
                &[("Enter", "go there"), ("Shift+L", "label"), ("Ctrl+O", "filter"), ("Esc", "close")]
            }
            TreeStage::Browse => &[("Enter", "go there"), ("Esc", "clear search"), ("Ctrl+O", "filter")],
            TreeStage::Label(_) => &[("Enter", "keep; empty takes it away"), ("Esc", "back")],
            TreeStage::Summary { .. } => &[("Enter", "choose"), ("Esc", "back to the tree")],
            TreeStage::CustomPrompt { .. } => &[("Enter", "summarize"), ("Esc", "back")],
            TreeStage::Summarizing => &[("Esc", "stop")],
        }
    }
}

fn speaker_token(entry: &TreeEntry) -> ThemeToken {
    match entry.role {
        EntryRole::User => ThemeToken::Accent,
        EntryRole::Assistant => ThemeToken::Success,
        _ => ThemeToken::Muted,
    }
}

fn summary_rows(style: &ThemeStyle, width: usize, height: usize, choice: usize) -> Vec<String> {
    let shown = SUMMARY_CHOICES.iter().enumerate().take(height);
    let row = |(at, text): (usize, &&str)| {
        let mut row = PaintedRow::new(style, width);
        match at == choice {
            true => row.glyph(ThemeToken::Accent, Glyph::Incoming).plain(" "),
            false => row.plain("  "),
        };
        row.plain(text);
        if at == choice { row.finish_selected() } else { row.finish() }
    };
    shown.map(row).collect()
}
