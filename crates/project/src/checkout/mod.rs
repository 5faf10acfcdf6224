//! The key of a checkout: what an answer must name, beside the public project id, to be taken for one
//! that was written for this user and this directory.
//!
//! It lives in the user's own directory, per path, device and inode, is made on first need and stays.
//! It never goes into records and logs: [`strip_key`] takes it off a name, [`CheckoutKey::redact`] out of a text. It keeps strangers out; it does not stop
//! a model that was itself misled.

#[cfg(test)]
mod tests;

use std::{fmt, path::Path};

use relaycode_text::redact::MARK;
use serde::{Deserialize, Serialize};

use crate::user_files::{DirectoryInode, DirectoryRef, UserFileError, UserFileStore, json_file};

/// The folder in the user's own directory.
const FOLDER: &str = "projects";
/// Bytes of a checkout's file.
const FILE_BYTES: u64 = 64 << 10;
/// Characters of a key; 5 bits each. None of them is easily taken for another.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
/// Characters in a key.
const LENGTH: usize = 10;

/// A checkout's key.
#[derive(Clone, PartialEq, Eq)]
pub struct CheckoutKey(String);

/// What an answer means by the project it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedProject {
    /// This project, and it knows this checkout's key.
    WithKey,
    /// This project by its public name.
    WithoutKey,
    /// This project, with the key of another checkout or of an older prompt.
    WithOtherKey,
    /// Another project.
    OtherProject,
}

impl CheckoutKey {
    /// The key as it is written into a prompt.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What `named`, which an answer wrote, means in the project `project_id` with this key. Exactly,
    /// but for blanks around it.
    ///
    /// The comparison need not take the same time for every key: whoever could measure it runs on this
    /// machine as this user, and every wrong key stops at a person.
    pub fn classify(project_id: &str, key: Option<&CheckoutKey>, named: &str) -> NamedProject {
        let named = named.trim();
        // An id may itself hold dots, or end like a key: the configured one comes first.
        if named == project_id {
            return NamedProject::WithoutKey;
        }
        match named.strip_prefix(project_id).and_then(|rest| rest.strip_prefix('.')) {
            Some(rest) if key.is_some_and(|key| key.0 == rest) => NamedProject::WithKey,
            Some(rest) if looks_like_a_key(rest) => NamedProject::WithOtherKey,
            _ => NamedProject::OtherProject,
        }
    }

    /// Blacks the key out.
    pub fn redact(&self, text: &mut String) {
        if text.contains(&self.0) {
            *text = text.replace(&self.0, MARK);
        }
    }

    fn new() -> Result<CheckoutKey, CheckoutError> {
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes)
            .map_err(|error| CheckoutError { why: format!("the system has no randomness: {error}") })?;
        // 32 characters: every byte gives each of them equally often.
        Ok(CheckoutKey(bytes.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect()))
    }
}

/// Keys do not go into logs.
impl fmt::Debug for CheckoutKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// The project's id as it may go into records and logs: what an answer named, without a key. Without a
/// configured id, or for another one, a last part that looks like a key is taken for one.
pub fn strip_key(project_id: Option<&str>, named: &str) -> String {
    let named = named.trim();
    if project_id == Some(named) {
        return named.to_string();
    }
    match named.rsplit_once('.') {
        Some((id, last)) if !id.is_empty() && looks_like_a_key(last) => id.to_string(),
        _ => named.to_string(),
    }
}

fn looks_like_a_key(text: &str) -> bool {
    text.len() == LENGTH && text.bytes().all(|byte| ALPHABET.contains(&byte))
}

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
#[error("this checkout's key cannot be used: {why}")]
pub struct CheckoutError {
    /// What happened, and what to do about it.
    pub why: String,
}

impl From<UserFileError> for CheckoutError {
    fn from(error: UserFileError) -> CheckoutError {
        CheckoutError { why: error.to_string() }
    }
}

/// The keys of all checkouts.
#[derive(Debug, Clone)]
pub struct CheckoutKeys {
    store: UserFileStore,
}

impl CheckoutKeys {
    /// Kept in `home`, the user's own directory.
    pub fn new(home: Option<&Path>) -> CheckoutKeys {
        CheckoutKeys { store: UserFileStore::new(home, FOLDER, FILE_BYTES).readable_by_owner() }
    }

    /// The key of the checkout at `root`, if it has one.
    ///
    /// # Errors
    /// If there is something that cannot be used.
    pub fn key(&self, root: &Path) -> Result<Option<CheckoutKey>, CheckoutError> {
        let place = self.store.directory(root)?;
        self.read(&place)
    }

    /// The key of the checkout at `root`; it is made if there is none, or none that can be used.
    ///
    /// # Errors
    /// If it cannot be kept.
    pub fn get_or_create_key(&self, root: &Path) -> Result<CheckoutKey, CheckoutError> {
        let place = self.store.directory(root)?;
        if let Ok(Some(key)) = self.read(&place) {
            return Ok(key);
        }
        let path = place.path.to_string_lossy().into_owned();
        let file = CheckoutFile { path, mark: place.mark, key: CheckoutKey::new()?.0 };
        let text = json_file(&file)?;
        if !self.store.write_new(&place, &text)? {
            // Another relay was faster, or what stands there is of no use.
            if let Ok(Some(key)) = self.read(&place) {
                return Ok(key);
            }
            self.store.write(&place, &text)?;
        }
        // What is on disk is what counts, whoever wrote it.
        self.read(&place)?.ok_or_else(|| CheckoutError { why: "it did not stay on disk".to_string() })
    }

    fn read(&self, place: &DirectoryRef) -> Result<Option<CheckoutKey>, CheckoutError> {
        let Some(bytes) = self.store.read(place)? else { return Ok(None) };
        let file: Option<CheckoutFile> = serde_json::from_slice(&bytes).ok();
        match file.filter(|file| looks_like_a_key(&file.key)) {
            None => {
                let path = self.store.path_of(place)?;
                let why = format!("{} is damaged; remove it, and a new one is made", path.display());
                Err(CheckoutError { why })
            }
            Some(file) if file.mark != place.mark => Ok(None),
            Some(file) => Ok(Some(CheckoutKey(file.key))),
        }
    }
}

/// A checkout's file.
#[derive(Serialize, Deserialize)]
struct CheckoutFile {
    /// For people; the file's name is what counts.
    path: String,
    #[serde(flatten)]
    mark: DirectoryInode,
    key: String,
}
