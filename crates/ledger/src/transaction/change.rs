//! What a transaction is asked to do to one file: the bytes that must stand there now, and the bytes
//! that shall.

use std::borrow::Cow;

use relaycode_change::plan::{FileChangeKind, FilePlan};
use relaycode_change::proposal::GitFileMode;
use relaycode_change::proposal::path::RelPath;

/// One file of a transaction. A plan lends its bytes: a change may be as large as memory allows once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange<'a> {
    /// The file's name after the change (for a deletion, before it).
    pub path: RelPath,
    /// Its name before, if it moves.
    pub renamed_from: Option<RelPath>,
    /// The bytes that must stand there now; `None`: nothing may.
    pub before: Option<Cow<'a, [u8]>>,
    /// What shall stand there; `None`: nothing.
    pub after: Option<AfterContent<'a>>,
    /// Lines that come in, for the log.
    pub added: usize,
    /// Lines that go, for the log.
    pub removed: usize,
}

/// What shall stand at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AfterContent<'a> {
    pub bytes: Cow<'a, [u8]>,
    pub mode: NewMode,
}

/// The permission bits that a file shall have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewMode {
    /// As it has them now; for a new file, as the user's umask says.
    Keep,
    /// As now, with or without the bits that let it be run.
    Executable(bool),
    /// Exactly these.
    Exact(u32),
}

impl FileChange<'_> {
    /// The file's name before the change.
    pub fn old_path(&self) -> &RelPath {
        self.renamed_from.as_ref().unwrap_or(&self.path)
    }

    /// What a plan wants for one file; `None` if that is nothing.
    pub fn from_plan(file: &FilePlan) -> Option<FileChange<'_>> {
        if file.change == FileChangeKind::Unchanged {
            return None;
        }
        let mode = match file.mode_after {
            Some(mode) if file.mode_before != Some(mode) => {
                let executable = mode == GitFileMode::Executable;
                if file.mode_before.is_none() && !executable {
                    NewMode::Keep
                } else {
                    NewMode::Executable(executable)
                }
            }
            _ => NewMode::Keep,
        };
        Some(FileChange {
            path: file.path.clone(),
            renamed_from: file.renamed_from.clone(),
            before: file.before.as_deref().map(Cow::Borrowed),
            after: file.after.as_deref().map(|bytes| AfterContent { bytes: bytes.into(), mode }),
            added: file.added,
            removed: file.removed,
        })
    }
}
