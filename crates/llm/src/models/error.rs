//! What is wrong with `models.yml`.

use std::fmt;
use std::path::PathBuf;

use crate::own::OwnError;
use relaycode_text::yaml::Fault;

/// What is wrong with the file, where, and what to do about it. Never quotes a value: it may be a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1; 0 if it is about the whole file.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong, as a sentence without a full stop.
    pub what: String,
}

impl FileError {
    pub(crate) fn of(path: PathBuf, fault: Fault) -> FileError {
        FileError { path, line: fault.at.line, column: fault.at.column, what: fault.what }
    }

    pub(crate) fn own(path: PathBuf, error: &OwnError) -> FileError {
        FileError { path, line: 0, column: 0, what: error.to_string() }
    }

    /// `path:line:column`, as far as it is known.
    pub fn place(&self) -> String {
        let path = self.path.display();
        match (self.line, self.column) {
            (0, _) => path.to_string(),
            (line, 0) => format!("{path}:{line}"),
            (line, column) => format!("{path}:{line}:{column}"),
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.what),
            _ => write!(f, "{}: {}", self.place(), self.what),
        }
    }
}

impl std::error::Error for FileError {}
