//! Taking one record back on the overlay.
//!
//! All files of a record are decided before any is changed, because a transaction changes them at
//! once: what it moved away from a name may have made room for what it put there. Bytes and
//! permission bits are decided apart. Nothing is guessed: a file that is neither as the transaction
//! left it nor mergeable becomes a [`FileConflict`].

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use relaycode_change::path::RelPath;

use super::overlay::{Content, Goes, Overlay, Slot};
use super::text::{self, Merged};
use super::{Images, KeptEdits, Now, Reversal};
use crate::digest::Digest;
use crate::error::{FileConflict, LedgerError};
use crate::record::{FileRecord, Image, Record};

/// One file of a record.
pub(super) struct Part<'r> {
    pub(super) file: &'r FileRecord,
    /// Its name after the transaction.
    pub(super) path: RelPath,
    /// Its name before.
    pub(super) old: RelPath,
}

/// What becomes of a file when its part is taken back.
enum Outcome {
    /// It is as it was already.
    Already,
    /// It goes.
    Removed,
    /// It stands at its old name again; on disk it lies at `from`.
    Restored { content: Rc<Content>, from: Option<RelPath> },
    /// Somebody has to decide.
    Conflict(FileConflict),
}

/// Taking records back, one after the other, newest first.
pub(super) struct Inverse<'p> {
    overlay: Overlay<'p>,
    images: &'p dyn Images,
    markers: bool,
    conflicts: Vec<FileConflict>,
    /// Names of files in conflict: what older records say of them is not looked at.
    stuck: BTreeSet<RelPath>,
    kept: BTreeMap<RelPath, usize>,
    conflicted: BTreeSet<RelPath>,
    already: BTreeSet<RelPath>,
    notes: Vec<String>,
}

impl<'p> Inverse<'p> {
    pub(super) fn new(
        images: &'p dyn Images,
        now: &'p dyn Now,
        goes: Goes<'p>,
        markers: bool,
    ) -> Inverse<'p> {
        Inverse {
            overlay: Overlay::new(now, goes),
            images,
            markers,
            conflicts: Vec::new(),
            stuck: BTreeSet::new(),
            kept: BTreeMap::new(),
            conflicted: BTreeSet::new(),
            already: BTreeSet::new(),
            notes: Vec::new(),
        }
    }

    /// Takes these parts of `record` back.
    pub(super) fn take_back(&mut self, record: &Record, parts: &[Part<'_>]) -> Result<(), LedgerError> {
        let filled: BTreeSet<&RelPath> =
            parts.iter().filter(|part| part.file.after.is_some()).map(|part| &part.path).collect();
        let mut restored = Vec::new();
        let mut vacated = Vec::new();
        for part in parts {
            if self.stuck.contains(&part.path) || self.stuck.contains(&part.old) {
                continue;
            }
            match self.outcome(record, part, &filled)? {
                Outcome::Already => _ = self.already.insert(part.old.clone()),
                Outcome::Removed => vacated.push(&part.path),
                Outcome::Restored { content, from } => {
                    vacated.extend(part.file.after.map(|_| &part.path));
                    restored.push((part, content, from));
                }
                Outcome::Conflict(conflict) => self.conflict(part, conflict),
            }
        }
        for path in vacated {
            self.overlay.clear(path);
        }
        for (part, content, from) in restored {
            let old = &part.old;
            match self.overlay.get(old)? {
                Slot::Missing => self.overlay.put(old, content, from),
                taken => self.conflict(part, old_name_taken(record, part, &taken)),
            }
        }
        Ok(())
    }

    fn conflict(&mut self, part: &Part<'_>, conflict: FileConflict) {
        self.stuck.extend([part.path.clone(), part.old.clone()]);
        self.conflicts.push(conflict);
    }

    fn outcome(
        &mut self,
        record: &Record,
        part: &Part<'_>,
        filled: &BTreeSet<&RelPath>,
    ) -> Result<Outcome, LedgerError> {
        let now = match self.overlay.get(&part.path)? {
            Slot::Other(sentence) => return Ok(cannot(&part.path, sentence)),
            Slot::File(content) => Some(content),
            Slot::Missing => None,
        };
        if part.file.after.is_none() && record.leaves_open(part.file) {
            return unknown(record, part, now.as_deref());
        }
        match (part.file.before, part.file.after) {
            (None, None) => Ok(Outcome::Already),
            (None, Some(after)) => self.created(record, part, after, now.as_deref()),
            // What another file of the transaction left at this name is not in the way.
            (Some(before), None) if filled.contains(&part.path) => self.deleted(record, part, before, None),
            (Some(before), None) => self.deleted(record, part, before, now.as_deref()),
            (Some(before), Some(after)) => match now {
                Some(now) => self.changed(record, part, before, after, &now),
                None => self.gone(record, part, before),
            },
        }
    }

    /// A file that the transaction created.
    fn created(
        &self,
        record: &Record,
        part: &Part<'_>,
        after: Image,
        now: Option<&Content>,
    ) -> Result<Outcome, LedgerError> {
        let Some(now) = now else { return Ok(Outcome::Already) };
        if now.image.hash == after.hash {
            return Ok(Outcome::Removed);
        }
        let written = self.images.after(record, part.file)?;
        if written.is_some_and(|written| text::only_lines_of(&written, &now.bytes)) {
            return Ok(Outcome::Removed);
        }
        let id = record.uuid.short();
        let reason = format!("was created by {id} and changed since; delete it by hand if it shall go");
        Ok(cannot(&part.path, reason))
    }

    /// A file that the transaction deleted.
    fn deleted(
        &self,
        record: &Record,
        part: &Part<'_>,
        before: Image,
        now: Option<&Content>,
    ) -> Result<Outcome, LedgerError> {
        match now {
            None => {
                let bytes = self.before(record, part.file, before)?;
                let content = Rc::new(Content { bytes, image: before });
                Ok(Outcome::Restored { content, from: None })
            }
            Some(now) if now.image.hash == before.hash => Ok(Outcome::Already),
            Some(_) => {
                let id = record.uuid.short();
                let reason =
                    format!("was deleted by {id}, and another file stands there now; move that away first");
                Ok(cannot(&part.path, reason))
            }
        }
    }

    /// A file that the transaction changed or renamed, and that is gone now.
    fn gone(&mut self, record: &Record, part: &Part<'_>, before: Image) -> Result<Outcome, LedgerError> {
        let id = record.uuid.short();
        if part.path == part.old {
            let reason = format!("was changed by {id} and is gone now; bring it back first");
            return Ok(cannot(&part.path, reason));
        }
        if let Slot::File(old) = self.overlay.get(&part.old)?
            && old.image.hash == before.hash
        {
            return Ok(Outcome::Already);
        }
        let reason = format!("was renamed by {id} from {} and is gone now; bring it back first", part.old);
        Ok(cannot(&part.path, reason))
    }

    /// A file that the transaction changed or renamed.
    fn changed(
        &mut self,
        record: &Record,
        part: &Part<'_>,
        before: Image,
        after: Image,
        now: &Rc<Content>,
    ) -> Result<Outcome, LedgerError> {
        let mode = restored_mode(before, after, now.image);
        let (bytes, edits) = if now.image.hash == after.hash {
            (self.unless_same(record, part, before, after, now)?, 0)
        } else if now.image.hash == before.hash {
            (now.bytes.clone(), 0)
        } else if before.hash == after.hash {
            let known = self.images.before(record, part.file)?;
            (now.bytes.clone(), known.map_or(1, |known| text::places(&known, &now.bytes)))
        } else {
            match self.merged(record, part, before, after, now)? {
                Ok(merged) => merged,
                Err(conflict) => return Ok(Outcome::Conflict(conflict)),
            }
        };
        let content = Content::new(bytes, mode.bits);
        if part.path == part.old && content == **now {
            return Ok(Outcome::Already);
        }
        if mode.changed_since {
            self.notes.push(format!(
                "{} keeps the permission bits {:04o} that it was given later",
                part.old, mode.bits
            ));
        }
        if self.conflicted.remove(&part.path) {
            self.conflicted.insert(part.old.clone());
        }
        self.kept.remove(&part.path);
        if edits > 0 {
            self.kept.insert(part.old.clone(), edits);
        }
        let from = self.overlay.origin(&part.path);
        Ok(Outcome::Restored { content: Rc::new(content), from })
    }

    /// The bytes before; the ones that are there if the transaction did not change them.
    fn unless_same(
        &self,
        record: &Record,
        part: &Part<'_>,
        before: Image,
        after: Image,
        now: &Content,
    ) -> Result<Vec<u8>, LedgerError> {
        if before.hash == after.hash {
            return Ok(now.bytes.clone());
        }
        self.before(record, part.file, before)
    }

    /// Merges by lines: the new bytes, and in how many places later edits stay in them.
    fn merged(
        &mut self,
        record: &Record,
        part: &Part<'_>,
        before: Image,
        after: Image,
        now: &Content,
    ) -> Result<Result<(Vec<u8>, usize), FileConflict>, LedgerError> {
        let id = record.uuid.short();
        let before = self.before(record, part.file, before)?;
        let written = self.after(record, part.file, after)?;
        let path = self.overlay.origin(&part.path).unwrap_or_else(|| part.path.clone()).to_string();
        let Some(merged) = Merged::new(&written, &now.bytes, &before) else {
            let reason = format!("changed since {id} and is not text, so that it cannot be merged by lines");
            return Ok(Err(FileConflict { path, regions: Vec::new(), reason: Some(reason) }));
        };
        match merged.conflicts() {
            0 => {}
            _ if !self.markers => {
                let disk = self.overlay.on_disk(&part.path);
                let regions = merged.regions(disk.as_ref().map_or(&now.bytes, |disk| &disk.bytes));
                return Ok(Err(FileConflict { path, regions, reason: None }));
            }
            count => {
                let conflicts =
                    if count == 1 { "1 conflict is".to_string() } else { format!("{count} conflicts are") };
                self.notes.push(format!("{}: {conflicts} marked in it", part.old));
                self.conflicted.insert(part.path.clone());
            }
        }
        let bytes = merged.bytes(&id);
        let edits = text::places(&before, &bytes);
        Ok(Ok((bytes, edits)))
    }

    fn before(&self, record: &Record, file: &FileRecord, image: Image) -> Result<Vec<u8>, LedgerError> {
        let bytes = self.images.before(record, file)?.ok_or_else(|| LedgerError::NotRevertible {
            id: record.uuid,
            reason: format!("what {} held before it is not kept any more", file.old_path()),
        })?;
        genuine(record, bytes, image, file.old_path())
    }

    fn after(&self, record: &Record, file: &FileRecord, image: Image) -> Result<Vec<u8>, LedgerError> {
        let bytes = self.images.after(record, file)?.ok_or_else(|| LedgerError::NotRevertible {
            id: record.uuid,
            reason: format!(
                "{} was edited since, and what was written into it is not kept any more, so that the two cannot be told apart",
                file.path
            ),
        })?;
        genuine(record, bytes, image, &file.path)
    }

    /// What all of it comes to. `goes` is what the records made.
    pub(super) fn finish(self, goes: Goes<'_>) -> Result<Reversal, LedgerError> {
        if !self.conflicts.is_empty() {
            return Err(LedgerError::RevertConflict(self.conflicts));
        }
        let difference = self.overlay.difference();
        let inside = |directory: &RelPath, path: &RelPath| {
            path.as_str().strip_prefix(directory.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        // It goes with what leaves it, or if it was made empty. One that others emptied since is left: nothing that is
        // taken back later would bring it again.
        let emptied = |directory: &&RelPath| {
            let leaves = difference.vacated.iter().any(|path| inside(directory, path));
            let made_empty = !goes.files.iter().any(|path| inside(directory, path));
            (leaves || made_empty) && !difference.standing.iter().any(|path| inside(directory, path))
        };
        // What is inside sorts behind what holds it.
        let directories = goes.directories.iter().rev().filter(emptied).map(ToString::to_string).collect();
        let changed: BTreeSet<&RelPath> =
            difference.changes.iter().flat_map(|change| [&change.path, change.old_path()]).collect();
        let already = self.already.iter().filter(|path| !changed.contains(path));
        let kept = self.kept.iter().filter(|(path, _)| changed.contains(path));
        Ok(Reversal {
            already: already.map(ToString::to_string).collect(),
            kept: kept.map(|(path, edits)| KeptEdits { path: path.to_string(), edits: *edits }).collect(),
            conflicted: self.conflicted.iter().map(ToString::to_string).collect(),
            of: Vec::new(),
            made_directories_to_remove: directories,
            removed_directories: Vec::new(),
            read_only: Vec::new(),
            notes: self.notes,
            changes: difference.changes,
        })
    }
}

/// The permission bits that a file shall have.
struct RestoredMode {
    bits: u32,
    /// Both the transaction and somebody after it changed them: the later one wins.
    changed_since: bool,
}

fn restored_mode(before: Image, after: Image, now: Image) -> RestoredMode {
    let changed = before.mode != after.mode;
    if changed && now.mode == after.mode {
        return RestoredMode { bits: before.mode, changed_since: false };
    }
    RestoredMode { bits: now.mode, changed_since: changed && now.mode != before.mode }
}

fn cannot(path: &RelPath, reason: String) -> Outcome {
    Outcome::Conflict(FileConflict { path: path.to_string(), regions: Vec::new(), reason: Some(reason) })
}

fn old_name_taken(record: &Record, part: &Part<'_>, taken: &Slot) -> FileConflict {
    let id = record.uuid.short();
    let reason = match taken {
        Slot::Other(sentence) => sentence.clone(),
        _ => format!(
            "was renamed by {id} to {}, and another file has its old name now; move that away first",
            part.path
        ),
    };
    FileConflict { path: part.old.to_string(), regions: Vec::new(), reason: Some(reason) }
}

/// Bytes that are what the record says they are.
fn genuine(record: &Record, bytes: Vec<u8>, image: Image, path: &str) -> Result<Vec<u8>, LedgerError> {
    if Digest::of(&bytes) == image.hash {
        return Ok(bytes);
    }
    let reason = format!("the bytes that it keeps of {path} are not the ones that it speaks of");
    Err(LedgerError::NotRevertible { id: record.uuid, reason })
}

/// A file of which only the state before is known.
fn unknown(record: &Record, part: &Part<'_>, now: Option<&Content>) -> Result<Outcome, LedgerError> {
    let is_as_before = match (part.file.before, now) {
        (Some(before), Some(now)) => before.hash == now.image.hash,
        (before, now) => before.is_none() && now.is_none(),
    };
    if is_as_before {
        return Ok(Outcome::Already);
    }
    let reason = format!("its record does not say what was written into {}", part.path);
    Err(LedgerError::NotRevertible { id: record.uuid, reason })
}
