//! What can go wrong with a session, in words that say what to do about it.
//!
//! Reading hardly ever fails: problems inside a file are in the [`crate::LoadReport`], not here.

use std::io;

use relaycode_durable::fs::{is_link, is_not_regular};

#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("there is no session file {name}")]
    Missing { name: String },
    /// There is a file of that name already.
    #[error("{name} exists already; nothing was overwritten. Choose another name")]
    Exists { name: String },
    /// A directory, a link, a pipe.
    #[error("{name} is not a regular file")]
    NotAFile { name: String },
    /// Another process writes it.
    #[error("{name} is open in another relay; it can be read, forked, or continued when that one ends")]
    InUse { name: String },
    /// Written by a later version.
    #[error(
        "{name} was made by a newer relay (format {version}, this one writes {}); it can be read and exported, not continued",
        crate::format::header::VERSION
    )]
    Newer { name: String, version: u64 },
    #[error("{name} was opened to be read; open it for writing, or fork it, to go on in it")]
    ReadOnly { name: String },
    /// The entry is part of the session, but not on disk. It is kept in memory and written before the next
    /// one: do not append it again.
    #[error("{entries} of the latest entries of {name} are not saved yet: {source}. They are kept in memory; {}, and they are written with the next one", remedy(.source))]
    NotSaved {
        name: String,
        /// The entry just appended; empty if there is none.
        id: String,
        /// How many entries wait.
        entries: usize,
        source: io::Error,
    },
    /// Too much waits to be saved already.
    #[error(
        "{bytes} bytes of {name} wait to be saved, and no more is kept in memory: make room on the disk, or fork the session to another one"
    )]
    TooMuchUnsaved { name: String, bytes: usize },
    /// An entry longer than a line may be.
    #[error("an entry of {bytes} bytes is too long for {name}; nothing was appended")]
    TooLong { name: String, bytes: usize },
    /// Written, but a power cut may lose it.
    #[error("{name} is written, but the disk did not confirm it: {source}. Fork the session to another disk")]
    NotDurable { name: String, source: io::Error },
    /// Somebody else wrote to it.
    #[error("{name} was changed by another program; open it again to see what it holds now")]
    Changed { name: String },
    /// Somebody removed it.
    #[error("{name} was removed by another program; fork the session to keep what it held")]
    Gone { name: String },
    #[error("{name} has no entry {id}")]
    NoEntry { name: String, id: String },
    #[error("cannot {doing} {name}: {source}; {}", remedy(.source))]
    Io {
        name: String,
        /// The operation, for the message.
        doing: &'static str,
        source: io::Error,
    },
}

impl SessionError {
    /// Whether the entry of the failed append is part of the session all the same. It is kept in memory and
    /// written before the next one, so do not append it again.
    pub fn is_entry_kept(&self) -> bool {
        use SessionError::*;
        match self {
            ReadOnly { .. } | TooMuchUnsaved { .. } | TooLong { .. } | NoEntry { .. } => false,
            NotSaved { .. } | NotDurable { .. } | Changed { .. } | Gone { .. } | Exists { .. } => true,
            InUse { .. } | Missing { .. } | NotAFile { .. } | Newer { .. } | Io { .. } => true,
        }
    }

    pub(crate) fn io(name: &str, doing: &'static str) -> impl FnOnce(io::Error) -> SessionError {
        let name = name.to_string();
        move |source| match source.kind() {
            io::ErrorKind::NotFound => SessionError::Missing { name },
            io::ErrorKind::IsADirectory => SessionError::NotAFile { name },
            _ if is_not_regular(&source) || is_link(&source) => SessionError::NotAFile { name },
            _ => SessionError::Io { name, doing, source },
        }
    }
}

/// What a person can do about a system error.
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make room on the disk",
        io::ErrorKind::ReadOnlyFilesystem => "make the file system writable",
        io::ErrorKind::PermissionDenied => "make the file and its directory writable for you",
        _ => "check the disk",
    }
}
