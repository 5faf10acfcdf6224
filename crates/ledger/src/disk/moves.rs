//! The few ways in which files change places, and making that durable. Nothing here replaces a file
//! that it has not looked at.

use std::collections::BTreeSet;
use std::io;

use relaycode_durable::fs::{DirMode, is_link, is_unsupported};
use relaycode_durable::{Fs, RenameMode};

use crate::disk::paths::{PathResolver, split_parent};
use crate::disk::probe;
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

/// Lets the file in `slot` and the one at `target`, which should be `expected`, change places.
pub(crate) fn swap(
    places: &PathResolver<'_>,
    slot: &str,
    target: &str,
    expected: &FileImage,
) -> io::Result<SwapOutcome> {
    if exchange(places, slot, target)? {
        return Ok(SwapOutcome::Exchanged);
    }
    if !probe::probe_file(places, target, &[expected])?.matches_image(expected) {
        return Ok(SwapOutcome::Unexpected);
    }
    rename(places, slot, target, RenameMode::Replace)?;
    Ok(SwapOutcome::Replaced)
}

/// Lets two files change places; `false`: the file system cannot do that.
pub(crate) fn exchange(places: &PathResolver<'_>, one: &str, other: &str) -> io::Result<bool> {
    match rename(places, one, other, RenameMode::Exchange) {
        Ok(()) => Ok(true),
        Err(error) if is_unsupported(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Gives the file `from` the name `to`, where nothing may stand.
pub(crate) fn rename_no_replace(places: &PathResolver<'_>, from: &str, to: &str) -> io::Result<()> {
    match rename(places, from, to, RenameMode::NoReplace) {
        Err(error) if is_unsupported(&error) => {}
        other => return other,
    }
    let place = places.resolve(to)?;
    match places.fs().stat(&place.dir, place.name) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            rename(places, from, to, RenameMode::Replace)
        }
        Err(error) => Err(error),
    }
}

fn rename(places: &PathResolver<'_>, from: &str, to: &str, how: RenameMode) -> io::Result<()> {
    let (from, to) = (places.resolve(from)?, places.resolve(to)?);
    places.fs().rename(&from.dir, from.name, &to.dir, to.name, how)
}

/// Removes a file if it is there.
pub(crate) fn remove_file(places: &PathResolver<'_>, path: &str) -> io::Result<()> {
    let place = match places.resolve(path) {
        Ok(place) => place,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    ignore_not_found(places.fs().remove_file(&place.dir, place.name))
}

/// Removes a directory if it is there and empty; says whether it was removed.
pub(crate) fn remove_directory(places: &PathResolver<'_>, path: &str) -> io::Result<bool> {
    let place = match places.resolve(path) {
        Ok(place) => place,
        Err(error) if is_no_directory(&error) => return Ok(false),
        Err(error) => return Err(error),
    };
    match places.fs().remove_dir(&place.dir, place.name) {
        Ok(()) => {
            places.forget(path);
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty || is_no_directory(&error) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Makes a directory unless it is there; says whether it was made.
pub(crate) fn make_directory(places: &PathResolver<'_>, path: &str, mode: DirMode) -> io::Result<bool> {
    let place = places.resolve(path)?;
    match places.fs().make_dir(&place.dir, place.name, mode) {
        Ok(()) => {
            // A handle from before would be of one that is gone.
            places.forget(path);
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            places.open_directory(path)?;
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Whether a directory is not there, or is something else by now.
pub(crate) fn is_no_directory(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) || is_link(error)
}

fn ignore_not_found(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// The directories whose entries changed, to be made durable together.
#[derive(Debug, Default)]
pub(crate) struct DirtyDirectories {
    directories: BTreeSet<String>,
    files: usize,
}

impl DirtyDirectories {
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
            match places.open_directory(directory) {
                Ok(dir) => fs.sync_dir(&dir)?,
                // It went, and its own entry with it: its parent is among the touched.
                Err(error) if is_no_directory(&error) => {}
                Err(error) => return Err(error),
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

/// Whether `path` holds the bytes of `image`.
pub(crate) fn holds_bytes_of(places: &PathResolver<'_>, path: &str, image: &FileImage) -> io::Result<bool> {
    Ok(probe::probe_file(places, path, &[image])?.matches_bytes(image))
}
