//! Why a configuration cannot be used: the file, the place in it, what is wrong and what it may be.
//!
//! Text of the file that stands in a message is clipped and made visible, whoever shows it.

use std::fmt;

use super::keys::{ConfigKey, find_key};
use super::layer::allowed_values;
use super::literal::{ConfigPosition, LiteralError};

/// Cells of a value or a key that a message shows.
const SHOWN: usize = 60;

/// Why a configuration cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ConfigError {
    /// What kind of thing is wrong.
    pub kind: ConfigErrorKind,
    /// The file, as the user knows it.
    pub file: String,
    /// The line in it, from 1; 0 if it is about all of it.
    pub line: usize,
    /// The character in that line, from 1; 0 if it is not known.
    pub column: usize,
    /// The key or section it is about, by its full name, where it is about one.
    pub key: Option<&'static str>,
    /// What is wrong, and what it may be.
    pub what: String,
    /// What to do, as a sentence; may be empty.
    pub hint: String,
}

/// The kinds of [`ConfigError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigErrorKind {
    /// The file cannot be read: no rights, no plain file, too large, a link that leaves the project.
    Unreadable,
    /// The text is not what such a file consists of.
    Syntax,
    /// A value is not written out. Configuration is never run.
    Computed,
    /// A value of the wrong type, or none that is allowed.
    Value,
    /// A key that stands twice, in its newer and its older form, with two values.
    Conflict,
    /// There is no `projectId`, or none that can be used.
    ProjectId,
}

impl ConfigErrorKind {
    /// Its name for machines.
    pub fn as_str(self) -> &'static str {
        match self {
            ConfigErrorKind::Unreadable => "configUnreadable",
            ConfigErrorKind::Syntax => "configSyntax",
            ConfigErrorKind::Computed => "configComputed",
            ConfigErrorKind::Value => "configValue",
            ConfigErrorKind::Conflict => "configConflict",
            ConfigErrorKind::ProjectId => "configProjectId",
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        match (self.line, self.column) {
            (0, _) => {}
            (line, 0) => write!(f, ":{line}")?,
            (line, column) => write!(f, ":{line}:{column}")?,
        }
        write!(f, ": {}", self.what)?;
        if self.hint.is_empty() { Ok(()) } else { write!(f, ". {}", self.hint) }
    }
}

impl ConfigError {
    /// An error about all of `file`.
    pub(super) fn in_file(kind: ConfigErrorKind, file: &str, what: impl Into<String>, hint: &str) -> Self {
        Self::at_position(kind, file, ConfigPosition::default(), what, hint)
    }

    /// An error at a place of `file`.
    pub(super) fn at_position(
        fault: ConfigErrorKind,
        file: &str,
        place: ConfigPosition,
        what: impl Into<String>,
        hint: &str,
    ) -> ConfigError {
        let ConfigPosition { line, column } = place;
        let (file, what, hint) = (file.to_string(), what.into(), hint.to_string());
        ConfigError { kind: fault, file, line, column, key: None, what, hint }
    }

    /// What the key or section it is about may be, as the end of a sentence.
    pub fn allowed(&self) -> Option<String> {
        let key = self.key?;
        Some(find_key(key).map_or_else(|| "an object".to_string(), |key| allowed_values(key.kind)))
    }

    /// The same, about a key.
    pub(super) fn about(self, key: &ConfigKey) -> ConfigError {
        ConfigError { key: Some(key.name), ..self }
    }

    /// What the reader of literals found.
    pub(super) fn from_literal(file: &str, fault: LiteralError) -> ConfigError {
        let hint = "relay reads this file without running it: write the value out, or move the \
                    configuration to relaycode.config.json";
        let fix = "Fix the file; `relay config check` checks it again";
        let (kind, hint) = match fault.computed {
            true if file.ends_with(".json") => (ConfigErrorKind::Computed, fix),
            true => (ConfigErrorKind::Computed, hint),
            false => (ConfigErrorKind::Syntax, fix),
        };
        Self::at_position(kind, file, fault.at, fault.what, hint)
    }
}

/// Foreign text for a message: one line, visible, short.
pub(super) fn excerpt(text: &str) -> String {
    relaycode_text::width::clip_for_message(text, SHOWN)
}
