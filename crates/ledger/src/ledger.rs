//! The ledger of one checkout: the one thing that callers hold.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use relaycode_durable::{Fs, FsDir, fs::is_link};

use crate::disk::{Digest, LedgerRoot, STATE_DIR_NAME, StateDir, StateSubdir, state_dir};
use crate::record::RecordNames;
use crate::seal::{CheckoutSeal, SealHasher, SealKey, SealPurpose};
use crate::{IoContext, LedgerResult, TxId};

/// The same error in words, where something else has the name of the state directory.
fn not_a_directory(error: io::Error) -> io::Error {
    let what = match error.kind() {
        _ if is_link(&error) => "it is a symbolic link, not a directory",
        io::ErrorKind::NotADirectory => "it is not a directory",
        _ => return error,
    };
    io::Error::new(io::ErrorKind::NotADirectory, what)
}

/// Settings that a caller brings; the library reads no environment.
#[derive(Debug, Clone)]
pub struct LedgerSettings {
    /// The user's own directory (`~/.relaycode`), where every ledger has a copy; `None`: no copy.
    pub home: Option<PathBuf>,
    /// The secret by which this user's relay knows again what it wrote; `None`: nothing is known again.
    pub seal_key: Option<SealKey>,
    /// Whether a name is one that other programs run or obey (hooks, editor settings): of a command whose work at such names is
    /// set aside these come first into its record, and what the record has no place for is moved away.
    pub is_protected: fn(&str) -> bool,
    /// How long to wait for another relay that holds the project's lock.
    pub lock_timeout: Duration,
}

impl Default for LedgerSettings {
    fn default() -> LedgerSettings {
        let seal_key = Some(SealKey::of_this_process());
        LedgerSettings {
            home: None,
            seal_key,
            is_protected: |_| false,
            lock_timeout: Duration::from_secs(10),
        }
    }
}

/// The ledger of one checkout.
pub struct Ledger {
    pub(crate) fs: Arc<dyn Fs>,
    pub(crate) root: LedgerRoot,
    /// The root's path, as the key of the copy and for messages.
    pub(crate) path: PathBuf,
    pub(crate) settings: LedgerSettings,
    /// `None`: there is no secret.
    pub(crate) seal: Option<CheckoutSeal>,
    /// Records of others that a person accepted since it was opened.
    pub(crate) just_accepted: Mutex<HashSet<(TxId, Digest)>>,
    /// The records of which the index is known to have all, for as long as this process holds the project's lock.
    pub(crate) fresh_names: Mutex<Option<RecordNames>>,
}

impl Ledger {
    /// Opens the ledger of the project at `path`. Nothing is made before something is written.
    ///
    /// # Errors
    /// If the directory cannot be opened.
    pub fn open(fs: Arc<dyn Fs>, path: &Path, settings: LedgerSettings) -> LedgerResult<Ledger> {
        let dir = fs.open_root(path).context("open", &path.display().to_string())?;
        Ledger::with_root(fs, dir, path, settings)
    }

    /// The ledger of the project that is open as `dir`.
    pub(crate) fn with_root(
        fs: Arc<dyn Fs>,
        dir: FsDir,
        path: &Path,
        settings: LedgerSettings,
    ) -> LedgerResult<Ledger> {
        let seal = settings.seal_key.clone().map(|key| CheckoutSeal::new(key, &*fs, &dir, path));
        let seal = seal.transpose().context("look at", &path.display().to_string())?;
        let root = LedgerRoot::new(Arc::clone(&fs), dir);
        let (just_accepted, fresh_names) = (Mutex::default(), Mutex::default());
        Ok(Ledger { fs, root, path: path.to_path_buf(), settings, seal, just_accepted, fresh_names })
    }

    /// Seals something for this purpose, if there is a secret.
    pub(crate) fn seal_hasher(&self, purpose: SealPurpose<'_>) -> Option<SealHasher> {
        self.seal.as_ref().map(|seal| seal.hasher(purpose))
    }

    /// Whether the index is known to have the lines of all records if it has those of `names`.
    pub(crate) fn is_known_fresh(&self, names: RecordNames) -> bool {
        self.fresh_names().is_some_and(|fresh| fresh == names)
    }

    pub(crate) fn know_fresh(&self, names: RecordNames) {
        *self.fresh_names.lock().unwrap_or_else(PoisonError::into_inner) = Some(names);
    }

    pub(crate) fn forget_fresh(&self) {
        *self.fresh_names.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub(crate) fn fresh_names(&self) -> Option<RecordNames> {
        *self.fresh_names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The project's root.
    pub fn root(&self) -> &LedgerRoot {
        &self.root
    }

    /// Makes the state directory, if there is none.
    pub fn make_state(&self) -> LedgerResult<StateDir> {
        StateDir::create(&self.fs, &self.root).map_err(not_a_directory).context("make", STATE_DIR_NAME)
    }

    /// The state directory, if there is one.
    pub(crate) fn state(&self) -> LedgerResult<Option<StateDir>> {
        StateDir::open(&self.fs, &self.root).map_err(not_a_directory).context("open", STATE_DIR_NAME)
    }

    /// One of its directories, if it is there.
    pub(crate) fn open_subdir(&self, sub: StateSubdir) -> LedgerResult<Option<FsDir>> {
        let Some(state) = self.state()? else { return Ok(None) };
        state.open_subdir(sub).context("open", &state_dir::path_of(sub.name()))
    }
}
