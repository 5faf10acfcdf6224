//! Securing a project before a command runs in it: what git keeps or could keep first, what it ignores last and only
//! as far as it is little.

use std::collections::{BTreeMap, HashSet};

use relaycode_durable::FsDir;

use super::images::{RecordingImageWriter, SecureFileError};
use super::ledger_files::LedgerInventory;
use super::manifest::{ManifestFile, RecordingHeader, RecordingManifest};
use super::store::{RecordingDirectory, RecordingStore, recording_stores};
use super::walk::{self, RecordingStamp, RecordingTree, RecordingWalkBounds};
use super::{COPIED_BYTES, ENTRIES, FILE_BYTES, IGNORED_BYTES, Recording, RecordingOmission, root};
use crate::disk::paths::split_parent;
use crate::disk::state_dir;
use crate::disk::state_dir::StateDir;
use crate::error::{LedgerError, io_error};
use crate::ledger::Ledger;
use crate::transaction::header::TransactionHeader;
use crate::transaction::recover;

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
    /// What is not secured: what changes there can be named, but not undone.
    pub omissions: Vec<RecordingOmission>,
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
    ) -> Result<Recording<'_>, LedgerError> {
        let state =
            StateDir::create(&self.fs, &self.root).map_err(io_error("make", state_dir::STATE_DIR_NAME))?;
        let ((own, within_reach), number) = {
            let _project = self.lock_project(&state)?;
            let open = recover::recover_dead(self, &state)?;
            if let Some((id, pid)) = open.iter().find_map(|open| Some((open.id, open.pid?))) {
                return Err(LedgerError::TransactionActive { id, pid });
            }
            self.refuse_if_recording(&state)?;
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
    fn refuse_if_recording(&self, state: &StateDir) -> Result<(), LedgerError> {
        let fs = state.fs();
        for place in recording_stores(self, Some(state)) {
            let Some(id) = place.list(fs)?.into_iter().next() else { continue };
            let told = (|| {
                let dir = fs.open_dir(&place.open_all(fs).ok()?, &id.to_string()).ok()?;
                let manifest = RecordingManifest::read(fs, &dir, id, &place.path_of(id)).ok()?;
                Some((manifest.pid, manifest.told.command().to_string()))
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
    ) -> Result<(RecordingDirectory, Option<String>), LedgerError> {
        let outside = match RecordingStore::outside_project(self, true) {
            Ok(Some(place)) => {
                let path = place.path_of(about.uuid);
                RecordingDirectory::make(state.fs(), place, about.uuid).map_err(io_error("make", &path))
            }
            Ok(None) => Err(LedgerError::UnknownTransaction { name: String::new() }),
            Err(error) => Err(error),
        };
        let why = match outside {
            Ok(own) => {
                let inside = root::home_is_inside(self);
                return Ok((own, inside.then(|| "relay's own directory lies in the project".to_string())));
            }
            Err(LedgerError::UnknownTransaction { .. }) => "relay has no directory of its own".to_string(),
            Err(error) => error.to_string(),
        };
        let place = RecordingStore::inside_project(state);
        let path = place.path_of(about.uuid);
        let own = RecordingDirectory::make(state.fs(), place, about.uuid).map_err(io_error("make", &path))?;
        Ok((own, Some(why)))
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
    ) -> Result<(RecordingManifest, SecureReport), LedgerError> {
        let fs = state.fs();
        let path = own.path();
        let began = fs.stamp(&own.dir, super::LOCK.as_ref()).map_err(io_error("look at", &path))?.changed;
        let bounds = RecordingWalkBounds {
            ignored_paths: later,
            known: None,
            most: ENTRIES,
            own_directory: root::own_directory_id(self),
        };
        let tree = walk::walk(&self.root, &bounds)?;
        let free = fs.free_bytes(&own.dir).map_err(io_error("look at", &path))?;
        let keeping = RecordingImageWriter::new(fs, &own.dir).map_err(io_error("make", &path))?;
        let mut securing = SecureRun {
            ledger: self,
            keeping,
            // Half of what is left is enough to take from anybody.
            most: COPIED_BYTES.min(free / 2),
            known: BTreeMap::new(),
            secured: SecureReport::default(),
            left: RecordingOmissions::default(),
            blind: tree.unseen.iter().map(|left| left.path.trim_end_matches('/').to_string()).collect(),
            parent: None,
            all: tree.files.len(),
        };
        securing.secure_all(&tree, see, stop)?;
        let mut before = LedgerInventory::default();
        if own.store().is_outside {
            let room = securing.most.saturating_sub(securing.keeping.copied_bytes());
            before = LedgerInventory::secure(self, state, &mut securing.keeping, room)?;
        }
        securing.keeping.flush().map_err(io_error("write", &path))?;
        let mut manifest = RecordingManifest::new(RecordingHeader::from_header(about), number, began);
        let SecureRun { keeping, known, mut secured, left, blind, .. } = securing;
        secured.copied = keeping.copied_bytes();
        let partial = tree.partial.iter().map(|(path, names)| walk::too_many(path, *names));
        secured.omissions = left.all().chain(partial).chain(tree.unseen).collect();
        manifest.files = known;
        manifest.blind = blind;
        manifest.directories = tree.directories;
        manifest.odd = tree.odd;
        manifest.partial = tree.partial;
        manifest.mode = fs.stat_dir(self.root.dir()).ok().map(|stat| stat.mode);
        manifest.before = before;
        manifest.write(fs, &own.dir)?;
        Ok((manifest, secured))
    }
}

struct SecureRun<'s> {
    ledger: &'s Ledger,
    keeping: RecordingImageWriter<'s>,
    most: u64,
    known: BTreeMap<String, ManifestFile>,
    secured: SecureReport,
    left: RecordingOmissions,
    blind: Vec<String>,
    /// The directory of the last file.
    parent: Option<(String, FsDir)>,
    all: usize,
}

impl SecureRun<'_> {
    fn secure_all(
        &mut self,
        tree: &RecordingTree,
        see: &mut dyn FnMut(usize, usize),
        stop: &dyn Fn() -> bool,
    ) -> Result<(), LedgerError> {
        let mut groups: Vec<(u64, Vec<(&String, RecordingStamp)>)> =
            vec![(0, Vec::new()); tree.ignored_roots.len() + 1];
        for (path, seen) in &tree.files {
            let group = seen.ignored_group.map_or(0, |late| late as usize + 1);
            groups[group].0 += seen.print.size;
            groups[group].1.push((path, seen.print));
        }
        let (bytes, mut files) = std::mem::take(&mut groups[0]);
        if bytes > self.most {
            // Rather all the small ones than the first of the large ones.
            files.sort_by_key(|(_, print)| print.size);
        }
        for (path, print) in files {
            self.tick(see, stop)?;
            if print.size > FILE_BYTES {
                self.omit_file(path, print, &format!("has more than {}", format_size(FILE_BYTES)));
            } else if self.keeping.would_copy(print.size)
                && self.keeping.copied_bytes() + print.size > self.most
            {
                self.omit_file(
                    path,
                    print,
                    &format!("would be beyond the {} that are copied", format_size(self.most)),
                );
            } else {
                self.secure_file(path, print)?;
            }
        }
        let mut order: Vec<usize> = (1..groups.len()).collect();
        order.sort_by_key(|group| groups[*group].0);
        let mut ignored = IGNORED_BYTES.min(self.most.saturating_sub(self.keeping.copied_bytes()));
        for group in order {
            let (bytes, files) = std::mem::take(&mut groups[group]);
            let name = &tree.ignored_roots[group - 1];
            let name = if tree.directories.contains_key(name) { format!("{name}/") } else { name.clone() };
            if bytes > ignored {
                let why = "is ignored by git, and large".to_string();
                self.blind.push(name.trim_end_matches('/').to_string());
                for (path, print) in files {
                    self.known.insert(path.clone(), ManifestFile { print, kept: None });
                    self.left.add(&name, &why, 1, print.size);
                }
                continue;
            }
            ignored -= bytes;
            for (path, print) in files {
                self.tick(see, stop)?;
                self.secure_file(path, print)?;
            }
        }
        Ok(())
    }

    fn tick(&self, see: &mut dyn FnMut(usize, usize), stop: &dyn Fn() -> bool) -> Result<(), LedgerError> {
        if !self.known.len().is_multiple_of(TOLD_EVERY) {
            return Ok(());
        }
        see(self.known.len(), self.all);
        if stop() { Err(LedgerError::Interrupted) } else { Ok(()) }
    }

    fn omit_file(&mut self, path: &str, print: RecordingStamp, why: &str) {
        self.known.insert(path.to_string(), ManifestFile { print, kept: None });
        self.left.add(path, why, 1, print.size);
    }

    fn secure_file(&mut self, path: &str, print: RecordingStamp) -> Result<(), LedgerError> {
        let (parent, name) = split_parent(path);
        if self.parent.as_ref().is_none_or(|(known, _)| known != parent) {
            let root = &self.ledger.root;
            let opened = if parent.is_empty() {
                Ok(root.dir().clone())
            } else {
                root.fs().open_dir(root.dir(), parent)
            };
            match opened {
                Ok(dir) => self.parent = Some((parent.to_string(), dir)),
                Err(error) => {
                    self.omit_file(path, print, &format!("cannot be read: {error}"));
                    return Ok(());
                }
            }
        }
        let Some((_, dir)) = &self.parent else { return Ok(()) };
        match self.keeping.secure_file(dir, name, print) {
            Ok(known) => {
                self.secured.files += 1;
                self.secured.bytes += known.print.size;
                self.known.insert(path.to_string(), known);
            }
            Err(SecureFileError::Gone) => {}
            Err(SecureFileError::KeepsChanging) => {
                self.omit_file(path, print, "kept changing while it was secured");
            }
            Err(SecureFileError::Failed(error)) if is_full(&error) => {
                return Err(io_error("secure", path)(error));
            }
            Err(SecureFileError::Failed(error)) => {
                self.omit_file(path, print, &format!("cannot be read: {error}"))
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

/// What is left out, gathered by its name and the reason.
#[derive(Debug, Default)]
pub(super) struct RecordingOmissions(BTreeMap<(String, String), (usize, u64)>);

impl RecordingOmissions {
    pub(super) fn add(&mut self, path: &str, why: &str, files: usize, bytes: u64) {
        let sum = self.0.entry((path.to_string(), why.to_string())).or_default();
        sum.0 += files;
        sum.1 += bytes;
    }

    pub(super) fn all(self) -> impl Iterator<Item = RecordingOmission> {
        self.0.into_iter().map(|((path, why), (files, bytes))| RecordingOmission {
            path,
            reason: why,
            files,
            bytes,
        })
    }
}
