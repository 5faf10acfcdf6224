//! What of a project a recording looks at: everything but what no change may write (`.git`, `.relaycode`). Of another
//! repository within the project its `.git` is noted, so that its end does not pass in silence. What git ignores comes last, so that it is the first to be left out when something must be.

use std::collections::BTreeMap;

use relaycode_change::proposal::path::RelPath;
use relaycode_durable::{name_bytes, name_text};
use relaycode_snapshot::walk::WalkDirectory;
use relaycode_snapshot::{
    EntryId, EntryKind, EntryStat, KnownTree, Omission, Snapshot, WalkCaps, WalkError, WalkRule, WalkStep,
};

use serde::{Deserialize, Serialize};

use crate::disk::{LedgerRoot, STATE_DIR_NAME, split_parent};
use crate::recording::ENTRIES;
use crate::{LedgerError, LedgerResult, io_error};

/// Where git keeps a repository. The project's own is not looked at, that of another one is not looked into.
const REPOSITORY: &str = ".git";

/// Directories that a tool makes, and makes again, where git ignores them.
const BUILD_OUTPUT: [&str; 8] =
    ["target", "node_modules", ".venv", "venv", "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache"];
/// The file by which a cache says that it is one.
const CACHE_TAG: &str = "CACHEDIR.TAG";

/// What git ignores: its outermost files and directories, and whether each is build output, which is never looked into.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct IgnoredPaths(BTreeMap<String, bool>);

impl IgnoredPaths {
    /// Those of a list in which directories end with a slash.
    pub(super) fn new(root: &LedgerRoot, listed: &[String]) -> IgnoredPaths {
        let entry = |path: &String| {
            let name = path.trim_end_matches('/');
            (name.to_string(), path.ends_with('/') && is_build_output(root, name))
        };
        IgnoredPaths(listed.iter().map(entry).collect())
    }

    /// Whether a path is one of them, and then whether it is build output.
    fn find(&self, path: &str) -> Option<bool> {
        self.0.get(path).copied()
    }

    pub(super) fn is_build_output(&self, path: &str) -> bool {
        self.find(path) == Some(true)
    }
}

fn is_build_output(root: &LedgerRoot, path: &str) -> bool {
    let fs = root.fs();
    let has_tag =
        || fs.open_dir(root.dir(), path).and_then(|dir| fs.exists(&dir, CACHE_TAG)).unwrap_or(false);
    BUILD_OUTPUT.contains(&split_parent(path).1) || has_tag()
}

/// What a walk goes by.
pub(super) struct RecordingWalkBounds<'w> {
    /// What git ignores.
    pub(super) ignored_paths: &'w IgnoredPaths,
    /// What is known already.
    pub(super) known: Option<KnownTree<'w>>,
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
        if name == REPOSITORY.as_bytes() {
            return WalkStep::Leaf(at.mark);
        }
        if at.mark != 0 || self.bounds.ignored_paths.0.is_empty() {
            return WalkStep::Take(at.mark);
        }
        let (folder, name) = (name_text(at.path), name_text(name));
        self.path.clear();
        self.path.push_str(&folder);
        if !folder.is_empty() {
            self.path.push('/');
        }
        self.path.push_str(&name);
        let Some(is_build_output) = self.bounds.ignored_paths.find(&self.path) else {
            return WalkStep::Take(0);
        };
        self.ignored_roots.push(self.path.clone());
        let mark = self.ignored_roots.len() as u32;
        if is_build_output { WalkStep::Leaf(mark) } else { WalkStep::Later(mark) }
    }
}

impl RecordingTree {
    /// Marks everything anew: git ignores something else now than when the tree was walked.
    pub(super) fn mark_ignored(&mut self, ignored: &IgnoredPaths) {
        self.ignored_roots.clear();
        // What is in a directory comes after it.
        for id in self.snapshot.ids() {
            let mut mark = self.snapshot.parent(id).map_or(0, |parent| self.snapshot.mark(parent));
            if mark == 0 {
                let path = path_text(&self.snapshot.path(id));
                if ignored.find(&path).is_some() {
                    self.ignored_roots.push(path);
                    mark = self.ignored_roots.len() as u32;
                }
            }
            self.snapshot.set_mark(id, mark);
        }
    }

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
    let text = path_text(path);
    if kind == EntryKind::Special {
        return Err(what.to_string());
    }
    if text.ends_with("/.git") {
        return Err("another repository's `.git`, which relay does not back up".to_string());
    }
    match RelPath::of_existing(&text) {
        Ok(_) => Ok(text),
        Err(error) => Err(format!("{what}, and {error}")),
    }
}

/// A path as records have it, and as people are told it.
pub(super) fn path_text(path: &[u8]) -> String {
    name_text(path).into_owned()
}

/// The entry at a path of records.
pub(super) fn find_entry(tree: &Snapshot, path: &str) -> Option<EntryId> {
    tree.find(&name_bytes(path)?)
}

/// What is said of a directory of which not every name was looked at.
pub(super) fn too_many(path: &[u8], names: usize) -> Omission {
    let path = if path.is_empty() { "./".to_string() } else { format!("{}/", path_text(path)) };
    let reason = format!("has names that were not looked at: there are more than {ENTRIES} in all");
    Omission { path, reason, files: names, bytes: 0 }
}
