//! What can go wrong with a session, in words that say what to do about it.
//!
//! Reading hardly ever fails: what is wrong inside a file is in the [`crate::Report`], not here.

use std::io;

/// Why something could not be done with a session.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// There is no such file.
    #[error("there is no session file {name}")]
    Missing {
        /// The file.
        name: String,
    },
    /// There is one already.
    #[error("{name} exists already; nothing was overwritten. Choose another name")]
    Exists {
        /// The file.
        name: String,
    },
    /// It is a directory, a link, a pipe.
    #[error("{name} is no regular file; a session is one")]
    NotAFile {
        /// The file.
        name: String,
    },
    /// Another process writes it.
    #[error("{name} is open in another relay; it can be read, forked, or continued when that one ends")]
    InUse {
        /// The file.
        name: String,
    },
    /// A later version wrote it.
    #[error(
        "{name} was made by a newer relay (format {version}, this one writes {}); it can be read and exported, not continued",
        crate::format::header::VERSION
    )]
    Newer {
        /// The file.
        name: String,
        /// Its format.
        version: u64,
    },
    /// It was opened to be read.
    #[error("{name} was opened to be read; open it for writing, or fork it, to go on in it")]
    ReadOnly {
        /// The file.
        name: String,
    },
    /// The entry is part of the session, but not on disk. It is kept in memory and written before the next one: it
    /// is not to be appended again.
    #[error("{entries} of the latest entries of {name} are not saved yet: {source}. They are kept in memory; {}, and they are written with the next one", remedy(.source))]
    NotSaved {
        /// The file.
        name: String,
        /// The entry that was just appended; empty where none was.
        id: String,
        /// How many entries wait.
        entries: usize,
        /// What the system said.
        source: io::Error,
    },
    /// So much waits to be saved that no more is taken.
    #[error(
        "{bytes} bytes of {name} wait to be saved, and no more is kept in memory: make room on the disk, or fork the session to another one"
    )]
    TooMuchUnsaved {
        /// The file.
        name: String,
        /// How much waits.
        bytes: usize,
    },
    /// An entry is longer than a line may be.
    #[error("an entry of {bytes} bytes is too long for {name}; nothing was appended")]
    TooLong {
        /// The file.
        name: String,
        /// Its length.
        bytes: usize,
    },
    /// It is written, but a power cut may take it away.
    #[error("{name} is written, but the disk did not confirm it: {source}. Fork the session to another disk")]
    NotDurable {
        /// The file.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// Somebody else wrote it.
    #[error("{name} was changed by another program; open it again to see what it holds now")]
    Changed {
        /// The file.
        name: String,
    },
    /// Somebody removed it.
    #[error("{name} was removed by another program; fork the session to keep what it held")]
    Gone {
        /// The file.
        name: String,
    },
    /// There is no such entry.
    #[error("{name} has no entry {id}")]
    NoEntry {
        /// The file.
        name: String,
        /// The entry.
        id: String,
    },
    /// The system refused.
    #[error("cannot {doing} {name}: {source}; {}", remedy(.source))]
    Io {
        /// The file.
        name: String,
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl SessionError {
    /// After an append that failed with this: the entry is part of the session all the same. It is kept in memory and written
    /// before the next one, and is not to be appended again.
    pub fn is_entry_kept(&self) -> bool {
        match self {
            SessionError::ReadOnly { .. }
            | SessionError::TooMuchUnsaved { .. }
            | SessionError::TooLong { .. }
            | SessionError::NoEntry { .. } => false,
            SessionError::NotSaved { .. }
            | SessionError::NotDurable { .. }
            | SessionError::Changed { .. }
            | SessionError::Gone { .. }
            | SessionError::Exists { .. }
            | SessionError::InUse { .. }
            | SessionError::Missing { .. }
            | SessionError::NotAFile { .. }
            | SessionError::Newer { .. }
            | SessionError::Io { .. } => true,
        }
    }

    pub(crate) fn io(name: &str, doing: &'static str) -> impl FnOnce(io::Error) -> SessionError {
        let name = name.to_string();
        move |source| match source.kind() {
            io::ErrorKind::NotFound => SessionError::Missing { name },
            io::ErrorKind::IsADirectory => SessionError::NotAFile { name },
            _ if relaycode_durable::fs::is_not_regular(&source)
                || relaycode_durable::fs::is_link(&source) =>
            {
                SessionError::NotAFile { name }
            }
            _ => SessionError::Io { name, doing, source },
        }
    }
}

/// What a person can do about an error of the system.
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make room on the disk",
        io::ErrorKind::ReadOnlyFilesystem => "make the file system writable",
        io::ErrorKind::PermissionDenied => "make the file and its directory writable for you",
        _ => "check the disk",
    }
}
