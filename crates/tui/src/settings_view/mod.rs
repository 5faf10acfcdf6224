//! `/settings`: every key of the configuration, searched, explained and edited in place; and the choice of a theme.
//!
//! ```text
//! Settings                                                       3 of 82
//! › queue▏
//! ▸ agent.steeringMode              one-at-a-time   default
//!   agent.followUpMode              all             your config.yml, line 4
//! agent.steeringMode  How many messages that steer the agent go to the model together.
//! Enter edit · Esc clear · Left Right change · Del default
//! ```
//!
//! The view writes nothing: a [`SettingsOutcome`] says which key gets which value, which the table of keys allowed.

mod preview;
#[cfg(test)]
mod tests;
mod theme_picker;

use relaycode_project::config::keys::{ConfigKey, ConfigValueKind, KEYS};
use relaycode_project::config::{ConfigOrigin, LoadedConfig};
use serde_json::Value;

pub use theme_picker::{ThemeOutcome, ThemePicker};

use crate::input::{KeyCode, KeyPress};
use crate::picker::{ListPicker, PickerItem, PickerOutcome, TextField};

/// A key with its value.
#[derive(Debug, Clone)]
pub struct SettingRow {
    pub key: &'static ConfigKey,
    pub value: Value,
    pub origin: ConfigOrigin,
}

/// What a key press did.
#[derive(Debug, Clone, PartialEq)]
pub enum SettingsOutcome {
    Ignored,
    Changed,
    /// Set this key in the user's own file; the table allows the value, and the view shows it already.
    Set {
        key: &'static str,
        value: Value,
    },
    /// Take this key out of the user's own file.
    Reset {
        key: &'static str,
    },
    Closed,
    Quit,
}

#[derive(Debug)]
enum SettingsStage {
    Browse,
    /// A value is typed; why the last one was refused.
    Edit(TextField, String),
}

/// The state of the view.
#[derive(Debug)]
pub struct SettingsView {
    list: ListPicker<SettingRow>,
    stage: SettingsStage,
    /// What the last key could not do.
    note: String,
}

impl SettingsView {
    pub fn new(loaded: &LoadedConfig) -> SettingsView {
        let list = ListPicker::new("Settings", "there are no settings")
            .with_preview()
            .with_enter("edit")
            .with_keys(&[("Left Right", "change"), ("Del", "default")]);
        let mut view = SettingsView { list, stage: SettingsStage::Browse, note: String::new() };
        view.reload(loaded);
        view
    }

    /// After the files were written or changed; the place stays.
    pub fn reload(&mut self, loaded: &LoadedConfig) {
        let selected = self.list.selected().map(|row| row.key.name);
        let rows = loaded.rows().into_iter().filter_map(|row| {
            let key = KEYS.iter().find(|key| key.name == row.key)?;
            let value = serde_json::from_str(&row.value).unwrap_or_default();
            Some(SettingRow { key, value, origin: row.origin })
        });
        self.list.set_items(rows.map(item).collect());
        let place = self.list.items().iter().position(|item| Some(item.value.key.name) == selected);
        if let Some(place) = place {
            self.list.select_index(place);
        }
    }

    /// Begins with what fits these words.
    pub fn search(&mut self, words: &str) {
        self.list.set_query(words);
    }

    /// Writing the value failed: the view says why.
    pub fn refuse(&mut self, why: &str) {
        self.note = why.to_string();
    }

    pub fn insert_text(&mut self, text: &str) {
        match &mut self.stage {
            SettingsStage::Browse => self.list.insert_text(text),
            SettingsStage::Edit(field, _) => {
                field.insert(text);
            }
        }
    }

    pub fn handle_key(&mut self, key: KeyPress) -> SettingsOutcome {
        self.note.clear();
        match std::mem::replace(&mut self.stage, SettingsStage::Browse) {
            SettingsStage::Browse => self.browse_key(key),
            SettingsStage::Edit(field, why) => self.edit_key(field, why, key),
        }
    }

    fn browse_key(&mut self, key: KeyPress) -> SettingsOutcome {
        match key.code {
            KeyCode::Left => return self.change(false),
            KeyCode::Right => return self.change(true),
            KeyCode::Delete => return self.reset(),
            _ => {}
        }
        match self.list.handle_key(key) {
            PickerOutcome::Ignored => SettingsOutcome::Ignored,
            PickerOutcome::Changed => SettingsOutcome::Changed,
            PickerOutcome::Closed => SettingsOutcome::Closed,
            PickerOutcome::Quit => SettingsOutcome::Quit,
            PickerOutcome::Chosen(_) => {
                let Some(row) = self.list.selected() else { return SettingsOutcome::Ignored };
                if matches!(row.key.kind, ConfigValueKind::Switch) {
                    return self.change(true);
                }
                let text = value_text(&row.value);
                self.stage = SettingsStage::Edit(TextField::with_text(&text), String::new());
                SettingsOutcome::Changed
            }
        }
    }

    fn edit_key(&mut self, mut field: TextField, why: String, key: KeyPress) -> SettingsOutcome {
        match key.code {
            KeyCode::Escape => SettingsOutcome::Changed,
            _ if key == KeyPress::ctrl('c') => SettingsOutcome::Changed,
            KeyCode::Enter => {
                let Some(row) = self.list.selected() else { return SettingsOutcome::Changed };
                match row.key.read_typed(field.text()) {
                    Ok(value) => self.set(value),
                    Err(error) => {
                        let why = match error.hint.is_empty() {
                            true => error.what,
                            false => format!("{}. {}", error.what, error.hint),
                        };
                        self.stage = SettingsStage::Edit(field, why);
                        SettingsOutcome::Changed
                    }
                }
            }
            _ => {
                let changed = field.handle_key(key);
                let why = if changed { String::new() } else { why };
                self.stage = SettingsStage::Edit(field, why);
                if changed { SettingsOutcome::Changed } else { SettingsOutcome::Ignored }
            }
        }
    }

    /// The next or the previous value of a key that has few.
    fn change(&mut self, forward: bool) -> SettingsOutcome {
        let Some(row) = self.list.selected() else { return SettingsOutcome::Ignored };
        match row.key.kind {
            ConfigValueKind::Switch => self.set(Value::from(!row.value.as_bool().unwrap_or_default())),
            ConfigValueKind::Choice(choices) => {
                let present = row.value.as_str().unwrap_or_default();
                let at = choices.iter().position(|choice| choice.name == present).unwrap_or(0);
                let step = if forward { 1 } else { choices.len() - 1 };
                let next = choices[(at + step) % choices.len()].name;
                self.set(Value::from(next))
            }
            _ => SettingsOutcome::Ignored,
        }
    }

    fn set(&mut self, value: Value) -> SettingsOutcome {
        let Some(index) = self.list.selected_index() else { return SettingsOutcome::Ignored };
        let Some(shown) = self.list.items().get(index) else { return SettingsOutcome::Ignored };
        let mut row = shown.value.clone();
        let key = row.key.name;
        row.value = value.clone();
        if !matches!(row.origin, ConfigOrigin::Project { .. }) {
            row.origin = ConfigOrigin::User { line: 0 };
            self.list.replace_item(index, item(row));
        }
        SettingsOutcome::Set { key, value }
    }

    fn reset(&mut self) -> SettingsOutcome {
        let Some(index) = self.list.selected_index() else { return SettingsOutcome::Ignored };
        let Some(shown) = self.list.items().get(index) else { return SettingsOutcome::Ignored };
        let mut row = shown.value.clone();
        if !matches!(row.origin, ConfigOrigin::User { .. }) {
            self.note = "it is not in your own config.yml".to_string();
            return SettingsOutcome::Changed;
        }
        let key = row.key.name;
        row.value = row.key.default();
        row.origin = ConfigOrigin::Default;
        self.list.replace_item(index, item(row));
        SettingsOutcome::Reset { key }
    }
}

fn item(row: SettingRow) -> PickerItem<SettingRow> {
    let value = value_text(&row.value);
    let shown = if value.is_empty() { "\"\"" } else { &value };
    let shown = relaycode_text::width::clip_for_message(shown, 30);
    let detail = format!("{shown}  {:<11}", short_origin(&row.origin));
    let keywords = format!("{}\n{value}", row.key.meaning);
    let name = row.key.name;
    PickerItem::new(row, name).detail(detail).short_detail(shown).keywords(keywords)
}

/// As a user would type it.
fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

fn short_origin(origin: &ConfigOrigin) -> &'static str {
    match origin {
        ConfigOrigin::Default => "default",
        ConfigOrigin::User { .. } => "yours",
        ConfigOrigin::Project { .. } => "the project",
    }
}
