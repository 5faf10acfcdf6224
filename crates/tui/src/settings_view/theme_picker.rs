//! The choice of a theme: walking through the list previews, only Enter keeps.

use crate::input::KeyPress;
use crate::picker::{ListPicker, PickerItem, PickerOutcome};
use crate::theme::ThemeStyle;

/// What a key did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThemeOutcome {
    Ignored,
    Changed,
    /// Show this theme, and keep nothing.
    Preview(String),
    /// Keep this theme.
    Confirm(String),
    /// Show the theme that was set before again.
    Cancel(String),
}

/// The state of the list.
#[derive(Debug)]
pub struct ThemePicker {
    before: String,
    list: ListPicker<String>,
}

impl ThemePicker {
    /// Names of themes, each with a word about it, and the one that is set.
    pub fn new(themes: Vec<(String, String)>, current: &str) -> ThemePicker {
        let mut list = ListPicker::new("Choose a theme", "there are no themes").with_enter("keep");
        let place = themes.iter().position(|(name, _)| name == current);
        let item = |(name, about): (String, String)| {
            let sign = if name == current { "*" } else { " " };
            PickerItem::new(name.clone(), name).detail(about).sign(sign)
        };
        list.set_items(themes.into_iter().map(item).collect());
        if let Some(place) = place {
            list.select_index(place);
        }
        ThemePicker { before: current.to_string(), list }
    }

    pub fn insert_text(&mut self, text: &str) {
        self.list.insert_text(text);
    }

    pub fn handle_key(&mut self, key: KeyPress) -> ThemeOutcome {
        let before = self.list.selected().cloned();
        match self.list.handle_key(key) {
            PickerOutcome::Ignored => ThemeOutcome::Ignored,
            PickerOutcome::Closed | PickerOutcome::Quit => ThemeOutcome::Cancel(self.before.clone()),
            PickerOutcome::Changed => match self.list.selected() {
                Some(name) if Some(name) != before.as_ref() => ThemeOutcome::Preview(name.clone()),
                _ => ThemeOutcome::Changed,
            },
            PickerOutcome::Chosen(_) => {
                self.list.selected().cloned().map_or(ThemeOutcome::Ignored, ThemeOutcome::Confirm)
            }
        }
    }

    pub fn lines(&self, style: &ThemeStyle, width: usize, height: usize) -> Vec<String> {
        self.list.lines(style, width, height)
    }
}
