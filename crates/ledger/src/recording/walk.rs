//! What of a project a recording looks at: everything but what no change may write (`.git`, `.relaycode`). Of another
//! repository within the project its `.git` is noted, so that its end does not pass in silence. What git ignores comes last, so that it is the first to be left out when something must be.

use std::collections::HashSet;

use relaycode_change::proposal::path::RelPath;
use relaycode_snapshot::walk::WalkDirectory;
use relaycode_snapshot::{
    EntryId, EntryKind, EntryStat, Omission, Snapshot, WalkCaps, WalkError, WalkRule, WalkStep,
};

use crate::disk::{LedgerRoot, STATE_DIR_NAME};
use crate::recording::ENTRIES;
use crate::{LedgerError, LedgerResult, io_error};

/// Where git keeps a repository. The project's own is not looked at, that of another one is not looked into.
const REPOSITORY: &str = ".git";

/// What a walk goes by.
pub(super) struct RecordingWalkBounds<'w> {
    /// What git ignores, without a slash at the end.
    pub(super) ignored_paths: &'w HashSet<&'w str>,
    /// What is known already, and is looked at again without being counted.
    pub(super) known: Option<&'w Snapshot>,
    /// So much else is looked at.
    pub(super) most: usize,
    /// A directory that is not looked into, by its device and number: relay's own, should it lie in the project.
    pub(super) own_directory: Option<(u64, u64)>,
    /// The time now.
    pub(super) began: (i64, u32),
}

/// A project's tree. The mark of an entry is 0, or behind which of the ignored roots it lies, counted from 1.
pub(super) struct RecordingTree {
    pub(super) snapshot: Snapshot,
    /// What git ignores, in the order in which it was found.
    pub(super) ignored_roots: Vec<String>,
}

/// Walks the project.
pub(super) fn walk(root: &LedgerRoot, bounds: &RecordingWalkBounds<'_>) -> LedgerResult<RecordingTree> {
    let mut rule = RecordingRule { bounds, ignored_roots: Vec::new(), path: String::new() };
    let caps = WalkCaps { entries: bounds.most, ..WalkCaps::default() };
    let taken = Snapshot::take(root.fs(), root.dir(), &mut rule, caps, bounds.known, bounds.began);
    let snapshot = taken.map_err(|error| match error {
        WalkError::Root(error) => io_error("list", "the project")(error),
        WalkError::Stopped => LedgerError::Interrupted,
    })?;
    Ok(RecordingTree { snapshot, ignored_roots: rule.ignored_roots })
}

struct RecordingRule<'w> {
    bounds: &'w RecordingWalkBounds<'w>,
    ignored_roots: Vec<String>,
    /// For the path that is looked for among the ignored ones.
    path: String,
}

impl WalkRule for RecordingRule<'_> {
    fn skips(&self, at: WalkDirectory<'_>, name: &[u8]) -> bool {
        name == STATE_DIR_NAME.as_bytes() || (at.path.is_empty() && name == REPOSITORY.as_bytes())
    }

    fn step(&mut self, at: WalkDirectory<'_>, name: &[u8], stat: &EntryStat) -> WalkStep {
        let is_directory = stat.kind == EntryKind::Directory;
        if is_directory && self.bounds.own_directory == Some((stat.dev, stat.ino)) {
            return WalkStep::Skip;
        }
        let (Ok(folder), Ok(name)) = (std::str::from_utf8(at.path), std::str::from_utf8(name)) else {
            return WalkStep::Leaf(at.mark);
        };
        if name == REPOSITORY {
            return WalkStep::Leaf(at.mark);
        }
        if at.mark != 0 || self.bounds.ignored_paths.is_empty() {
            return WalkStep::Take(at.mark);
        }
        self.path.clear();
        self.path.push_str(folder);
        if !folder.is_empty() {
            self.path.push('/');
        }
        self.path.push_str(name);
        if !self.bounds.ignored_paths.contains(self.path.as_str()) {
            return WalkStep::Take(0);
        }
        self.ignored_roots.push(self.path.clone());
        WalkStep::Later(self.ignored_roots.len() as u32)
    }
}

impl RecordingTree {
    /// What of an entry a record can hold.
    pub(super) fn recordable(&self, id: EntryId, path: &[u8]) -> Result<String, String> {
        recordable(self.snapshot.stat(id).kind, path)
    }
}

/// The path of something that a record can hold; an error says what it is, as the rest of a sentence.
pub(super) fn recordable(kind: EntryKind, path: &[u8]) -> Result<String, String> {
    let what = match kind {
        EntryKind::File => "a file",
        EntryKind::Directory => "a directory",
        EntryKind::Link => "a symbolic link",
        EntryKind::Special => "a special file",
    };
    let Ok(text) = std::str::from_utf8(path) else {
        return Err(format!("{what}, and its name is not UTF-8"));
    };
    if kind == EntryKind::Special {
        return Err(what.to_string());
    }
    if text.ends_with("/.git") {
        return Err("another repository's `.git`, which relay does not back up".to_string());
    }
    // A backslash would become a slash: another file.
    match RelPath::parse(text) {
        Ok(parsed) if parsed.as_str() == text => Ok(text.to_string()),
        _ => Err(format!("{what}, and its name is not the same on every system")),
    }
}

/// A path as people are told it; what is not UTF-8 is written with `\x…`.
pub(super) fn shown(path: &[u8]) -> String {
    match std::str::from_utf8(path) {
        Ok(text) => text.to_string(),
        Err(_) => path.escape_ascii().to_string(),
    }
}

/// What is said of a directory of which not every name was looked at.
pub(super) fn too_many(path: &[u8], names: usize) -> Omission {
    let path = if path.is_empty() { "./".to_string() } else { format!("{}/", shown(path)) };
    let reason = format!("has names that were not looked at: there are more than {ENTRIES} in all");
    Omission { path, reason, files: names, bytes: 0 }
}
