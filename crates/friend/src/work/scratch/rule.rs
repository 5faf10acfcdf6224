//! What of a copy is looked at: what was copied, and what is new and could be part of a change. The rest is noted.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use relaycode_change::proposal::path::is_sealed;
use relaycode_durable::{FsDir, RealFs};
use relaycode_snapshot::walk::WalkDirectory;
use relaycode_snapshot::{
    EntryKind, EntryStat, KnownTree, Snapshot, WalkCaps, WalkError, WalkRule, WalkStep,
};

use super::{CopiedEntry, OpenDirCache, ScratchError, system_error};
use crate::tree_check::walk_start;

/// A repository's own directory.
const GIT: &str = ".git";
/// The marks of what is new beneath something that git ignores, or in a repository of its own.
const IGNORED: u32 = 1;
const EXCLUDED: u32 = 2;

/// The rule of a walk through a copy.
pub(super) struct ScratchRule<'a> {
    copied: &'a BTreeMap<String, CopiedEntry>,
    excluded_dirs: &'a [String],
    stop: &'a dyn Fn() -> bool,
    /// The copy when it was done.
    pub(super) before: Option<&'a Snapshot>,
    /// What git ignores in it.
    pub(super) ignored: HashSet<Vec<u8>>,
    /// Without a repository of the project nobody says what to ignore: where the copy is, to see what builds leave behind.
    pub(super) build_root: Option<&'a Path>,
    pub(super) built: Vec<String>,
    /// What was found and is no part of a change.
    pub(super) ignored_paths: Vec<String>,
    pub(super) bad_names: Vec<String>,
    pub(super) sealed: Vec<String>,
    pub(super) repositories: BTreeSet<String>,
}

impl<'a> ScratchRule<'a> {
    pub(super) fn new(
        copied: &'a BTreeMap<String, CopiedEntry>,
        excluded_dirs: &'a [String],
        stop: &'a dyn Fn() -> bool,
    ) -> ScratchRule<'a> {
        ScratchRule {
            copied,
            excluded_dirs,
            stop,
            before: None,
            ignored: HashSet::new(),
            build_root: None,
            built: Vec::new(),
            ignored_paths: Vec::new(),
            bad_names: Vec::new(),
            sealed: Vec::new(),
            repositories: BTreeSet::new(),
        }
    }

    /// Walks through the copy, which is open.
    pub(super) fn walk(&mut self, root: &Path, dir: &FsDir) -> Result<Snapshot, ScratchError> {
        let (caps, before) = (WalkCaps::default(), self.before.map(KnownTree::beyond_cap));
        match Snapshot::take(&RealFs::default(), dir, self, caps, before, walk_start()) {
            Ok(snapshot) if snapshot.partial().next().is_some() => {
                let most = format!("{} files after the work", caps.entries);
                Err(ScratchError::TooMuch { most, largest: String::new() })
            }
            Ok(snapshot) => Ok(snapshot),
            Err(WalkError::Stopped) => Err(ScratchError::Cancelled),
            Err(WalkError::Root(error)) => Err(system_error(root, "read")(error)),
        }
    }
}

impl WalkRule for ScratchRule<'_> {
    fn step(&mut self, at: WalkDirectory<'_>, name: &[u8], stat: &EntryStat) -> WalkStep {
        let is_directory = stat.kind == EntryKind::Directory;
        if at.mark == EXCLUDED {
            self.repositories.insert(String::from_utf8_lossy(at.path).into_owned());
            return WalkStep::Skip;
        }
        let slash: &[u8] = if at.path.is_empty() { b"" } else { b"/" };
        let path = [at.path, slash, name].concat();
        let (Ok(path), Ok(name)) = (std::str::from_utf8(&path), std::str::from_utf8(name)) else {
            self.bad_names.push(path.escape_ascii().to_string());
            return WalkStep::Skip;
        };
        if is_sealed(name) {
            match name == GIT {
                // The repository of the copy itself is relay's.
                true if at.path.is_empty() => {}
                true => _ = self.repositories.insert(path.to_string()),
                false => self.sealed.push(path.to_string()),
            }
            return WalkStep::Skip;
        }
        if self.excluded_dirs.iter().any(|excluded| excluded == path) {
            if is_directory {
                return WalkStep::Take(EXCLUDED);
            }
            self.repositories.insert(path.to_string());
            return WalkStep::Skip;
        }
        let is_ignored = at.mark == IGNORED || self.ignored.contains(path.as_bytes());
        let is_known = self.copied.contains_key(path)
            || self.before.is_some_and(|before| before.find(path.as_bytes()).is_some());
        if is_directory && !is_known && self.build_root.is_some_and(|root| is_build_output(&root.join(path)))
        {
            self.built.push(format!("{path}/"));
            return WalkStep::Skip;
        }
        if is_ignored && !is_known {
            self.ignored_paths.push(if is_directory { format!("{path}/") } else { path.to_string() });
            return WalkStep::Skip;
        }
        WalkStep::Take(if is_ignored { IGNORED } else { 0 })
    }

    fn is_stopped(&self) -> bool {
        (self.stop)()
    }
}

/// Directories that tools fill by themselves, whatever they say about it.
const BUILD_DIRECTORIES: &[&str] = &["node_modules", "__pycache__"];

/// What a tool puts into a directory whose content can be made again (bford.info/cachedir): cargo and many others.
const CACHE_TAG: &str = "CACHEDIR.TAG";

/// Whether a directory holds what a build left behind.
pub(super) fn is_build_output(directory: &Path) -> bool {
    let named = |names: &[&str]| names.iter().any(|name| directory.ends_with(name));
    let beside = |name: &str| directory.parent().is_some_and(|parent| parent.join(name).is_file());
    named(BUILD_DIRECTORIES)
        || directory.join(CACHE_TAG).symlink_metadata().is_ok_and(|meta| meta.is_file())
        || named(&["target"]) && beside("Cargo.toml")
}

/// The copy as it is when it is done.
pub(super) fn take_snapshot(
    directory: &Path,
    copied: &BTreeMap<String, CopiedEntry>,
    excluded_dirs: &[String],
    stop: &dyn Fn() -> bool,
) -> Result<Snapshot, ScratchError> {
    let dirs = OpenDirCache::new(directory).map_err(system_error(directory, "read"))?;
    ScratchRule::new(copied, excluded_dirs, stop).walk(directory, dirs.root())
}
