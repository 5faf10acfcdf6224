//! A private directory for what an editor or a pager has to read from a file. It and everything in it
//! go with this value, also what an editor left beside its file.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use relaycode_ledger::TxId;

pub(crate) struct PrivateDir {
    directory: PathBuf,
}

impl PrivateDir {
    /// A new directory in `parent` that only the user can enter.
    pub(crate) fn new(parent: &Path) -> io::Result<PrivateDir> {
        let directory = parent.join(format!("relay-{}", TxId::random()));
        DirBuilder::new().mode(0o700).create(&directory)?;
        Ok(PrivateDir { directory })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.directory
    }

    /// A new file in it that only the user can read.
    pub(crate) fn create_file(&self, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let path = self.directory.join(name);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(bytes)?;
        Ok(path)
    }
}

impl Drop for PrivateDir {
    fn drop(&mut self) {
        // What cannot be removed lies in the system's directory for what may be removed.
        let _ = fs::remove_dir_all(&self.directory);
    }
}
