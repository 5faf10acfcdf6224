//! Securing a project before a command runs in it: what git keeps or could keep first, what it ignores last and only
//! as far as it is little.

use std::collections::{HashMap, HashSet};
use std::io;

use relaycode_durable::FsDir;
use relaycode_snapshot::{
    EntryId, EntryKind, ImageError, ImageLocation, ImageWriter, Omission, OmissionList, SavedImage,
};

use crate::disk::{StateDir, split_parent};
use crate::recording::store::recording_stores;
use crate::recording::walk::{self, shown};
use crate::recording::{
    COPIED_BYTES, ENTRIES, FILE_BYTES, IGNORED_BYTES, LedgerInventory, Recording, RecordingDirectory,
    RecordingManifest, RecordingStore, RecordingTree, RecordingWalkBounds, root,
};
use crate::transaction::{TransactionHeader, recover};
use crate::{IoContext, Ledger, LedgerError, LedgerResult, io_error};

/// After so many files whoever waits is told.
const TOLD_EVERY: usize = 128;

/// What was secured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecureReport {
    /// Files whose bytes are secured.
    pub files: usize,
    /// How many bytes they have.
    pub bytes: u64,
    /// How many of those had to be copied.
    pub copied: u64,
    /// What is not backed up: what changes there can be named, but not undone.
    pub omissions: Vec<Omission>,
    /// Why everything is secured within the command's reach, if it is.
    pub within_reach_reason: Option<String>,
}

impl Ledger {
    /// Secures the project, so that what changes from now on can be adopted. `later` is what git ignores; `see` is told
    /// how many files are secured, and of how many; `stop` is asked as often.
    ///
    /// # Errors
    /// `RecordingActive` if another one runs in this project, `TransactionActive` if a change is just being applied: each would take the
    /// other's changes for its own. `Interrupted`; the system's.
    pub fn begin_recording(
        &self,
        about: &TransactionHeader,
        later: &[String],
        see: &mut dyn FnMut(usize, usize),
        stop: &dyn Fn() -> bool,
    ) -> LedgerResult<Recording<'_>> {
        let state = self.make_state()?;
        let ((own, within_reach), number) = {
            let _project = self.lock_project(&state)?;
            let (open, _) = recover::recover_dead(self, &state)?;
            if let Some((id, pid)) = open.iter().find_map(|open| Some((open.id, open.pid?))) {
                return Err(LedgerError::TransactionActive { id, pid });
            }
            self.refuse_if_recording(&state)?;
            // Where that cannot be noted, a recording that dies with its project's directory is set aside.
            let _ = self.note_checkout();
            (self.make_recording_directory(&state, about)?, self.next_number()?)
        };
        let later: HashSet<&str> = later.iter().map(|path| path.trim_end_matches('/')).collect();
        match self.secure_into(&state, &own, number, about, &later, see, stop) {
            Ok((manifest, secured)) => {
                let secured = SecureReport { within_reach_reason: within_reach, ..secured };
                Ok(Recording { ledger: self, own, manifest, secured })
            }
            Err(error) => {
                // What cannot be cleared now is cleared by the next recovery.
                let _ = own.clear(&state);
                Err(error)
            }
        }
    }

    /// Refuses if another recording is alive. The dead ones were dealt with before.
    fn refuse_if_recording(&self, state: &StateDir) -> LedgerResult<()> {
        let fs = state.fs();
        for place in recording_stores(self, Some(state)) {
            let Some(id) = place.list(fs)?.into_iter().next() else { continue };
            let told = (|| {
                let dir = fs.open_dir(&place.open_all(fs).ok()?, &id.to_string()).ok()?;
                let (manifest, _) = RecordingManifest::read(self, &dir, id, &place.path_of(id)).ok()?;
                Some((manifest.pid, manifest.told.prompt_summary.unwrap_or_default()))
            })();
            let (pid, command) = told.unwrap_or_default();
            return Err(LedgerError::RecordingActive { pid, command });
        }
        Ok(())
    }

    /// Makes a recording's directory where no command in the project reaches it. Where that cannot be, in the project;
    /// and says why.
    fn make_recording_directory(
        &self,
        state: &StateDir,
        about: &TransactionHeader,
    ) -> LedgerResult<(RecordingDirectory, Option<String>)> {
        let make = |place: RecordingStore| {
            let path = place.path_of(about.uuid);
            RecordingDirectory::make(state.fs(), place, about.uuid).context("make", &path)
        };
        let outside = RecordingStore::outside_project(self, true);
        let why = match outside.and_then(|place| place.map(make).transpose()) {
            Ok(Some(own)) => {
                let inside = root::home_is_inside(self);
                return Ok((own, inside.then(|| "relay's own directory lies in the project".to_string())));
            }
            Ok(None) => "relay has no directory of its own".to_string(),
            Err(error) => error.to_string(),
        };
        Ok((make(RecordingStore::inside_project(state))?, Some(why)))
    }

    #[expect(clippy::too_many_arguments, reason = "one step of `secure`, which has them all")]
    fn secure_into(
        &self,
        state: &StateDir,
        own: &RecordingDirectory,
        number: u64,
        about: &TransactionHeader,
        later: &HashSet<&str>,
        see: &mut dyn FnMut(usize, usize),
        stop: &dyn Fn() -> bool,
    ) -> LedgerResult<(RecordingManifest, SecureReport)> {
        let fs = state.fs();
        let path = own.path();
        let began = fs.stamp(&own.dir, super::LOCK.as_ref()).context("look at", &path)?.changed;
        let bounds = RecordingWalkBounds {
            ignored_paths: later,
            known: None,
            most: ENTRIES,
            own_directory: root::own_directory_id(self),
            began,
        };
        let tree = walk::walk(&self.root, &bounds)?;
        let free = fs.free_bytes(&own.dir).context("look at", &path)?;
        let keeping = ImageWriter::create(fs, &own.dir).context("make", &path)?;
        let mut securing = SecureRun {
            ledger: self,
            keeping,
            // Half of what is left is enough to take from anybody.
            most: COPIED_BYTES.min(free / 2),
            images: HashMap::new(),
            links: HashMap::new(),
            gone: Vec::new(),
            changed: Vec::new(),
            secured: SecureReport::default(),
            left: OmissionList::default(),
            blind: tree.snapshot.unread().map(|(path, _)| shown(&path)).collect(),
            parent: None,
            done: 0,
            all: tree.snapshot.len(),
            see,
            stop,
        };
        securing.secure_all(&tree)?;
        let mut before = LedgerInventory::default();
        if own.store().is_outside {
            let room = securing.most.saturating_sub(securing.keeping.copied_bytes());
            before = LedgerInventory::secure(self, state, &mut securing.keeping, room)?;
        }
        securing.keeping.flush().context("write", &path)?;
        let SecureRun { keeping, images, links, gone, changed, mut secured, left, blind, .. } = securing;
        secured.copied = keeping.copied_bytes();
        let partial = tree.snapshot.partial().map(|(path, names)| walk::too_many(&path, names));
        let unread = tree.snapshot.unread().map(|(path, reason)| Omission {
            path: format!("{}/", shown(&path)),
            reason: reason.to_string(),
            files: 0,
            bytes: 0,
        });
        secured.omissions = left.into_sorted().chain(partial).chain(unread).collect();
        let mut snapshot = tree.snapshot;
        gone.into_iter().for_each(|id| snapshot.forget(id));
        changed.into_iter().for_each(|(id, image)| snapshot.set_stat(id, image.stat));
        let mut manifest = RecordingManifest::new(about.clone(), number, snapshot);
        manifest.images = images;
        manifest.links = links;
        manifest.blind = blind;
        manifest.before = before;
        manifest.write(self, &own.dir)?;
        Ok((manifest, secured))
    }
}

struct SecureRun<'s> {
    ledger: &'s Ledger,
    keeping: ImageWriter<'s>,
    most: u64,
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
    see: &'s mut dyn FnMut(usize, usize),
    stop: &'s dyn Fn() -> bool,
}

/// A file that is to be secured.
type FileToSecure = (String, EntryId, u64);

impl SecureRun<'_> {
    fn secure_all(&mut self, tree: &RecordingTree) -> LedgerResult<()> {
        let mut groups: Vec<(u64, Vec<FileToSecure>)> = vec![(0, Vec::new()); tree.ignored_roots.len() + 1];
        let mut links: Vec<(String, EntryId)> = Vec::new();
        tree.snapshot.for_each(&mut |path, id| {
            let Ok(path) = tree.recordable(id, path) else { return };
            let stat = tree.snapshot.stat(id);
            match stat.kind {
                EntryKind::File if !tree.snapshot.is_unread(id) => {
                    let (bytes, files) = &mut groups[tree.snapshot.mark(id) as usize];
                    *bytes += stat.size;
                    files.push((path, id, stat.size));
                }
                EntryKind::Link => links.push((path, id)),
                _ => {}
            }
        });
        self.all = links.len() + groups.iter().map(|(_, files)| files.len()).sum::<usize>();
        for (path, id) in links {
            self.tick()?;
            self.secure_link(&path, id);
        }
        let (bytes, mut files) = std::mem::take(&mut groups[0]);
        if bytes > self.most {
            // Rather all the small ones than the first of the large ones.
            files.sort_by_key(|(_, _, size)| *size);
        }
        for (path, id, size) in files {
            self.tick()?;
            if size > FILE_BYTES {
                self.left.add(&path, &format!("has more than {}", format_size(FILE_BYTES)), 1, size);
            } else if self.keeping.would_copy(size) && self.keeping.copied_bytes() + size > self.most {
                let reason = format!("would be beyond the {} that are copied", format_size(self.most));
                self.left.add(&path, &reason, 1, size);
            } else {
                self.secure_file(tree, &path, id)?;
            }
        }
        let mut order: Vec<usize> = (1..groups.len()).collect();
        order.sort_by_key(|group| groups[*group].0);
        let mut ignored = IGNORED_BYTES.min(self.most.saturating_sub(self.keeping.copied_bytes()));
        for group in order {
            let (bytes, files) = std::mem::take(&mut groups[group]);
            let name = &tree.ignored_roots[group - 1];
            if bytes > ignored {
                let root = tree.snapshot.find(name.as_bytes()).map(|id| tree.snapshot.stat(id).kind);
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
                self.secure_file(tree, &path, id)?;
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
        (self.see)(done, self.all);
        if (self.stop)() { Err(LedgerError::Interrupted) } else { Ok(()) }
    }

    /// The directory of a path.
    fn open_parent(&mut self, path: &str) -> io::Result<FsDir> {
        let parent = split_parent(path).0;
        if let Some((known, dir)) = &self.parent
            && known == parent
        {
            return Ok(dir.clone());
        }
        let root = &self.ledger.root;
        let dir =
            if parent.is_empty() { root.dir().clone() } else { root.fs().open_dir(root.dir(), parent)? };
        self.parent = Some((parent.to_string(), dir.clone()));
        Ok(dir)
    }

    fn secure_link(&mut self, path: &str, id: EntryId) {
        let read = self
            .open_parent(path)
            .and_then(|dir| self.ledger.root.fs().read_link(&dir, split_parent(path).1));
        match read {
            Ok(target) => _ = self.links.insert(id, target),
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.gone.push(id),
            Err(error) => self.left.add(path, &format!("cannot be read: {error}"), 1, 0),
        }
    }

    fn secure_file(&mut self, tree: &RecordingTree, path: &str, id: EntryId) -> LedgerResult<()> {
        let stat = *tree.snapshot.stat(id);
        let saved = match self.open_parent(path) {
            Ok(dir) => self.keeping.save(&dir, split_parent(path).1, stat),
            Err(error) => Err(ImageError::System(error)),
        };
        match saved {
            Ok(image) => {
                self.secured.files += 1;
                self.secured.bytes += image.stat.size;
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
