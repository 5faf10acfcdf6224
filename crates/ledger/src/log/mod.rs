//! The log: what the ledger has, newest first, a page at a time; and finding one of it by the name
//! that a person gives it.
//!
//! A page is read from the end of the index. What it costs depends on how much is shown, not on how
//! much there is. Whether something is undone is told by the reverts that are newer than it: one
//! that was itself taken back does not count.

mod names;
pub mod search;
mod timestamp;
mod undo_state;

pub(crate) use index::{IndexLine, needed_blobs};
use index::{IndexResult, IndexedPath, LedgerIndex};
use search::PathHistory;
pub(crate) use undo_state::RevertedIds;
pub use undo_state::UndoState;

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use relaycode_durable::FsDir;

use crate::disk::{Digest, StateSubdir};
use crate::record::{FileRecord, Record, RecordContent, RecordLocation, RecordStore, blobs};
use crate::seal::AcceptedRecords;
use crate::{IoContext, Ledger, LedgerError, LedgerResult, TxId};

/// What the ids of groups that are prompts of relay's own agent begin with; digits follow, by which people call them.
pub const PROMPT_GROUP: &str = "prompt-";

/// A piece of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPage {
    /// The entries, newest first.
    pub entries: Vec<LogEntry>,
    /// How many entries the log has in all.
    pub total: usize,
}

/// One thing that was done: a transaction, or a group of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// The group's id, if it is one.
    pub group: Option<String>,
    /// The transactions, newest first; one unless it is a group.
    pub members: Vec<LogTransaction>,
    /// How many files they changed, each counted once.
    pub files: usize,
    /// It is a group that whoever worked on it did not finish.
    pub interrupted: bool,
    /// Its place in the whole log: 1 is the newest. What [`Ledger::find`] takes.
    pub position: usize,
}

/// One transaction, as the log shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogTransaction {
    /// The transaction; `None` if its record is too damaged to say.
    pub id: Option<TxId>,
    /// Its place among all; 0 for one of the original tool.
    pub number: u64,
    /// When it began, ISO 8601.
    pub created_at: String,
    /// Where it came from.
    pub origin: String,
    /// Its title: the first line of its message, else what it did.
    pub summary: String,
    /// How many files it changed.
    pub files: usize,
    /// Lines that came in.
    pub added: usize,
    /// Lines that went.
    pub removed: usize,
    /// What it takes back.
    pub revert_of: Vec<TxId>,
    /// It was taken back.
    pub undone: bool,
    /// Some of its files were taken back.
    pub partly_undone: bool,
    /// What reverting it needs is there. Whether it fits is another question.
    pub revertible: bool,
    /// This user's relay did not write it in this checkout, and nobody accepted it yet.
    pub foreign: bool,
    /// Why it cannot be read, if it cannot.
    pub damage: Option<String>,
}

/// What a name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogTarget {
    Transaction(TxId),
    /// A group of them.
    Group {
        id: String,
        /// Its members, newest first.
        members: Vec<TxId>,
    },
}

impl LogTarget {
    /// The transactions, newest first.
    pub fn ids(&self) -> Vec<TxId> {
        match self {
            LogTarget::Transaction(id) => vec![*id],
            LogTarget::Group { members, .. } => members.clone(),
        }
    }
}

impl LogEntry {
    /// What it is called: a group after its first member.
    pub fn title(&self) -> &str {
        self.members.last().map_or("", |item| &item.summary)
    }

    /// What the entry is, for [`Ledger::plan_revert`](crate::Ledger) and its like; `None` for a
    /// record too damaged to say what it is.
    pub fn target(&self) -> Option<LogTarget> {
        match &self.group {
            Some(id) => {
                let members = self.members.iter().filter_map(|item| item.id).collect();
                Some(LogTarget::Group { id: id.clone(), members })
            }
            None => self.members.first()?.id.map(LogTarget::Transaction),
        }
    }
}

impl Ledger {
    /// A page of the log, newest first.
    ///
    /// # Errors
    /// The system's. A record that cannot be read is an entry that says so.
    pub fn log_page(&self, skip: usize, count: usize) -> LedgerResult<LogPage> {
        self.with_index(|index| {
            let total = index.last().map_or(0, |line| line.entries);
            let (entries, lines) = collect_entries(index, skip, count)?;
            let entries = self.build_entries(index, entries, &lines, &|at| skip + at + 1)?;
            Ok(LogPage { entries, total: usize::try_from(total).unwrap_or(usize::MAX) })
        })
    }

    /// The entries of a page as they are shown.
    fn build_entries(
        &self,
        index: &LedgerIndex<'_>,
        entries: LogEntryLines,
        lines: &[IndexLine],
        place: &dyn Fn(usize) -> usize,
    ) -> LedgerResult<Vec<LogEntry>> {
        let shelves = BlobStores::open(self)?;
        let accepted = match lines.iter().any(|line| line.unsealed) {
            true => self.accepted_records()?,
            false => AcceptedRecords::default(),
        };
        let entries = entries.into_iter().enumerate().map(|(at, (group, members))| {
            let show = |member: LogMember| {
                let revertible = shelves.revertible(index, &lines[member.line])?;
                let line = lines[member.line].clone();
                let foreign = line.unsealed && !line.uuid.is_some_and(|id| accepted.names(id));
                Ok(LogTransaction { foreign, ..log_transaction(line, &member.undo_state, revertible) })
            };
            let interrupted = group.as_ref().map_or(Ok(false), |id| self.is_interrupted(id))?;
            let files = count_files(members.iter().map(|member| &lines[member.line]));
            let members = members.into_iter().map(show).collect::<LedgerResult<_>>()?;
            Ok(LogEntry { group, members, files, interrupted, position: place(at) })
        });
        entries.collect()
    }

    /// The record of a transaction.
    ///
    /// # Errors
    /// `UnknownTransaction` if there is none; `Damaged`, `Newer`; the system's.
    pub fn record(&self, id: TxId) -> LedgerResult<Record> {
        let shelf = RecordStore::open(self)?;
        let record = shelf.find(&self.require_location(&shelf, id)?)?;
        record.map(|record| *record).ok_or_else(|| unknown_transaction(id))
    }

    /// Where the record of a transaction is.
    pub(crate) fn require_location(&self, shelf: &RecordStore<'_>, id: TxId) -> LedgerResult<RecordLocation> {
        let place = match shelf.locate(id)? {
            Some(place) => Some(place),
            None => self.with_index(|index| foreign_location(index, id))?,
        };
        place.ok_or_else(|| unknown_transaction(id))
    }

    /// A file's bytes before the transaction; `None`: there was no such file.
    ///
    /// # Errors
    /// `NotRevertible` if they are not kept any more, `Damaged` if they are not what they were.
    pub fn before_bytes(&self, record: &Record, file: &FileRecord) -> LedgerResult<Option<Vec<u8>>> {
        let Some(image) = file.before else { return Ok(None) };
        let content = record.snapshot.get(file.old_path()).and_then(Option::as_ref);
        self.kept_bytes(record.uuid, file.old_path(), content, image.hash).map(Some)
    }

    /// A file's bytes after the transaction; `None`: there was no such file any more.
    ///
    /// # Errors
    /// `NotRevertible` if they are not kept any more, `Damaged` if they are not what they were.
    pub fn after_bytes(&self, record: &Record, file: &FileRecord) -> LedgerResult<Option<Vec<u8>>> {
        let Some(image) = file.after else { return Ok(None) };
        self.kept_bytes(record.uuid, &file.path, file.content.as_ref(), image.hash).map(Some)
    }

    fn kept_bytes(
        &self,
        id: TxId,
        path: &str,
        content: Option<&RecordContent>,
        hash: Digest,
    ) -> LedgerResult<Vec<u8>> {
        let gone = || LedgerError::NotRevertible {
            id,
            reason: format!("the content of {path} is not kept any more"),
        };
        let bytes = match content {
            Some(RecordContent::Text(text)) => text.clone().into_bytes(),
            Some(RecordContent::Blob { blob, .. }) => BlobStores::open(self)?.get(*blob)?.ok_or_else(gone)?,
            None => return Err(gone()),
        };
        if Digest::of(&bytes) != hash {
            let reason = format!("what it says of {path} does not match");
            return Err(LedgerError::Damaged { path: RecordLocation::Own(id).path(), reason });
        }
        Ok(bytes)
    }
}

/// How many files some transactions changed. Of one that changed very many not every name is in the index: those that are not
/// count as files of their own.
fn count_files<'l>(lines: impl Iterator<Item = &'l IndexLine>) -> usize {
    let (mut names, mut unnamed) = (HashSet::new(), 0usize);
    for line in lines {
        names.extend(line.paths.iter().map(|path| path.new_and_old().0));
        unnamed = unnamed.saturating_add(line.files.saturating_sub(line.paths.len()));
    }
    unnamed.saturating_add(names.len())
}

fn unknown_transaction(id: TxId) -> LedgerError {
    LedgerError::UnknownTransaction { name: id.to_string() }
}

/// A line on the page.
struct LogMember {
    line: usize,
    undo_state: UndoState,
}

type LogEntryLines = Vec<(Option<String>, Vec<LogMember>)>;

/// The entries of a page, with the lines that they consist of.
fn collect_entries(
    index: &LedgerIndex<'_>,
    skip: usize,
    count: usize,
) -> IndexResult<(LogEntryLines, Vec<IndexLine>)> {
    let mut entries: LogEntryLines = Vec::new();
    let mut lines: Vec<IndexLine> = Vec::new();
    let mut taken_back = RevertedIds::default();
    // Every group that was seen, with its place on the page if it has one.
    let mut groups: HashMap<String, Option<usize>> = HashMap::new();
    let mut seen = 0;
    // The groups of the page are not whole before this line.
    let mut until = u64::MAX;
    if count == 0 {
        return Ok((entries, lines));
    }
    index.for_each_newest_first(&mut |line| {
        let at = line.at;
        let undo_state = taken_back.observe_line(&line);
        if !line.pending {
            let known = line.group.as_ref().and_then(|group| groups.get(group).copied());
            let place = known.unwrap_or_else(|| {
                let place = (seen >= skip && entries.len() < count).then_some(entries.len());
                seen += 1;
                if let Some(group) = &line.group {
                    groups.insert(group.clone(), place);
                }
                if place.is_some() {
                    entries.push((line.group.clone(), Vec::new()));
                }
                place
            });
            if let Some((_, members)) = place.and_then(|place| entries.get_mut(place)) {
                until = until.min(line.group_from.unwrap_or(at));
                members.push(LogMember { line: lines.len(), undo_state });
                lines.push(line);
            }
        }
        if entries.len() == count && at <= until { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok((entries, lines))
}

pub(crate) fn log_transaction(line: IndexLine, undo_state: &UndoState, revertible: bool) -> LogTransaction {
    LogTransaction {
        id: line.uuid,
        number: line.number,
        created_at: line.created_at,
        origin: line.origin,
        summary: line.summary,
        files: line.files,
        added: line.added,
        removed: line.removed,
        revert_of: line.revert_of,
        undone: *undo_state == UndoState::Undone,
        partly_undone: matches!(undo_state, UndoState::Partly(_)),
        revertible,
        foreign: line.unsealed,
        damage: line.damage,
    }
}

/// Where the original tool has the record of a transaction.
fn foreign_location(index: &LedgerIndex<'_>, id: TxId) -> IndexResult<Option<RecordLocation>> {
    let mut place = None;
    index.for_each_newest_first(&mut |line| {
        if line.uuid == Some(id) && line.foreign.is_some() {
            place = line.foreign.map(RecordLocation::Foreign);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    Ok(place)
}

/// Where blobs may be: in the project, and in the copy.
pub(crate) struct BlobStores<'l> {
    ledger: &'l Ledger,
    dirs: Vec<FsDir>,
}

impl<'l> BlobStores<'l> {
    /// Opens what there is.
    pub(crate) fn open(ledger: &'l Ledger) -> LedgerResult<BlobStores<'l>> {
        let dirs =
            ledger.open_subdir(StateSubdir::Blobs)?.into_iter().chain(ledger.copied_blobs()?).collect();
        Ok(BlobStores { ledger, dirs })
    }

    fn get(&self, digest: Digest) -> LedgerResult<Option<Vec<u8>>> {
        let mut damage = None;
        for dir in &self.dirs {
            match blobs::get(&*self.ledger.fs, dir, digest) {
                Ok(Some(bytes)) => return Ok(Some(bytes)),
                Ok(None) => {}
                Err(error) => damage = damage.or(Some(error)),
            }
        }
        damage.map_or(Ok(None), Err)
    }

    fn has(&self, digest: Digest) -> LedgerResult<bool> {
        for dir in &self.dirs {
            let path = format!("blobs/{digest}");
            if blobs::has(&*self.ledger.fs, dir, digest).context("read", &path)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether what reverting a transaction needs is there.
    fn revertible(&self, index: &LedgerIndex<'_>, line: &IndexLine) -> LedgerResult<bool> {
        if line.damage.is_some() || line.final_because.is_some() {
            return Ok(false);
        }
        let all = match line.uuid.filter(|_| line.more_blobs) {
            None => line.blobs.clone(),
            Some(id) => match index.records.locate(id)?.map(|place| index.records.find(&place)) {
                Some(Ok(Some(record))) => needed_blobs(&record),
                _ => return Ok(false),
            },
        };
        for digest in all {
            if !self.has(digest)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

pub mod blame;
pub(crate) mod index;
#[cfg(test)]
pub(crate) mod tests;
