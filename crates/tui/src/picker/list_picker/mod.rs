//! A list on the whole screen: what is typed narrows it, a preview of the chosen one stands beside or below it.
//!
//! Only the rows that are seen are drawn, so a hundred thousand items cost what ten do. How it looks is in `rows`.

mod rows;

use std::cell::Cell;
use std::collections::BTreeSet;

use super::filter::{PickerFilter, SearchText};
use super::text_field::TextField;
use crate::input::{KeyCode, KeyPress};

/// One thing that can be chosen.
#[derive(Debug, Clone)]
pub struct PickerItem<T> {
    pub value: T,
    pub label: String,
    /// Behind the label, quieter, where there is room.
    pub detail: String,
    /// Instead of the detail where there is less room.
    pub short_detail: String,
    /// More words that find it; not shown.
    pub keywords: String,
    /// A sign in front, such as a mark for the present one; may be empty.
    pub sign: &'static str,
}

impl<T> PickerItem<T> {
    pub fn new(value: T, label: impl Into<String>) -> PickerItem<T> {
        PickerItem {
            value,
            label: label.into(),
            detail: String::new(),
            short_detail: String::new(),
            keywords: String::new(),
            sign: "",
        }
    }

    pub fn detail(self, detail: impl Into<String>) -> PickerItem<T> {
        PickerItem { detail: detail.into(), ..self }
    }

    pub fn short_detail(self, detail: impl Into<String>) -> PickerItem<T> {
        PickerItem { short_detail: detail.into(), ..self }
    }

    pub fn keywords(self, keywords: impl Into<String>) -> PickerItem<T> {
        PickerItem { keywords: keywords.into(), ..self }
    }

    pub fn sign(self, sign: &'static str) -> PickerItem<T> {
        PickerItem { sign, ..self }
    }
}

/// What a key did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PickerOutcome {
    /// The key means nothing here.
    Ignored,
    /// Draw again.
    Changed,
    /// These items, by their numbers in the list: the marked ones in the order of the list, else the selected one.
    Chosen(Vec<usize>),
    /// Escape.
    Closed,
    /// Ctrl+C.
    Quit,
}

/// A list to choose from.
#[derive(Debug)]
pub struct ListPicker<T> {
    title: String,
    /// Instead of the list while there is nothing in it.
    empty_text: String,
    /// What to say about keys beside those of every list.
    keys: Vec<(&'static str, &'static str)>,
    /// What Enter does.
    enter: &'static str,
    /// Beside the empty filter.
    filter_hint: &'static str,
    items: Vec<PickerItem<T>>,
    texts: Vec<SearchText>,
    filter: PickerFilter,
    query: TextField,
    /// Place among those that fit.
    selected: usize,
    marked: Option<BTreeSet<usize>>,
    is_loading: bool,
    /// Keys are typed into the filter.
    is_typing: bool,
    has_preview: bool,
    shows_preview: bool,
    /// First row shown and how many fit, as the last drawing found.
    top: Cell<usize>,
    page: Cell<usize>,
}

impl<T> ListPicker<T> {
    pub fn new(title: impl Into<String>, empty_text: impl Into<String>) -> ListPicker<T> {
        ListPicker {
            title: title.into(),
            empty_text: empty_text.into(),
            keys: Vec::new(),
            enter: "choose",
            filter_hint: "type to search",
            items: Vec::new(),
            texts: Vec::new(),
            filter: PickerFilter::default(),
            query: TextField::default(),
            selected: 0,
            marked: None,
            is_loading: false,
            is_typing: true,
            has_preview: false,
            shows_preview: false,
            top: Cell::new(0),
            page: Cell::new(10),
        }
    }

    /// Several can be marked with Tab.
    pub fn multi_select(mut self) -> ListPicker<T> {
        self.marked = Some(BTreeSet::new());
        self
    }

    pub fn with_preview(mut self) -> ListPicker<T> {
        self.has_preview = true;
        self
    }

    /// What Enter does, for the last row.
    pub fn with_enter(mut self, enter: &'static str) -> ListPicker<T> {
        self.enter = enter;
        self
    }

    /// What stands beside the empty filter.
    pub fn with_filter_hint(mut self, hint: &'static str) -> ListPicker<T> {
        self.filter_hint = hint;
        self
    }

    /// Keys of the view around the list, for the last row.
    pub fn with_keys(mut self, keys: &[(&'static str, &'static str)]) -> ListPicker<T> {
        self.keys = keys.to_vec();
        self
    }

    pub fn set_keys(&mut self, keys: &[(&'static str, &'static str)]) {
        self.keys = keys.to_vec();
    }

    pub fn set_title(&mut self, title: impl Into<String>) {
        self.title = title.into();
    }

    pub fn set_empty_text(&mut self, text: impl Into<String>) {
        self.empty_text = text.into();
    }

    /// Replaces everything; what was typed and the place stay.
    pub fn set_items(&mut self, items: Vec<PickerItem<T>>) {
        self.items = items;
        self.texts = self.items.iter().map(search_text).collect();
        if let Some(marked) = &mut self.marked {
            marked.clear();
        }
        self.refill_filter();
        self.selected = self.selected.min(self.filter.fitting().len().saturating_sub(1));
    }

    /// More of them arrived; the selected one stays selected.
    pub fn add_items(&mut self, items: impl IntoIterator<Item = PickerItem<T>>) {
        let before = self.selected_index();
        for item in items {
            self.texts.push(search_text(&item));
            self.items.push(item);
        }
        self.refill_filter();
        if let Some(before) = before {
            self.select_index(before);
        }
    }

    pub fn set_loading(&mut self, is_loading: bool) {
        self.is_loading = is_loading;
    }

    /// Whether what is typed goes into the filter, as the view around the list decides.
    pub fn set_typing(&mut self, is_typing: bool) {
        self.is_typing = is_typing;
    }

    pub fn items(&self) -> &[PickerItem<T>] {
        &self.items
    }

    /// The same thing with other words; its place stays.
    pub fn replace_item(&mut self, index: usize, item: PickerItem<T>) {
        if let (Some(old), Some(text)) = (self.items.get_mut(index), self.texts.get_mut(index)) {
            *text = search_text(&item);
            let has_same_label = old.label == item.label;
            *old = item;
            if !has_same_label {
                self.filter.forget_labels();
            }
        }
    }

    /// Number of the selected item in the whole list.
    pub fn selected_index(&self) -> Option<usize> {
        self.filter.fitting().get(self.selected).map(|index| *index as usize)
    }

    pub fn selected(&self) -> Option<&T> {
        self.items.get(self.selected_index()?).map(|item| &item.value)
    }

    /// Selects an item by its number, if it fits what was typed.
    pub fn select_index(&mut self, index: usize) {
        if let Some(place) = self.filter.fitting().iter().position(|fitting| *fitting as usize == index) {
            self.selected = place;
        }
    }

    pub fn query(&self) -> &str {
        self.query.text()
    }

    pub fn set_query(&mut self, query: &str) {
        self.query = TextField::with_text(query);
        self.refresh_filter();
        self.selected = 0;
    }

    /// How many fit what was typed.
    pub fn fitting_count(&self) -> usize {
        self.filter.fitting().len()
    }

    /// Pasted text goes into the filter.
    pub fn insert_text(&mut self, text: &str) {
        if self.query.insert(text) {
            self.query_changed();
        }
    }

    pub fn handle_key(&mut self, key: KeyPress) -> PickerOutcome {
        let page = self.page.get().max(1);
        match (key.code, key.ctrl, key.alt) {
            (KeyCode::Up, false, false) | (KeyCode::Char('p'), true, false) => self.step(-1),
            (KeyCode::Down, false, false) | (KeyCode::Char('n'), true, false) => self.step(1),
            (KeyCode::PageUp, ..) => self.jump(self.selected.saturating_sub(page)),
            (KeyCode::PageDown, ..) => self.jump(self.selected.saturating_add(page)),
            (KeyCode::Home, ..) => self.jump(0),
            (KeyCode::End, ..) => self.jump(usize::MAX),
            (KeyCode::Tab, ..) if self.marked.is_some() => self.toggle_mark(),
            (KeyCode::Char('p'), false, true) if self.has_preview => {
                self.shows_preview = !self.shows_preview;
                PickerOutcome::Changed
            }
            (KeyCode::Enter, false, false) => self.choose(),
            (KeyCode::Char('c'), true, false) => PickerOutcome::Quit,
            (KeyCode::Escape, ..) if self.query.is_empty() => PickerOutcome::Closed,
            (KeyCode::Escape, ..) => {
                self.query.clear();
                self.query_changed();
                PickerOutcome::Changed
            }
            _ if self.query.handle_filter_key(key) => {
                self.query_changed();
                PickerOutcome::Changed
            }
            _ => PickerOutcome::Ignored,
        }
    }

    fn step(&mut self, by: isize) -> PickerOutcome {
        let count = self.filter.fitting().len();
        if count == 0 {
            return PickerOutcome::Ignored;
        }
        self.selected = match by {
            ..0 => self.selected.checked_sub(1).unwrap_or(count - 1),
            _ => (self.selected + 1) % count,
        };
        PickerOutcome::Changed
    }

    fn jump(&mut self, place: usize) -> PickerOutcome {
        self.selected = place.min(self.filter.fitting().len().saturating_sub(1));
        PickerOutcome::Changed
    }

    fn toggle_mark(&mut self) -> PickerOutcome {
        let Some(index) = self.selected_index() else { return PickerOutcome::Ignored };
        if let Some(marked) = &mut self.marked
            && !marked.remove(&index)
        {
            marked.insert(index);
        }
        self.step(1)
    }

    fn choose(&mut self) -> PickerOutcome {
        let chosen = self.marked_or_selected();
        if chosen.is_empty() { PickerOutcome::Ignored } else { PickerOutcome::Chosen(chosen) }
    }

    /// The numbers of the marked items, else of the selected one.
    pub fn marked_or_selected(&self) -> Vec<usize> {
        let marked: Vec<usize> = self.marked.iter().flatten().copied().collect();
        if marked.is_empty() { self.selected_index().into_iter().collect() } else { marked }
    }

    fn query_changed(&mut self) {
        self.refresh_filter();
        self.selected = 0;
        self.top.set(0);
    }

    /// After other items.
    fn refill_filter(&mut self) {
        self.filter.reset(self.texts.len());
        self.refresh_filter();
    }

    fn refresh_filter(&mut self) {
        let labels = || self.items.iter().map(|item| item.label.clone()).collect();
        self.filter.apply(self.query.text(), &self.texts, labels);
    }
}

fn search_text<T>(item: &PickerItem<T>) -> SearchText {
    SearchText::new(&item.label, &[&item.detail, &item.keywords])
}
