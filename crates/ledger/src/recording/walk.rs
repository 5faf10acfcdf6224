//! The project's tree as it is at one moment: every name, and what tells whether it was touched since.
//!
//! No link is followed, and what no change may write (`.git`, `.relaycode`) is not looked at. What git ignores comes
//! last, so that it is the first to be left out when something must be.

use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;

use relaycode_change::path::RelPath;
use relaycode_durable::{Dir, Fs, Kind, Stamp};
use serde::{Deserialize, Serialize};

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
        let Stamp { stat, modified, changed } = *stamp;
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
}

/// Whether a record may have a file of this name.
pub(super) fn is_recordable(path: &str) -> bool {
    // A backslash would become a slash: another file.
    RelPath::parse(path).is_ok_and(|parsed| parsed.as_str() == path)
}

/// Walks the project. `later` is what git ignores, without a slash at the end.
pub(super) fn walk(root: &Root, later: &HashSet<&str>) -> Result<Tree, LedgerError> {
    let mut walk =
        Walk { fs: root.fs(), root: root.dir(), later, tree: Tree::default(), postponed: Vec::new() };
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
    later: &'w HashSet<&'w str>,
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
            if self.tree.files.len() + self.tree.odd.len() + self.tree.directories.len() >= ENTRIES {
                self.unseen(&path, format!("this project has more than {ENTRIES} files"));
                continue;
            }
            let mut entries: Vec<(OsString, Kind)> = Vec::new();
            let listed = self.open(&path).and_then(|dir| {
                self.fs.each_entry(&dir, &mut |name, kind| entries.push((name.to_os_string(), kind)))?;
                Ok(dir)
            });
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
                if SEALED.iter().any(|sealed| name == *sealed) {
                    continue;
                }
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
        if late.is_none() && self.later.contains(path.as_str()) {
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

fn what(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "a file",
        Kind::Dir => "a directory",
        Kind::Link => "a symbolic link",
        Kind::Other => "a special file",
    }
}
