//! Keys and commands, in sections, to be searched.
//!
//! ```text
//! Keys and commands                                              2 of 64
//! › undo▏
//! Editing
//!   Ctrl+_          undo what was typed
//! Commands
//!   /undo           take the last change back
//! Esc clear
//! ```

#[cfg(test)]
mod tests;

use std::cell::Cell;

use relaycode_text::width::cells;

use crate::input::{KeyCode, KeyPress};
use crate::picker::{PaintedRow, TextField, help_row, text_rows, title_row};
use crate::theme::{ThemeStyle, ThemeToken};

/// What belongs together.
#[derive(Debug, Clone)]
pub struct HelpSection {
    pub title: String,
    pub rows: Vec<HelpRow>,
}

/// A key or a command.
#[derive(Debug, Clone)]
pub struct HelpRow {
    /// `Ctrl+O`, `/undo`
    pub name: String,
    pub text: String,
}

impl HelpRow {
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> HelpRow {
        HelpRow { name: name.into(), text: text.into() }
    }
}

/// What a key did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HelpOutcome {
    Ignored,
    Changed,
    Closed,
}

/// The state of the view.
#[derive(Debug)]
pub struct HelpView {
    sections: Vec<HelpSection>,
    query: TextField,
    top: usize,
    /// Rows of all, and how many are shown, as the last drawing found.
    size: Cell<(usize, usize)>,
}

/// Most cells of a key or command.
const MOST_NAME: usize = 28;

impl HelpView {
    pub fn new(sections: Vec<HelpSection>) -> HelpView {
        HelpView { sections, query: TextField::default(), top: 0, size: Cell::new((0, 10)) }
    }

    pub fn insert_text(&mut self, text: &str) {
        self.query.insert(text);
        self.top = 0;
    }

    pub fn handle_key(&mut self, key: KeyPress) -> HelpOutcome {
        let (rows, page) = self.size.get();
        let last = rows.saturating_sub(page);
        match (key.code, key.ctrl) {
            (KeyCode::Escape, _) if self.query.is_empty() => return HelpOutcome::Closed,
            (KeyCode::Escape, _) => {
                self.query.clear();
                self.top = 0;
            }
            (KeyCode::Char('c'), true) | (KeyCode::Enter, _) => return HelpOutcome::Closed,
            (KeyCode::Up, _) => self.top = self.top.min(last).saturating_sub(1),
            (KeyCode::Down, _) => self.top = (self.top + 1).min(last),
            (KeyCode::PageUp, _) => self.top = self.top.min(last).saturating_sub(page),
            (KeyCode::PageDown, _) => self.top = (self.top + page).min(last),
            (KeyCode::Home, _) => self.top = 0,
            (KeyCode::End, _) => self.top = last,
            _ if self.query.handle_filter_key(key) => self.top = 0,
            _ => return HelpOutcome::Ignored,
        }
        HelpOutcome::Changed
    }

    pub fn lines(&self, style: &ThemeStyle, width: usize, height: usize) -> Vec<String> {
        let (has_title, has_filter, has_help) = (height >= 8, height >= 3, height >= 5);
        let page = height - usize::from(has_title) - usize::from(has_filter) - usize::from(has_help);
        let (body, fitting, all) = self.body(style, width);
        self.size.set((body.len(), page));
        let mut lines = Vec::with_capacity(height);
        if has_title {
            let count = if self.query.is_empty() { String::new() } else { format!("{fitting} of {all}") };
            lines.push(title_row(style, width, "Keys and commands", &count));
        }
        if has_filter {
            let mut row = PaintedRow::new(style, width);
            row.colored(ThemeToken::Accent, if style.output.utf8 { "› " } else { "> " });
            self.query.draw(&mut row, style.output.utf8);
            if self.query.is_empty() {
                row.colored(ThemeToken::Muted, " type to search");
            }
            lines.push(row.finish());
        }
        let top = self.top.min(body.len().saturating_sub(page));
        lines.extend(body.into_iter().skip(top).take(page));
        if has_help {
            lines.resize(height - 1, String::new());
            let close = if self.query.is_empty() { "close" } else { "clear" };
            lines.push(help_row(
                style,
                width,
                &[("Esc", close), ("Up Down", "scroll"), ("PgUp PgDn", "page")],
            ));
        }
        lines
    }

    /// All rows, how many entries fit, and how many there are.
    fn body(&self, style: &ThemeStyle, width: usize) -> (Vec<String>, usize, usize) {
        let words: Vec<String> = self.query.text().split_whitespace().map(str::to_lowercase).collect();
        let fits = |section: &HelpSection, row: &HelpRow| {
            let text = format!("{} {} {}", section.title, row.name, row.text).to_lowercase();
            words.iter().all(|word| text.contains(word.as_str()))
        };
        let names = self.sections.iter().flat_map(|section| &section.rows).map(|row| cells(&row.name));
        let column = 2 + names.max().unwrap_or(0).min(MOST_NAME) + 2;
        let is_narrow = column + 24 > width;
        let (mut lines, mut fitting, mut all) = (Vec::new(), 0, 0);
        for section in &self.sections {
            all += section.rows.len();
            let rows: Vec<&HelpRow> = section.rows.iter().filter(|row| fits(section, row)).collect();
            if rows.is_empty() {
                continue;
            }
            fitting += rows.len();
            let mut head = PaintedRow::new(style, width);
            head.colored(ThemeToken::MdHeading, &section.title);
            lines.push(head.finish());
            for row in rows {
                lines.extend(entry_rows(style, row, width, column, is_narrow));
            }
        }
        if lines.is_empty() {
            let mut row = PaintedRow::new(style, width);
            row.colored(ThemeToken::Muted, "  nothing fits what you typed; Escape clears it");
            lines.push(row.finish());
        }
        (lines, fitting, all)
    }
}

/// The name, and its text beside it, or below where it is narrow.
fn entry_rows(
    style: &ThemeStyle,
    entry: &HelpRow,
    width: usize,
    column: usize,
    is_narrow: bool,
) -> Vec<String> {
    let mut name = PaintedRow::new(style, width);
    name.plain("  ").push(Some(ThemeToken::Accent), &entry.name, if is_narrow { width } else { MOST_NAME });
    let column = if is_narrow { 4 } else { column };
    let text = text_rows(style, None, &entry.text, width.saturating_sub(column).max(1), 6);
    let mut lines = Vec::new();
    let mut open = Some(name);
    for text in text {
        let mut row = match open.take() {
            Some(name) if is_narrow => {
                lines.push(name.finish());
                PaintedRow::new(style, width)
            }
            Some(name) => name,
            None => PaintedRow::new(style, width),
        };
        row.pad_to(column).painted(&text);
        lines.push(row.finish());
    }
    lines.extend(open.map(PaintedRow::finish));
    lines
}
