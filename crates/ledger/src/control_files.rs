//! Putting back what steers git, after a command that must not change it. These files lie in git's own directory, which no record
//! speaks of, so they are written here without a journal: what stood there is moved to the user's own directory, or renamed
//! beside itself, and never destroyed.
//!
//! No link is followed: the command may have put one where a directory was.

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};

use relaycode_durable::fs::{if_found, is_unsupported};
use relaycode_durable::{DirMode, FileMode, FsDir, FsKind, RenameMode};

use crate::{Ledger, TxId};

/// Where in the user's own directory what was taken away is kept.
const KEPT_IN: &str = "set-aside";

/// Bytes of a file that is copied to the user's own directory; a larger one is renamed beside itself.
const MAX_COPIED_BYTES: u64 = 16 << 20;

/// What stood at a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlBefore<'b> {
    Nothing,
    File { bytes: &'b [u8], mode: u32 },
    Link(&'b [u8]),
    Directory,
}

/// Puts files back after one command.
pub struct ControlFiles<'l> {
    ledger: &'l Ledger,
    /// By which what is kept of this command is called.
    id: TxId,
}

impl Ledger {
    /// For what one command changed.
    pub fn control_files(&self) -> ControlFiles<'_> {
        ControlFiles { ledger: self, id: TxId::random() }
    }
}

impl ControlFiles<'_> {
    /// Makes it as before, and says where that is kept which stood there. `path` is absolute.
    ///
    /// # Errors
    /// The system's.
    pub fn put_back(&self, path: &Path, before: ControlBefore<'_>) -> io::Result<Option<PathBuf>> {
        let fs = &*self.ledger.fs;
        let name = path.file_name().and_then(OsStr::to_str).ok_or(io::ErrorKind::InvalidInput)?;
        let directory = self.open_parent(path, before != ControlBefore::Nothing)?;
        let Some(directory) = directory else { return Ok(None) };
        let kept = match if_found(fs.stat(&directory, name))? {
            Some(found) if before == ControlBefore::Directory && found.kind == FsKind::Dir => {
                return Ok(None);
            }
            Some(found) => Some(self.move_away(path, &directory, name, found.kind)?),
            None => None,
        };
        match before {
            ControlBefore::Nothing => {}
            ControlBefore::File { bytes, mode } => {
                let file = fs.create(&directory, name, FileMode::Private)?;
                fs.write(&file, bytes)?;
                fs.set_mode(&file, mode)?;
                fs.sync_file(&file)?;
            }
            ControlBefore::Link(target) => fs.make_link(&directory, name, target)?,
            ControlBefore::Directory => fs.make_dir(&directory, name, DirMode::Usual)?,
        }
        fs.sync_dir(&directory)?;
        Ok(kept)
    }

    /// The directory that a name is in, without following a link within its repository.
    fn open_parent(&self, path: &Path, make: bool) -> io::Result<Option<FsDir>> {
        let fs = &*self.ledger.fs;
        let parent = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        let (mut directory, rest) = match parent.strip_prefix(&self.ledger.path) {
            Ok(rest) => (self.ledger.root.dir().clone(), rest),
            Err(_) => {
                // A repository around the project, or that of a worktree.
                let git = parent.ancestors().find(|above| above.ends_with(".git"));
                let base = git.and_then(Path::parent).unwrap_or(parent);
                (fs.open_root(base)?, parent.strip_prefix(base).unwrap_or(Path::new("")))
            }
        };
        for part in rest.components() {
            let Component::Normal(name) = part else { return Err(io::ErrorKind::InvalidInput.into()) };
            directory = match if_found(fs.open_child(&directory, name))? {
                Some(inner) => inner,
                None if make => {
                    let name = name.to_str().ok_or(io::ErrorKind::InvalidInput)?;
                    fs.make_dir(&directory, name, DirMode::Usual)?;
                    fs.open_dir(&directory, name)?
                }
                None => return Ok(None),
            };
        }
        Ok(Some(directory))
    }

    fn move_away(&self, path: &Path, from: &FsDir, name: &str, kind: FsKind) -> io::Result<PathBuf> {
        let fs = &*self.ledger.fs;
        if let Some((folder, shown)) = self.kept_folder()? {
            // One name for the whole path: beneath directories of these names git would find them again.
            let shown_path = path.strip_prefix(&self.ledger.path).unwrap_or(path).to_string_lossy();
            let kept = shown_path.trim_start_matches('/').replace('/', "+");
            match fs.rename(from, name, &folder, &kept, RenameMode::NoReplace) {
                Ok(()) => return Ok(shown.join(kept)),
                Err(error) if error.kind() == io::ErrorKind::CrossesDevices || is_unsupported(&error) => {
                    if kind == FsKind::File
                        && let Ok((bytes, _)) = fs.read(from, name, MAX_COPIED_BYTES)
                    {
                        let file = fs.create(&folder, &kept, FileMode::Private)?;
                        fs.write(&file, &bytes)?;
                        fs.sync_file(&file)?;
                        fs.remove_file(from, name)?;
                        return Ok(shown.join(kept));
                    }
                }
                Err(error) => return Err(error),
            }
        }
        let beside = format!("{name}.{KEPT_IN}-{}", self.id.short());
        fs.rename(from, name, from, &beside, RenameMode::NoReplace)?;
        Ok(path.with_file_name(beside))
    }

    /// Where this command's are kept, and what that is called.
    fn kept_folder(&self) -> io::Result<Option<(FsDir, PathBuf)>> {
        let fs = &*self.ledger.fs;
        let Some(home) = &self.ledger.settings.home else { return Ok(None) };
        let Some(mut folder) = if_found(fs.open_root(home))? else { return Ok(None) };
        let id = self.id.short();
        for name in [KEPT_IN, id.as_str()] {
            fs.make_dir_if_missing(&folder, name, DirMode::Private)?;
            folder = fs.open_dir(&folder, name)?;
        }
        Ok(Some((folder, home.join(KEPT_IN).join(id))))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::sync::Arc;

    use relaycode_durable::RealFs;

    use super::*;
    use crate::LedgerSettings;

    #[test]
    fn what_stood_there_is_kept_and_a_link_on_the_way_is_not_followed() {
        let base = tempfile::tempdir().unwrap();
        let path = |name: &str| base.path().canonicalize().unwrap().join(name);
        for name in ["project/.git", "home", "elsewhere"] {
            std::fs::create_dir_all(path(name)).unwrap();
        }
        let settings = LedgerSettings { home: Some(path("home")), ..LedgerSettings::default() };
        let ledger = Ledger::open(Arc::new(RealFs::default()), &path("project"), settings).unwrap();
        let control = ledger.control_files();
        std::fs::write(path("project/.git/config"), "evil").unwrap();
        let before = ControlBefore::File { bytes: b"mine", mode: 0o640 };
        let kept = control.put_back(&path("project/.git/config"), before).unwrap().unwrap();
        assert_eq!(std::fs::read_to_string(kept).unwrap(), "evil");
        assert_eq!(std::fs::read_to_string(path("project/.git/config")).unwrap(), "mine");
        let mode = std::fs::metadata(path("project/.git/config")).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o640);

        symlink(path("elsewhere"), path("project/.git/hooks")).unwrap();
        assert!(control.put_back(&path("project/.git/hooks/pre-commit"), before).is_err());
        control.put_back(&path("project/.git/hooks"), ControlBefore::Directory).unwrap().unwrap();
        control.put_back(&path("project/.git/hooks/pre-commit"), before).unwrap();
        assert!(path("project/.git/hooks/pre-commit").exists());
        assert_eq!(std::fs::read_dir(path("elsewhere")).unwrap().count(), 0);
        assert_eq!(control.put_back(&path("project/sub/.git/x"), ControlBefore::Nothing).unwrap(), None);
    }
}
