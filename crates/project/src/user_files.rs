//! Files of the user's own, one per directory on this machine: what trust and project keys are kept in.
//!
//! A file is found by the digest of the directory's path without links, and holds the directory's device,
//! inode and time of birth: another directory that later stands at the same path is not the one that was meant. Nothing
//! is believed that somebody else could have written: the user's directory, the folder in it and the file
//! must be the user's, and writable by nobody else, and none of them may lie inside the project.

use std::path::{Path, PathBuf};
use std::{io, os::unix::ffi::OsStrExt};

use relaycode_durable::private_files::{self, PrivateFolder};
use relaycode_durable::{Fs, RealFs};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A directory, as it is recognised again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DirectoryRef {
    /// Its path, without links.
    pub(crate) path: PathBuf,
    /// What stands there now.
    pub(crate) mark: DirectoryInode,
}

/// What makes a directory this one and no other at its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DirectoryInode {
    device: u64,
    inode: u64,
    /// When it was made, where the file system keeps that: an inode is given out again.
    #[serde(default)]
    born: Option<(i64, u32)>,
}

impl DirectoryRef {
    /// The directory at `root`.
    pub(crate) fn open(root: &Path) -> io::Result<DirectoryRef> {
        let path = root.canonicalize()?;
        let fs = RealFs::default();
        let dir = fs.open_root(&path)?;
        let (stat, born) = (fs.stat_dir(&dir)?, fs.birth_time(&dir)?);
        Ok(DirectoryRef { path, mark: DirectoryInode { device: stat.dev, inode: stat.ino, born } })
    }

    /// The name of its file.
    fn file(&self) -> String {
        format!("{}.json", hex(&Sha256::digest(self.path.as_os_str().as_bytes())))
    }
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The text of such a file.
pub(crate) fn json_file(content: &impl Serialize) -> Result<Vec<u8>, UserFileError> {
    let mut text = serde_json::to_vec_pretty(content)?;
    text.push(b'\n');
    Ok(text)
}

/// A folder of such files in the user's own directory.
#[derive(Debug, Clone)]
pub(crate) struct UserFileStore(PrivateFolder);

/// Why a file of the user's own cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UserFileError {
    #[error(transparent)]
    Own(#[from] private_files::PrivateFileError),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("the project's directory {} cannot be looked at: {source}", path.display())]
    Root { path: PathBuf, source: io::Error },
}

impl UserFileStore {
    /// The folder `folder` of `home`, of files that only the user may change.
    pub(crate) fn new(home: Option<&Path>, folder: &str, most: u64) -> UserFileStore {
        UserFileStore(PrivateFolder::new(home, folder, most))
    }

    /// The same, of files that only the user may read.
    pub(crate) fn readable_by_owner(self) -> UserFileStore {
        UserFileStore(self.0.into_secret())
    }

    /// The directory at `root`, if this shelf may say anything about it.
    pub(crate) fn directory(&self, root: &Path) -> Result<DirectoryRef, UserFileError> {
        let place = DirectoryRef::open(root)
            .map_err(|source| UserFileError::Root { path: root.to_path_buf(), source })?;
        private_files::require_outside(self.0.home()?, &place.path)?;
        Ok(place)
    }

    /// The file about a directory; `None` if there is none.
    pub(crate) fn read(&self, place: &DirectoryRef) -> Result<Option<Vec<u8>>, UserFileError> {
        Ok(self.0.read(&place.file())?)
    }

    /// Writes the file about a directory, whole or not at all.
    pub(crate) fn write(&self, place: &DirectoryRef, bytes: &[u8]) -> Result<(), UserFileError> {
        Ok(self.0.write(&place.file(), bytes)?)
    }

    /// Writes the file about a directory if there is none; says whether it did.
    pub(crate) fn write_new(&self, place: &DirectoryRef, bytes: &[u8]) -> Result<bool, UserFileError> {
        Ok(self.0.write_new(&place.file(), bytes)?)
    }

    /// Removes the file about a directory; says whether there was one.
    pub(crate) fn remove(&self, place: &DirectoryRef) -> Result<bool, UserFileError> {
        Ok(self.0.remove(&place.file())?)
    }

    /// Where the file about a directory is.
    pub(crate) fn path_of(&self, place: &DirectoryRef) -> Result<PathBuf, UserFileError> {
        Ok(self.0.path_of(&place.file())?)
    }
}
