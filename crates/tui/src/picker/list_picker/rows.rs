//! What a list looks like.

use std::collections::BTreeSet;

use super::super::filter::marks;
use super::super::painted_row::{PaintedRow, head_for};
use super::super::{PickerLayout, help_row, label_cells};
use super::{ListPicker, PickerItem};
use crate::Glyph;
use crate::theme::{ThemeStyle, ThemeToken};

/// A label keeps so many cells before its detail goes.
const LEAST_LABEL: usize = 20;

/// What stands in front of an item, where the view around the list decides it.
type ItemSign<'s, T> = Option<&'s dyn Fn(&T) -> &'static str>;

/// Which details there is room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DetailLength {
    Full,
    Short,
    None,
}

impl DetailLength {
    fn of<T>(self, item: &PickerItem<T>) -> &str {
        match self {
            DetailLength::Full => &item.detail,
            DetailLength::Short => &item.short_detail,
            DetailLength::None => "",
        }
    }
}

fn shown_cells(style: &ThemeStyle, text: &str, most: usize) -> usize {
    relaycode_text::width::cells(&style.output.safe(head_for(text, most)))
}

impl<T> ListPicker<T> {
    pub fn lines(&self, style: &ThemeStyle, width: usize, height: usize) -> Vec<String> {
        self.lines_with(style, width, height, &|_, _, _| Vec::new())
    }

    /// `preview` draws the selected one into so many columns and rows.
    pub fn lines_with(
        &self,
        style: &ThemeStyle,
        width: usize,
        height: usize,
        preview: &dyn Fn(&T, usize, usize) -> Vec<String>,
    ) -> Vec<String> {
        self.draw(style, width, height, preview, None)
    }

    /// The same; `sign` says what stands in front of each item.
    pub(crate) fn lines_signed(
        &self,
        style: &ThemeStyle,
        width: usize,
        height: usize,
        preview: &dyn Fn(&T, usize, usize) -> Vec<String>,
        sign: &dyn Fn(&T) -> &'static str,
    ) -> Vec<String> {
        self.draw(style, width, height, preview, Some(sign))
    }

    fn draw(
        &self,
        style: &ThemeStyle,
        width: usize,
        height: usize,
        preview: &dyn Fn(&T, usize, usize) -> Vec<String>,
        sign: ItemSign<'_, T>,
    ) -> Vec<String> {
        let layout = PickerLayout::new(width, height, self.has_preview, self.shows_preview);
        let mut lines = Vec::with_capacity(height);
        if layout.has_title {
            lines.push(self.title_row(style, width));
        }
        if layout.has_filter {
            lines.push(self.filter_row(style, width));
        }
        let list = self.list_rows(style, (layout.list_width, layout.list_height), sign);
        let drawn =
            |width, height| self.selected().map_or_else(Vec::new, |value| preview(value, width, height));
        lines.extend(layout.join(style, list, &drawn));
        if layout.has_help {
            lines.push(help_row(style, width, &self.help_keys(&layout)));
        }
        lines
    }

    fn title_row(&self, style: &ThemeStyle, width: usize) -> String {
        let mut row = PaintedRow::new(style, width);
        row.colored(ThemeToken::Accent, &self.title);
        let count = self.count_text();
        if row.room() > count.len() + 2 {
            row.pad_to(width - count.len());
            row.colored(ThemeToken::Muted, &count);
        }
        row.finish()
    }

    fn count_text(&self) -> String {
        let (all, fitting) = (self.items.len(), self.filter.fitting().len());
        let mut text = if self.query.is_empty() { all.to_string() } else { format!("{fitting} of {all}") };
        if let Some(marked) = self.marked.as_ref().filter(|marked| !marked.is_empty()) {
            text = format!("{} marked, {text}", marked.len());
        }
        if self.is_loading { format!("loading, {text} so far") } else { text }
    }

    fn filter_row(&self, style: &ThemeStyle, width: usize) -> String {
        let mut row = PaintedRow::new(style, width);
        row.colored(ThemeToken::Accent, if style.output.utf8 { "› " } else { "> " });
        if self.is_typing {
            self.query.draw(&mut row, style.output.utf8);
        } else {
            row.plain(self.query.text());
        }
        if self.query.is_empty() {
            row.plain(if self.is_typing { " " } else { "" }).colored(ThemeToken::Muted, self.filter_hint);
        }
        row.finish()
    }

    fn list_rows(
        &self,
        style: &ThemeStyle,
        (width, height): (usize, usize),
        sign: ItemSign<'_, T>,
    ) -> Vec<String> {
        self.page.set(height);
        let fitting = self.filter.fitting();
        if fitting.is_empty() {
            let text = match (self.is_loading, self.items.is_empty()) {
                (true, _) => "loading",
                (false, true) => &self.empty_text,
                (false, false) => "nothing fits what you typed; Escape clears it",
            };
            let wrapped = relaycode_text::width::wrap(&format!("  {text}"), width, 2);
            let row = |line: &str| {
                let mut row = PaintedRow::new(style, width);
                row.colored(ThemeToken::Muted, line);
                row.finish()
            };
            return wrapped.lines().take(height).map(row).collect();
        }
        let top = self.scrolled_top(height, fitting.len());
        let shown = fitting.iter().enumerate().skip(top).take(height);
        let details = self.detail_length(style, width, &shown.clone().map(|(_, index)| *index as usize));
        shown
            .map(|(place, index)| self.item_row(style, width, (place, *index as usize), (details, sign)))
            .collect()
    }

    /// The first row to show: the list moves only when the selected one would leave it.
    fn scrolled_top(&self, height: usize, count: usize) -> usize {
        let lowest = self.selected.saturating_sub(height.saturating_sub(1));
        let top = self.top.get().clamp(lowest, self.selected).min(count.saturating_sub(height));
        self.top.set(top);
        top
    }

    fn item_row(
        &self,
        style: &ThemeStyle,
        width: usize,
        (place, index): (usize, usize),
        (details, sign): (DetailLength, ItemSign<'_, T>),
    ) -> String {
        let mut row = PaintedRow::new(style, width);
        let Some(item) = self.items.get(index) else { return String::new() };
        let is_selected = place == self.selected;
        match is_selected {
            true => row.glyph(ThemeToken::Accent, Glyph::Incoming).plain(" "),
            false => row.plain("  "),
        };
        if let Some(marked) = self.shown_marks() {
            let is_marked = marked.contains(&index);
            let token = if is_marked { ThemeToken::Accent } else { ThemeToken::Muted };
            row.colored(token, if is_marked { "[x] " } else { "[ ] " });
        }
        let sign = sign.map_or(item.sign, |sign| sign(&item.value));
        if !sign.is_empty() {
            row.colored(ThemeToken::Accent, sign).plain(" ");
        }
        let detail = details.of(item);
        let detail_cells = shown_cells(style, detail, width);
        let most = if detail_cells == 0 { row.room() } else { row.room().saturating_sub(detail_cells + 2) };
        row.marked(&item.label, &marks(self.query.text(), &item.label), ThemeToken::Accent, most);
        if detail_cells > 0 {
            row.pad_to(width.saturating_sub(detail_cells));
            row.colored(ThemeToken::Muted, detail);
        }
        if is_selected { row.finish_selected() } else { row.finish() }
    }

    /// The longest details beside which the labels of these rows can still be read.
    fn detail_length(
        &self,
        style: &ThemeStyle,
        width: usize,
        rows: &(impl Iterator<Item = usize> + Clone),
    ) -> DetailLength {
        let marks = if self.shown_marks().is_some() { 4 } else { 0 };
        let room = width.saturating_sub(2 + marks + 2);
        let fits = |length: DetailLength| {
            rows.clone().filter_map(|index| self.items.get(index)).all(|item| {
                let label = label_cells(&item.label, width).min(LEAST_LABEL);
                shown_cells(style, length.of(item), width) + 2 + label <= room
            })
        };
        [DetailLength::Full, DetailLength::Short]
            .into_iter()
            .find(|length| fits(*length))
            .unwrap_or(DetailLength::None)
    }

    /// The marks, once there are some.
    fn shown_marks(&self) -> Option<&BTreeSet<usize>> {
        self.marked.as_ref().filter(|marked| !marked.is_empty())
    }

    fn help_keys(&self, layout: &PickerLayout) -> Vec<(&'static str, &'static str)> {
        let mut keys =
            vec![("Enter", self.enter), ("Esc", if self.query.is_empty() { "close" } else { "clear" })];
        if self.items.is_empty() {
            keys.remove(0);
            return keys;
        }
        keys.extend(&self.keys);
        if self.marked.is_some() {
            keys.push(("Tab", "mark"));
        }
        if self.has_preview && layout.preview_needs_key {
            keys.push(("Alt+P", if self.shows_preview { "list" } else { "preview" }));
        }
        keys
    }
}
