//! The ledger of one checkout: the one thing that callers hold.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use relaycode_durable::Fs;

use crate::error::{LedgerError, cannot};
use crate::paths::Root;
use crate::state::State;

/// Settings that a caller brings; the library reads no environment.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The user's own directory (`~/.relaycode`), where every ledger has a copy; `None`: no copy.
    pub home: Option<PathBuf>,
    /// How long to wait for another relay that holds the project's lock.
    pub patience: Duration,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { home: None, patience: Duration::from_secs(10) }
    }
}

/// The ledger of one checkout.
pub struct Ledger {
    pub(crate) fs: Arc<dyn Fs>,
    pub(crate) root: Root,
    /// The root's path, as the key of the copy and for messages.
    pub(crate) path: PathBuf,
    pub(crate) settings: Settings,
}

impl Ledger {
    /// Opens the ledger of the project at `path`. Nothing is made before something is written.
    ///
    /// # Errors
    /// If the directory cannot be opened.
    pub fn open(fs: Arc<dyn Fs>, path: &Path, settings: Settings) -> Result<Ledger, LedgerError> {
        let dir = fs.open_root(path).map_err(|source| LedgerError::Io {
            action: "open",
            path: path.display().to_string(),
            source,
            put_back: false,
        })?;
        let root = Root::new(Arc::clone(&fs), dir);
        Ok(Ledger { fs, root, path: path.to_path_buf(), settings })
    }

    /// The project's root.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// Makes the state directory, if there is none.
    ///
    /// # Errors
    /// The system's.
    pub fn make_state(&self) -> Result<(), LedgerError> {
        State::create(&self.fs, &self.root).map_err(cannot("make", crate::state::NAME))?;
        Ok(())
    }

    /// The state directory, if there is one.
    pub(crate) fn state(&self) -> Result<Option<State>, LedgerError> {
        State::open(&self.fs, &self.root).map_err(|source| LedgerError::Io {
            action: "open",
            path: crate::state::NAME.to_string(),
            source,
            put_back: false,
        })
    }
}
