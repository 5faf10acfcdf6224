//! From what differs to one record: files are read, compared by their bytes, and kept as they were and as they are.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;

use relaycode_change::diff;
use relaycode_durable::fs::{FileMode, is_link, is_not_regular, is_too_long};
use relaycode_durable::{Dir, Rename, atomic};

use super::begin::{Lefts, size};
use super::compare::{self, Differences, Touched};
use super::keep::Images;
use super::lost::History;
use super::manifest::Manifest;
use super::place::Own;
use super::walk;
use super::walk::Bounds;
use super::{ADOPTED_BYTES, ENTRIES, FILE_BYTES, Left, Recording, root};
use crate::about::About;
use crate::blobs;
use crate::digest::Digest;
use crate::error::{LedgerError, cannot};
use crate::ledger::Ledger;
use crate::paths::Places;
use crate::record::{self, Content, FILES, FileRecord, INLINE_TOTAL, Image, Record};
use crate::recover;
use crate::state::{self, State, Sub};
use crate::transaction::{Committed, SYNC_EACH, draft};

/// Lines are counted in files of at most so many bytes.
const COUNTED: usize = 8 * 1024 * 1024;
/// Files that are read before open directories are let go.
const READS_PER_ROUND: usize = 256;
/// A record of more bytes leaves files out: that of its revert says more of each file, and must be readable as well.
const MOST_BYTES: usize = record::RECORD_BYTES / 2;
/// Why a file is left out of a record that has too many.
const BEYOND_FILES: &str = "was changed, and would be beyond what one record holds";
/// So much of what cannot be undone stands in the record.
const NOTED: usize = 50;

/// How the command ended, for the record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ended {
    /// Remarks: how it ended, and what it left.
    pub notes: Vec<String>,
    /// The branch that is checked out now.
    pub branch: Option<String>,
    /// The commit that is checked out now.
    pub head: Option<String>,
}

/// What came of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adopted {
    /// The record; `None`: nothing changed that a record could hold.
    pub committed: Option<Committed>,
    /// What changed and cannot be undone.
    pub left: Vec<Left>,
    /// What became of the records of earlier changes.
    pub history: History,
}

impl Recording<'_> {
    /// Records what changed since. `later` is what git ignores now.
    ///
    /// # Errors
    /// The system's. The recording is still there then, and the next recovery tries again.
    pub fn adopt(self, ended: Ended, later: &[String]) -> Result<Adopted, LedgerError> {
        // The command may have put another directory where the project was, and nothing of what was open before need
        // be there any more.
        let another = root::again(self.ledger)?;
        let ledger = another.as_ref().unwrap_or(self.ledger);
        let later: HashSet<&str> = later.iter().map(|path| path.trim_end_matches('/')).collect();
        let tree = walk::walk(&ledger.root, &bounds(ledger, &self.manifest, &later))?;
        let state = State::create(&ledger.fs, &ledger.root).map_err(cannot("make", state::NAME))?;
        let _project = ledger.lock(&state)?;
        let mut about = self.manifest.told.about();
        (about.branch, about.head) = (ended.branch, ended.head);
        about.notes.extend(ended.notes);
        if another.is_some() {
            about.notes.push("the project's directory was replaced by another one while it ran".to_string());
        }
        adopt(ledger, &state, self.own, &self.manifest, &tree, about)
    }
}

/// What is looked at after a command: everything that was there before, and as much again.
pub(super) fn bounds<'w>(ledger: &Ledger, manifest: &'w Manifest, later: &'w HashSet<&'w str>) -> Bounds<'w> {
    Bounds { later, known: Some(manifest), most: ENTRIES, own: root::own(ledger) }
}

/// Writes the record of a recording, and clears the recording away. Under the project's lock.
pub(super) fn adopt(
    ledger: &Ledger,
    state: &State,
    own: Own,
    manifest: &Manifest,
    tree: &walk::Tree,
    about: About,
) -> Result<Adopted, LedgerError> {
    let scratch = own.scratch(state)?;
    let images = Images::open(state.fs(), &own.dir);
    // Before anything is numbered: earlier records come first.
    let (history, missed) = manifest.before.bring_back(ledger, state, &images, &scratch)?;
    let number = ledger.next_number()?;
    let differences = compare::compare(manifest, tree);
    let mut adopting = Adopting {
        state,
        own: &own,
        scratch: &scratch,
        images,
        places: ledger.root.places(),
        reads: 0,
        inline: INLINE_TOTAL,
        blobs: Vec::new(),
        snapshot: BTreeMap::new(),
        result: Vec::new(),
        inodes: HashMap::new(),
        bytes: 0,
        left: Lefts::default(),
    };
    let Differences { mut files, made, removed, left } = differences;
    adopting.left = left;
    if let Some(mode) = manifest.mode {
        root_mode(ledger, mode, &mut adopting.left);
    }
    if files.len() > FILES {
        // What is lost otherwise comes before what is merely left behind.
        files.sort_by_key(|file| file.before.is_none());
    }
    for touched in &files {
        adopting.file(touched)?;
    }
    adopting.renames();
    adopting.sync()?;
    let Adopting { snapshot, result, mut left, .. } = adopting;
    let mut record = draft(About { group: Some(own.id.to_string()), ..about });
    record.snapshot = snapshot;
    record.result = result;
    record.made_directories = made;
    record.removed_directories = removed;
    fit(&mut record, &mut left)?;
    let left: Vec<Left> = missed.into_iter().chain(left.all()).collect();
    if record.result.is_empty() {
        own.clear(state)?;
        return Ok(Adopted { committed: None, left, history });
    }
    if number != manifest.number {
        record.notes.push("relay itself changed files in this project while it ran: some of them may be in this record as well".to_string());
    }
    let noted = left.iter().take(NOTED).map(|left| format!("not undoable: {} {}", left.path, left.why));
    record.notes.extend(noted);
    if left.len() > NOTED {
        record.notes.push(format!("not undoable: {} more", left.len() - NOTED));
    }
    record.approved = true;
    record.decided_by = Some("user".to_string());
    record.number = number;
    let doubt = write(state, &scratch, &record)?;
    // From here on nothing can fail any more: what is cut short, the next command catches up with.
    let cleared = own.clear(state);
    let _ = ledger.settle(&record);
    let doubt = doubt.or(cleared.err().map(|error| error.to_string()));
    Ok(Adopted { committed: Some(Committed { record, doubt }), left, history })
}

/// The permission bits of the project's own directory are nothing that a record holds.
fn root_mode(ledger: &Ledger, was: u32, left: &mut Lefts) {
    let Ok(now) = ledger.fs.stat_dir(ledger.root.dir()) else { return };
    if now.mode != was {
        let why = format!(
            "has the permission bits {:04o} now, and had {was:04o}: those of directories are not kept",
            now.mode
        );
        left.add("./", &why, 0, 0);
    }
}

/// Leaves files out of a record that would become longer than one that can be read: those first that are merely new.
fn fit(record: &mut Record, left: &mut Lefts) -> Result<(), LedgerError> {
    loop {
        let mut bytes = 0usize;
        let mut count = |piece: &[u8]| {
            bytes += piece.len();
            Ok(())
        };
        record::write_to(record, &mut count).map_err(cannot("write", "the record"))?;
        if bytes <= MOST_BYTES || record.result.is_empty() {
            return Ok(());
        }
        let keep = (record.result.len() as u128 * MOST_BYTES as u128 / bytes as u128 * 9 / 10) as usize;
        record.result.sort_by_key(|file| file.before.is_none());
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
fn write(state: &State, scratch: &Dir, record: &Record) -> Result<Option<String>, LedgerError> {
    let name = state::record_name(record.uuid);
    let mut make = |put: &mut atomic::Put<'_>| record::write_to(record, put);
    let target = (state.dir(), name.as_str());
    match atomic::write_pieces(state.fs(), (scratch, "record"), target, &mut make) {
        Ok(()) => Ok(None),
        Err(error) if error.moved || recover::committed(state, record.uuid)? => {
            Ok(Some(error.source.to_string()))
        }
        Err(error) => Err(cannot("write", &format!("{}/{name}", state::NAME))(error.source)),
    }
}

struct Adopting<'a> {
    state: &'a State,
    own: &'a Own,
    /// On the project's file system, for what gets another name there.
    scratch: &'a Dir,
    images: Images<'a>,
    places: Places<'a>,
    reads: usize,
    /// Bytes of text that may still stand in the record.
    inline: usize,
    /// The blobs that were written and are not durable yet.
    blobs: Vec<Digest>,
    snapshot: BTreeMap<String, Option<Content>>,
    result: Vec<FileRecord>,
    /// Which file of which device was deleted, and where: it may have got another name.
    inodes: HashMap<(u64, u64), Moved>,
    /// Bytes of files as they are now.
    bytes: u64,
    left: Lefts,
}

/// The two ends of a move, as indices of the result.
#[derive(Default)]
struct Moved {
    from: Option<usize>,
    to: Option<usize>,
}

impl Adopting<'_> {
    fn file(&mut self, touched: &Touched<'_>) -> Result<(), LedgerError> {
        let path = touched.path;
        let Some(now) = self.now(touched)? else { return Ok(()) };
        let before = match touched.before {
            None => None,
            Some(known) => match self.images.before(known).map_err(cannot("read", &self.own.path()))? {
                Some(bytes) => Some((bytes, known.print.mode)),
                None => {
                    self.left.add(
                        path,
                        "was changed, and what was secured of it is gone",
                        1,
                        known.print.size,
                    );
                    return Ok(());
                }
            },
        };
        if before == now {
            return Ok(());
        }
        let size = now.as_ref().map_or(0, |(bytes, _)| bytes.len() as u64);
        if self.result.len() >= FILES {
            self.left.add(&outermost(path), BEYOND_FILES, 1, size);
            return Ok(());
        }
        if self.bytes + size > ADOPTED_BYTES {
            let why = format!(
                "was changed, and would be beyond the {} that a record keeps",
                self::size(ADOPTED_BYTES)
            );
            self.left.add(path, &why, 1, size);
            return Ok(());
        }
        self.bytes += size;
        self.take(touched, before, now)
    }

    /// What stands there now: `Some(None)` for nothing, `None` for something that cannot be kept.
    #[expect(
        clippy::type_complexity,
        reason = "bytes and permission bits, if there are any, if they can be had"
    )]
    fn now(&mut self, touched: &Touched<'_>) -> Result<Option<Option<(Vec<u8>, u32)>>, LedgerError> {
        let path = touched.path;
        if touched.now.is_none() {
            return Ok(Some(None));
        }
        self.reads += 1;
        if self.reads.is_multiple_of(READS_PER_ROUND) {
            self.places.let_go();
        }
        match self.places.read(path, FILE_BYTES) {
            Ok(read) => Ok(Some(read.map(|(bytes, stat)| (bytes, stat.mode)))),
            Err(error) if is_too_long(&error) => {
                self.left.add(path, &format!("has more than {}", size(FILE_BYTES)), 1, 0);
                Ok(None)
            }
            Err(error) if is_link(&error) || is_not_regular(&error) => {
                self.left.add(path, "became something else while it was looked at", 1, 0);
                Ok(None)
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.left.add(path, "was changed, and cannot be read", 1, 0);
                Ok(None)
            }
            Err(error) => Err(cannot("read", path)(error)),
        }
    }

    fn take(
        &mut self,
        touched: &Touched<'_>,
        before: Option<(Vec<u8>, u32)>,
        now: Option<(Vec<u8>, u32)>,
    ) -> Result<(), LedgerError> {
        let path = touched.path.to_string();
        let bytes = |side: &Option<(Vec<u8>, u32)>| side.as_ref().map_or(0, |(bytes, _)| bytes.len());
        let (mut added, mut removed) = (0, 0);
        if bytes(&before).max(bytes(&now)) <= COUNTED {
            let text = |side: &'_ Option<(Vec<u8>, u32)>| {
                side.as_ref().map_or(Vec::new(), |(bytes, _)| bytes.clone())
            };
            (added, removed) = diff::count(&text(&before), &text(&now));
        }
        let image =
            |side: &Option<(Vec<u8>, u32)>| side.as_ref().map(|(bytes, mode)| Image::of(bytes, *mode));
        let (was, is) = (image(&before), image(&now));
        let snapshot = before.map(|(bytes, _)| self.store(&bytes)).transpose()?;
        let content = now.map(|(bytes, _)| self.store(&bytes)).transpose()?;
        let at = self.result.len();
        match (touched.before, touched.now) {
            (Some(known), None) => {
                self.inodes.entry((known.print.dev, known.print.ino)).or_default().from = Some(at);
            }
            (None, Some(seen)) => {
                self.inodes.entry((seen.print.dev, seen.print.ino)).or_default().to = Some(at);
            }
            _ => {}
        }
        self.snapshot.insert(path.clone(), snapshot);
        self.result.push(FileRecord {
            path,
            renamed_from: None,
            before: was,
            after: is,
            added,
            removed,
            content,
        });
        Ok(())
    }

    /// A file that is gone and one that came are one that was renamed, if they are the same file and nothing of it
    /// changed.
    fn renames(&mut self) {
        let mut gone = Vec::new();
        for moved in self.inodes.values() {
            let (Some(from), Some(to)) = (moved.from, moved.to) else { continue };
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
    fn store(&mut self, bytes: &[u8]) -> Result<Content, LedgerError> {
        match blobs::content_of(bytes) {
            Content::Text(text) if text.len() <= self.inline => {
                self.inline -= text.len();
                return Ok(Content::Text(text));
            }
            _ => {}
        }
        let blob = Digest::of(bytes);
        let stored = || -> io::Result<()> {
            let all = self.state.need(Sub::Blobs)?;
            let (fs, scratch) = (self.state.fs(), (self.scratch, "blob"));
            if self.blobs.len() < SYNC_EACH {
                return blobs::put(fs, &all, scratch, bytes).map(drop);
            }
            // Very many are made durable together.
            match fs.remove_file(scratch.0, scratch.1) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let file = fs.create(scratch.0, scratch.1, FileMode::Private)?;
            fs.write(&file, bytes)?;
            fs.rename(scratch.0, scratch.1, &all, &blob.to_string(), Rename::Replace)
        };
        stored().map_err(cannot("keep", "a blob"))?;
        self.blobs.push(blob);
        Ok(Content::Blob { blob, size: bytes.len() as u64 })
    }

    /// Blobs must be there before a record that speaks of them.
    fn sync(&self) -> Result<(), LedgerError> {
        let fs = self.state.fs();
        let synced = || -> io::Result<()> {
            match self.blobs.len() {
                0 => Ok(()),
                few if few <= SYNC_EACH => fs.sync_dir(&self.state.need(Sub::Blobs)?),
                _ => fs.sync_all(self.state.dir()),
            }
        };
        synced().map_err(cannot("write", "the blobs"))
    }
}
