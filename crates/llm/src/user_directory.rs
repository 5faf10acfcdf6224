//! The user's own files in relay's directory: `models.yml`, `keys/`, `secrets.yml`.
//!
//! Nothing is trusted that somebody else could have written: the directory, the folder in it and the file
//! must be owned by the user and writable by nobody else, and secrets readable by nobody else; none of it
//! may lie inside the project.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub use relaycode_durable::private_files::PrivateFileError;
use relaycode_durable::private_files::{OTHERS_WRITE, PrivateFolder, require_outside};
use rustix::fs::{Mode, OFlags};

/// In a sticky directory others cannot replace files.
const STICKY: u32 = 0o1000;

/// Relay's directory of this user, and the project that must not contain it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserDirectory {
    path: Option<PathBuf>,
    project: Option<PathBuf>,
}

impl UserDirectory {
    /// `path` is not used if it lies in `project`.
    pub fn new(path: Option<&Path>, project: Option<&Path>) -> UserDirectory {
        UserDirectory { path: path.map(Path::to_path_buf), project: project.map(Path::to_path_buf) }
    }

    /// The directory, if it may be used.
    ///
    /// # Errors
    /// If there is none, or it lies inside the project.
    pub fn path(&self) -> Result<&Path, PrivateFileError> {
        let path = self.path.as_deref().ok_or(PrivateFileError::NoHome)?;
        match self.project.as_deref() {
            Some(project) => require_outside(path, project),
            None => Ok(path),
        }
    }

    /// A file directly in the directory, which may be a link to a file of the user's elsewhere; `None` if
    /// there is none.
    pub(crate) fn read(&self, name: &str, most: u64) -> Result<Option<Vec<u8>>, PrivateFileError> {
        let home = self.path()?;
        let path = home.join(name);
        let system = |source| PrivateFileError::System { path: path.clone(), source };
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(system(source)),
        };
        for directory in [Some(home), real.parent()].into_iter().flatten() {
            let stat = directory.metadata().map_err(system)?;
            check(stat.uid(), stat.mode(), directory)?;
        }
        // Do not wait for a pipe, nor follow a link that was put there meanwhile.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY;
        let opened = rustix::fs::open(&real, flags, Mode::empty()).map_err(|error| system(error.into()))?;
        let file = File::from(opened);
        let stat: Metadata = file.metadata().map_err(system)?;
        if !stat.is_file() {
            return Err(PrivateFileError::NotAFile(path));
        }
        check(stat.uid(), stat.mode(), &path)?;
        let mut bytes = Vec::new();
        file.take(most + 1).read_to_end(&mut bytes).map_err(system)?;
        if bytes.len() as u64 > most {
            return Err(PrivateFileError::TooLarge { path, most });
        }
        Ok(Some(bytes))
    }

    /// A folder of secret files of at most `most` bytes each. Links are not followed there.
    pub(crate) fn secret_folder(&self, folder: &str, most: u64) -> Result<PrivateFolder, PrivateFileError> {
        Ok(PrivateFolder::new(Some(self.path()?), folder, most).into_secret())
    }
}

/// Less strict than a folder of secrets: a link in the directory may lead to files of root, or into a
/// shared directory.
fn check(uid: u32, mode: u32, path: &Path) -> Result<(), PrivateFileError> {
    let sticky = mode & STICKY != 0 && path.is_dir();
    // Files of root are as good as one's own: root could have written anything.
    if uid != rustix::process::geteuid().as_raw() && uid != 0 && !sticky {
        return Err(PrivateFileError::ForeignOwner(path.to_path_buf()));
    }
    if mode & OTHERS_WRITE != 0 && !sticky {
        return Err(PrivateFileError::WritableByOthers(path.to_path_buf()));
    }
    Ok(())
}
