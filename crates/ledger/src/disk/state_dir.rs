//! The ledger's own directory, `.relaycode/` beneath the root: private, ignored by git, and never
//! reached by a path that comes from a change.

use std::io;
use std::sync::Arc;

use relaycode_durable::{DirMode, FileMode, Fs, FsDir, if_found, if_new};

use crate::TxId;
use crate::disk::LedgerRoot;

/// The name of the directory.
pub const STATE_DIR_NAME: &str = ".relaycode";

/// The directories in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateSubdir {
    /// One directory for each transaction: its lock, its staged files, the files it displaced.
    Transactions,
    /// Contents that are too long or too strange for a record, by their digest.
    Blobs,
    /// Records that a revert took back.
    Undone,
}

impl StateSubdir {
    /// Every one.
    pub const ALL: [StateSubdir; 3] = [StateSubdir::Transactions, StateSubdir::Blobs, StateSubdir::Undone];

    pub fn name(self) -> &'static str {
        match self {
            StateSubdir::Transactions => "tx",
            StateSubdir::Blobs => "blobs",
            StateSubdir::Undone => "undone",
        }
    }
}

/// The open state directory.
#[derive(Clone)]
pub struct StateDir {
    fs: Arc<dyn Fs>,
    dir: FsDir,
}

impl StateDir {
    /// Opens it; `None` if there is none.
    pub fn open(fs: &Arc<dyn Fs>, root: &LedgerRoot) -> io::Result<Option<StateDir>> {
        Ok(if_found(fs.open_dir(root.dir(), STATE_DIR_NAME))?.map(|dir| StateDir { fs: Arc::clone(fs), dir }))
    }

    /// Opens it with everything in it, making what is not there.
    pub fn create(fs: &Arc<dyn Fs>, root: &LedgerRoot) -> io::Result<StateDir> {
        if fs.make_dir_if_missing(root.dir(), STATE_DIR_NAME, DirMode::Private)? {
            fs.sync_dir(root.dir())?;
        }
        let dir = fs.open_dir(root.dir(), STATE_DIR_NAME)?;
        let mut made = false;
        for sub in StateSubdir::ALL {
            made |= fs.make_dir_if_missing(&dir, sub.name(), DirMode::Private)?;
        }
        if let Some(file) = if_new(fs.create(&dir, ".gitignore", FileMode::Private))? {
            fs.write(&file, b"*\n")?;
            fs.sync_file(&file)?;
            made = true;
        }
        if made {
            fs.sync_dir(&dir)?;
        }
        Ok(StateDir { fs: Arc::clone(fs), dir })
    }

    /// The file system it is on.
    pub fn fs(&self) -> &dyn Fs {
        &*self.fs
    }

    /// The directory itself: journals, records, the lock and the index.
    pub fn dir(&self) -> &FsDir {
        &self.dir
    }

    /// One of the directories in it; `None` if it is not there.
    pub fn open_subdir(&self, sub: StateSubdir) -> io::Result<Option<FsDir>> {
        if_found(self.fs.open_dir(&self.dir, sub.name()))
    }

    /// One of the directories in it, which must be there.
    pub fn require_subdir(&self, sub: StateSubdir) -> io::Result<FsDir> {
        self.fs.open_dir(&self.dir, sub.name())
    }
}

/// The path of a file in the directory, for messages.
pub(crate) fn path_of(name: &str) -> String {
    format!("{STATE_DIR_NAME}/{name}")
}

/// The name of a committed transaction's record.
pub fn record_name(id: TxId) -> String {
    format!("{id}.yml")
}

/// The name of an open transaction's journal.
pub fn journal_name(id: TxId) -> String {
    format!("{id}.pending.yml")
}

/// Which transaction's record a file is, by its name.
pub fn record_id(name: &str) -> Option<TxId> {
    name.strip_suffix(".yml")?.parse().ok()
}

/// Which transaction's journal a file is, by its name.
pub fn journal_id(name: &str) -> Option<TxId> {
    name.strip_suffix(".pending.yml")?.parse().ok()
}
