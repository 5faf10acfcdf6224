//! A tree at one moment: names, bytes, permission bits, attributes, directories, links. And copies of trees
//! that keep all of that.
//!
//! Invariant: two snapshots are equal exactly if a user could not tell the trees apart (except for times).

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use anyhow::Context;

/// The ledger's own directory, which no snapshot of a project has.
pub(super) const STATE: &str = ".relaycode";

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Snapshot {
    pub(super) entries: BTreeMap<PathBuf, Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    /// Bytes, permission bits, user attributes.
    File(Vec<u8>, u32, BTreeMap<String, Vec<u8>>),
    /// Permission bits.
    Dir(u32),
    /// Its target.
    Link(PathBuf),
    /// Anything else.
    Other,
}

impl Snapshot {
    /// The project at `root`, without relay's own directory.
    pub(super) fn of(root: &Path) -> anyhow::Result<Snapshot> {
        let mut snapshot = Snapshot::default();
        snapshot.collect(root, Path::new(""), Some(OsStr::new(STATE)))?;
        Ok(snapshot)
    }

    /// Journals and records of the ledger at `root`, undone ones too.
    pub(super) fn of_ledger(root: &Path) -> anyhow::Result<Snapshot> {
        let mut snapshot = Snapshot::default();
        for folder in ["", "undone"] {
            let Ok(entries) = fs::read_dir(root.join(STATE).join(folder)) else { continue };
            for entry in entries {
                let name = entry?.file_name();
                if !name.to_string_lossy().ends_with(".yml") {
                    continue;
                }
                let path = Path::new(folder).join(&name);
                snapshot.entries.insert(path.clone(), entry_of(&root.join(STATE).join(&path))?);
            }
        }
        Ok(snapshot)
    }

    /// How many records (not journals) a snapshot of a ledger has.
    pub(super) fn records(&self) -> usize {
        self.entries.keys().filter(|path| !path.to_string_lossy().ends_with(".pending.yml")).count()
    }

    /// The journals in a snapshot of a ledger.
    pub(super) fn journals(&self) -> Vec<&PathBuf> {
        self.entries.keys().filter(|path| path.to_string_lossy().ends_with(".pending.yml")).collect()
    }

    fn collect(&mut self, root: &Path, below: &Path, leave_out: Option<&OsStr>) -> anyhow::Result<()> {
        let here = root.join(below);
        for entry in fs::read_dir(&here).with_context(|| format!("reading {}", here.display()))? {
            let name = entry?.file_name();
            if leave_out == Some(name.as_os_str()) {
                continue;
            }
            let path = below.join(&name);
            let found = entry_of(&root.join(&path))?;
            let is_dir = matches!(found, Entry::Dir(_));
            self.entries.insert(path.clone(), found);
            if is_dir {
                self.collect(root, &path, None)?;
            }
        }
        Ok(())
    }

    /// The same tree without attributes: a record keeps none, so a revert cannot restore them.
    pub(super) fn plain(&self) -> Snapshot {
        let mut plain = self.clone();
        for entry in plain.entries.values_mut() {
            if let Entry::File(_, _, attributes) = entry {
                attributes.clear();
            }
        }
        plain
    }

    /// The first few differences from `other`, in words.
    pub(super) fn differences(&self, other: &Snapshot) -> String {
        let mut lines = Vec::new();
        for (path, entry) in &self.entries {
            match other.entries.get(path) {
                None => lines.push(format!("{} is not to be there", path.display())),
                Some(wanted) if wanted != entry => {
                    lines.push(format!("{} is {}, not {}", path.display(), short(entry), short(wanted)));
                }
                Some(_) => {}
            }
        }
        for path in other.entries.keys().filter(|path| !self.entries.contains_key(*path)) {
            lines.push(format!("{} is missing", path.display()));
        }
        let more = lines.len().saturating_sub(4);
        lines.truncate(4);
        if more > 0 {
            lines.push(format!("{more} more"));
        }
        lines.join("; ")
    }
}

fn short(entry: &Entry) -> String {
    match entry {
        Entry::File(bytes, mode, attributes) => {
            let start = String::from_utf8_lossy(&bytes[..bytes.len().min(30)]).escape_debug().to_string();
            let marks = if attributes.is_empty() { "" } else { ", attributes" };
            format!("{} bytes \"{start}\" {mode:04o}{marks}", bytes.len())
        }
        Entry::Dir(mode) => format!("a directory {mode:04o}"),
        Entry::Link(target) => format!("a link to {}", target.display()),
        Entry::Other => "a special file".to_owned(),
    }
}

fn entry_of(path: &Path) -> anyhow::Result<Entry> {
    let stat = fs::symlink_metadata(path).with_context(|| format!("looking at {}", path.display()))?;
    let mode = stat.permissions().mode() & 0o7777;
    Ok(if stat.is_dir() {
        Entry::Dir(mode)
    } else if stat.is_symlink() {
        Entry::Link(fs::read_link(path)?)
    } else if stat.is_file() {
        let bytes = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
        Entry::File(bytes, mode, attributes(path))
    } else {
        Entry::Other
    })
}

/// A file's user attributes; empty if the file system has none.
fn attributes(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut names = vec![0; 4096];
    let length = rustix::fs::listxattr(path, &mut names[..]).unwrap_or(0);
    let mut found = BTreeMap::new();
    for name in names[..length].split(|byte| *byte == 0) {
        let name = String::from_utf8_lossy(name).into_owned();
        if !name.starts_with("user.") {
            continue;
        }
        let mut value = vec![0; 4096];
        if let Ok(length) = rustix::fs::getxattr(path, &name, &mut value[..]) {
            value.truncate(length);
            found.insert(name, value);
        }
    }
    found
}

/// Ignored on file systems without attributes.
pub(super) fn set_attribute(path: &Path, name: &str, value: &[u8]) {
    let _ = rustix::fs::setxattr(path, name, value, rustix::fs::XattrFlags::empty());
}

/// Copies a tree with bytes, permission bits, attributes and links. `to` must not exist.
pub(super) fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir(to).with_context(|| format!("cannot make {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("reading {}", from.display()))? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy(&source, &target)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(&source)?, &target)?;
        } else if kind.is_file() {
            fs::copy(&source, &target).with_context(|| format!("cannot copy to {}", target.display()))?;
            for (name, value) in attributes(&source) {
                set_attribute(&target, &name, &value);
            }
        }
    }
    fs::set_permissions(to, fs::metadata(from)?.permissions())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::tests::scratch;

    #[test]
    fn a_copy_is_equal_and_every_difference_is_seen() {
        let world = scratch("snapshot");
        let (one, two) = (world.memory.join("one"), world.memory.join("two"));
        fs::create_dir_all(one.join("a/b")).unwrap();
        fs::create_dir_all(one.join(STATE)).unwrap();
        fs::write(one.join("a/x"), b"\xff\x00").unwrap();
        fs::set_permissions(one.join("a/x"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink("a/x", one.join("link")).unwrap();
        copy(&one, &two).unwrap();
        let was = Snapshot::of(&one).unwrap();
        assert_eq!(was, Snapshot::of(&two).unwrap());
        assert_eq!(was.entries.len(), 4, "the ledger's directory is left out");
        fs::set_permissions(two.join("a/x"), fs::Permissions::from_mode(0o644)).unwrap();
        fs::write(two.join("a/stray"), b"").unwrap();
        fs::remove_file(two.join("link")).unwrap();
        let said = Snapshot::of(&two).unwrap().differences(&was);
        for part in ["a/x is", "a/stray is not to be there", "link is missing"] {
            assert!(said.contains(part), "{said}");
        }
        fs::remove_dir_all(world.out.parent().unwrap()).unwrap();
    }
}
