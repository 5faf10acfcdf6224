//! Which key does what: the table of actions, changed by the user's key file.
//!
//! The file is a JSON object of action ids with a chord or a list of chords; an empty list switches an action off:
//! `{"app.palette": "ctrl+x", "tui.editor.yankPop": []}`. What it does not name keeps its chords. A chord that the file gives to
//! one action is taken from the others of its context.

mod bindings;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use serde_json::Value;

pub use bindings::{KEY_BINDINGS, KeyAction, KeyBinding, KeyContext};

use crate::cells;
use crate::input::{KeyCode, KeyPress};
use crate::theme::{ThemeStyle, ThemeToken};

#[derive(Debug, Clone)]
pub struct Keymap {
    actions: HashMap<(KeyContext, KeyPress), KeyAction>,
    chords: HashMap<KeyAction, Vec<KeyPress>>,
}

/// Something in a key file that does not count. The rest does.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeymapProblem {
    #[error("the key file is no JSON object of actions and chords: {0}")]
    NoObject(String),
    #[error("`{id}` is no action; {hint}")]
    UnknownAction { id: String, hint: String },
    #[error("`{id}`: {reason}")]
    BadChord { id: String, reason: String },
    #[error("`{chord}` is given to `{first}` and to `{second}`; `{first}` has it")]
    DoubleChord { chord: String, first: String, second: String },
}

/// Longest key file, in bytes.
pub const KEY_FILE_BYTES: usize = 64 << 10;
/// Most chords of an action.
const CHORDS: usize = 16;

impl Default for Keymap {
    fn default() -> Keymap {
        let mut keymap = Keymap { actions: HashMap::new(), chords: HashMap::new() };
        for binding in KEY_BINDINGS {
            let chords = binding.chords.iter().filter_map(|chord| chord.parse().ok()).collect();
            keymap.chords.insert(binding.action, chords);
        }
        keymap.index(&[]);
        keymap
    }
}

impl Keymap {
    /// The table with the changes of a key file, and what of the file does not count.
    pub fn from_json(text: &str) -> (Keymap, Vec<KeymapProblem>) {
        let mut keymap = Keymap::default();
        let object = match serde_json::from_str::<Value>(text) {
            _ if text.len() > KEY_FILE_BYTES => Err(format!("it has more than {} kB", KEY_FILE_BYTES >> 10)),
            Ok(Value::Object(object)) => Ok(object),
            Ok(_) => Err("it is something else".to_string()),
            Err(error) => Err(error.to_string()),
        };
        let object = match object {
            Ok(object) => object,
            Err(reason) => return (keymap, vec![KeymapProblem::NoObject(reason)]),
        };
        let mut problems = Vec::new();
        let mut given: Vec<(KeyAction, KeyPress)> = Vec::new();
        for (id, value) in &object {
            let Some(binding) = KEY_BINDINGS.iter().find(|binding| binding.id == id) else {
                problems.push(KeymapProblem::UnknownAction { id: id.clone(), hint: id_hint(id) });
                continue;
            };
            let chords = match read_chords(value) {
                Ok(chords) => chords,
                Err(reason) => {
                    problems.push(KeymapProblem::BadChord { id: id.clone(), reason });
                    continue;
                }
            };
            given.extend(chords.iter().map(|chord| (binding.action, *chord)));
            keymap.chords.insert(binding.action, chords);
        }
        problems.extend(keymap.index(&given));
        (keymap, problems)
    }

    pub fn action(&self, context: KeyContext, key: KeyPress) -> Option<KeyAction> {
        self.actions.get(&(context, key)).copied()
    }

    /// The first is the one to show.
    pub fn chords(&self, action: KeyAction) -> &[KeyPress] {
        self.chords.get(&action).map_or(&[], Vec::as_slice)
    }

    /// `Ctrl-O`; nothing if no key does it.
    pub fn label(&self, action: KeyAction) -> Option<String> {
        self.chords(action).first().map(|chord| chord_label(*chord))
    }

    /// The view of `/keys`: by context, each action with its chords and its text.
    pub fn lines(&self, style: &ThemeStyle, width: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for context in KeyContext::ALL {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.push(style.paint(ThemeToken::MdHeading, &style.output.clip(context.title(), width)));
            for binding in KEY_BINDINGS.iter().filter(|binding| binding.context == context) {
                lines.extend(self.binding_lines(binding, style, width));
            }
        }
        lines
    }

    fn binding_lines(&self, binding: &KeyBinding, style: &ThemeStyle, width: usize) -> Vec<String> {
        let labels: Vec<String> =
            self.chords(binding.action).iter().map(|chord| chord_label(*chord)).collect();
        let keys = if labels.is_empty() { "no key".to_string() } else { labels.join(", ") };
        let keys = style.output.clip(&keys, width.saturating_sub(2));
        let text = style.output.clip(binding.text, width.saturating_sub(4));
        let column = if width < 60 { 0 } else { 34 };
        let painted = style.paint(ThemeToken::Accent, &keys);
        if column == 0 || cells(&keys) + 2 > column || column + 2 + cells(&text) > width {
            return vec![format!("  {painted}"), format!("    {text}")];
        }
        vec![format!("  {painted}{}{text}", " ".repeat(column - cells(&keys)))]
    }

    /// Which action each chord does. What the user gave goes before the table; the earlier row before the later one.
    fn index(&mut self, given: &[(KeyAction, KeyPress)]) -> Vec<KeymapProblem> {
        self.actions.clear();
        let mut problems = Vec::new();
        let context_of = |action| KEY_BINDINGS.iter().find(|binding| binding.action == action);
        for (action, chord) in given {
            let Some(binding) = context_of(*action) else { continue };
            let first = *self.actions.entry((binding.context, *chord)).or_insert(*action);
            if first != *action {
                let first = context_of(first).map_or("", |binding| binding.id).to_string();
                let second = binding.id.to_string();
                problems.push(KeymapProblem::DoubleChord { chord: chord.to_string(), first, second });
            }
        }
        for binding in KEY_BINDINGS {
            let actions = &mut self.actions;
            if let Some(chords) = self.chords.get_mut(&binding.action) {
                chords.retain(|chord| {
                    *actions.entry((binding.context, *chord)).or_insert(binding.action) == binding.action
                });
            }
        }
        problems
    }
}

/// As people read it: `Ctrl-O`, `Shift-Enter`, `Alt-Up`.
pub fn chord_label(chord: KeyPress) -> String {
    let mut label = String::new();
    for (is_held, name) in [(chord.ctrl, "Ctrl-"), (chord.alt, "Alt-"), (chord.shift, "Shift-")] {
        label.push_str(if is_held { name } else { "" });
    }
    let plain = KeyPress::plain(chord.code).to_string();
    match chord.code {
        KeyCode::Escape => label + "Esc",
        KeyCode::PageUp => label + "PageUp",
        KeyCode::PageDown => label + "PageDown",
        KeyCode::Char(c) if c != ' ' && c != '+' => {
            let is_chord = chord.ctrl || chord.alt;
            label + &if is_chord { c.to_uppercase().to_string() } else { c.to_string() }
        }
        KeyCode::Char('+') => label + "+",
        _ => {
            let mut letters = plain.chars();
            let first: String = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
            label + &first + letters.as_str()
        }
    }
}

fn read_chords(value: &Value) -> Result<Vec<KeyPress>, String> {
    let texts: Vec<&Value> = match value {
        Value::Array(values) if values.len() <= CHORDS => values.iter().collect(),
        Value::Array(_) => return Err(format!("more than {CHORDS} chords")),
        value => vec![value],
    };
    let read = |value: &Value| match value {
        Value::String(text) => text.parse::<KeyPress>().map_err(|error| error.to_string()),
        _ => Err("a chord is a text like `ctrl+o`; an empty list switches the action off".to_string()),
    };
    texts.into_iter().map(read).collect()
}

fn id_hint(id: &str) -> String {
    let ids: Vec<&str> = KEY_BINDINGS.iter().map(|binding| binding.id).collect();
    let last = |id: &str| id.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    match ids.iter().find(|known| last(known) == last(id)) {
        Some(known) => format!("did you mean `{known}`?"),
        None => "`/keys` lists them".to_string(),
    }
}
