//! Planning a revert: what must change in the project as it is now, so that some transactions are
//! taken back and everything that was done since stays.
//!
//! The project is laid over in memory; each record, newest first, is taken back on that overlay, and
//! what differs from the disk in the end is the plan. A file that is as the transaction left it gets
//! its old bytes and permission bits exactly; one that was edited since is merged by lines. What
//! cannot be merged without guessing is a conflict, and then nothing is planned at all.

mod builder;
mod directories;
pub mod history;
mod merge;
mod overlay;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};

use relaycode_change::proposal::path::RelPath;

use crate::disk::tree::{find_obstacle, is_not_a_file};
use crate::disk::{PathEntry, PathResolver};
use crate::log::{LogTarget, UndoState};
use crate::record::special_modes::is_special;
use crate::record::{
    DirectoryModeChange, FileImage, FileRecord, INLINE_BYTES, INLINE_TOTAL, LINK_MODE, Record,
    RecordOmission, RecordedOperation, RemovedDirectory, title,
};
use crate::revert::history::SET_ASIDE_ORIGIN;
use crate::seal::RecordProvenance;
use crate::transaction::{AfterContent, FileChange, NewMode, TransactionHeader};
use crate::{IoContext, Ledger, LedgerError, LedgerRefusal, LedgerResult, LedgerRule, TxId, io_error};
use builder::{RevertBuilder, RevertPart};
use merge::RevertMerge;
use overlay::{OverlayContent, OverlayEntry, RevertOverlay, RevertedPaths};

/// Bytes of one file that a revert is willing to hold.
pub const READ_BYTES: u64 = 256 * 1024 * 1024;

/// Files of a transaction that an error lists by name.
pub const FILES_LISTED: usize = 20;

pub use merge::{LINE_CHARS, LINES_LISTED, REGIONS_LISTED};

/// What a revert comes to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RevertPlan {
    /// What is to be done, by path. Nothing: everything is as it was already.
    pub changes: Vec<FileChange<'static>>,
    /// Files in which later edits stay.
    pub kept_edits: Vec<KeptEdits>,
    /// Files that get conflict markers.
    pub conflict_marked: Vec<String>,
    /// Files that are as they were already.
    pub unchanged: Vec<String>,
    /// The transactions that it takes back, newest first. None: they were taken back before.
    pub reverts: Vec<TxId>,
    /// Names of the only files that it takes back of them; none: it takes them back whole.
    pub only_paths: Vec<String>,
    /// What it is called.
    pub title: String,
    /// Directories that the transactions made and that this leaves without a file of theirs,
    /// innermost first: they go if nothing else is in them.
    pub made_directories_to_remove: Vec<String>,
    /// Directories that the transactions removed: if they have to be made again, they get these permission bits.
    pub removed_directories: Vec<RemovedDirectory>,
    /// Files that may get setuid, setgid and sticky bits again.
    pub special_modes: Vec<String>,
    /// Directories that are made again, unless they are there.
    pub directories_to_make: Vec<RemovedDirectory>,
    /// Names that are symbolic links now and take part.
    pub links: Vec<String>,
    /// Directories that get the permission bits back that they had.
    pub directory_modes: Vec<DirectoryModeChange>,
    /// What the transactions changed and this does not bring back.
    pub unrestored: Vec<RecordOmission>,
    /// Files that the transactions left read-only: that alone does not keep them from being taken back.
    pub read_only: Vec<String>,
    /// Files that the transactions made names of other files: that alone does not keep them from being taken back.
    pub linked: Vec<String>,
    /// What else there is to say, one sentence each.
    pub notes: Vec<String>,
}

impl RevertPlan {
    /// The header of the transaction that carries it out.
    pub fn header(&self, about: TransactionHeader) -> TransactionHeader {
        TransactionHeader {
            revert_of: self.reverts.clone(),
            revert_paths: self.only_paths.clone(),
            title: Some(self.title.clone()),
            operations: self.operations(),
            directories_to_remove: self.made_directories_to_remove.clone(),
            directory_modes: self.removed_directories.clone(),
            read_only: self.read_only.clone(),
            linked: self.linked.clone(),
            links: self.links.clone(),
            special_modes: self.special_modes.clone(),
            directories_to_make: self.directories_to_make.clone(),
            directory_mode_changes: self.directory_modes.clone(),
            ..about
        }
    }

    /// What it does, as the operations of an answer.
    fn operations(&self) -> Vec<RecordedOperation> {
        let mut inline = INLINE_TOTAL;
        let mut operations = Vec::new();
        for change in &self.changes {
            let path = change.path.to_string();
            if let Some(from) = &change.renamed_from {
                operations.push(RecordedOperation::Rename { from: from.to_string(), to: path.clone() });
            }
            match &change.after {
                None => operations.push(RecordedOperation::Delete { path }),
                Some(after)
                    if change.renamed_from.is_some() && change.before.as_ref() == Some(&after.bytes) => {}
                Some(after) => operations.push(write_operation(path, &after.bytes, &mut inline)),
            }
        }
        operations
    }

    /// Whether there is nothing to do: everything is as it was already.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
            && self.directories_to_make.is_empty()
            && self.directory_modes.is_empty()
            && self.made_directories_to_remove.is_empty()
    }
}

/// Later edits that a revert leaves in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptEdits {
    pub path: String,
    /// In how many places.
    pub edits: usize,
}

/// How a revert is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RevertOptions {
    /// Only this file's part; for a renamed one either name will do.
    pub file: Option<RelPath>,
    /// Where later edits stand in the same lines, write both with conflict markers instead of refusing.
    pub markers: bool,
}

/// The project as it is now.
pub trait CurrentFiles {
    /// The bytes and permission bits of the file at `path`, or the target of a symbolic link and [`LINK_MODE`]; `None`:
    /// there is nothing.
    ///
    /// # Errors
    /// [`LedgerError::Refused`] with [`LedgerRule::NotAFile`] if something else stands there.
    fn read_file(&self, path: &str) -> LedgerResult<Option<(Vec<u8>, u32)>>;
}

impl CurrentFiles for PathResolver<'_> {
    fn read_file(&self, path: &str) -> LedgerResult<Option<(Vec<u8>, u32)>> {
        let cannot_read = |source| io_error("read", path)(source);
        let source = match self.read(path, READ_BYTES) {
            Ok(found) => return Ok(found.map(|(bytes, stat)| (bytes, stat.mode))),
            Err(error) => error,
        };
        if is_not_a_file(&source)
            && let Some(what) = find_obstacle(self, path).map_err(cannot_read)?
        {
            if what == "a symbolic link" {
                return self.read_link(path).map(|target| Some((target, LINK_MODE))).map_err(cannot_read);
            }
            let refusal = LedgerRefusal { path: path.to_string(), rule: LedgerRule::NotAFile(what) };
            return Err(LedgerError::Refused(vec![refusal]));
        }
        Err(cannot_read(source))
    }
}

/// The bytes that records speak of.
pub trait RecordImages {
    /// The bytes of a file before its transaction; `None`: they are not kept any more.
    ///
    /// # Errors
    /// If they cannot be read.
    fn image_before(&self, record: &Record, file: &FileRecord) -> LedgerResult<Option<Vec<u8>>>;

    /// The bytes that a transaction left in a file; `None`: they are not kept any more.
    ///
    /// # Errors
    /// If they cannot be read.
    fn image_after(&self, record: &Record, file: &FileRecord) -> LedgerResult<Option<Vec<u8>>>;
}

/// The strategy of an operation that writes a whole text.
const WHOLE_TEXT: &str = "replace";
/// … of one whose bytes stand in the record's `result` alone.
const BYTES: &str = "bytes";

fn write_operation(path: String, bytes: &[u8], inline: &mut usize) -> RecordedOperation {
    let text = std::str::from_utf8(bytes).ok().filter(|text| text.len() <= INLINE_BYTES.min(*inline));
    let (content, strategy) = text.map_or(("", BYTES), |text| (text, WHOLE_TEXT));
    *inline -= content.len();
    RecordedOperation::Write { path, content: content.to_string(), patch_strategy: strategy.to_string() }
}

/// Names of files that were taken back of a transaction before.
type RevertedNames = HashMap<TxId, BTreeSet<String>>;

/// Plans to take `records` back, which are given newest first.
///
/// # Errors
/// [`LedgerError::RevertConflict`] with every file that later edits stand against;
/// [`LedgerError::NotRevertible`] if bytes that are needed are gone, or the file that was asked for
/// is not in the transaction; whatever reading fails with.
pub fn plan(
    records: &[Record],
    images: &dyn RecordImages,
    now: &dyn CurrentFiles,
    options: &RevertOptions,
) -> LedgerResult<RevertPlan> {
    plan_rest(records, &RevertedNames::new(), images, now, options)
}

/// The same for what is left of them.
fn plan_rest(
    records: &[Record],
    reverted: &RevertedNames,
    images: &dyn RecordImages,
    now: &dyn CurrentFiles,
    options: &RevertOptions,
) -> LedgerResult<RevertPlan> {
    let mut parts = records.iter().map(revert_parts).collect::<Result<Vec<_>, _>>()?;
    if let Some(file) = &options.file {
        select_file(&mut parts, file);
    }
    if let (Some(file), true, Some(newest)) =
        (&options.file, parts.iter().all(Vec::is_empty), records.first())
    {
        return Err(LedgerError::NotRevertible { id: newest.uuid, reason: not_among(file, records) });
    }
    let names = parts.iter().flatten().flat_map(|part| [part.path.to_string(), part.old_path.to_string()]);
    let only_paths: BTreeSet<String> = names.filter(|_| options.file.is_some()).collect();
    for parts in &mut parts {
        parts.retain(|part| !part.is_among(reverted));
    }
    let made = records.iter().flat_map(|record| &record.made_directories);
    let made: BTreeSet<RelPath> = made.filter_map(|path| RelPath::of_existing(path).ok()).collect();
    let came = parts.iter().flatten().filter(|part| part.file.after.is_some());
    let came: BTreeSet<RelPath> = came.map(|part| part.path.clone()).collect();
    let goes = RevertedPaths { directories: &made, files: &came };
    let mut inverse = RevertBuilder::new(images, now, goes, options.markers);
    for parts in &parts {
        inverse.take_back(parts)?;
    }
    let mut reversal = inverse.finish(goes, &standing_at_end(&parts))?;
    reversal.reverts = records.iter().map(|record| record.uuid).collect();
    reversal.title = title::revert_title(records, options.file.as_ref().map(RelPath::as_str));
    reversal.only_paths = only_paths.into_iter().collect();
    let is_read_only = |image: Option<FileImage>| image.is_some_and(|image| image.mode & 0o222 == 0);
    for record in records {
        reversal.removed_directories.extend(record.removed_directories.iter().cloned());
        let left = record.result.iter().filter(|file| is_read_only(file.after));
        reversal.read_only.extend(left.map(|file| file.path.clone()));
        let linked = record.result.iter().filter(|file| file.is_linked);
        reversal.linked.extend(linked.map(|file| file.path.clone()));
    }
    reversal.notes.extend(parted_note(&reversal.changes, records));
    Ok(reversal)
}

/// What these records, given newest first, do not hold: each name once, with what the oldest of them says.
fn unrestored_of(records: &[Record]) -> Vec<RecordOmission> {
    let mut names = BTreeSet::new();
    let oldest_first = records.iter().rev().flat_map(|record| &record.omissions);
    oldest_first.filter(|omission| names.insert(omission.path.as_str())).cloned().collect()
}

/// What is said of files that had other names (hard links) and come back as files of their own.
fn parted_note(changes: &[FileChange<'_>], records: &[Record]) -> Option<String> {
    let files = records.iter().flat_map(|record| &record.result).filter(|file| file.other_names > 0);
    let had_names: BTreeSet<&str> = files.map(FileRecord::old_path).collect();
    let comes_back = |change: &&FileChange<'_>| {
        change.after.is_some() && change.renamed_from.is_none() && had_names.contains(change.path.as_str())
    };
    let mut parted = changes.iter().filter(comes_back);
    let first = &parted.next()?.path;
    Some(match parted.count() {
        0 => format!("{first} comes back as a file of its own: it had other names (hard links)"),
        more => format!(
            "{first} and {more} more come back as files of their own: they had other names (hard links)"
        ),
    })
}

/// The files that stood where these transactions, given newest first, had put them when the newest was done.
fn standing_at_end(parts: &[Vec<RevertPart<'_>>]) -> BTreeSet<RelPath> {
    let mut standing = BTreeSet::new();
    for part in parts.iter().rev().flatten() {
        standing.remove(&part.old_path);
        if part.file.after.is_some() {
            standing.insert(part.path.clone());
        }
    }
    standing
}

impl RecordImages for Ledger {
    fn image_before(&self, record: &Record, file: &FileRecord) -> LedgerResult<Option<Vec<u8>>> {
        ignore_missing(self.before_bytes(record, file))
    }

    fn image_after(&self, record: &Record, file: &FileRecord) -> LedgerResult<Option<Vec<u8>>> {
        ignore_missing(self.after_bytes(record, file))
    }
}

/// Bytes that are gone matter only where they are needed.
fn ignore_missing(bytes: LedgerResult<Option<Vec<u8>>>) -> LedgerResult<Option<Vec<u8>>> {
    match bytes {
        Err(LedgerError::NotRevertible { .. }) => Ok(None),
        other => other,
    }
}

impl Ledger {
    /// Plans to take back what is still in of a transaction or a group.
    ///
    /// # Errors
    /// As [`plan`] does; `ForeignRecords` where a person has to look first; and if a record cannot be read.
    pub fn plan_revert(&self, target: &LogTarget, options: &RevertOptions) -> LedgerResult<RevertPlan> {
        let mut ids = target.ids();
        let mut states = self.undo_states(&ids)?;
        let comes_back = self.reverted_within(&ids, &states)?;
        ids.retain(|id| states.get(id) != Some(&UndoState::Undone) || comes_back.contains(id));
        let reverted: RevertedNames = ids
            .iter()
            .filter_map(|id| match states.remove(id) {
                Some(UndoState::Partly(names)) => Some((*id, names)),
                _ => None,
            })
            .collect();
        let mut records = ids.iter().map(|id| self.record(*id)).collect::<Result<Vec<_>, _>>()?;
        if matches!(target, LogTarget::Group { .. }) {
            // What was set aside stays so.
            records.retain(|record| record.origin != SET_ASIDE_ORIGIN);
        }
        let mut foreign = Vec::new();
        for id in ids {
            if self.provenance(id)? == RecordProvenance::Foreign {
                foreign.push(id);
            }
        }
        if !foreign.is_empty() {
            return Err(LedgerError::ForeignRecords(foreign));
        }
        let paths = self.root().resolver();
        let mut reversal = plan_rest(&records, &reverted, self, &paths, options)?;
        self.plan_special_modes(&mut reversal, &paths)?;
        if options.file.is_none() {
            directories::plan_directories(&mut reversal, &records, &paths)?;
            reversal.unrestored.extend(unrestored_of(&records));
        }
        Ok(reversal)
    }
}

impl Ledger {
    /// Members of a group that another member took back: with that one they come in again, and have to go as well.
    fn reverted_within(
        &self,
        ids: &[TxId],
        states: &HashMap<TxId, UndoState>,
    ) -> LedgerResult<BTreeSet<TxId>> {
        let is_undone = |id: &TxId| states.get(id) == Some(&UndoState::Undone);
        let mut within = BTreeSet::new();
        if ids.iter().any(is_undone) {
            for id in ids.iter().filter(|id| states.get(id) == Some(&UndoState::In)) {
                within.extend(self.record(*id)?.revert_of);
            }
        }
        Ok(within)
    }

    /// Which files get bits back that let others run them as their owner, and which do not.
    fn plan_special_modes(&self, plan: &mut RevertPlan, paths: &PathResolver<'_>) -> LedgerResult<()> {
        let mut files = Vec::new();
        for change in &plan.changes {
            let Some(AfterContent { bytes, mode: NewMode::Exact(mode) }) = &change.after else { continue };
            let image = FileImage::of(bytes, *mode);
            if !is_special(&image) {
                continue;
            }
            let path = change.old_path().as_str();
            // What it has now it may keep.
            let now = match paths.entry_at(path).context("look at", path)? {
                PathEntry::File(stat) => stat.mode,
                PathEntry::Nothing | PathEntry::Other(_) => 0,
            };
            if mode & 0o7000 & !now != 0 {
                files.push((change.path.to_string(), image));
            }
        }
        plan.special_modes = self.seen_with_special_modes(&files)?;
        for (path, image) in files.iter().filter(|(path, _)| !plan.special_modes.contains(path)) {
            let reason = format!(
                "does not get the permission bits {:04o}: it was not seen with them on this machine",
                image.mode
            );
            plan.unrestored.push(RecordOmission { path: path.clone(), reason });
        }
        Ok(())
    }
}

/// The files of a record, with names that are safe to use.
fn revert_parts(record: &Record) -> LedgerResult<Vec<RevertPart<'_>>> {
    let checked = |name: &str| {
        RelPath::of_existing(name)
            .map_err(|error| LedgerError::NotRevertible { id: record.uuid, reason: error.to_string() })
    };
    let part = |file| {
        Ok(RevertPart { record, file, path: checked(&file.path)?, old_path: checked(file.old_path())? })
    };
    record.result.iter().map(part).collect()
}

/// Leaves only what belongs to one file, under whatever names these records know it.
fn select_file(records: &mut [Vec<RevertPart<'_>>], file: &RelPath) {
    let mut names = BTreeSet::from([file.clone()]);
    for parts in records.iter().rev() {
        let renamed = parts.iter().filter(|part| names.contains(&part.old_path));
        let renamed: Vec<RelPath> = renamed.map(|part| part.path.clone()).collect();
        names.extend(renamed);
    }
    for parts in records {
        parts.retain(|part| names.contains(&part.path) || names.contains(&part.old_path));
        // Older transactions know the file by the name that it had before this one.
        parts.iter().for_each(|part| _ = names.remove(&part.path));
        names.extend(parts.iter().map(|part| part.old_path.clone()));
    }
}

/// Why there is nothing to revert for a file: the files that there are.
fn not_among(file: &RelPath, records: &[Record]) -> String {
    let files = records.iter().flat_map(|record| &record.result).map(|file| file.path.as_str());
    let files: BTreeSet<&str> = files.collect();
    let listed: Vec<&str> = files.iter().copied().take(FILES_LISTED).collect();
    let more = match files.len() - listed.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("it did not change {file}; its files are {}{more}", listed.join(", "))
}
