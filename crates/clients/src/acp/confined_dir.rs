//! Files beneath one directory, for an agent that reads and writes through its client.
//!
//! A path leads beneath the directory or nowhere: `..`, a symbolic link on the way, a path elsewhere and
//! special files are refused. Reads and writes are bounded.

use std::io;
use std::path::{Component, Path, PathBuf};

use relaycode_durable::fs::{DirMode, FileMode, is_link, is_too_long};
use relaycode_durable::{Fs, FsDir, FsKind, RealFs, RenameMode};

use super::AcpRefusal;

/// Most bytes of a file that an agent may read or write.
pub(super) const MAX_FILE_BYTES: u64 = 16 << 20;

#[derive(Debug)]
pub struct ConfinedDir {
    root: PathBuf,
    dir: FsDir,
    fs: RealFs,
}

impl ConfinedDir {
    /// `root` should be named without links: agents name files by what they see.
    pub fn new(root: &Path) -> io::Result<ConfinedDir> {
        let fs = RealFs::default();
        Ok(ConfinedDir { root: root.to_path_buf(), dir: fs.open_root(root)?, fs })
    }

    /// Reads `limit` lines of a text file from `line` (counted from 1) on.
    ///
    /// # Errors
    /// If it does not exist, is not beneath the directory, is too large, or is not text.
    pub fn read(&self, path: &str, line: Option<u64>, limit: Option<u64>) -> Result<String, AcpRefusal> {
        let parts = self.split_path(path)?;
        let (name, folders) = parts.split_last().ok_or_else(|| outside_refusal(path))?;
        let dir = match folders {
            [] => self.fs.open_root(&self.root),
            folders => self.fs.open_dir(&self.dir, &folders.join("/")),
        };
        let read = dir.and_then(|dir| self.fs.read(&dir, name, MAX_FILE_BYTES));
        let (bytes, _) = read.map_err(|error| io_refusal(&error, path, "read"))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| AcpRefusal::not_allowed(format!("{path} is no text in UTF-8")))?;
        if line.is_none() && limit.is_none() {
            return Ok(text);
        }
        let skipped = usize::try_from(line.unwrap_or(1).saturating_sub(1)).unwrap_or(usize::MAX);
        let wanted = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(text.split_inclusive('\n').skip(skipped).take(wanted).collect())
    }

    /// Writes a text file, whole or not at all, and makes the directories on the way. An existing path must
    /// be a file, and keeps its permissions.
    ///
    /// # Errors
    /// If it is not beneath the directory, too large, or cannot be written.
    pub fn write(&self, path: &str, content: &str) -> Result<(), AcpRefusal> {
        if content.len() as u64 > MAX_FILE_BYTES {
            let most = MAX_FILE_BYTES >> 20;
            return Err(AcpRefusal::not_allowed(format!("{path} would be larger than {most} MiB")));
        }
        let parts = self.split_path(path)?;
        let failed = |error: io::Error| io_refusal(&error, path, "written");
        let (name, folders) = parts.split_last().ok_or_else(|| outside_refusal(path))?;
        let mut dir = None;
        for folder in folders {
            let at = dir.as_ref().unwrap_or(&self.dir);
            match self.fs.make_dir(at, folder, DirMode::Usual) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
                _ => {}
            }
            dir = Some(self.fs.open_dir(at, folder).map_err(failed)?);
        }
        let dir = dir.as_ref().unwrap_or(&self.dir);
        let mode = match self.fs.stat(dir, name) {
            Ok(stat) if stat.kind == FsKind::File => Some(stat.mode & 0o777),
            Ok(_) => return Err(AcpRefusal::not_allowed(format!("{path} is no file"))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed(error)),
        };
        let beside = format!(".relay-{}", std::process::id());
        let _ = self.fs.remove_file(dir, &beside);
        let usual = FileMode::Usual { executable: false };
        let written = self.fs.create(dir, &beside, usual).and_then(|file| {
            self.fs.write(&file, content.as_bytes())?;
            if let Some(mode) = mode {
                self.fs.set_mode(&file, mode)?;
            }
            self.fs.rename(dir, &beside, dir, name, RenameMode::Replace)
        });
        written.map_err(|error| {
            let _ = self.fs.remove_file(dir, &beside);
            failed(error)
        })
    }

    /// Whether this path currently stays beneath the directory: no `..`, and no link on the way or at its
    /// end. It need not exist.
    pub fn contains(&self, path: &str) -> bool {
        let Ok(parts) = self.split_path(path) else { return false };
        let mut dir = None;
        for (place, name) in parts.iter().enumerate() {
            let at = dir.as_ref().unwrap_or(&self.dir);
            match self.fs.stat(at, name) {
                Err(error) => return error.kind() == io::ErrorKind::NotFound,
                Ok(stat) if place + 1 == parts.len() => {
                    return matches!(stat.kind, FsKind::File | FsKind::Dir);
                }
                Ok(stat) if stat.kind != FsKind::Dir => return false,
                Ok(_) => match self.fs.open_dir(at, name) {
                    Ok(opened) => dir = Some(opened),
                    Err(_) => return false,
                },
            }
        }
        false
    }

    /// The path's components below the directory. Purely textual.
    pub fn split_path<'p>(&self, path: &'p str) -> Result<Vec<&'p str>, AcpRefusal> {
        let mut beneath = Path::new(path);
        if beneath.is_absolute() {
            beneath = beneath.strip_prefix(&self.root).map_err(|_| outside_refusal(path))?;
        }
        let mut parts = Vec::new();
        for part in beneath.components() {
            match part {
                Component::Normal(name) => parts.push(name.to_str().ok_or_else(|| outside_refusal(path))?),
                Component::CurDir => {}
                _ => return Err(outside_refusal(path)),
            }
        }
        if parts.is_empty() || path.contains('\0') { Err(outside_refusal(path)) } else { Ok(parts) }
    }
}

fn outside_refusal(path: &str) -> AcpRefusal {
    AcpRefusal::not_allowed(format!("{path} is not in the project"))
}

fn io_refusal(error: &io::Error, path: &str, done: &str) -> AcpRefusal {
    if error.kind() == io::ErrorKind::NotFound {
        AcpRefusal::not_found(path)
    } else if is_link(error) {
        AcpRefusal::not_allowed(format!("{path} leads through a link"))
    } else if is_too_long(error) {
        AcpRefusal::not_allowed(format!("{path} is larger than {} MiB", MAX_FILE_BYTES >> 20))
    } else {
        AcpRefusal::not_allowed(format!("{path} cannot be {done}: {error}"))
    }
}
