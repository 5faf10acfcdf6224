//! Keeps secrets from models: hidden in everything that is sent, restored in what a model wants to run.
//!
//! A secret is a value that somebody named: a variable with a suspicious name, a provider's key, an entry
//! of `secrets.yml`. In its place a model reads `#XXXX#`, the same for the same secret in every session of
//! this user; in the arguments of a finished tool call and on the screen it is restored. An entry may ask
//! for permanent replacement.
//!
//! Invariant: no masked text contains a secret; unmasking gives back the original; a placeholder is never a
//! text that occurs in the conversation by itself. Time is linear in the text.

mod file;
mod finder;
mod placeholder;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

pub use file::{NAME, SecretEntry, SecretMode, SecretPattern, load, parse};
use finder::SecretFinder;
use placeholder::SecretPlaceholders;

use crate::message::{AssistantContent, Message, ToolCall, UserContent};
use crate::models::keys::ApiKey;
use crate::request::{ChatRequest, secret_mask::SecretMask};
use crate::user_directory::{PrivateFileError, UserDirectory};

/// Least characters of a variable's value to count as a secret.
const LEAST: usize = 8;
/// The folder and the file of the seed for placeholders.
const SEED: (&str, &str) = ("secrets", "seed");

#[derive(Debug)]
pub struct Secrets {
    finder: SecretFinder,
    placeholders: Mutex<SecretPlaceholders>,
}

impl Secrets {
    /// `seed` determines the placeholders.
    pub fn new(entries: &[SecretEntry], seed: [u8; 32]) -> Secrets {
        let placeholders = Mutex::new(SecretPlaceholders::new(seed));
        Secrets { finder: SecretFinder::new(entries), placeholders }
    }

    pub fn is_empty(&self) -> bool {
        self.finder.is_empty()
    }

    /// For a model.
    pub fn mask_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let spans = self.finder.find(text);
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        let mut placeholders = self.lock();
        for span in spans {
            out.push_str(&text[done..span.start]);
            let secret = &text[span.start..span.end];
            match span.mode {
                SecretMode::Obfuscate => out.push_str(&placeholders.placeholder_for(secret)),
                SecretMode::Replace(Some(with)) => out.push_str(&with),
                SecretMode::Replace(None) => out.extend(secret.chars().map(|_| '*')),
            }
            done = span.end;
        }
        out.push_str(&text[done..]);
        Cow::Owned(out)
    }

    /// For a person, or for a tool to run.
    pub fn unmask_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.lock().restore_secrets(text)
    }

    fn lock(&self) -> MutexGuard<'_, SecretPlaceholders> {
        // A thread that panicked left at worst one placeholder too many.
        self.placeholders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn mask_in_place(&self, text: &mut String) {
        if let Cow::Owned(hidden) = self.mask_text(text) {
            *text = hidden;
        }
    }

    fn mask_map(&self, map: &mut Map<String, Value>) {
        map_strings(map, &|text| self.mask_text(text));
    }
}

impl SecretMask for Secrets {
    fn mask_request(&self, request: &mut ChatRequest) {
        if self.is_empty() {
            return;
        }
        // A text that looks like a placeholder but is not ours must not become a secret later.
        let mut placeholders = self.lock();
        for_each_foreign_text(request, &mut |text| placeholders.avoid_names_in(text));
        drop(placeholders);
        if let Some(system) = &mut request.system {
            self.mask_in_place(system);
        }
        for tool in &mut request.tools {
            self.mask_in_place(&mut tool.description);
        }
        for message in &mut request.messages {
            match message {
                Message::User(message) | Message::Developer(message) => {
                    self.mask_pieces(&mut message.content);
                }
                Message::ToolResult(message) => self.mask_pieces(&mut message.content),
                Message::Assistant(message) => {
                    for content in &mut message.content {
                        match content {
                            AssistantContent::Text(text) => self.mask_in_place(&mut text.text),
                            // Signed text must not change; the model wrote it without knowing any secret.
                            AssistantContent::Thinking(thinking) if thinking.thinking_signature.is_none() => {
                                self.mask_in_place(&mut thinking.thinking);
                            }
                            AssistantContent::Thinking(_) => {}
                            AssistantContent::ToolCall(call) => self.mask_map(&mut call.arguments),
                        }
                    }
                }
            }
        }
    }

    fn unmask_call(&self, call: &mut ToolCall) {
        map_strings(&mut call.arguments, &|text| self.unmask_text(text));
    }
}

impl Secrets {
    fn mask_pieces(&self, pieces: &mut [UserContent]) {
        for piece in pieces {
            if let UserContent::Text(text) = piece {
                self.mask_in_place(&mut text.text);
            }
        }
    }
}

/// Every text of a request that was not written by a model.
fn for_each_foreign_text(request: &ChatRequest, see: &mut dyn FnMut(&str)) {
    if let Some(system) = &request.system {
        see(system);
    }
    for piece in request.messages.iter().flat_map(Message::pieces) {
        if let UserContent::Text(text) = piece {
            see(&text.text);
        }
    }
}

/// Changes every string of a JSON object, names included.
fn map_strings(map: &mut Map<String, Value>, with: &dyn Fn(&str) -> Cow<'_, str>) {
    if map.keys().any(|name| matches!(with(name), Cow::Owned(_))) {
        let old = std::mem::take(map);
        map.extend(old.into_iter().map(|(name, value)| (with(&name).into_owned(), value)));
    }
    map.values_mut().for_each(|value| map_value_strings(value, with));
}

fn map_value_strings(value: &mut Value, with: &dyn Fn(&str) -> Cow<'_, str>) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(changed) = with(text) {
                *text = changed;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| map_value_strings(item, with)),
        Value::Object(map) => map_strings(map, with),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Secrets among environment variables (name and value) and keys.
pub fn entries_from_environment<'v>(
    variables: impl IntoIterator<Item = (&'v str, &'v str)>,
    keys: impl IntoIterator<Item = &'v ApiKey>,
) -> Vec<SecretEntry> {
    let smelly = variables
        .into_iter()
        .filter(|(name, value)| is_secret_name(name) && value.trim().chars().count() >= LEAST);
    let smelly = smelly.map(|(_, value)| value.trim().to_string());
    let keys = keys.into_iter().map(|key| key.expose().to_string()).filter(|key| key.len() >= LEAST);
    let entry = |content| SecretEntry { pattern: SecretPattern::Plain(content), mode: SecretMode::Obfuscate };
    smelly.chain(keys).map(entry).collect()
}

/// Whether a variable's name suggests a secret.
pub fn is_secret_name(name: &str) -> bool {
    const SECRET: &str =
        "KEY APIKEY TOKEN SECRET SECRETS PASSWORD PASSWD PASS PASSPHRASE CREDENTIAL CREDENTIALS AUTH PAT";
    // A file or a name next to the secret is not secret.
    const BESIDE: &str = "SOCK PATH FILE DIR HOME ID NAME USER TYPE";
    let name = name.to_ascii_uppercase();
    let words: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let beside = words.last().is_some_and(|last| BESIDE.split(' ').any(|beside| beside == *last));
    !beside && SECRET.split(' ').any(|secret| words.contains(&secret))
}

/// The seed for this user's placeholders: made once, and kept.
///
/// # Errors
/// If it can neither be read nor written, or the system has no randomness.
pub fn load_seed(home: &UserDirectory) -> Result<[u8; 32], PrivateFileError> {
    let folder = home.secret_folder(SEED.0, 32)?;
    if let Some(bytes) = folder.read(SEED.1)?
        && let Ok(seed) = bytes.try_into()
    {
        return Ok(seed);
    }
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|error| PrivateFileError::System {
        path: SEED.1.into(),
        source: std::io::Error::other(error.to_string()),
    })?;
    folder.write(SEED.1, &seed)?;
    Ok(seed)
}
