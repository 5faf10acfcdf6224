//! Cleaning up: blobs by age and by size, texts that were shown to a model, files that a committed transaction displaced, and the
//! directories that held them. Records never go.
//!
//! Nothing of an open transaction is touched, and no displaced file whose bytes are not the ones
//! that its record says it had: somebody who held it open may have written into it.

use std::collections::HashSet;
use std::io;

use relaycode_durable::{FileMode, Fs, FsDir, FsKind, if_found, pick_entries};

use crate::disk::{Digest, STATE_DIR_NAME, StateDir, StateSubdir, state_dir};
use crate::log::{index, needed_blobs};
use crate::record::{
    self, FileImage, LINK_MODE, RECORD_BYTES, RecordLocation, RecordStore, blobs, shown_texts,
};
use crate::transaction::{DONE, recover};
use crate::{IoContext, Ledger, LedgerResult, TxId, io_error};

const DAY: i64 = 24 * 60 * 60;
/// Blobs go when they are this old: 90 days.
pub const BLOB_SECONDS: i64 = 90 * DAY;
/// The oldest blobs go when there are more bytes than this: 1 GiB.
pub const BLOB_BYTES: u64 = 1024 * 1024 * 1024;
/// Displaced files go when their transaction is this old: 14 days.
pub const DISPLACED_SECONDS: i64 = 14 * DAY;
/// What a rebuilt index that was never finished is called goes when it is this old: a day.
const SCRATCH_SECONDS: i64 = DAY;
/// The name of a transaction's lock in its directory, and of the project's in `.relaycode/`.
const LOCK: &str = "lock";
/// Characters of an id.
const ID: usize = 36;

/// What is kept for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetentionPolicy {
    /// How old a blob may be, in seconds.
    pub blob_seconds: i64,
    /// How many bytes all blobs may have.
    pub blob_bytes: u64,
    /// How old a transaction may be whose displaced files are kept, in seconds.
    pub displaced_seconds: i64,
}

impl Default for RetentionPolicy {
    fn default() -> RetentionPolicy {
        RetentionPolicy {
            blob_seconds: BLOB_SECONDS,
            blob_bytes: BLOB_BYTES,
            displaced_seconds: DISPLACED_SECONDS,
        }
    }
}

/// What was removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CollectionReport {
    /// Blobs of the project.
    pub blobs: usize,
    /// Blobs of the copy.
    pub copied_blobs: usize,
    /// Texts that had been shown to a model.
    pub shown: usize,
    /// Displaced files.
    pub displaced: usize,
    /// Directories of transactions.
    pub directories: usize,
    /// Bytes of all of them.
    pub bytes: u64,
    /// Displaced files that are not what their record says, beneath the root: they are kept.
    pub kept: Vec<String>,
}

/// When something was collected last is the time of this file.
const STAMP: &str = "collected";

impl Ledger {
    /// Removes what the policy does not keep, at most once a day.
    pub fn collect_daily(&self, now_secs: i64, policy: &RetentionPolicy) -> LedgerResult<CollectionReport> {
        let Some(state) = self.state()? else { return Ok(CollectionReport::default()) };
        let stamp = if_found(state.fs().stat(state.dir(), STAMP)).context("look at", STAMP)?;
        // A time to come is a clock that was set back.
        if stamp.is_some_and(|stat| (now_secs - DAY..=now_secs).contains(&stat.modified)) {
            return Ok(CollectionReport::default());
        }
        let collected = self.collect(now_secs, policy)?;
        let stamped = || -> io::Result<()> {
            state.fs().remove_if_exists(state.dir(), STAMP)?;
            state.fs().create(state.dir(), STAMP, FileMode::Private).map(drop)
        };
        stamped().context("write", STAMP)?;
        Ok(collected)
    }

    /// Removes what the policy does not keep. Does nothing while another relay is writing.
    pub fn collect(&self, now_secs: i64, policy: &RetentionPolicy) -> LedgerResult<CollectionReport> {
        let mut collected = CollectionReport::default();
        let Some(state) = self.state()? else { return Ok(collected) };
        let fs = state.fs();
        let Some(_lock) = fs.try_lock(state.dir(), LOCK).context("lock", ".relaycode/lock")? else {
            return Ok(collected);
        };
        let open = journal_references(&state)?;
        collect_scratch(&state, now_secs)?;
        collected.shown = shown_texts::collect(&state, u64::try_from(now_secs).unwrap_or(0))?;
        collect_displaced(self, &state, &open, now_secs, policy, &mut collected)?;
        // Without knowing what an open transaction needs, nothing that it may need goes.
        if let Some(needed) = open.needed {
            let kept = state.open_subdir(StateSubdir::Blobs).context("open", ".relaycode/blobs")?;
            let stores = [(kept, &mut collected.blobs), (self.copied_blobs()?, &mut collected.copied_blobs)];
            for (dir, count) in stores {
                let Some(dir) = dir else { continue };
                let (removed, bytes) = collect_blobs(fs, &dir, &needed, now_secs, policy)?;
                *count = removed;
                collected.bytes += bytes;
            }
        }
        Ok(collected)
    }
}

/// The transactions that have a journal.
struct JournalReferences {
    ids: HashSet<TxId>,
    /// Directories beneath `tx/` that they say are theirs.
    directories: HashSet<String>,
    /// The blobs that they name; `None` if a journal could not be read.
    needed: Option<HashSet<Digest>>,
}

fn journal_references(state: &StateDir) -> LedgerResult<JournalReferences> {
    let ids: HashSet<TxId> = recover::list_journals(state)?.into_iter().collect();
    let mut directories = HashSet::new();
    let mut needed = Some(HashSet::new());
    for id in &ids {
        let name = state_dir::journal_name(*id);
        let journal = state.fs().read(state.dir(), &name, RECORD_BYTES as u64).ok();
        match journal.and_then(|(bytes, _)| record::read(&bytes, &name, *id).ok()) {
            Some(journal) => {
                if let Some(needed) = &mut needed {
                    needed.extend(needed_blobs(&journal));
                }
                directories.extend(journal.transaction.map(|transaction| transaction.directory));
            }
            None => needed = None,
        }
    }
    Ok(JournalReferences { ids, directories, needed })
}

fn collect_blobs(
    fs: &dyn Fs,
    dir: &FsDir,
    needed: &HashSet<Digest>,
    now: i64,
    policy: &RetentionPolicy,
) -> LedgerResult<(usize, u64)> {
    let all = blobs::list(fs, dir).context("list", "blobs")?;
    let mut total: u64 = all.iter().map(|blob| blob.size).sum();
    let (mut count, mut bytes) = (0, 0);
    for blob in all {
        let old = now.saturating_sub(blob.modified) > policy.blob_seconds;
        if !old && total <= policy.blob_bytes {
            break;
        }
        if needed.contains(&blob.digest) {
            continue;
        }
        remove(fs, dir, &blob.digest.to_string())?;
        total -= blob.size;
        count += 1;
        bytes += blob.size;
    }
    Ok((count, bytes))
}

/// Removes what rebuilding the index left when it was cut short.
fn collect_scratch(state: &StateDir, now: i64) -> LedgerResult<()> {
    let scratch = |name: &str, kind| {
        name.strip_prefix(index::SCRATCH)?.parse::<TxId>().ok()?;
        (kind == FsKind::File).then(|| name.to_string())
    };
    for name in pick_entries(state.fs(), state.dir(), scratch).context("list", STATE_DIR_NAME)? {
        match state.fs().stat(state.dir(), &name) {
            Ok(stat) if now.saturating_sub(stat.modified) > SCRATCH_SECONDS => {
                remove(state.fs(), state.dir(), &name)?;
            }
            // It is young, or another relay has finished it.
            _ => {}
        }
    }
    Ok(())
}

fn collect_displaced(
    ledger: &Ledger,
    state: &StateDir,
    open: &JournalReferences,
    now: i64,
    policy: &RetentionPolicy,
    collected: &mut CollectionReport,
) -> LedgerResult<()> {
    let Some(tx) = state.open_subdir(StateSubdir::Transactions).context("open", ".relaycode/tx")? else {
        return Ok(());
    };
    let shelf = RecordStore::open(ledger)?;
    let fs = state.fs();
    for (name, kind) in fs.list(&tx).context("list", ".relaycode/tx")? {
        let path = format!("{}/tx/{name}", STATE_DIR_NAME);
        // Only a committed transaction's: its name, perhaps with a number behind it, and the mark.
        let id: Option<TxId> =
            name.strip_suffix(DONE).and_then(|name| name.get(..ID)).and_then(|id| id.parse().ok());
        let Some(id) = id.filter(|id| kind == FsKind::Dir && !open.ids.contains(id)) else { continue };
        if open.directories.contains(&name) {
            continue;
        }
        let dir = fs.open_dir(&tx, &name).context("open", &path)?;
        let age = now.saturating_sub(fs.stat_dir(&dir).context("read", &path)?.modified);
        if age <= policy.displaced_seconds {
            continue;
        }
        let Some(lock) = fs.try_lock(&dir, LOCK).context("lock", &path)? else { continue };
        let images = displaced_images(&shelf, id);
        if empty_directory(fs, &dir, &path, &images, collected)? {
            remove(fs, &dir, LOCK)?;
            drop(lock);
            match fs.remove_dir(&tx, &name) {
                Ok(()) => collected.directories += 1,
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                Err(error) => return Err(io_error("remove", &path)(error)),
            }
        }
    }
    Ok(())
}

/// What the files were that a committed transaction displaced; none if it has no record that could
/// be read.
fn displaced_images(shelf: &RecordStore<'_>, id: TxId) -> Vec<FileImage> {
    let places = [RecordLocation::Own(id), RecordLocation::Undone(id)];
    let record = places.iter().find_map(|place| shelf.find(place).ok().flatten());
    record.map_or(Vec::new(), |record| record.result.iter().filter_map(|file| file.before).collect())
}

/// Removes the files that are still what they were; says whether nothing but the lock is left.
fn empty_directory(
    fs: &dyn Fs,
    dir: &FsDir,
    path: &str,
    images: &[FileImage],
    collected: &mut CollectionReport,
) -> LedgerResult<bool> {
    let mut empty = true;
    for (name, kind) in fs.list(dir).context("list", path)? {
        if name == LOCK {
            continue;
        }
        let file = format!("{path}/{name}");
        if matches!(kind, FsKind::File | FsKind::Link) {
            let stat = fs.stat(dir, &name).context("read", &file)?;
            if images.iter().any(|image| image.size == stat.len) {
                let found = if kind == FsKind::Link {
                    fs.read_link(dir, &name).map(|target| FileImage::of(&target, LINK_MODE))
                } else {
                    fs.read(dir, &name, stat.len).map(|(bytes, stat)| FileImage::of(&bytes, stat.mode))
                };
                let found = found.context("read", &file)?;
                if images.iter().any(|image| image.has_bytes_of(&found)) {
                    remove(fs, dir, &name)?;
                    collected.displaced += 1;
                    collected.bytes += stat.len;
                    continue;
                }
            }
        }
        empty = false;
        collected.kept.push(file);
    }
    Ok(empty)
}

fn remove(fs: &dyn Fs, dir: &FsDir, name: &str) -> LedgerResult<()> {
    fs.remove_if_exists(dir, name).context("remove", name)
}

#[cfg(test)]
mod tests;
