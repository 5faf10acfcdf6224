//! Securing a project before a command runs in it: what the caller says will be destroyed first, then what git keeps or could
//! keep, what it ignores last and only as far as it is little. Of what was secured for an earlier command of the same
//! recording nothing is read again, unless it is too young to tell whether it changed.

use std::collections::{HashMap, HashSet};
use std::io;

use relaycode_durable::FsDir;
use relaycode_snapshot::{
    EntryId, EntryKind, ImageError, ImageLocation, ImageReader, ImageWriter, Omission, OmissionList,
    SavedImage, for_each_same,
};

use crate::disk::{LedgerRoot, ancestors, split_parent};
use crate::recording::walk::{self, IgnoredPaths, path_text};
use crate::recording::{COPIED_BYTES, FILE_BYTES, IGNORED_BYTES, RecordingTree, SecuredTree};
use crate::revert::READ_BYTES;
use crate::{LedgerError, LedgerResult, io_error};

/// After so many files whoever waits is told.
const TOLD_EVERY: usize = 128;
/// Bytes of one file that is secured because it is going to be destroyed: as many as a revert reads of one.
const DOOMED_FILE_BYTES: u64 = READ_BYTES;
/// Bytes of such files that are copied in all.
const DOOMED_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// What was secured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecureReport {
    /// Files whose bytes are secured.
    pub files: usize,
    /// How many bytes they have.
    pub bytes: u64,
    /// How many bytes had to be copied this time.
    pub copied: u64,
    /// What is not backed up: what changes there can be named, but not undone.
    pub omissions: Vec<Omission>,
    /// What of that the command is about to destroy, as far as the caller knew.
    pub unsecured: Vec<Omission>,
    /// Why everything is secured within the command's reach, if it is.
    pub within_reach_reason: Option<String>,
}

/// Whoever waits while a project is secured.
pub struct SecureProgress<'p> {
    /// Is told how many files are secured, and of how many.
    pub see: &'p mut dyn FnMut(usize, usize),
    /// Is asked as often whether to stop.
    pub stop: &'p dyn Fn() -> bool,
}

/// What is known of a file or link that was secured for an earlier command and is the same now.
#[derive(Default)]
pub(super) struct CarriedEntries {
    images: HashMap<EntryId, ImageLocation>,
    links: HashMap<EntryId, Vec<u8>>,
}

impl CarriedEntries {
    /// What of an earlier tree holds for the one that is there now. What is too young is compared by its bytes.
    pub(super) fn of(before: &SecuredTree, now: &RecordingTree, check: &EntryCheck<'_>) -> CarriedEntries {
        let mut carried = CarriedEntries::default();
        for_each_same(&before.tree, &now.snapshot, &mut |was, is| {
            let is_young = before.tree.stat(was).is_racy(before.tree.began());
            if is_young && !check.holds_still(before, was) {
                return;
            }
            if let Some(location) = before.images.get(&was) {
                carried.images.insert(is, *location);
            } else if let Some(target) = before.links.get(&was) {
                carried.links.insert(is, target.clone());
            }
        });
        carried
    }
}

/// Compares what was secured with what is there, byte by byte.
pub(super) struct EntryCheck<'c> {
    pub(super) root: &'c LedgerRoot,
    pub(super) images: ImageReader<'c>,
}

impl EntryCheck<'_> {
    /// Whether a file or link whose record is the same still holds what was secured of it. One of which nothing was secured
    /// does: there is nothing that could be wrong.
    pub(super) fn holds_still(&self, before: &SecuredTree, id: EntryId) -> bool {
        let stat = before.tree.stat(id);
        let image = before.images.get(&id);
        let target = before.links.get(&id);
        if image.is_none() && target.is_none() {
            return true;
        }
        let path = path_text(&before.tree.path(id));
        let places = self.root.resolver();
        if let Some(target) = target {
            return places.read_link(&path).is_ok_and(|now| now == *target);
        }
        let was = image.and_then(|location| self.images.read(*location, stat.size).ok().flatten());
        let now = places.read(&path, stat.size).ok().flatten();
        was.zip(now).is_some_and(|(was, (now, _))| was == now)
    }
}

/// What came of securing a tree.
pub(super) struct SecureOutcome {
    pub(super) tree: SecuredTree,
    pub(super) report: SecureReport,
}

/// What goes into securing a tree.
pub(super) struct SecureInput<'s> {
    pub(super) root: &'s LedgerRoot,
    pub(super) keeping: &'s mut ImageWriter,
    /// Bytes that may still be written.
    pub(super) free: u64,
    /// What is known already.
    pub(super) carried: CarriedEntries,
    /// What git ignores.
    pub(super) ignored: &'s IgnoredPaths,
    /// Files, or directories with all in them, that the command is going to destroy.
    pub(super) doomed: &'s [String],
}

/// Secures a tree.
pub(super) fn secure_tree(
    input: SecureInput<'_>,
    tree: RecordingTree,
    progress: &mut SecureProgress<'_>,
) -> LedgerResult<SecureOutcome> {
    let SecureInput { root, keeping, free, carried, ignored, doomed } = input;
    let copied_before = keeping.copied_bytes();
    let mut securing = SecureRun {
        root,
        keeping,
        // Half of what is left is enough to take from anybody.
        most: COPIED_BYTES.min(free / 2),
        free,
        carried,
        ignored,
        doomed: doomed.iter().map(|path| path.trim_end_matches('/')).collect(),
        copied: 0,
        images: HashMap::new(),
        links: HashMap::new(),
        gone: Vec::new(),
        changed: Vec::new(),
        secured: SecureReport::default(),
        left: OmissionList::default(),
        blind: tree.snapshot.unread().map(|(path, _)| path_text(&path)).collect(),
        parent: None,
        done: 0,
        all: tree.snapshot.len(),
        progress,
    };
    securing.secure_all(&tree)?;
    let SecureRun { keeping, images, links, gone, changed, mut secured, left, blind, .. } = securing;
    secured.copied = keeping.copied_bytes() - copied_before;
    let partial = tree.snapshot.partial().map(|(path, names)| walk::too_many(&path, names));
    let unread = tree.snapshot.unread().map(|(path, reason)| Omission {
        path: format!("{}/", path_text(&path)),
        reason: reason.to_string(),
        files: 0,
        bytes: 0,
    });
    secured.omissions = left.into_sorted().chain(partial).chain(unread).collect();
    let doomed = |left: &&Omission| {
        let path = left.path.trim_end_matches('/');
        let holds = |outer: &str, inner: &str| outer == inner || ancestors(inner).any(|above| above == outer);
        doomed.iter().map(|one| one.trim_end_matches('/')).any(|one| holds(path, one) || holds(one, path))
    };
    secured.unsecured = secured.omissions.iter().filter(doomed).cloned().collect();
    let mut snapshot = tree.snapshot;
    gone.into_iter().for_each(|id| snapshot.forget(id));
    changed.into_iter().for_each(|(id, image)| snapshot.set_stat(id, image.stat));
    let ignored = ignored.clone();
    let tree = SecuredTree { images, links, blind, ignored, ..SecuredTree::new(snapshot) };
    Ok(SecureOutcome { tree, report: secured })
}

struct SecureRun<'s, 'p> {
    root: &'s LedgerRoot,
    keeping: &'s mut ImageWriter,
    /// Bytes that may be kept as copies.
    most: u64,
    /// Bytes that may still be written.
    free: u64,
    carried: CarriedEntries,
    ignored: &'s IgnoredPaths,
    doomed: HashSet<&'s str>,
    /// Bytes that are kept as copies, also those that were before.
    copied: u64,
    images: HashMap<EntryId, ImageLocation>,
    links: HashMap<EntryId, Vec<u8>>,
    /// What was gone when it was to be secured.
    gone: Vec<EntryId>,
    /// What was something else by then.
    changed: Vec<(EntryId, SavedImage)>,
    secured: SecureReport,
    left: OmissionList,
    blind: Vec<String>,
    /// The directory of the last file.
    parent: Option<(String, FsDir)>,
    /// How many were dealt with, of how many.
    done: usize,
    all: usize,
    progress: &'s mut SecureProgress<'p>,
}

/// A file that is to be secured.
type FileToSecure = (String, EntryId, u64);

impl SecureRun<'_, '_> {
    fn secure_all(&mut self, tree: &RecordingTree) -> LedgerResult<()> {
        let mut groups: Vec<(u64, Vec<FileToSecure>)> = vec![(0, Vec::new()); tree.ignored_roots.len() + 1];
        let mut doomed: Vec<FileToSecure> = Vec::new();
        let mut links: Vec<(String, EntryId)> = Vec::new();
        tree.snapshot.for_each(&mut |path, id| {
            let Ok(path) = tree.recordable(id, path) else { return };
            let stat = tree.snapshot.stat(id);
            match stat.kind {
                EntryKind::File if !tree.snapshot.is_unread(id) && self.is_doomed(&path) => {
                    doomed.push((path, id, stat.size));
                }
                EntryKind::File if !tree.snapshot.is_unread(id) => {
                    let (bytes, files) = &mut groups[tree.snapshot.mark(id) as usize];
                    *bytes += stat.size;
                    files.push((path, id, stat.size));
                }
                EntryKind::Link => links.push((path, id)),
                _ => {}
            }
        });
        self.all = links.len() + doomed.len() + groups.iter().map(|(_, files)| files.len()).sum::<usize>();
        for (path, id) in links {
            self.tick()?;
            self.secure_link(&path, id);
        }
        self.secure_doomed(tree, doomed)?;
        let (bytes, mut files) = std::mem::take(&mut groups[0]);
        if bytes > self.most {
            // Rather all the small ones than the first of the large ones.
            files.sort_by_key(|(_, _, size)| *size);
        }
        for (path, id, size) in files {
            self.tick()?;
            if size > FILE_BYTES {
                self.left.add(&path, &format!("has more than {}", format_size(FILE_BYTES)), 1, size);
            } else if self.keeping.would_copy(size) && self.copied + size > self.most {
                let reason = format!("would be beyond the {} that are copied", format_size(self.most));
                self.left.add(&path, &reason, 1, size);
            } else {
                self.secure_file(tree, &path, id, FILE_BYTES)?;
            }
        }
        let mut order: Vec<usize> = (1..groups.len()).collect();
        order.sort_by_key(|group| groups[*group].0);
        let mut ignored = IGNORED_BYTES.min(self.most.saturating_sub(self.copied));
        for group in order {
            let (bytes, files) = std::mem::take(&mut groups[group]);
            let name = &tree.ignored_roots[group - 1];
            if self.ignored.is_build_output(name) {
                self.blind.push(name.clone());
                self.left.add(&format!("{name}/"), "is build output, which is never backed up", 0, 0);
                continue;
            }
            if bytes > ignored {
                let root = walk::find_entry(&tree.snapshot, name).map(|id| tree.snapshot.stat(id).kind);
                let slash = if root == Some(EntryKind::Directory) { "/" } else { "" };
                self.blind.push(name.clone());
                for (_, _, size) in files {
                    self.left.add(&format!("{name}{slash}"), "is ignored by git, and large", 1, size);
                }
                continue;
            }
            ignored -= bytes;
            for (path, id, _) in files {
                self.tick()?;
                self.secure_file(tree, &path, id, IGNORED_BYTES)?;
            }
        }
        Ok(())
    }

    /// Whether the command is going to destroy a file.
    fn is_doomed(&self, path: &str) -> bool {
        let holds = |above: &str| self.doomed.contains(above);
        !self.doomed.is_empty() && (ancestors(path).any(holds) || holds(path) || holds("") || holds("."))
    }

    /// Secures what is going to be destroyed: the budgets for what may be destroyed are not for that.
    fn secure_doomed(&mut self, tree: &RecordingTree, mut files: Vec<FileToSecure>) -> LedgerResult<()> {
        files.sort_by_key(|(_, _, size)| *size);
        let most = DOOMED_BYTES.min(self.free / 2);
        for (path, id, size) in files {
            self.tick()?;
            if size > DOOMED_FILE_BYTES {
                self.left.add(&path, &format!("has more than {}", format_size(DOOMED_FILE_BYTES)), 1, size);
            } else if self.keeping.would_copy(size) && self.copied + size > most {
                let reason = format!("would be beyond the {} that are copied", format_size(most));
                self.left.add(&path, &reason, 1, size);
            } else {
                self.secure_file(tree, &path, id, DOOMED_FILE_BYTES)?;
            }
        }
        Ok(())
    }

    fn tick(&mut self) -> LedgerResult<()> {
        let done = self.done;
        self.done += 1;
        if !done.is_multiple_of(TOLD_EVERY) {
            return Ok(());
        }
        (self.progress.see)(done, self.all);
        if (self.progress.stop)() { Err(LedgerError::Interrupted) } else { Ok(()) }
    }

    /// The directory of a path.
    fn open_parent(&mut self, path: &str) -> io::Result<FsDir> {
        let parent = split_parent(path).0;
        if let Some((known, dir)) = &self.parent
            && known == parent
        {
            return Ok(dir.clone());
        }
        let root = self.root;
        let dir =
            if parent.is_empty() { root.dir().clone() } else { root.fs().open_dir(root.dir(), parent)? };
        self.parent = Some((parent.to_string(), dir.clone()));
        Ok(dir)
    }

    fn secure_link(&mut self, path: &str, id: EntryId) {
        if let Some(target) = self.carried.links.remove(&id) {
            self.links.insert(id, target);
            return;
        }
        let read =
            self.open_parent(path).and_then(|dir| self.root.fs().read_link(&dir, split_parent(path).1));
        match read {
            Ok(target) => _ = self.links.insert(id, target),
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.gone.push(id),
            Err(error) => self.left.add(path, &format!("cannot be read: {error}"), 1, 0),
        }
    }

    fn secure_file(&mut self, tree: &RecordingTree, path: &str, id: EntryId, most: u64) -> LedgerResult<()> {
        let stat = *tree.snapshot.stat(id);
        let saved = if let Some(location) = self.carried.images.get(&id) {
            Ok(SavedImage { stat, location: *location })
        } else {
            match self.open_parent(path) {
                Ok(dir) => self.keeping.save(&dir, split_parent(path).1, stat, most),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Err(ImageError::Gone),
                Err(error) => Err(ImageError::System(error)),
            }
        };
        match saved {
            Ok(image) => {
                self.secured.files += 1;
                self.secured.bytes += image.stat.size;
                if matches!(image.location, ImageLocation::Packed(_)) {
                    self.copied += image.stat.size;
                }
                self.images.insert(id, image.location);
                if image.stat != stat {
                    self.changed.push((id, image));
                }
            }
            Err(ImageError::Gone) => self.gone.push(id),
            Err(ImageError::KeepsChanging) => {
                self.left.add(path, "kept changing while it was being backed up", 1, stat.size);
            }
            Err(ImageError::System(error)) if is_full(&error) => return Err(io_error("secure", path)(error)),
            Err(ImageError::System(error)) => {
                self.left.add(path, &format!("cannot be read: {error}"), 1, stat.size);
            }
        }
        Ok(())
    }
}

/// Whether there is no room for what is secured: then nothing can be promised, and nothing begins.
fn is_full(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::ReadOnlyFilesystem)
}

/// Bytes for people.
pub(super) fn format_size(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}
