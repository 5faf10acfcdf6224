//! The ledger of one checkout: the one thing that callers hold.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use relaycode_durable::{Fs, FsDir};

use crate::disk::{LedgerRoot, STATE_DIR_NAME, StateDir, StateSubdir, state_dir};
use crate::{IoContext, LedgerResult};

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
    pub fn open(fs: Arc<dyn Fs>, path: &Path, settings: LedgerSettings) -> LedgerResult<Ledger> {
        let dir = fs.open_root(path).context("open", &path.display().to_string())?;
        let root = LedgerRoot::new(Arc::clone(&fs), dir);
        Ok(Ledger { fs, root, path: path.to_path_buf(), settings })
    }

    /// The project's root.
    pub fn root(&self) -> &LedgerRoot {
        &self.root
    }

    /// Makes the state directory, if there is none.
    pub fn make_state(&self) -> LedgerResult<StateDir> {
        StateDir::create(&self.fs, &self.root).context("make", STATE_DIR_NAME)
    }

    /// The state directory, if there is one.
    pub(crate) fn state(&self) -> LedgerResult<Option<StateDir>> {
        StateDir::open(&self.fs, &self.root).context("open", STATE_DIR_NAME)
    }

    /// One of its directories, if it is there.
    pub(crate) fn open_subdir(&self, sub: StateSubdir) -> LedgerResult<Option<FsDir>> {
        let Some(state) = self.state()? else { return Ok(None) };
        state.open_subdir(sub).context("open", &state_dir::path_of(sub.name()))
    }
}
