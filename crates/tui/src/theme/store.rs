//! Finding themes by name: those that are built in first, then `<name>.json` in the user's directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::theme_file::{THEME_BYTES, read_theme};
use super::{LoadedTheme, ThemeError};

pub const DEFAULT_DARK: &str = "red-claw";
pub const DEFAULT_LIGHT: &str = "blue-crab";

/// Name and file of each theme that is built in.
pub const BUILT_IN_THEMES: &[(&str, &str)] =
    &[(DEFAULT_LIGHT, include_str!("blue-crab.json")), (DEFAULT_DARK, include_str!("red-claw.json"))];

/// Most themes that are listed.
const LISTED: usize = 1_000;

/// The themes that there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThemeStore {
    /// The user's themes: `~/.relaycode/themes`.
    pub directory: Option<PathBuf>,
}

/// When a theme's file was changed last, and its size: another one means that it has to be read again.
pub type ThemeStamp = (SystemTime, u64);

impl ThemeStore {
    pub fn new(directory: Option<PathBuf>) -> ThemeStore {
        ThemeStore { directory }
    }

    pub fn load(&self, name: &str) -> Result<LoadedTheme, ThemeError> {
        if let Some((_, text)) = BUILT_IN_THEMES.iter().find(|(built_in, _)| *built_in == name) {
            return read_theme(name, text);
        }
        let path = self.path(name).ok_or_else(|| ThemeError::NotFound(name.to_owned()))?;
        let unreadable = |why: String| ThemeError::Unreadable { name: name.to_owned(), why };
        let found = fs::metadata(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => ThemeError::NotFound(name.to_owned()),
            _ => unreadable(error.to_string()),
        })?;
        // A pipe would never end.
        if !found.is_file() {
            return Err(unreadable("it is not a file".to_owned()));
        }
        if found.len() > THEME_BYTES {
            return Err(unreadable(format!("it has more than {} kB", THEME_BYTES >> 10)));
        }
        let text = fs::read_to_string(&path).map_err(|error| unreadable(error.to_string()))?;
        read_theme(name, &text)
    }

    /// The names of all themes, sorted. A user's theme with the name of one that is built in is not seen.
    pub fn available(&self) -> Vec<String> {
        let mut names: Vec<String> = BUILT_IN_THEMES.iter().map(|(name, _)| (*name).to_owned()).collect();
        let entries = self.directory.as_ref().and_then(|directory| fs::read_dir(directory).ok());
        for entry in entries.into_iter().flatten().flatten().take(LISTED) {
            let file = entry.file_name();
            let name = file.to_str().and_then(|file| file.strip_suffix(".json"));
            names.extend(name.filter(|name| is_theme_name(name)).map(str::to_owned));
        }
        names.sort();
        names.dedup();
        names
    }

    /// Of the file of a user's theme; nothing for one that is built in, or has no file.
    pub fn stamp(&self, name: &str) -> Option<ThemeStamp> {
        if BUILT_IN_THEMES.iter().any(|(built_in, _)| *built_in == name) {
            return None;
        }
        let found = fs::metadata(self.path(name)?).ok()?;
        Some((found.modified().ok()?, found.len()))
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        let directory: &Path = self.directory.as_deref()?;
        is_theme_name(name).then(|| directory.join(format!("{name}.json")))
    }
}

/// A name leads to no other directory.
fn is_theme_name(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ');
    !name.is_empty() && name.len() <= 100 && !name.starts_with('.') && name.chars().all(plain)
}
