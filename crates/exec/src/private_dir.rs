//! A private directory for what a program has to read from a file, or may write for itself. It and everything in it go with
//! this value, also what the program left there.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Names that are tried: others may lie there, of a process that died.
const ATTEMPTS: u32 = 1_000;

/// A directory that only the user can enter.
#[derive(Debug)]
pub struct PrivateDir {
    directory: PathBuf,
}

impl PrivateDir {
    /// A new one in `parent`.
    ///
    /// # Errors
    /// If none can be made there.
    pub fn new(parent: &Path) -> io::Result<PrivateDir> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let mut error = io::ErrorKind::AlreadyExists.into();
        for _ in 0..ATTEMPTS {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let directory = parent.join(format!("relay-{}-{number}", std::process::id()));
            // A name that somebody else has taken, also by a link, is none.
            match DirBuilder::new().mode(0o700).create(&directory) {
                Ok(()) => return Ok(PrivateDir { directory }),
                Err(taken) if taken.kind() == io::ErrorKind::AlreadyExists => error = taken,
                Err(other) => return Err(other),
            }
        }
        Err(error)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.directory
    }

    /// A new file in it that only the user can read.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create_file(&self, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
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
