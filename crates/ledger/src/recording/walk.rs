//! The project's tree as it is at one moment: every name, and what tells whether it was touched since.
//!
//! No link is followed, and what no change may write (`.git`, `.relaycode`) is not looked at. What git ignores comes
//! last, so that it is the first to be left out when something must be. What was known before is looked at however
//! much came since: a file that was not looked at must never pass for one that is gone.

use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;

use relaycode_change::proposal::path::RelPath;
use relaycode_durable::{Fs, FsDir, FsKind, FsStamp};
use serde::{Deserialize, Serialize};

use super::manifest::RecordingManifest;
use super::{ENTRIES, RecordingOmission};
use crate::disk::paths::LedgerRoot;
use crate::error::{LedgerError, io_error};

/// Names that are not looked at, wherever they stand.
const SEALED: [&str; 2] = [".git", crate::disk::state_dir::STATE_DIR_NAME];

/// What tells whether an entry was touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecordingStamp {
    pub(super) dev: u64,
    pub(super) ino: u64,
    pub(super) size: u64,
    pub(super) mode: u32,
    pub(super) modified: (i64, u32),
    pub(super) changed: (i64, u32),
}

impl RecordingStamp {
    pub(super) fn from_stamp(stamp: &FsStamp) -> RecordingStamp {
        let FsStamp { stat, modified, changed, .. } = *stamp;
        RecordingStamp { dev: stat.dev, ino: stat.ino, size: stat.len, mode: stat.mode, modified, changed }
    }
}

/// A regular file.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordingFile {
    pub(super) print: RecordingStamp,
    /// How many names it has.
    pub(super) links: u64,
    /// Which of [`RecordingTree::late`] it belongs to.
    pub(super) ignored_group: Option<u32>,
}

/// What the ledger cannot keep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct UnrecordableEntry {
    pub(super) print: RecordingStamp,
    /// What it is: `a symbolic link`, `a special file`, `a file` (with a name that no record may have).
    pub(super) what: String,
}

/// A project's tree.
#[derive(Debug, Default)]
pub(super) struct RecordingTree {
    /// Every directory with its permission bits.
    pub(super) directories: BTreeMap<String, u32>,
    /// Every regular file whose name a record may have.
    pub(super) files: BTreeMap<String, RecordingFile>,
    /// Everything else. Names that are not UTF-8 are written with `\x…`.
    pub(super) odd: BTreeMap<String, UnrecordableEntry>,
    /// What git ignores, in the order in which it was walked.
    pub(super) ignored_roots: Vec<String>,
    /// Directories that were not looked into, and why.
    pub(super) unseen: Vec<RecordingOmission>,
    /// Directories in which so many names were not looked at, because there are too many in all.
    pub(super) partial: BTreeMap<String, usize>,
}

/// Whether a record may have a file of this name.
pub(super) fn is_recordable(path: &str) -> bool {
    // A backslash would become a slash: another file.
    RelPath::parse(path).is_ok_and(|parsed| parsed.as_str() == path)
}

/// What a walk goes by.
pub(super) struct RecordingWalkBounds<'w> {
    /// What git ignores, without a slash at the end.
    pub(super) ignored_paths: &'w HashSet<&'w str>,
    /// What is known already, and is looked at again without being counted.
    pub(super) known: Option<&'w RecordingManifest>,
    /// So much else is looked at.
    pub(super) most: usize,
    /// A directory that is not looked into, by its device and number: relay's own, should it lie in the project.
    pub(super) own_directory: Option<(u64, u64)>,
}

/// Walks the project.
pub(super) fn walk(
    root: &LedgerRoot,
    bounds: &RecordingWalkBounds<'_>,
) -> Result<RecordingTree, LedgerError> {
    let mut walk = RecordingWalk {
        fs: root.fs(),
        root: root.dir(),
        bounds,
        counted: 0,
        tree: RecordingTree::default(),
        postponed: Vec::new(),
    };
    walk.walk_directory(String::new(), None)?;
    for (path, kind) in std::mem::take(&mut walk.postponed) {
        let late = u32::try_from(walk.tree.ignored_roots.len()).ok();
        walk.tree.ignored_roots.push(path.clone());
        if kind == FsKind::Dir {
            walk.walk_directory(path, late)?;
            continue;
        }
        let (parent, name) = crate::disk::paths::split_parent(&path);
        if let Ok(dir) = walk.open(parent) {
            walk.add_entry(&dir, parent, OsStr::new(name), kind, late, &mut Vec::new());
        }
    }
    Ok(walk.tree)
}

struct RecordingWalk<'w> {
    fs: &'w dyn Fs,
    root: &'w FsDir,
    bounds: &'w RecordingWalkBounds<'w>,
    /// Names that were not known before.
    counted: usize,
    tree: RecordingTree,
    postponed: Vec<(String, FsKind)>,
}

impl RecordingWalk<'_> {
    fn open(&self, path: &str) -> io::Result<FsDir> {
        if path.is_empty() { Ok(self.root.clone()) } else { self.fs.open_dir(self.root, path) }
    }

    /// Walks a directory and all that is in it.
    fn walk_directory(&mut self, path: String, late: Option<u32>) -> Result<(), LedgerError> {
        let mut open = vec![path];
        while let Some(path) = open.pop() {
            let mut entries: Vec<(OsString, FsKind)> = Vec::new();
            let mut over = 0;
            let counted = &mut self.counted;
            let opened =
                if path.is_empty() { Ok(self.root.clone()) } else { self.fs.open_dir(self.root, &path) };
            let listed = opened.and_then(|dir| {
                self.fs.for_each_entry(&dir, &mut |name, kind| {
                    if SEALED.iter().any(|sealed| name == *sealed) {
                        return;
                    }
                    if !is_known(self.bounds.known, &path, name) {
                        if *counted >= self.bounds.most {
                            over += 1;
                            return;
                        }
                        *counted += 1;
                    }
                    entries.push((name.to_os_string(), kind));
                })?;
                Ok(dir)
            });
            if over > 0 {
                self.tree.partial.insert(path.clone(), over);
            }
            let dir = match listed {
                Ok(dir) => dir,
                Err(error) if path.is_empty() => return Err(io_error("list", "the project")(error)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    self.add_unseen(&path, format!("it cannot be read: {error}"));
                    continue;
                }
            };
            for (name, kind) in entries {
                self.add_entry(&dir, &path, &name, kind, late, &mut open);
            }
        }
        Ok(())
    }

    fn add_unseen(&mut self, path: &str, why: String) {
        self.tree.unseen.push(RecordingOmission {
            path: format!("{path}/"),
            reason: why,
            files: 0,
            bytes: 0,
        });
    }

    /// Takes in one entry; directories that are to be walked go to `open`.
    fn add_entry(
        &mut self,
        dir: &FsDir,
        parent: &str,
        name: &OsStr,
        kind: FsKind,
        late: Option<u32>,
        open: &mut Vec<String>,
    ) {
        let slash = if parent.is_empty() { "" } else { "/" };
        // Gone again: it is as if it had never been.
        let Ok(stamp) = self.fs.stamp(dir, name) else { return };
        let print = RecordingStamp::from_stamp(&stamp);
        let Some(text) = name.to_str() else {
            let path = format!("{parent}{slash}{}", name.as_encoded_bytes().escape_ascii());
            let what = format!("{}, and its name is not UTF-8", kind_name(stamp.stat.kind));
            self.tree.odd.insert(path, UnrecordableEntry { print, what });
            return;
        };
        let path = format!("{parent}{slash}{text}");
        if stamp.stat.kind == FsKind::Dir
            && self.bounds.own_directory == Some((stamp.stat.dev, stamp.stat.ino))
        {
            return;
        }
        if late.is_none() && self.bounds.ignored_paths.contains(path.as_str()) {
            if stamp.stat.kind == FsKind::Dir {
                self.tree.directories.insert(path.clone(), stamp.stat.mode);
            }
            self.postponed.push((path, kind));
            return;
        }
        match stamp.stat.kind {
            FsKind::Dir => {
                self.tree.directories.insert(path.clone(), stamp.stat.mode);
                open.push(path);
            }
            FsKind::File if is_recordable(&path) => {
                self.tree
                    .files
                    .insert(path, RecordingFile { print, links: stamp.stat.links, ignored_group: late });
            }
            FsKind::File => {
                let what = "a file, and its name is not the same on every system".to_string();
                self.tree.odd.insert(path, UnrecordableEntry { print, what });
            }
            other => {
                self.tree.odd.insert(path, UnrecordableEntry { print, what: kind_name(other).to_string() });
            }
        }
    }
}

/// Whether an entry of a directory was known before.
fn is_known(known: Option<&RecordingManifest>, parent: &str, name: &OsStr) -> bool {
    let Some(known) = known else { return false };
    let slash = if parent.is_empty() { "" } else { "/" };
    let path = match name.to_str() {
        Some(name) => format!("{parent}{slash}{name}"),
        None => format!("{parent}{slash}{}", name.as_encoded_bytes().escape_ascii()),
    };
    known.files.contains_key(&path) || known.directories.contains_key(&path) || known.odd.contains_key(&path)
}

/// What is said of a directory of which not every name was looked at.
pub(super) fn too_many(path: &str, names: usize) -> RecordingOmission {
    let path = if path.is_empty() { "./".to_string() } else { format!("{path}/") };
    let why = format!("has names that were not looked at: there are more than {ENTRIES} in all");
    RecordingOmission { path, reason: why, files: names, bytes: 0 }
}

fn kind_name(kind: FsKind) -> &'static str {
    match kind {
        FsKind::File => "a file",
        FsKind::Dir => "a directory",
        FsKind::Link => "a symbolic link",
        FsKind::Other => "a special file",
    }
}
