//! The ledger of one checkout: the one thing that callers hold.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use relaycode_durable::Fs;

use crate::disk::paths::LedgerRoot;
use crate::disk::state_dir::StateDir;
use crate::error::{LedgerError, io_error};

/// Settings that a caller brings; the library reads no environment.
#[derive(Debug, Clone)]
pub struct LedgerSettings {
    /// The user's own directory (`~/.relaycode`), where every ledger has a copy; `None`: no copy.
    pub home: Option<PathBuf>,
    /// How long to wait for another relay that holds the project's lock.
    pub lock_timeout: Duration,
}

impl Default for LedgerSettings {
    fn default() -> LedgerSettings {
        LedgerSettings { home: None, lock_timeout: Duration::from_secs(10) }
    }
}

/// The ledger of one checkout.
pub struct Ledger {
    pub(crate) fs: Arc<dyn Fs>,
    pub(crate) root: LedgerRoot,
    /// The root's path, as the key of the copy and for messages.
    pub(crate) path: PathBuf,
    pub(crate) settings: LedgerSettings,
}

impl Ledger {
    /// Opens the ledger of the project at `path`. Nothing is made before something is written.
    ///
    /// # Errors
    /// If the directory cannot be opened.
    pub fn open(fs: Arc<dyn Fs>, path: &Path, settings: LedgerSettings) -> Result<Ledger, LedgerError> {
        let dir = fs.open_root(path).map_err(|source| LedgerError::Io {
            action: "open",
            path: path.display().to_string(),
            source,
            put_back: false,
        })?;
        let root = LedgerRoot::new(Arc::clone(&fs), dir);
        Ok(Ledger { fs, root, path: path.to_path_buf(), settings })
    }

    /// The project's root.
    pub fn root(&self) -> &LedgerRoot {
        &self.root
    }

    /// Makes the state directory, if there is none.
    ///
    /// # Errors
    /// The system's.
    pub fn make_state(&self) -> Result<(), LedgerError> {
        StateDir::create(&self.fs, &self.root)
            .map_err(io_error("make", crate::disk::state_dir::STATE_DIR_NAME))?;
        Ok(())
    }

    /// The state directory, if there is one.
    pub(crate) fn state(&self) -> Result<Option<StateDir>, LedgerError> {
        StateDir::open(&self.fs, &self.root).map_err(|source| LedgerError::Io {
            action: "open",
            path: crate::disk::state_dir::STATE_DIR_NAME.to_string(),
            source,
            put_back: false,
        })
    }
}
