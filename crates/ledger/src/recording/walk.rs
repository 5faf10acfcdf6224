//! The project's tree as it is at one moment: every name, and what tells whether it was touched since.
//!
//! No link is followed, and what no change may write (`.git`, `.relaycode`) is not looked at. What git ignores comes
//! last, so that it is the first to be left out when something must be. What was known before is looked at however
//! much came since: a file that was not looked at must never pass for one that is gone.

use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;

use relaycode_change::path::RelPath;
use relaycode_durable::{Dir, Fs, Kind, Stamp};
use serde::{Deserialize, Serialize};

use super::manifest::Manifest;
use super::{ENTRIES, Left};
use crate::error::{LedgerError, cannot};
use crate::paths::Root;

/// Names that are not looked at, wherever they stand.
const SEALED: [&str; 2] = [".git", crate::state::NAME];

/// What tells whether an entry was touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Print {
    pub(super) dev: u64,
    pub(super) ino: u64,
    pub(super) size: u64,
    pub(super) mode: u32,
    pub(super) modified: (i64, u32),
    pub(super) changed: (i64, u32),
}

impl Print {
    pub(super) fn of(stamp: &Stamp) -> Print {
        let Stamp { stat, modified, changed, .. } = *stamp;
        Print { dev: stat.dev, ino: stat.ino, size: stat.len, mode: stat.mode, modified, changed }
    }
}

/// A regular file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub(super) print: Print,
    /// How many names it has.
    pub(super) links: u64,
    /// Which of [`Tree::late`] it belongs to.
    pub(super) late: Option<u32>,
}

/// What the ledger cannot keep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Odd {
    pub(super) print: Print,
    /// What it is: `a symbolic link`, `a special file`, `a file` (with a name that no record may have).
    pub(super) what: String,
}

/// A project's tree.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// Every directory with its permission bits.
    pub(super) directories: BTreeMap<String, u32>,
    /// Every regular file whose name a record may have.
    pub(super) files: BTreeMap<String, Seen>,
    /// Everything else. Names that are not UTF-8 are written with `\x…`.
    pub(super) odd: BTreeMap<String, Odd>,
    /// What git ignores, in the order in which it was walked.
    pub(super) late: Vec<String>,
    /// Directories that were not looked into, and why.
    pub(super) unseen: Vec<Left>,
    /// Directories in which so many names were not looked at, because there are too many in all.
    pub(super) partial: BTreeMap<String, usize>,
}

/// Whether a record may have a file of this name.
pub(super) fn is_recordable(path: &str) -> bool {
    // A backslash would become a slash: another file.
    RelPath::parse(path).is_ok_and(|parsed| parsed.as_str() == path)
}

/// What a walk goes by.
pub(super) struct Bounds<'w> {
    /// What git ignores, without a slash at the end.
    pub(super) later: &'w HashSet<&'w str>,
    /// What is known already, and is looked at again without being counted.
    pub(super) known: Option<&'w Manifest>,
    /// So much else is looked at.
    pub(super) most: usize,
    /// A directory that is not looked into, by its device and number: relay's own, should it lie in the project.
    pub(super) own: Option<(u64, u64)>,
}

/// Walks the project.
pub(super) fn walk(root: &Root, bounds: &Bounds<'_>) -> Result<Tree, LedgerError> {
    let mut walk = Walk {
        fs: root.fs(),
        root: root.dir(),
        bounds,
        counted: 0,
        tree: Tree::default(),
        postponed: Vec::new(),
    };
    walk.from(String::new(), None)?;
    for (path, kind) in std::mem::take(&mut walk.postponed) {
        let late = u32::try_from(walk.tree.late.len()).ok();
        walk.tree.late.push(path.clone());
        if kind == Kind::Dir {
            walk.from(path, late)?;
            continue;
        }
        let (parent, name) = crate::paths::split(&path);
        if let Ok(dir) = walk.open(parent) {
            walk.entry(&dir, parent, OsStr::new(name), kind, late, &mut Vec::new());
        }
    }
    Ok(walk.tree)
}

struct Walk<'w> {
    fs: &'w dyn Fs,
    root: &'w Dir,
    bounds: &'w Bounds<'w>,
    /// Names that were not known before.
    counted: usize,
    tree: Tree,
    postponed: Vec<(String, Kind)>,
}

impl Walk<'_> {
    fn open(&self, path: &str) -> io::Result<Dir> {
        if path.is_empty() { Ok(self.root.clone()) } else { self.fs.open_dir(self.root, path) }
    }

    /// Walks a directory and all that is in it.
    fn from(&mut self, path: String, late: Option<u32>) -> Result<(), LedgerError> {
        let mut open = vec![path];
        while let Some(path) = open.pop() {
            let mut entries: Vec<(OsString, Kind)> = Vec::new();
            let mut over = 0;
            let counted = &mut self.counted;
            let opened =
                if path.is_empty() { Ok(self.root.clone()) } else { self.fs.open_dir(self.root, &path) };
            let listed = opened.and_then(|dir| {
                self.fs.each_entry(&dir, &mut |name, kind| {
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
                Err(error) if path.is_empty() => return Err(cannot("list", "the project")(error)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    self.unseen(&path, format!("it cannot be read: {error}"));
                    continue;
                }
            };
            for (name, kind) in entries {
                self.entry(&dir, &path, &name, kind, late, &mut open);
            }
        }
        Ok(())
    }

    fn unseen(&mut self, path: &str, why: String) {
        self.tree.unseen.push(Left { path: format!("{path}/"), why, files: 0, bytes: 0 });
    }

    /// Takes in one entry; directories that are to be walked go to `open`.
    fn entry(
        &mut self,
        dir: &Dir,
        parent: &str,
        name: &OsStr,
        kind: Kind,
        late: Option<u32>,
        open: &mut Vec<String>,
    ) {
        let slash = if parent.is_empty() { "" } else { "/" };
        // Gone again: it is as if it had never been.
        let Ok(stamp) = self.fs.stamp(dir, name) else { return };
        let print = Print::of(&stamp);
        let Some(text) = name.to_str() else {
            let path = format!("{parent}{slash}{}", name.as_encoded_bytes().escape_ascii());
            let what = format!("{}, and its name is not UTF-8", what(stamp.stat.kind));
            self.tree.odd.insert(path, Odd { print, what });
            return;
        };
        let path = format!("{parent}{slash}{text}");
        if stamp.stat.kind == Kind::Dir && self.bounds.own == Some((stamp.stat.dev, stamp.stat.ino)) {
            return;
        }
        if late.is_none() && self.bounds.later.contains(path.as_str()) {
            if stamp.stat.kind == Kind::Dir {
                self.tree.directories.insert(path.clone(), stamp.stat.mode);
            }
            self.postponed.push((path, kind));
            return;
        }
        match stamp.stat.kind {
            Kind::Dir => {
                self.tree.directories.insert(path.clone(), stamp.stat.mode);
                open.push(path);
            }
            Kind::File if is_recordable(&path) => {
                self.tree.files.insert(path, Seen { print, links: stamp.stat.links, late });
            }
            Kind::File => {
                let what = "a file, and its name is not the same on every system".to_string();
                self.tree.odd.insert(path, Odd { print, what });
            }
            other => {
                self.tree.odd.insert(path, Odd { print, what: what(other).to_string() });
            }
        }
    }
}

/// Whether an entry of a directory was known before.
fn is_known(known: Option<&Manifest>, parent: &str, name: &OsStr) -> bool {
    let Some(known) = known else { return false };
    let slash = if parent.is_empty() { "" } else { "/" };
    let path = match name.to_str() {
        Some(name) => format!("{parent}{slash}{name}"),
        None => format!("{parent}{slash}{}", name.as_encoded_bytes().escape_ascii()),
    };
    known.files.contains_key(&path) || known.directories.contains_key(&path) || known.odd.contains_key(&path)
}

/// What is said of a directory of which not every name was looked at.
pub(super) fn too_many(path: &str, names: usize) -> Left {
    let path = if path.is_empty() { "./".to_string() } else { format!("{path}/") };
    let why = format!("has names that were not looked at: there are more than {ENTRIES} in all");
    Left { path, why, files: names, bytes: 0 }
}

fn what(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "a file",
        Kind::Dir => "a directory",
        Kind::Link => "a symbolic link",
        Kind::Other => "a special file",
    }
}
