//! What a friend did to its copy of the project, as operations that a proposal takes: the files as they were
//! copied against the files as they are. Commits, branches and whatever else it did to the copy's repository
//! do not matter.
//!
//! Only ordinary files count. Links, pipes, repositories and ignored files that it made, and names that no
//! change can have, are left out and said; a file that turned into something else is not taken for deleted.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use relaycode_change::path::{RelPath, is_sealed};
use relaycode_change::proposal::{Action, Image, Mode, Operation};
use relaycode_project::git::Git;

use crate::scratch::{Base, Copied, Dirs, Found, Scratch, ScratchError, Stamp, sentence, system};

/// A repository's own directory.
const GIT: &str = ".git";
/// Bytes of one changed file; a longer one is left out.
const FILE_BYTES: u64 = 64 << 20;
/// Bytes of all changed files together, before and after.
const ALL_BYTES: u64 = 512 << 20;
/// Entries that are looked at in the copy, for what is new there.
const ENTRIES: usize = 500_000;

/// What a friend did.
#[derive(Debug, Default)]
pub struct Difference {
    /// What it did, in an order in which it can be done: renames, deletions, changes, new files.
    pub operations: Vec<Operation>,
    /// What it did that is no part of that, a sentence each.
    pub left_out: Vec<String>,
}

/// What is found while looking.
#[derive(Default)]
struct Look {
    deleted: BTreeMap<RelPath, Image>,
    modified: BTreeMap<RelPath, (Image, Image)>,
    created: BTreeMap<RelPath, Image>,
    bytes: u64,
    turned: Vec<String>,
    links: Vec<String>,
    special: Vec<String>,
    names: Vec<String>,
    long: Vec<String>,
    ignored: Vec<String>,
    closed: Vec<String>,
    sealed: Vec<String>,
    unread: Vec<String>,
    lost: Vec<String>,
}

impl Scratch {
    /// What was done to the copy. `git` is the project's own.
    ///
    /// # Errors
    /// If it cannot be read, or somebody broke it off.
    pub fn difference(&self, git: &Git<'_>, stop: &dyn Fn() -> bool) -> Result<Difference, ScratchError> {
        let root = self.directory();
        let mut dirs = match Dirs::new(root) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(ScratchError::Gone),
            other => other.map_err(system(root, "read"))?,
        };
        let mut look = Look::default();
        for (number, (path, copied)) in self.copied.iter().enumerate() {
            if number % 256 == 0 && stop() {
                return Err(ScratchError::Stopped);
            }
            let found = dirs.find(path).map_err(system(&root.join(path), "read"))?;
            match (copied, found) {
                (Copied::Link { target }, Found::Link(now)) if *target == now => {}
                (Copied::Link { .. }, _) => look.links.push(path.clone()),
                (Copied::File { base, .. }, Found::Nothing) => self.deleted(path, base, &mut look)?,
                (Copied::File { stamp, base }, Found::File(now)) => {
                    if now != *stamp || self.too_young_to_tell(stamp) {
                        self.modified(path, (stamp, base), &mut dirs, &mut look)?;
                    }
                }
                // `rm x; mkdir x` is a deletion like any other, if there are files in it.
                (Copied::File { base, .. }, Found::Directory) => self.deleted(path, base, &mut look)?,
                (Copied::File { .. }, _) => look.turned.push(path.clone()),
            }
        }
        self.new_ones(git, &mut dirs, &mut look, stop)?;
        Ok(look.finish())
    }

    fn deleted(&self, path: &str, base: &Base, look: &mut Look) -> Result<(), ScratchError> {
        let Some(name) = look.named(path) else { return Ok(()) };
        let Some(Copied::File { stamp, .. }) = self.copied.get(path) else { return Ok(()) };
        match self.base(path, base)? {
            Some(bytes) => {
                look.count(bytes.len(), 0)?;
                look.deleted.insert(name, image(bytes, stamp));
            }
            None => look.lost.push(path.to_string()),
        }
        Ok(())
    }

    fn modified(
        &self,
        path: &str,
        (stamp, base): (&Stamp, &Base),
        dirs: &mut Dirs,
        look: &mut Look,
    ) -> Result<(), ScratchError> {
        let (bytes, now) = match dirs.read(path, FILE_BYTES) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                look.long.push(path.to_string());
                return Ok(());
            }
            Err(error) => return Err(system(&self.directory().join(path), "read")(error)),
        };
        let Some(before) = self.base(path, base)? else {
            look.lost.push(path.to_string());
            return Ok(());
        };
        if before == bytes && stamp.runs() == now.runs() {
            return Ok(());
        }
        let Some(name) = look.named(path) else { return Ok(()) };
        look.count(before.len(), bytes.len())?;
        look.modified.insert(name, (image(before, stamp), image(bytes, &now)));
        Ok(())
    }

    /// What is in the copy and was not copied.
    fn new_ones(
        &self,
        git: &Git<'_>,
        dirs: &mut Dirs,
        look: &mut Look,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), ScratchError> {
        let mut found = Vec::new();
        // The copy's repository is the friend's by now: it says what to leave out, and nothing else.
        let ignored = git.in_scratch(self.directory()).ignored().unwrap_or_default();
        let ignored: HashSet<String> = ignored
            .iter()
            .map(|path| String::from_utf8_lossy(path).trim_end_matches('/').to_string())
            .collect();
        let mut waiting = vec![String::new()];
        let mut entries = 0;
        while let Some(directory) = waiting.pop() {
            if stop() {
                return Err(ScratchError::Stopped);
            }
            let listed = listed(&self.directory().join(&directory));
            if !listed.whole {
                look.unread.push(if directory.is_empty() { ".".to_string() } else { directory.clone() });
            }
            for Entry { name, is_text, is_dir } in listed.entries {
                entries += 1;
                let path = if directory.is_empty() { name.clone() } else { format!("{directory}/{name}") };
                if !is_text {
                    look.names.push(path);
                } else if is_sealed(&name) {
                    // The repository of the copy itself is relay's.
                    match name == GIT {
                        true if directory.is_empty() => {}
                        true => look.closed.push(path),
                        false => look.sealed.push(path),
                    }
                } else if self.copied.contains_key(&path) {
                } else if ignored.contains(&path) {
                    look.ignored.push(if is_dir { format!("{path}/") } else { path });
                } else if self.closed.contains(&path) {
                    let touched = !is_dir || !self::listed(&self.directory().join(&path)).is_empty();
                    look.closed.extend(touched.then_some(path));
                } else if is_dir {
                    waiting.push(path);
                } else {
                    found.push(path);
                }
            }
            if entries > ENTRIES {
                let most = format!("{ENTRIES} files after the work");
                return Err(ScratchError::TooMuch { most, largest: String::new() });
            }
        }
        // And by the project's own rules, which the friend cannot have changed.
        // A name that no change can have might mean something else to git, and is left out anyway.
        let plain = |path: &&str| RelPath::parse(path).is_ok_and(|name| name.as_str() == *path);
        let paths: Vec<&str> = found.iter().map(String::as_str).filter(plain).collect();
        let ignored: HashSet<String> = git.would_ignore(&paths).unwrap_or_default().into_iter().collect();
        found.sort();
        for path in found {
            if ignored.contains(&path) {
                look.ignored.push(path);
                continue;
            }
            self.created(&path, dirs, look)?;
        }
        Ok(())
    }

    fn created(&self, path: &str, dirs: &mut Dirs, look: &mut Look) -> Result<(), ScratchError> {
        let failed = system(&self.directory().join(path), "read");
        match dirs.find(path).map_err(&failed)? {
            Found::File(_) => {}
            Found::Link(_) => {
                look.links.push(path.to_string());
                return Ok(());
            }
            Found::Nothing | Found::Directory => return Ok(()),
            Found::Special | Found::BehindALink => {
                look.special.push(path.to_string());
                return Ok(());
            }
        }
        let Some(name) = look.named(path) else { return Ok(()) };
        match dirs.read(path, FILE_BYTES) {
            Ok((bytes, stamp)) => {
                look.count(0, bytes.len())?;
                look.created.insert(name, image(bytes, &stamp));
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                look.long.push(path.to_string());
                Ok(())
            }
            Err(error) => Err(failed(error)),
        }
    }
}

impl Look {
    /// The path as a change names it; one that no change can have is noted.
    fn named(&mut self, path: &str) -> Option<RelPath> {
        let name = RelPath::parse(path).ok().filter(|name| name.as_str() == path);
        if name.is_none() {
            self.names.push(path.to_string());
        }
        name
    }

    fn count(&mut self, before: usize, after: usize) -> Result<(), ScratchError> {
        self.bytes += (before + after) as u64;
        if self.bytes <= ALL_BYTES {
            return Ok(());
        }
        let most = format!("{} MiB of changes", ALL_BYTES >> 20);
        Err(ScratchError::TooMuch { most, largest: String::new() })
    }

    fn finish(mut self) -> Difference {
        let mut operations = Vec::new();
        let mut add = |action: Action| operations.push(Operation { line: 0, action });
        for (from, to) in self.renamed() {
            let (Some(before), Some(after)) = (self.deleted.remove(&from), self.created.remove(&to)) else {
                continue;
            };
            add(Action::Rename { from, to: to.clone() });
            // What was moved must still be what was copied, or somebody looks.
            add(Action::Exact { path: to, before: Some(before), after: Some(after) });
        }
        for (path, before) in self.deleted {
            add(Action::Exact { path, before: Some(before), after: None });
        }
        for (path, (before, after)) in self.modified {
            add(Action::Exact { path, before: Some(before), after: Some(after) });
        }
        for (path, after) in self.created {
            add(Action::Exact { path, before: None, after: Some(after) });
        }
        let mut left_out = Vec::new();
        let kinds = [
            (&self.ignored, "what git ignores was made in the copy and is left out"),
            (&self.links, "links that were made, changed or removed in the copy are left out"),
            (&self.special, "pipes, sockets and devices that were made in the copy are left out"),
            (&self.turned, "files that became something else in the copy are left out"),
            (&self.closed, "other repositories in the copy are left out"),
            (&self.sealed, "what no change may write is left out"),
            (&self.names, "files whose names no change can have are left out"),
            (&self.unread, "directories that cannot be read are left out"),
            (&self.long, "files that became too long in the copy are left out"),
            (
                &self.lost,
                "files that changed in the copy and in the project, too long to keep both, are left out",
            ),
        ];
        for (paths, what) in kinds {
            left_out.extend(sentence(what, paths));
        }
        Difference { operations, left_out }
    }

    /// Files that went and came with the same bytes, where that leaves no choice.
    fn renamed(&self) -> Vec<(RelPath, RelPath)> {
        let mut by_bytes: HashMap<&Image, (Vec<&RelPath>, Vec<&RelPath>)> = HashMap::new();
        for (path, image) in self.deleted.iter().filter(|(_, image)| !image.bytes.is_empty()) {
            by_bytes.entry(image).or_default().0.push(path);
        }
        for (path, image) in &self.created {
            if let Some((_, to)) = by_bytes.get_mut(image) {
                to.push(path);
            }
        }
        let pair = |(from, to): (Vec<&RelPath>, Vec<&RelPath>)| match (&from[..], &to[..]) {
            ([from], [to]) => Some(((*from).clone(), (*to).clone())),
            _ => None,
        };
        let mut pairs: Vec<_> = by_bytes.into_values().filter_map(pair).collect();
        pairs.sort();
        pairs
    }
}

fn image(bytes: Vec<u8>, stamp: &Stamp) -> Image {
    Image { bytes, mode: if stamp.runs() { Mode::Executable } else { Mode::Regular } }
}

/// What is in a directory.
struct Listed {
    entries: Vec<Entry>,
    /// All of it could be read.
    whole: bool,
}

/// Something in a directory.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    /// Its name; what is no text in it is written out.
    name: String,
    is_text: bool,
    is_dir: bool,
}

impl Listed {
    /// Whether nothing is there, as far as can be told.
    fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.whole
    }
}

fn listed(directory: &Path) -> Listed {
    let Ok(found) = fs::read_dir(directory) else { return Listed { entries: Vec::new(), whole: false } };
    let mut listed = Listed { entries: Vec::new(), whole: true };
    for entry in found {
        let Ok(entry) = entry else {
            listed.whole = false;
            continue;
        };
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let (name, is_text) = match entry.file_name().into_string() {
            Ok(name) => (name, true),
            Err(name) => (name.as_bytes().escape_ascii().to_string(), false),
        };
        listed.entries.push(Entry { name, is_text, is_dir });
    }
    listed.entries.sort();
    listed
}
