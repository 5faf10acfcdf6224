//! What is wrong with `models.yml`.

use std::{fmt, path::PathBuf};

use crate::user_directory::{PrivateFileError, UserDirectory};
use relaycode_text::yaml::{YamlError, YamlSourcePosition};

/// What is wrong with the file, where, and what to do about it. Never quotes a value: it may be a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YamlFileError {
    pub path: PathBuf,
    /// From 1; 0 if it is about the whole file.
    pub line: usize,
    /// From 1.
    pub column: usize,
    /// A sentence without a full stop.
    pub message: String,
}

impl YamlFileError {
    pub(crate) fn from_fault(path: PathBuf, fault: YamlError) -> YamlFileError {
        let YamlSourcePosition { line, column } = fault.position;
        YamlFileError { path, line, column, message: fault.message }
    }

    pub(crate) fn about_file(path: PathBuf, message: &str) -> YamlFileError {
        YamlFileError { path, line: 0, column: 0, message: message.to_string() }
    }

    /// A file in relay's directory with its path; `None` if there is none.
    pub(crate) fn read(
        home: &UserDirectory,
        name: &str,
        most: u64,
    ) -> Result<Option<(PathBuf, Vec<u8>)>, YamlFileError> {
        let path = home.path().map_or_else(|_| name.into(), |path| path.join(name));
        match home.read(name, most) {
            Ok(bytes) => Ok(bytes.map(|bytes| (path, bytes))),
            Err(PrivateFileError::NoHome) => Ok(None),
            Err(error) => Err(YamlFileError::about_file(path, &error.to_string())),
        }
    }

    /// `path:line:column`, as far as known.
    pub fn location(&self) -> String {
        let path = self.path.display();
        match (self.line, self.column) {
            (0, _) => path.to_string(),
            (line, 0) => format!("{path}:{line}"),
            (line, column) => format!("{path}:{line}:{column}"),
        }
    }
}

impl fmt::Display for YamlFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.message),
            _ => write!(f, "{}: {}", self.location(), self.message),
        }
    }
}

impl std::error::Error for YamlFileError {}
