//! Which key does what: the defaults of [`KEY_ACTIONS`] and what a key file says instead.
//!
//! A key file is a JSON object of action ids and keys: `{"app.tools.expand": "ctrl+o", "tui.editor.yank": []}`. What it names
//! replaces all default keys of that action; an empty list takes them away. What is wrong in it is told, and the rest counts.

mod actions;
mod page;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use relaycode_text::nearest::{did_you_mean, nearest_names};
use serde_json::Value;

pub use actions::{KEY_ACTIONS, KeyAction, KeyActionEntry, KeyContext};
pub use page::keys_page;

use crate::input::{KeyCode, KeyPress};

/// Bytes of a key file.
pub const KEY_FILE_BYTES: usize = 256 << 10;
/// Keys of one action.
const MAX_CHORDS: usize = 16;
/// Problems that are told of one file.
const MAX_PROBLEMS: usize = 50;

#[derive(Debug, Clone)]
pub struct Keymap {
    /// In the order of the table.
    chords: Vec<Vec<KeyPress>>,
    by_key: HashMap<(KeyContext, KeyPress), KeyAction>,
}

/// What is wrong in a key file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyFileProblem {
    #[error("the key file is no JSON object: {0}")]
    NoObject(String),
    #[error("the key file has more than {} kB", KEY_FILE_BYTES >> 10)]
    TooLarge,
    #[error("no action is named `{id}`{hint}")]
    UnknownAction { id: String, hint: String },
    #[error("`{id}`: {reason}")]
    BadChord { id: String, reason: String },
    #[error("`{chord}` is both `{first}` and `{second}`; it does the first")]
    Conflict { chord: String, first: &'static str, second: &'static str },
}

impl Default for Keymap {
    fn default() -> Keymap {
        Keymap::with_chords(KEY_ACTIONS.iter().map(default_chords).collect()).0
    }
}

fn default_chords(entry: &KeyActionEntry) -> Vec<KeyPress> {
    entry.default_chords.iter().filter_map(|chord| chord.parse().ok()).collect()
}

impl Keymap {
    /// The defaults and what a key file changes; whatever is wrong in it is left out and told.
    pub fn from_json(text: &str) -> (Keymap, Vec<KeyFileProblem>) {
        let mut problems = Vec::new();
        let mut chords: Vec<Vec<KeyPress>> = KEY_ACTIONS.iter().map(default_chords).collect();
        let mut chosen = vec![false; KEY_ACTIONS.len()];
        for (id, value) in read_object(text, &mut problems) {
            let Some(action) = KeyAction::from_id(&id) else {
                let hint = did_you_mean(&nearest_names(&id, KEY_ACTIONS.iter().map(|entry| entry.id), 1));
                problems.push(KeyFileProblem::UnknownAction { id: shown(&id), hint });
                continue;
            };
            if let Some(keys) = read_chords(action.id(), &value, &mut problems) {
                chords[action as usize] = keys;
                chosen[action as usize] = true;
            }
        }
        // A key that somebody chose is not held back by a default of another action.
        for (index, entry) in KEY_ACTIONS.iter().enumerate().filter(|(index, _)| !chosen[*index]) {
            let rivals = || {
                KEY_ACTIONS
                    .iter()
                    .enumerate()
                    .filter(|(other, rival)| chosen[*other] && rival.context == entry.context)
            };
            let kept = chords[index]
                .iter()
                .filter(|key| !rivals().any(|(other, _)| chords[other].contains(key)))
                .copied()
                .collect();
            chords[index] = kept;
        }
        let (keymap, conflicts) = Keymap::with_chords(chords);
        problems.extend(conflicts);
        problems.truncate(MAX_PROBLEMS);
        (keymap, problems)
    }

    fn with_chords(chords: Vec<Vec<KeyPress>>) -> (Keymap, Vec<KeyFileProblem>) {
        let mut by_key = HashMap::new();
        let mut conflicts = Vec::new();
        for (entry, keys) in KEY_ACTIONS.iter().zip(&chords) {
            for key in keys {
                let first = *by_key.entry((entry.context, *key)).or_insert(entry.action);
                if first != entry.action {
                    let chord = key.to_string();
                    conflicts.push(KeyFileProblem::Conflict { chord, first: first.id(), second: entry.id });
                }
            }
        }
        (Keymap { chords, by_key }, conflicts)
    }

    /// What `key` does in the first of `contexts` that knows it.
    pub fn action(&self, contexts: &[KeyContext], key: KeyPress) -> Option<KeyAction> {
        contexts.iter().find_map(|context| self.action_in(*context, key))
    }

    pub fn action_in(&self, context: KeyContext, key: KeyPress) -> Option<KeyAction> {
        let found = |key: KeyPress| self.by_key.get(&(context, key)).copied();
        // Some terminals tell that Shift was needed for a character, others do not.
        let unshifted = || {
            let is_character = matches!(key.code, KeyCode::Char(_)) && key.shift;
            is_character.then(|| found(KeyPress { shift: false, ..key })).flatten()
        };
        found(key).or_else(unshifted)
    }

    pub fn chords(&self, action: KeyAction) -> &[KeyPress] {
        &self.chords[action as usize]
    }

    /// The first key of an action, for hints: `Ctrl+O`.
    pub fn hint(&self, action: KeyAction) -> Option<String> {
        self.chords(action).first().map(|key| page::chord_name(*key))
    }
}

fn read_object(text: &str, problems: &mut Vec<KeyFileProblem>) -> Vec<(String, Value)> {
    if text.len() > KEY_FILE_BYTES {
        problems.push(KeyFileProblem::TooLarge);
        return Vec::new();
    }
    if text.trim().is_empty() {
        return Vec::new();
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => object.into_iter().collect(),
        Ok(_) => {
            problems.push(KeyFileProblem::NoObject("it holds another value".to_string()));
            Vec::new()
        }
        Err(error) => {
            problems.push(KeyFileProblem::NoObject(error.to_string()));
            Vec::new()
        }
    }
}

/// `None` leaves the defaults: nothing of it is a key.
fn read_chords(id: &str, value: &Value, problems: &mut Vec<KeyFileProblem>) -> Option<Vec<KeyPress>> {
    let mut bad = |reason: String| problems.push(KeyFileProblem::BadChord { id: id.to_string(), reason });
    let texts: Vec<&Value> = match value {
        Value::Array(texts) if texts.len() > MAX_CHORDS => {
            bad(format!("more than {MAX_CHORDS} keys"));
            return None;
        }
        Value::Array(texts) => texts.iter().collect(),
        one => vec![one],
    };
    let is_off = texts.is_empty();
    let mut keys = Vec::new();
    for text in texts {
        let Some(text) = text.as_str() else {
            bad(format!("a key is a text like `ctrl+o`, not {}", shown(&text.to_string())));
            continue;
        };
        match shown(text).parse::<KeyPress>() {
            Ok(key) if !keys.contains(&key) => keys.push(key),
            Ok(_) => {}
            Err(error) => bad(error.to_string()),
        }
    }
    (is_off || !keys.is_empty()).then_some(keys)
}

/// Foreign text in a message.
fn shown(text: &str) -> String {
    relaycode_text::width::clip_for_message(text, 40)
}
