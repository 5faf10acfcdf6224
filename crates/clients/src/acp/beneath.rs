//! Files beneath one directory, for an agent that reads and writes through its client.
//!
//! A path leads beneath the directory or nowhere: `..`, a symbolic link on the way, a path elsewhere, a special
//! file are refused. Reads and writes are bounded.

use std::io;
use std::path::{Component, Path, PathBuf};

use relaycode_durable::fs::{DirMode, FileMode, is_link, is_too_long};
use relaycode_durable::{Dir, Fs, Kind, Real, Rename};

use super::decide::Refused;

/// Bytes of a file that an agent reads or writes at most.
pub(super) const MOST_FILE: u64 = 16 << 20;

/// One directory, and the files beneath it.
#[derive(Debug)]
pub struct Beneath {
    root: PathBuf,
    dir: Dir,
    fs: Real,
}

impl Beneath {
    /// This directory, which should be named without links: agents name files by what they see.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn new(root: &Path) -> io::Result<Beneath> {
        let fs = Real::default();
        Ok(Beneath { root: root.to_path_buf(), dir: fs.open_root(root)?, fs })
    }

    /// A text file: from this line on (the first is 1), so many lines.
    ///
    /// # Errors
    /// If it is not there, not beneath the directory, too large, or no text.
    pub fn read(&self, path: &str, line: Option<u64>, limit: Option<u64>) -> Result<String, Refused> {
        let parts = self.parts(path)?;
        let (dir, name) = self.parent(&parts, path)?;
        let (bytes, _) =
            self.fs.read(&dir, name, MOST_FILE).map_err(|error| explained(&error, path, "read"))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Refused::not_allowed(format!("{path} is no text in UTF-8")))?;
        if line.is_none() && limit.is_none() {
            return Ok(text);
        }
        let skipped = usize::try_from(line.unwrap_or(1).saturating_sub(1)).unwrap_or(usize::MAX);
        let wanted = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(text.split_inclusive('\n').skip(skipped).take(wanted).collect())
    }

    /// Writes a text file, whole or not at all; directories on the way are made. What stands there must be a
    /// file, and keeps its permissions.
    ///
    /// # Errors
    /// If it is not beneath the directory, too large, or cannot be written.
    pub fn write(&self, path: &str, content: &str) -> Result<(), Refused> {
        if content.len() as u64 > MOST_FILE {
            return Err(Refused::not_allowed(format!("{path} would be larger than {} MiB", MOST_FILE >> 20)));
        }
        let parts = self.parts(path)?;
        let failed = |error: io::Error| explained(&error, path, "written");
        let (name, folders) = parts.split_last().ok_or_else(|| elsewhere(path))?;
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
            Ok(stat) if stat.kind == Kind::File => Some(stat.mode & 0o777),
            Ok(_) => return Err(Refused::not_allowed(format!("{path} is no file"))),
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
            self.fs.rename(dir, &beside, dir, name, Rename::Replace)
        });
        written.map_err(|error| {
            let _ = self.fs.remove_file(dir, &beside);
            failed(error)
        })
    }

    /// Whether this path stays beneath the directory, as things stand: no `..`, and no link on the way or at
    /// its end. What is not there yet may be.
    pub fn holds(&self, path: &str) -> bool {
        let Ok(parts) = self.parts(path) else { return false };
        let mut dir = None;
        for (place, name) in parts.iter().enumerate() {
            let at = dir.as_ref().unwrap_or(&self.dir);
            match self.fs.stat(at, name) {
                Err(error) => return error.kind() == io::ErrorKind::NotFound,
                Ok(stat) if place + 1 == parts.len() => return matches!(stat.kind, Kind::File | Kind::Dir),
                Ok(stat) if stat.kind != Kind::Dir => return false,
                Ok(_) => match self.fs.open_dir(at, name) {
                    Ok(opened) => dir = Some(opened),
                    Err(_) => return false,
                },
            }
        }
        false
    }

    /// The names from the directory to a file. Nothing is looked up.
    pub fn parts<'p>(&self, path: &'p str) -> Result<Vec<&'p str>, Refused> {
        let beneath = Path::new(path);
        let beneath = if beneath.is_absolute() {
            beneath.strip_prefix(&self.root).map_err(|_| elsewhere(path))?
        } else {
            beneath
        };
        let mut parts = Vec::new();
        for part in beneath.components() {
            match part {
                Component::Normal(name) => parts.push(name.to_str().ok_or_else(|| elsewhere(path))?),
                Component::CurDir => {}
                _ => return Err(elsewhere(path)),
            }
        }
        if parts.is_empty() || path.contains('\0') { Err(elsewhere(path)) } else { Ok(parts) }
    }

    fn parent<'n>(&self, parts: &[&'n str], path: &str) -> Result<(Dir, &'n str), Refused> {
        let (name, folders) = parts.split_last().ok_or_else(|| elsewhere(path))?;
        let failed = |error: io::Error| explained(&error, path, "read");
        let dir = if folders.is_empty() {
            self.fs.open_root(&self.root)
        } else {
            self.fs.open_dir(&self.dir, &folders.join("/"))
        };
        Ok((dir.map_err(failed)?, name))
    }
}

fn elsewhere(path: &str) -> Refused {
    Refused::not_allowed(format!("{path} is not in the project"))
}

fn explained(error: &io::Error, path: &str, done: &str) -> Refused {
    if error.kind() == io::ErrorKind::NotFound {
        Refused::not_found(path)
    } else if is_link(error) {
        Refused::not_allowed(format!("{path} leads through a link"))
    } else if is_too_long(error) {
        Refused::not_allowed(format!("{path} is larger than {} MiB", MOST_FILE >> 20))
    } else {
        Refused::not_allowed(format!("{path} cannot be {done}: {error}"))
    }
}
