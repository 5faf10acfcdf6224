//! The check that read-only was read-only: what is in the project before a friend works, compared with what is
//! there afterwards.
//!
//! Everything counts: files that git tracks, ignores, and has not been told of, links by their targets, permission
//! bits; of the repository whatever git does not change by itself ([`git_dir`]), where its branches stand ([`git_refs`]), and
//! what is staged ([`git_index`]); of relay's
//! own directory what it would write back one day. Nothing is followed and nothing is changed. A file is the same if
//! the system's record of it is the same: the time of its last change (`ctime`) is one that no ordinary process can set
//! back. If the record change_kind, the content decides as far as it was read before; a file that was only touched is the
//! same.
//!
//! What is found was changed *while* the friend worked, by it or by somebody else: the user may have saved.

mod check;
mod content;
pub(crate) mod git_dir;
mod git_index;
mod git_refs;
mod scope;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::Metadata;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use relaycode_durable::{Fs, FsDir, RealFs};
use relaycode_project::git::Git;
use relaycode_snapshot::walk::ENTRIES as FILES;
use relaycode_snapshot::{
    EntryChange, EntryChangeKind, EntryId, EntryKind, EntryStat, KnownTree, Snapshot, TreeDifference,
    WalkCaps, WalkError,
};

use content::{CheckedEntryContent, ContentReader};
use git_dir::GitDirPart;
use git_refs::GitRefs;
use scope::{CheckRule, CheckWalkPosition, CheckWalkScope};

pub use check::{TreeCheck, TreeCheckGap, TreeCheckReport};

/// Bytes of content that are read beforehand. Of what is beyond, a changed record is all that can be told.
pub const CONTENT: u64 = 512 << 20;
/// Bytes of one file that are read.
pub const FILE: u64 = 32 << 20;

/// How a project looked.
#[derive(Debug)]
pub struct TreeCheckSnapshot {
    root: PathBuf,
    /// The project's directory itself: whether it is one, permission bits, owner.
    itself: (bool, u32, u32, u32),
    /// The repository as far as it lies outside, and the project.
    trees: Vec<CheckedTree>,
    /// Directories and files that could not be looked into.
    unread: Vec<String>,
}

/// A directory with all that is in it and belongs to the check.
#[derive(Debug)]
struct CheckedTree {
    /// Where it is, if that is not the project.
    outside: Option<PathBuf>,
    snapshot: Snapshot,
    contents: HashMap<EntryId, CheckedEntryContent>,
    /// The refs of each repository in it, by the path of its directory.
    refs: HashMap<Vec<u8>, GitRefs>,
}

/// Something that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObservedChange {
    /// What; relative to the project, or absolute if it lies outside (the repository of a worktree) or is the project
    /// itself. Directories end in `/`. Foreign text.
    pub path: String,
    /// How.
    pub kind: ObservedChangeKind,
}

/// How something change_kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ObservedChangeKind {
    /// It was not there.
    Created,
    /// It has another content, another target, or is something else altogether.
    Changed,
    /// It is not there any more.
    Removed,
    /// It has other permission bits, or another owner.
    Mode,
    /// It was written to or replaced. Whether its content is another one is not known: it was not read before, or it
    /// has another name somewhere now.
    Written,
    /// It is an index, and something else is staged there: the next commit would take it.
    Staged,
}

impl ObservedChangeKind {
    /// In a word or two.
    pub fn label(self) -> &'static str {
        match self {
            ObservedChangeKind::Created => "created",
            ObservedChangeKind::Changed => "changed",
            ObservedChangeKind::Removed => "removed",
            ObservedChangeKind::Mode => "other permissions",
            ObservedChangeKind::Written => "written to",
            ObservedChangeKind::Staged => "what is staged changed",
        }
    }
}

/// Why a project could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum TreeCheckError {
    /// It has more files than are looked at.
    #[error("the project has more than {FILES} files")]
    TooMany,
    /// Somebody wanted it to stop.
    #[error("looking at the files was broken off")]
    Cancelled,
    /// It cannot be opened.
    #[error("{} cannot be looked at: {source}", path.display())]
    Root {
        /// The project.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl TreeCheckSnapshot {
    /// Looks at the project at `root`. `git` says which files are ignored: of these no content is read, because
    /// they are many and large (what was built, what was installed). `stop` is asked often.
    ///
    /// # Errors
    /// If it cannot be looked at, has too many files, or was stopped.
    pub fn take(
        root: &Path,
        git: Option<&Git<'_>>,
        stop: &dyn Fn() -> bool,
    ) -> Result<TreeCheckSnapshot, TreeCheckError> {
        let ignored = git.map(ignored_paths).unwrap_or_default();
        TreeCheckSnapshot::take_within(root, &ignored, FILES, CONTENT, stop)
    }

    fn take_within(
        root: &Path,
        ignored: &HashSet<Vec<u8>>,
        most: usize,
        mut content: u64,
        stop: &dyn Fn() -> bool,
    ) -> Result<TreeCheckSnapshot, TreeCheckError> {
        let mut taken = TreeCheckSnapshot::walk(root, ignored, most, None, stop)?;
        let fs = RealFs::default();
        for tree in &mut taken.trees {
            let at = &fs.open_root(tree.outside.as_deref().unwrap_or(root)).map_err(root_error(root))?;
            let mut reader = ContentReader { fs: &fs, root: at, tree: &tree.snapshot, stop, last: None };
            tree.contents = reader.read_all(&mut content)?;
            tree.refs = tree.read_refs(root);
        }
        Ok(taken)
    }

    /// Looks at everything, without reading any content; what was `known` is not counted.
    fn walk(
        root: &Path,
        ignored: &HashSet<Vec<u8>>,
        most: usize,
        known: Option<&TreeCheckSnapshot>,
        stop: &dyn Fn() -> bool,
    ) -> Result<TreeCheckSnapshot, TreeCheckError> {
        let fs = RealFs::default();
        let itself = root.symlink_metadata().map_err(root_error(root))?;
        let mut taken = TreeCheckSnapshot {
            root: root.to_path_buf(),
            itself: of_itself(&itself),
            trees: Vec::new(),
            unread: Vec::new(),
        };
        let mut left = most;
        // The first is this checkout's own; what it shares with others has the index of another one.
        let outside = git_dir::external_git_dirs(root).into_iter().enumerate();
        let outside = outside.map(|(nth, path)| (Some(path), CheckWalkPosition::repository(nth == 0)));
        for (outside, start) in outside.chain([(None, CheckWalkPosition::project())]) {
            // The root itself may be reached through links: that is the user's own choice.
            let at = match fs.open_root(outside.as_deref().unwrap_or(root)) {
                Ok(at) => at,
                Err(error) if outside.is_none() => return Err(root_error(root)(error)),
                Err(_) => {
                    taken.unread.extend(outside.map(|path| path.to_string_lossy().into_owned()));
                    continue;
                }
            };
            let known = known.and_then(|known| known.tree(outside.as_deref()));
            let tree = CheckedTree::walk((root, &fs, &at), (outside, start, ignored), left, known, stop)?;
            left = left.saturating_sub(tree.snapshot.len());
            taken.unread.extend(tree.snapshot.unread().map(|(path, _)| match path.as_slice() {
                b"" => ".".to_string(),
                path => tree.shown(path),
            }));
            taken.trees.push(tree);
        }
        Ok(taken)
    }

    fn tree(&self, outside: Option<&Path>) -> Option<&CheckedTree> {
        self.trees.iter().find(|tree| tree.outside.as_deref() == outside)
    }

    /// How many files and directories were looked at.
    pub fn len(&self) -> usize {
        self.trees.iter().map(|tree| tree.snapshot.len()).sum()
    }

    /// Whether there was nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Directories and files that could not be looked into, so that nothing can be said of them. Foreign text.
    pub fn unread(&self) -> &[String] {
        &self.unread
    }

    /// What is not as it was, by path.
    ///
    /// # Errors
    /// As [`TreeCheckSnapshot::take`].
    pub fn compare(&self, stop: &dyn Fn() -> bool) -> Result<Vec<ObservedChange>, TreeCheckError> {
        self.rescan(stop).map(|(changed, _)| changed)
    }

    /// The same, with what could not be looked into this time.
    fn rescan(&self, stop: &dyn Fn() -> bool) -> Result<(Vec<ObservedChange>, Vec<String>), TreeCheckError> {
        let itself = |kind| ObservedChange { path: format!("{}/", self.root.display()), kind };
        let now = match TreeCheckSnapshot::walk(&self.root, &HashSet::new(), FILES, Some(self), stop) {
            Err(TreeCheckError::Root { .. }) if is_gone(&self.root) => {
                return Ok((vec![itself(ObservedChangeKind::Removed)], Vec::new()));
            }
            other => other?,
        };
        let mut differences = Vec::new();
        if self.itself != now.itself {
            let same = self.itself.0 == now.itself.0;
            differences.push(itself(if same {
                ObservedChangeKind::Mode
            } else {
                ObservedChangeKind::Changed
            }));
        }
        for before in &self.trees {
            match now.tree(before.outside.as_deref()) {
                Some(after) => before.compare(after, &self.root, stop, &mut differences)?,
                None => before.each_as(ObservedChangeKind::Removed, &mut differences),
            }
        }
        for after in now.trees.iter().filter(|after| self.tree(after.outside.as_deref()).is_none()) {
            after.each_as(ObservedChangeKind::Created, &mut differences);
        }
        differences.sort_by(|a, b| a.path.cmp(&b.path));
        differences.dedup();
        Ok((differences, now.unread))
    }
}

/// What git ignores, directories without a slash at their end; nothing if it cannot say.
pub(crate) fn ignored_paths(git: &Git<'_>) -> HashSet<Vec<u8>> {
    let without_slash = |mut path: Vec<u8>| {
        path.truncate(path.strip_suffix(b"/").map_or(path.len(), <[u8]>::len));
        path
    };
    git.ignored().unwrap_or_default().into_iter().map(without_slash).collect()
}

/// Now, as a walk takes it: seconds since 1970 and nanoseconds.
pub(crate) fn walk_start() -> (i64, u32) {
    let now = UNIX_EPOCH.elapsed().unwrap_or_default();
    (i64::try_from(now.as_secs()).unwrap_or(i64::MAX), now.subsec_nanos())
}

fn of_itself(metadata: &Metadata) -> (bool, u32, u32, u32) {
    (metadata.is_dir(), metadata.mode() & 0o7777, metadata.uid(), metadata.gid())
}

fn root_error(root: &Path) -> impl Fn(io::Error) -> TreeCheckError + use<> {
    let path = root.to_path_buf();
    move |source| TreeCheckError::Root { path: path.clone(), source }
}

/// Whether a project is not there any more: moved, removed, or something else in its place.
fn is_gone(root: &Path) -> bool {
    match root.symlink_metadata() {
        Ok(metadata) => !metadata.is_dir(),
        Err(error) => matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
    }
}

impl CheckedTree {
    fn walk(
        (root, fs, at): (&Path, &dyn Fs, &FsDir),
        (outside, start, ignored): (Option<PathBuf>, CheckWalkPosition, &HashSet<Vec<u8>>),
        most: usize,
        known: Option<&CheckedTree>,
        stop: &dyn Fn() -> bool,
    ) -> Result<CheckedTree, TreeCheckError> {
        let caps = WalkCaps { entries: most, ..WalkCaps::default() };
        let mut rule = CheckRule { ignored, stop, start, path: Vec::new() };
        let known = known.map(|known| KnownTree::beyond_cap(&known.snapshot));
        let snapshot = match Snapshot::take(fs, at, &mut rule, caps, known, walk_start()) {
            Ok(snapshot) if snapshot.partial().next().is_some() => return Err(TreeCheckError::TooMany),
            Ok(snapshot) => snapshot,
            Err(WalkError::Stopped) => return Err(TreeCheckError::Cancelled),
            Err(WalkError::Root(source)) => return Err(root_error(root)(source)),
        };
        Ok(CheckedTree { outside, snapshot, contents: HashMap::new(), refs: HashMap::new() })
    }

    /// The refs of each repository in it whose refs can be read.
    fn read_refs(&self, root: &Path) -> HashMap<Vec<u8>, GitRefs> {
        let mut folders = HashSet::new();
        self.snapshot.for_each(&mut |path, id| {
            let scope = CheckWalkPosition::from_mark(self.snapshot.mark(id)).scope;
            if scope == CheckWalkScope::Repository(GitDirPart::Refs)
                && let Some(folder) = path.strip_suffix(b"refs")
                && folder.last().is_none_or(|last| *last == b'/')
            {
                folders.insert(folder.strip_suffix(b"/").unwrap_or(folder).to_vec());
            }
        });
        let refs = |folder: Vec<u8>| Some((GitRefs::read(&self.directory(root, &folder))?, folder));
        folders.into_iter().filter_map(refs).map(|(refs, folder)| (folder, refs)).collect()
    }

    fn directory(&self, root: &Path, folder: &[u8]) -> PathBuf {
        self.outside.as_deref().unwrap_or(root).join(OsStr::from_bytes(folder))
    }

    /// Compares the refs of each repository by what they mean. Says of which repositories that was possible.
    fn compare_refs(&self, root: &Path, differences: &mut Vec<ObservedChange>) -> HashSet<&[u8]> {
        let mut compared = HashSet::new();
        for (folder, before) in &self.refs {
            let Some(now) = GitRefs::read(&self.directory(root, folder)) else { continue };
            compared.insert(folder.as_slice());
            let slash: &[u8] = if folder.is_empty() { b"" } else { b"/" };
            for (name, kind) in before.changes(&now) {
                let path = self.shown(&[folder, slash, &name].concat());
                differences.push(ObservedChange { path, kind });
            }
        }
        compared
    }

    /// A path of it as people are told.
    fn shown(&self, path: &[u8]) -> String {
        let path = String::from_utf8_lossy(path);
        match &self.outside {
            Some(outside) => format!("{}/{path}", outside.display()),
            None => path.into_owned(),
        }
    }

    fn observed_change(&self, path: &[u8], stat: &EntryStat, kind: ObservedChangeKind) -> ObservedChange {
        let slash = if stat.kind == EntryKind::Directory { "/" } else { "" };
        ObservedChange { path: format!("{}{slash}", self.shown(path)), kind }
    }

    /// Everything in it, as something that came or went.
    fn each_as(&self, kind: ObservedChangeKind, differences: &mut Vec<ObservedChange>) {
        self.snapshot.for_each(&mut |path, id| {
            differences.push(self.observed_change(path, self.snapshot.stat(id), kind));
        });
    }

    fn compare(
        &self,
        now: &CheckedTree,
        root: &Path,
        stop: &dyn Fn() -> bool,
        differences: &mut Vec<ObservedChange>,
    ) -> Result<(), TreeCheckError> {
        let fs = RealFs::default();
        let at = &fs.open_root(self.outside.as_deref().unwrap_or(root)).map_err(root_error(root))?;
        let mut reader = ContentReader { fs: &fs, root: at, tree: &now.snapshot, stop, last: None };
        let found = TreeDifference::between(&self.snapshot, &now.snapshot);
        // One that may have changed without a trace in its times was read beforehand, or nobody can tell.
        let was_read =
            |change: &&EntryChange| change.before.is_some_and(|id| self.contents.contains_key(&id));
        let racy = found.racy.iter().filter(was_read);
        let compared = self.compare_refs(root, differences);
        for change in found.changes.iter().chain(racy).filter(|change| !change.path.is_empty()) {
            let kind = match (change.kind, change.before, change.after) {
                (EntryChangeKind::Created, ..) => Some(ObservedChangeKind::Created),
                (EntryChangeKind::Deleted, ..) => Some(ObservedChangeKind::Removed),
                (EntryChangeKind::TypeChanged, ..) => Some(ObservedChangeKind::Changed),
                (_, Some(before), Some(after)) => {
                    let read = &mut |is_index| reader.read(after, is_index);
                    self.change_kind(before, now.snapshot.stat(after), read)?
                }
                _ => None,
            };
            let stat = self.stat_of(change, now);
            let is_ref = git_refs::is_ref_file(&change.path, |folder| compared.contains(folder));
            if is_ref && kind != Some(ObservedChangeKind::Mode) {
                continue;
            }
            differences.extend(kind.map(|kind| self.observed_change(&change.path, stat, kind)));
        }
        Ok(())
    }

    fn stat_of<'s>(&'s self, change: &EntryChange, now: &'s CheckedTree) -> &'s EntryStat {
        match (change.before, change.after) {
            (Some(id), _) => self.snapshot.stat(id),
            (None, Some(id)) => now.snapshot.stat(id),
            (None, None) => self.snapshot.stat(self.snapshot.root()),
        }
    }

    /// How an entry change_kind from what it was; `read` gives what is in it now.
    fn change_kind(
        &self,
        id: EntryId,
        after: &EntryStat,
        read: &mut dyn FnMut(bool) -> Result<Option<CheckedEntryContent>, TreeCheckError>,
    ) -> Result<Option<ObservedChangeKind>, TreeCheckError> {
        let before = self.snapshot.stat(id);
        let mode =
            ((before.mode, before.owner) != (after.mode, after.owner)).then_some(ObservedChangeKind::Mode);
        // The entries of a directory are compared themselves, and special files hold nothing.
        if matches!(before.kind, EntryKind::Directory | EntryKind::Special) {
            return Ok(mode);
        }
        let known = match self.contents.get(&id) {
            Some(CheckedEntryContent::Staged(staged)) => {
                // git puts another file in its place, with other permissions if that is how it was called.
                let same = matches!(read(true)?, Some(CheckedEntryContent::Staged(now)) if now.commits_same_as(staged));
                return Ok((!same).then_some(ObservedChangeKind::Staged));
            }
            _ if before.size != after.size => return Ok(Some(ObservedChangeKind::Changed)),
            Some(known @ CheckedEntryContent::Known(_)) => known,
            // Other permissions alone change the record, too, but not when it was written.
            None if before.modified == after.modified && mode.is_some() => return Ok(mode),
            None => return Ok(Some(ObservedChangeKind::Written)),
        };
        // Whoever writes to another name of a file that took its place, writes here.
        let is_tied_elsewhere =
            after.kind == EntryKind::File && !before.is_same_inode(after) && after.links > 1;
        Ok(match read(false)? {
            Some(now) if now != *known => Some(ObservedChangeKind::Changed),
            Some(_) if !is_tied_elsewhere => mode,
            _ => Some(ObservedChangeKind::Written),
        })
    }
}
