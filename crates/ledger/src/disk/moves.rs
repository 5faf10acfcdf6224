//! The few ways in which files change places, and making that durable. Nothing here replaces a file
//! that it has not looked at.

use std::collections::BTreeSet;
use std::io;

use relaycode_durable::{DirMode, Fs, RenameMode, if_found, is_link, is_unsupported};

use crate::disk::{PathResolver, split_parent};
use crate::record::FileImage;
use crate::transaction::SYNC_EACH;

/// What became of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SwapOutcome {
    /// The two files changed places: what stood at the target is in the slot.
    Exchanged,
    /// The file system cannot exchange: the target was compared and then replaced. Its bytes are in
    /// the journal; a save in the moment between is lost, which is why this is the last resort.
    Replaced,
    /// The file system cannot exchange, and the target is not what it was expected to be.
    Unexpected,
}

impl PathResolver<'_> {
    /// Lets the file in `slot` and the one at `target`, which should be `expected`, change places.
    pub(crate) fn swap(&self, slot: &str, target: &str, expected: &FileImage) -> io::Result<SwapOutcome> {
        if self.exchange(slot, target)? {
            return Ok(SwapOutcome::Exchanged);
        }
        if !self.probe(target, &[expected])?.matches_image(expected) {
            return Ok(SwapOutcome::Unexpected);
        }
        self.rename(slot, target, RenameMode::Replace)?;
        Ok(SwapOutcome::Replaced)
    }

    /// Lets two files change places; `false`: the file system cannot do that.
    pub(crate) fn exchange(&self, one: &str, other: &str) -> io::Result<bool> {
        match self.rename(one, other, RenameMode::Exchange) {
            Err(error) if is_unsupported(&error) => Ok(false),
            done => done.map(|()| true),
        }
    }

    /// Gives the file `from` the name `to`, where nothing may stand.
    pub(crate) fn rename_no_replace(&self, from: &str, to: &str) -> io::Result<()> {
        match self.rename(from, to, RenameMode::NoReplace) {
            Err(error) if is_unsupported(&error) => {}
            other => return other,
        }
        let place = self.resolve(to)?;
        if self.fs().exists(&place.dir, place.name)? {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.rename(from, to, RenameMode::Replace)
    }

    fn rename(&self, from: &str, to: &str, how: RenameMode) -> io::Result<()> {
        let (from, to) = (self.resolve(from)?, self.resolve(to)?);
        self.fs().rename(&from.dir, from.name, &to.dir, to.name, how)
    }

    /// Removes a file if it is there.
    pub(crate) fn remove_file(&self, path: &str) -> io::Result<()> {
        let Some(place) = if_found(self.resolve(path))? else { return Ok(()) };
        self.fs().remove_if_exists(&place.dir, place.name)
    }

    /// Removes a directory if it is there and empty; says whether it was removed.
    pub(crate) fn remove_directory(&self, path: &str) -> io::Result<bool> {
        let Some(place) = if_directory(self.resolve(path))? else { return Ok(false) };
        match if_directory(self.fs().remove_dir(&place.dir, place.name)) {
            Ok(Some(())) => {
                self.forget(path);
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Makes a directory unless it is there; says whether it was made.
    pub(crate) fn make_directory(&self, path: &str, mode: DirMode) -> io::Result<bool> {
        let place = self.resolve(path)?;
        let is_made = self.fs().make_dir_if_missing(&place.dir, place.name, mode)?;
        if is_made {
            // A handle from before would be of one that is gone.
            self.forget(path);
        } else {
            self.open_directory(path)?;
        }
        Ok(is_made)
    }

    pub(crate) fn holds_bytes_of(&self, path: &str, image: &FileImage) -> io::Result<bool> {
        Ok(self.probe(path, &[image])?.matches_bytes(image))
    }
}

/// What was found beneath a directory; `None` if that is not there, or is something else by now.
pub(crate) fn if_directory<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if is_no_directory(&error) => Ok(None),
        other => other.map(Some),
    }
}

/// Whether a directory is not there, or is something else by now.
pub(crate) fn is_no_directory(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) || is_link(error)
}

/// The directories whose entries changed, to be made durable together.
#[derive(Debug, Default)]
pub(crate) struct DirtyDirectories {
    directories: BTreeSet<String>,
    files: usize,
}

impl DirtyDirectories {
    pub(crate) fn add_entries(&mut self, one: &str, other: &str) {
        self.add_entry(one);
        self.add_entry(other);
    }

    /// An entry of this name came, went or changed.
    pub(crate) fn add_entry(&mut self, path: &str) {
        self.directories.insert(split_parent(path).0.to_string());
        self.files += 1;
    }

    /// Makes all of it durable: each directory by itself, or everything at once if it is much.
    pub(crate) fn sync(&self, places: &PathResolver<'_>) -> io::Result<()> {
        let fs: &dyn Fs = places.fs();
        // Two entries for every file: its own and its slot's.
        if self.files > 2 * SYNC_EACH {
            let root = places.open_directory("")?;
            fs.sync_all(&root)?;
            return self.sync_elsewhere(places, fs.stat_dir(&root)?.dev);
        }
        for directory in &self.directories {
            // If it went, so did its own entry: its parent is among the touched.
            if let Some(dir) = if_directory(places.open_directory(directory))? {
                fs.sync_dir(&dir)?;
            }
        }
        Ok(())
    }

    fn sync_elsewhere(&self, places: &PathResolver<'_>, device: u64) -> io::Result<()> {
        for directory in &self.directories {
            if let Ok(dir) = places.open_directory(directory)
                && places.fs().stat_dir(&dir)?.dev != device
            {
                places.fs().sync_dir(&dir)?;
            }
        }
        Ok(())
    }
}
