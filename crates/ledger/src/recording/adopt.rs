//! From what differs to one record: files are read, compared by their bytes, and kept as they were and as they are.

use std::collections::{BTreeMap, HashMap};
use std::io;

use relaycode_change::diff;
use relaycode_durable::{
    DirMode, FileMode, FsDir, RenameMode, atomic, if_new, is_link, is_not_regular, is_too_long,
};
use relaycode_snapshot::{
    EntryKind, EntryStat, ImageReader, KnownTree, Omission, OmissionList, TreeDifference,
};
use relaycode_text::plural::pluralize;

use crate::disk::{Digest, PathResolver, StateDir, StateSubdir, state_dir};
use crate::record::{
    self, FILES, FileImage, FileRecord, INLINE_TOTAL, LINK_MODE, Record, RecordContent, RecordOmission, blobs,
};
use crate::recording::walk::IgnoredPaths;
use crate::recording::{
    ADOPTED_BYTES, ENTRIES, FILE_BYTES, LedgerRestoreOutcome, ProtectedMisfit, RecordingDifferences,
    RecordingDirectory, RecordingManifest, RecordingTree, RecordingWalkBounds, SecuredContent, SecuredEntry,
    SecuredTree, SuspectFile, compare, format_size, root,
};
use crate::seal::SealPurpose;
use crate::transaction::{CommittedTransaction, SYNC_EACH, TransactionHeader, draft_record, recover};
use crate::{IoContext, Ledger, LedgerResult, TxId, io_error};

/// Lines are counted in files of at most so many bytes.
const COUNTED: usize = 8 * 1024 * 1024;
/// Files that are read before open directories are let go.
const READS_PER_ROUND: usize = 256;
/// A record of more bytes leaves files out: that of its revert says more of each file, and must be readable as well.
const MOST_BYTES: usize = record::RECORD_BYTES / 2;
/// What a blob is called while it is written.
const SCRATCH_BLOB: &str = "blob";
/// … and the record.
const SCRATCH_RECORD: &str = "record";
/// Why a file is left out of a record that has too many.
const BEYOND_FILES: &str = "was changed, and is more than one change can hold";
/// Where what has no place in a record is moved, in relay's own directory.
pub(super) const AWAY: &str = "away";
/// So much of what cannot be undone stands in the record.
const NOTED: usize = 50;

/// How the command ended, for the record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordingEnd {
    /// Remarks: how it ended, and what it left.
    pub notes: Vec<String>,
    /// The branch that is checked out now.
    pub branch: Option<String>,
    /// The commit that is checked out now.
    pub head: Option<String>,
}

/// What came of a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordingOutcome {
    /// The record; `None`: nothing changed that a record could hold.
    pub committed: Option<CommittedTransaction>,
    /// What changed and cannot be undone.
    pub omissions: Vec<Omission>,
    /// What stood at protected names, had no place in the record, and was moved away.
    pub moved_away: Vec<MovedFile>,
    /// What became of the records of earlier changes.
    pub ledger_restore: LedgerRestoreOutcome,
}

/// Something that was moved into relay's own directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedFile {
    /// Its path before.
    pub path: String,
    /// Where it is, beneath the root.
    pub place: String,
    /// Something else stood there before the command.
    pub was_there: bool,
}

/// What a command left.
pub(super) struct ChangedTree<'t> {
    /// What was there before, and was secured.
    pub(super) before: &'t SecuredTree,
    /// What is there now.
    pub(super) now: &'t RecordingTree,
    /// What git ignores now.
    pub(super) ignored: &'t IgnoredPaths,
}

/// What is looked at after a command: everything that was there before, and as much again. What another process wrote down lends
/// no names.
pub(super) fn walk_bounds<'w>(
    ledger: &Ledger,
    before: &'w SecuredTree,
    ignored: &'w IgnoredPaths,
    lends_names: bool,
) -> RecordingWalkBounds<'w> {
    RecordingWalkBounds {
        ignored_paths: ignored,
        known: Some(KnownTree { tree: &before.tree, is_beyond_cap: true, lends_names }),
        most: ENTRIES,
        own_directory: root::own_directory_id(ledger),
        began: before.tree.began(),
    }
}

/// Writes the record of what a command did, if it did anything; `number_before` is the one that the next transaction had before. Under
/// the project's lock. As long as the manifest is there, the next recovery would do it again.
pub(super) fn adopt(
    ledger: &Ledger,
    state: &StateDir,
    own: &RecordingDirectory,
    changed: &ChangedTree<'_>,
    difference: &TreeDifference,
    about: TransactionHeader,
    manifest: &RecordingManifest,
) -> LedgerResult<RecordingOutcome> {
    let number_before = manifest.number;
    let is_protected: fn(&str) -> bool =
        if manifest.sets_aside { ledger.settings.is_protected } else { |_| false };
    let scratch = own.scratch(state)?;
    let images = ImageReader::open(state.fs(), &own.dir);
    // Before anything is numbered: earlier records come first.
    let (history, missed) = changed.before.before.restore_missing(ledger, state, &images, &scratch)?;
    let number = ledger.next_number()?;
    let differences = compare::compare(changed, difference, is_protected);
    let mut adopting = AdoptRun {
        state,
        own,
        scratch: &scratch,
        images,
        places: ledger.root.resolver(),
        reads: 0,
        inline: INLINE_TOTAL,
        blobs: Vec::new(),
        new_blobs: Vec::new(),
        snapshot: BTreeMap::new(),
        result: Vec::new(),
        inodes: HashMap::new(),
        bytes: 0,
        left: OmissionList::default(),
    };
    let RecordingDifferences { mut files, made, removed, modes, left, misfits } = differences;
    adopting.left = left;
    let mut moved_away = Vec::new();
    for misfit in misfits {
        let ProtectedMisfit { path, reason, bytes, before } = misfit;
        match move_away(state, &adopting.places, &path, about.uuid) {
            Ok(place) => {
                let reason = format!("{reason}; it was moved to {place}");
                adopting.left.add(&path, &reason, 1, bytes);
                moved_away.push(MovedFile { path: path.clone(), place, was_there: before.is_some() });
                files.extend(before.map(|before| SuspectFile { path, before: Some(before), now: None }));
            }
            Err(error) => {
                let reason = format!("{reason}; it cannot be moved away: {error}");
                adopting.left.add(&path, &reason, 1, bytes);
            }
        }
    }
    // What others run comes first, whatever else there is; then what is lost otherwise, before what is merely left behind.
    let is_many = files.len() > FILES;
    files.sort_by_key(|file| (!is_protected(&file.path), is_many && file.before.is_none()));
    adopting.adopt_files(&files)?;
    let AdoptRun { snapshot, result, mut left, new_blobs, .. } = adopting;
    let mut record = draft_record(about);
    record.snapshot = snapshot;
    record.result = result;
    record.made_directories = made;
    record.removed_directories = removed;
    record.directory_modes = modes;
    drop_excess_files(&mut record, &mut left, is_protected)
        .inspect_err(|_| remove_blobs(state, &scratch, &new_blobs))?;
    let mut left: Vec<Omission> = missed.into_iter().chain(left.into_sorted()).collect();
    left.sort_by_key(|left| !is_protected(&left.path));
    let directories = record.made_directories.len() + record.removed_directories.len();
    if record.result.is_empty() && directories + record.directory_modes.len() == 0 {
        return Ok(RecordingOutcome {
            committed: None,
            omissions: left,
            moved_away,
            ledger_restore: history,
        });
    }
    if number != number_before {
        record.notes.push("relay itself changed files in this project while it ran: some of them may be in this change as well".to_string());
    }
    let noted = left.iter().take(NOTED).map(|left| format!("not undoable: {} {}", left.path, left.reason));
    record.notes.extend(noted);
    if left.len() > NOTED {
        record.notes.push(format!("not undoable: {} more", left.len() - NOTED));
    }
    let omission = |left: &Omission| RecordOmission { path: left.path.clone(), reason: left.reason.clone() };
    record.omissions = left.iter().take(NOTED).map(omission).collect();
    record.approved = true;
    record.decided_by.get_or_insert_with(|| "user".to_string());
    record.number = number;
    // Without it a revert does not give those bits back, and says so.
    let _ = ledger.note_special_modes(&record);
    let written = write(ledger, state, &scratch, &record);
    let doubt = written.inspect_err(|_| remove_blobs(state, &scratch, &new_blobs))?;
    // From here on nothing can fail any more: what is cut short, the next command catches up with.
    let _ = ledger.settle(&record);
    ledger.forget_fresh();
    Ok(RecordingOutcome {
        committed: Some(CommittedTransaction { record, durability_doubt: doubt }),
        omissions: left,
        moved_away,
        ledger_restore: history,
    })
}

/// Removes the blobs of a record that could not be written: a full disk has as much room as before, and the next try needs no
/// more. What cannot be removed is a blob that nobody refers to, and goes by its age.
fn remove_blobs(state: &StateDir, scratch: &FsDir, blobs: &[Digest]) {
    let fs = state.fs();
    // What was being written, too.
    for name in [SCRATCH_BLOB, SCRATCH_RECORD] {
        let _ = fs.remove_if_exists(scratch, name);
    }
    if let Ok(all) = state.require_subdir(StateSubdir::Blobs) {
        blobs.iter().for_each(|blob| _ = fs.remove_if_exists(&all, &blob.to_string()));
    }
}

/// Moves something into relay's own directory, without a byte read, and gives its path there.
fn move_away(state: &StateDir, places: &PathResolver<'_>, path: &str, by: TxId) -> io::Result<String> {
    let fs = state.fs();
    fs.make_dir_if_missing(state.dir(), AWAY, DirMode::Private)?;
    let away = fs.open_dir(state.dir(), AWAY)?;
    let place = places.resolve(path)?;
    let mut number = 1;
    let mut name = format!("{by}-{number}");
    while if_new(fs.rename(&place.dir, place.name, &away, &name, RenameMode::NoReplace))?.is_none() {
        number += 1;
        name = format!("{by}-{number}");
    }
    fs.sync_dir(&away)?;
    fs.sync_dir(&place.dir)?;
    Ok(state_dir::path_of(&format!("{AWAY}/{name}")))
}

/// Leaves files out of a record that would become longer than one that can be read: those first that are merely new.
fn drop_excess_files(
    record: &mut Record,
    left: &mut OmissionList,
    is_protected: fn(&str) -> bool,
) -> LedgerResult<()> {
    loop {
        let mut bytes = 0usize;
        let mut count = |piece: &[u8]| {
            bytes += piece.len();
            Ok(())
        };
        record::write_to(record, None, &mut count).context("write", "the record")?;
        if bytes <= MOST_BYTES || record.result.is_empty() {
            return Ok(());
        }
        let keep = (record.result.len() as u128 * MOST_BYTES as u128 / bytes as u128 * 9 / 10) as usize;
        record.result.sort_by_key(|file| (!is_protected(&file.path), file.before.is_none()));
        for file in record.result.split_off(keep.min(record.result.len() - 1)) {
            record.snapshot.remove(&file.path);
            record.snapshot.remove(file.old_path());
            left.add(&outermost(&file.path), BEYOND_FILES, 1, file.after.map_or(0, |after| after.size));
        }
        record.result.sort_by(|a, b| a.path.cmp(&b.path));
    }
}

/// The outermost directory of a path, or the file itself.
fn outermost(path: &str) -> String {
    path.split_once('/').map_or_else(|| path.to_string(), |(first, _)| format!("{first}/"))
}

/// Writes the record. Says what the disk said, if that leaves a doubt.
fn write(
    ledger: &Ledger,
    state: &StateDir,
    scratch: &FsDir,
    record: &Record,
) -> LedgerResult<Option<String>> {
    let name = state_dir::record_name(record.uuid);
    let seal = ledger.seal_hasher(SealPurpose::Record);
    let mut make = |put: &mut atomic::PieceSink<'_>| record::write_to(record, seal.clone(), put);
    let target = (state.dir(), name.as_str());
    match atomic::write_pieces(state.fs(), (scratch, SCRATCH_RECORD), target, &mut make) {
        Ok(()) => Ok(None),
        Err(error) if error.is_in_place || recover::is_committed(state, record.uuid)? => {
            Ok(Some(error.source.to_string()))
        }
        Err(error) => Err(io_error("write", &state_dir::path_of(&name))(error.source)),
    }
}

struct AdoptRun<'a> {
    state: &'a StateDir,
    own: &'a RecordingDirectory,
    /// On the project's file system, for what gets another name there.
    scratch: &'a FsDir,
    images: ImageReader<'a>,
    places: PathResolver<'a>,
    reads: usize,
    /// Bytes of text that may still stand in the record.
    inline: usize,
    /// The blobs that were written and are not durable yet.
    blobs: Vec<Digest>,
    /// Those of them that were not there before.
    new_blobs: Vec<Digest>,
    snapshot: BTreeMap<String, Option<RecordContent>>,
    result: Vec<FileRecord>,
    /// Which file of which device was deleted, and where: it may have got another name.
    inodes: HashMap<(u64, u64), RecordingMove>,
    /// Bytes of files as they are now.
    bytes: u64,
    left: OmissionList,
}

/// The names (hard links) of a file that was there before.
#[derive(Debug, Clone, Copy, Default)]
struct FileNames {
    /// How many others it had.
    others: u64,
    /// It is the same file still, and has others still.
    are_kept: bool,
    /// Its name has become one of several of a file, which it was not before.
    is_linked: bool,
}

impl FileNames {
    fn of(touched: &SuspectFile<'_>) -> FileNames {
        // Those of a file that is new do not matter: each name goes by itself.
        let Some(before) = &touched.before else { return FileNames::default() };
        let is_file = before.stat.kind == EntryKind::File;
        let others = if is_file { u64::from(before.stat.links.saturating_sub(1)) } else { 0 };
        let now = touched.now.filter(|now| now.kind == EntryKind::File && now.links > 1);
        let is_same = |now: EntryStat| (now.dev, now.ino) == (before.stat.dev, before.stat.ino);
        let are_kept = others > 0 && now.is_some_and(is_same);
        FileNames { others, are_kept, is_linked: now.is_some() && !are_kept }
    }
}

/// The two ends of a move, as indices of the result.
type RecordingMove = (Option<usize>, Option<usize>);

/// Bytes and permission bits; `None`: there is no file.
type AdoptedFile = Option<(Vec<u8>, u32)>;

fn bytes_of(side: &AdoptedFile) -> &[u8] {
    side.as_ref().map_or(&[], |(bytes, _)| bytes)
}

impl AdoptRun<'_> {
    /// Takes everything in that is read; where that fails no blob is left.
    fn adopt_files(&mut self, files: &[SuspectFile<'_>]) -> LedgerResult<()> {
        let mut taken = files.iter().try_for_each(|touched| self.adopt_file(touched));
        if taken.is_ok() {
            self.join_renames();
            taken = self.sync_blobs();
        }
        taken.inspect_err(|_| remove_blobs(self.state, self.scratch, &self.new_blobs))
    }

    fn adopt_file(&mut self, touched: &SuspectFile<'_>) -> LedgerResult<()> {
        let path = touched.path.as_str();
        let Some(now) = self.current_content(touched)? else { return Ok(()) };
        let before = match touched.before {
            None => None,
            Some(known) => match self.content_before(&known)? {
                Some(before) => Some(before),
                None => {
                    let reason = "may have been changed, and its backup is gone";
                    self.left.add(path, reason, 1, known.stat.size);
                    return Ok(());
                }
            },
        };
        if before == now {
            return Ok(());
        }
        let size = bytes_of(&now).len() as u64;
        let names = FileNames::of(touched);
        if let (Some((bytes, _)), FileNames { are_kept: true, others, .. }) = (&before, &names) {
            // Whatever is written there, all of its names have it; and one of its own would not be the same file.
            let place = format!("{}/{}", StateSubdir::Blobs.name(), self.store_blob(bytes)?);
            let names = pluralize(*others, "other name");
            let place = state_dir::path_of(&place);
            let reason = format!("was changed, and has {names} (hard links); what it held is in {place}");
            self.left.add(path, &reason, 1, size);
            return Ok(());
        }
        if self.result.len() >= FILES {
            self.left.add(&outermost(path), BEYOND_FILES, 1, size);
            return Ok(());
        }
        if self.bytes + size > ADOPTED_BYTES {
            let most = format_size(ADOPTED_BYTES);
            let why = format!("was changed, and would be beyond the {most} that a change keeps");
            self.left.add(path, &why, 1, size);
            return Ok(());
        }
        self.bytes += size;
        self.add(touched, before, now)
    }

    /// What a file or link held before; `None`: it is gone.
    fn content_before(&self, known: &SecuredEntry<'_>) -> LedgerResult<AdoptedFile> {
        Ok(match known.content {
            SecuredContent::Target(target) => Some((target.to_vec(), LINK_MODE)),
            SecuredContent::Image(location) => {
                let bytes = self.images.read(location, known.stat.size);
                let bytes = bytes.context("read", &self.own.path())?;
                bytes.map(|bytes| (bytes, known.stat.mode))
            }
        })
    }

    /// What stands there now: `Some(None)` for nothing, `None` for something that cannot be kept.
    fn current_content(&mut self, touched: &SuspectFile<'_>) -> LedgerResult<Option<AdoptedFile>> {
        let path = touched.path.as_str();
        let Some(seen) = touched.now else { return Ok(Some(None)) };
        self.reads += 1;
        if self.reads.is_multiple_of(READS_PER_ROUND) {
            self.places.close_all();
        }
        let read = if seen.kind == EntryKind::Link {
            self.places.read_link(path).map(|target| Some((target, LINK_MODE)))
        } else {
            self.places.read(path, FILE_BYTES).map(|read| read.map(|(bytes, stat)| (bytes, stat.mode)))
        };
        match read {
            Ok(read) => Ok(Some(read)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Some(None)),
            Err(error) if is_too_long(&error) => {
                self.left.add(path, &format!("has more than {}", format_size(FILE_BYTES)), 1, 0);
                Ok(None)
            }
            Err(error)
                if is_link(&error)
                    || is_not_regular(&error)
                    || error.kind() == io::ErrorKind::InvalidInput =>
            {
                self.left.add(path, "became something else while it was looked at", 1, 0);
                Ok(None)
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.left.add(path, "was changed, and cannot be read", 1, 0);
                Ok(None)
            }
            Err(error) => Err(io_error("read", path)(error)),
        }
    }

    fn add(&mut self, touched: &SuspectFile<'_>, before: AdoptedFile, now: AdoptedFile) -> LedgerResult<()> {
        let path = touched.path.clone();
        let names = FileNames::of(touched);
        let (mut added, mut removed) = (0, 0);
        let (old, new) = (bytes_of(&before), bytes_of(&now));
        if old.len().max(new.len()) <= COUNTED {
            (added, removed) = diff::count_changed_lines(old, new);
        }
        let image = |side: &AdoptedFile| side.as_ref().map(|(bytes, mode)| FileImage::of(bytes, *mode));
        let (was, is) = (image(&before), image(&now));
        let snapshot = before.map(|(bytes, _)| self.store(&bytes)).transpose()?;
        let content = now.map(|(bytes, _)| self.store(&bytes)).transpose()?;
        let at = self.result.len();
        match (touched.before, touched.now) {
            (Some(known), None) => {
                self.inodes.entry((known.stat.dev, known.stat.ino)).or_default().0 = Some(at);
            }
            (None, Some(seen)) => {
                self.inodes.entry((seen.dev, seen.ino)).or_default().1 = Some(at);
            }
            _ => {}
        }
        self.snapshot.insert(path.clone(), snapshot);
        let (before, after) = (was, is);
        self.result.push(FileRecord {
            path,
            before,
            after,
            added,
            removed,
            content,
            other_names: names.others,
            is_linked: names.is_linked,
            ..FileRecord::default()
        });
        Ok(())
    }

    /// A file that is gone and one that came are one that was renamed, if they are the same file and nothing of it
    /// changed.
    fn join_renames(&mut self) {
        let mut gone = Vec::new();
        for moved in self.inodes.values() {
            let (Some(from), Some(to)) = *moved else { continue };
            if self.result[from].before != self.result[to].after {
                continue;
            }
            let old = self.result[from].path.clone();
            let before = self.result[from].before;
            let file = &mut self.result[to];
            (file.renamed_from, file.before, file.added, file.removed) = (Some(old), before, 0, 0);
            gone.push(from);
        }
        gone.sort_unstable_by(|a, b| b.cmp(a));
        for at in gone {
            self.result.remove(at);
        }
        self.result.sort_by(|a, b| a.path.cmp(&b.path));
    }

    /// Keeps some bytes: in the record if they are little text, else as a blob.
    fn store(&mut self, bytes: &[u8]) -> LedgerResult<RecordContent> {
        match blobs::content_of(bytes) {
            RecordContent::Text(text) if text.len() <= self.inline => {
                self.inline -= text.len();
                return Ok(RecordContent::Text(text));
            }
            _ => {}
        }
        let blob = self.store_blob(bytes)?;
        Ok(RecordContent::Blob { blob, size: bytes.len() as u64 })
    }

    /// Keeps some bytes as a blob.
    fn store_blob(&mut self, bytes: &[u8]) -> LedgerResult<Digest> {
        let blob = Digest::of(bytes);
        let stored = || -> io::Result<bool> {
            let all = self.state.require_subdir(StateSubdir::Blobs)?;
            let (fs, scratch) = (self.state.fs(), (self.scratch, SCRATCH_BLOB));
            let is_new = !blobs::has(fs, &all, blob)?;
            if self.blobs.len() < SYNC_EACH {
                return blobs::put(fs, &all, scratch, bytes).map(|_| is_new);
            }
            // Very many are made durable together.
            fs.remove_if_exists(scratch.0, scratch.1)?;
            let file = fs.create(scratch.0, scratch.1, FileMode::Private)?;
            fs.write(&file, bytes)?;
            fs.rename(scratch.0, scratch.1, &all, &blob.to_string(), RenameMode::Replace)?;
            Ok(is_new)
        };
        if stored().context("keep", "a blob")? {
            self.new_blobs.push(blob);
        }
        self.blobs.push(blob);
        Ok(blob)
    }

    /// Blobs must be there before a record that speaks of them.
    fn sync_blobs(&self) -> LedgerResult<()> {
        let fs = self.state.fs();
        let synced = || -> io::Result<()> {
            match self.blobs.len() {
                0 => Ok(()),
                few if few <= SYNC_EACH => fs.sync_dir(&self.state.require_subdir(StateSubdir::Blobs)?),
                _ => fs.sync_all(self.state.dir()),
            }
        };
        synced().context("write", "the blobs")
    }
}
