//! Taking one record back on the overlay.
//!
//! All files of a record are decided before any is changed, because a transaction changes them at
//! once: what it moved away from a name may have made room for what it put there. Bytes and
//! permission bits are decided apart. Nothing is guessed: a file that is neither as the transaction
//! left it nor mergeable becomes a [`FileConflict`].

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use relaycode_change::proposal::path::RelPath;

use crate::disk::Digest;
use crate::record::{FileImage, FileRecord, Record};
use crate::revert::{
    CurrentFiles, KeptEdits, OverlayContent, OverlayEntry, RecordImages, RevertMerge, RevertOverlay,
    RevertPlan, RevertedNames, RevertedPaths, merge,
};
use crate::{FileConflict, LedgerError, LedgerResult, LedgerRule};

/// One file of a record.
pub(super) struct RevertPart<'r> {
    pub(super) record: &'r Record,
    pub(super) file: &'r FileRecord,
    /// Its name after the transaction.
    pub(super) path: RelPath,
    /// Its name before.
    pub(super) old_path: RelPath,
}

/// What becomes of a file when its part is taken back.
enum RevertPartOutcome {
    Already,
    /// It goes.
    Removed,
    /// It stands at its old name again; on disk it lies at `from`.
    Restored {
        content: Rc<OverlayContent>,
        from: Option<RelPath>,
    },
    /// Somebody has to decide.
    Conflict(FileConflict),
}

type RevertPartResult = LedgerResult<RevertPartOutcome>;

/// Taking records back, one after the other, newest first.
pub(super) struct RevertBuilder<'p> {
    overlay: RevertOverlay<'p>,
    images: &'p dyn RecordImages,
    markers: bool,
    conflicts: Vec<FileConflict>,
    /// Names of files in conflict: what older records say of them is not looked at.
    conflicting_paths: BTreeSet<RelPath>,
    kept: BTreeMap<RelPath, usize>,
    conflicted: BTreeSet<RelPath>,
    already: BTreeSet<RelPath>,
    notes: Vec<String>,
}

impl<'p> RevertBuilder<'p> {
    pub(super) fn new(
        images: &'p dyn RecordImages,
        now: &'p dyn CurrentFiles,
        goes: RevertedPaths<'p>,
        markers: bool,
    ) -> RevertBuilder<'p> {
        RevertBuilder {
            overlay: RevertOverlay::new(now, goes),
            images,
            markers,
            conflicts: Vec::new(),
            conflicting_paths: BTreeSet::new(),
            kept: BTreeMap::new(),
            conflicted: BTreeSet::new(),
            already: BTreeSet::new(),
            notes: Vec::new(),
        }
    }

    /// Takes these parts of one record back.
    pub(super) fn take_back(&mut self, parts: &[RevertPart<'_>]) -> LedgerResult<()> {
        let filled: BTreeSet<&RelPath> =
            parts.iter().filter(|part| part.file.after.is_some()).map(|part| &part.path).collect();
        let mut restored = Vec::new();
        let mut vacated = Vec::new();
        for part in parts {
            if self.conflicting_paths.contains(&part.path) || self.conflicting_paths.contains(&part.old_path)
            {
                continue;
            }
            match self.part_outcome(part, &filled)? {
                RevertPartOutcome::Already => _ = self.already.insert(part.old_path.clone()),
                RevertPartOutcome::Removed => vacated.push(&part.path),
                RevertPartOutcome::Restored { content, from } => {
                    vacated.extend(part.file.after.map(|_| &part.path));
                    restored.push((part, content, from));
                }
                RevertPartOutcome::Conflict(conflict) => self.conflict(part, conflict),
            }
        }
        for path in vacated {
            self.overlay.clear(path);
        }
        for (part, content, from) in restored {
            let old = &part.old_path;
            match self.overlay.get(old)? {
                OverlayEntry::Missing => self.overlay.put(old, content, from),
                taken => self.conflict(part, old_name_taken(part, &taken)),
            }
        }
        Ok(())
    }

    fn conflict(&mut self, part: &RevertPart<'_>, conflict: FileConflict) {
        self.conflicting_paths.extend([part.path.clone(), part.old_path.clone()]);
        self.conflicts.push(conflict);
    }

    fn part_outcome(&mut self, part: &RevertPart<'_>, filled: &BTreeSet<&RelPath>) -> RevertPartResult {
        let now = match self.overlay.get(&part.path)? {
            OverlayEntry::Other(sentence) => return Ok(conflict_because(&part.path, sentence)),
            OverlayEntry::File(content) => Some(content),
            OverlayEntry::Missing => None,
        };
        let is_link = |image: FileImage| image.is_link();
        let knows_links = part.file.before.is_some_and(is_link) || part.file.after.is_some_and(is_link);
        if !knows_links && now.as_ref().is_some_and(|now| now.image.is_link()) {
            return Ok(conflict_because(&part.path, LedgerRule::NotAFile("a symbolic link").to_string()));
        }
        if part.file.after.is_none() && part.record.is_result_unknown(part.file) {
            return revert_unknown(part, now.as_deref());
        }
        match (part.file.before, part.file.after) {
            (None, None) => Ok(RevertPartOutcome::Already),
            (None, Some(after)) => self.revert_created(part, after, now.as_deref()),
            // What another file of the transaction left at this name is not in the way.
            (Some(before), None) if filled.contains(&part.path) => self.revert_deleted(part, before, None),
            (Some(before), None) => self.revert_deleted(part, before, now.as_deref()),
            (Some(before), Some(after)) => match now {
                Some(now) => self.revert_changed(part, before, after, &now),
                None => self.revert_missing(part, before),
            },
        }
    }

    /// A file that the transaction created.
    fn revert_created(
        &self,
        part: &RevertPart<'_>,
        after: FileImage,
        now: Option<&OverlayContent>,
    ) -> RevertPartResult {
        let Some(now) = now else { return Ok(RevertPartOutcome::Already) };
        if now.image.has_bytes_of(&after) {
            return Ok(RevertPartOutcome::Removed);
        }
        let written = self.images.image_after(part.record, part.file)?;
        if !now.image.is_link()
            && !after.is_link()
            && written.is_some_and(|written| merge::has_only_lines_of(&written, &now.bytes))
        {
            return Ok(RevertPartOutcome::Removed);
        }
        let id = part.record.uuid.short();
        let reason =
            format!("was created by {id} and changed since; delete it yourself if you don't want it");
        Ok(conflict_because(&part.path, reason))
    }

    /// A file that the transaction deleted.
    fn revert_deleted(
        &self,
        part: &RevertPart<'_>,
        before: FileImage,
        now: Option<&OverlayContent>,
    ) -> RevertPartResult {
        match now {
            None => {
                let bytes = self.before(part, before)?;
                let content = Rc::new(OverlayContent { bytes, image: before });
                Ok(RevertPartOutcome::Restored { content, from: None })
            }
            Some(now) if now.image.has_bytes_of(&before) => Ok(RevertPartOutcome::Already),
            Some(_) => {
                let id = part.record.uuid.short();
                let reason =
                    format!("was deleted by {id}, and another file stands there now; move that away first");
                Ok(conflict_because(&part.path, reason))
            }
        }
    }

    /// A file that the transaction changed or renamed, and that is gone now.
    fn revert_missing(&mut self, part: &RevertPart<'_>, before: FileImage) -> RevertPartResult {
        let id = part.record.uuid.short();
        if part.path == part.old_path {
            let reason = format!("was changed by {id} but no longer exists; restore it first");
            return Ok(conflict_because(&part.path, reason));
        }
        if let OverlayEntry::File(old) = self.overlay.get(&part.old_path)?
            && old.image.has_bytes_of(&before)
        {
            return Ok(RevertPartOutcome::Already);
        }
        let reason =
            format!("was renamed by {id} from {} but no longer exists; restore it first", part.old_path);
        Ok(conflict_because(&part.path, reason))
    }

    /// A file that the transaction changed or renamed.
    fn revert_changed(
        &mut self,
        part: &RevertPart<'_>,
        before: FileImage,
        after: FileImage,
        now: &Rc<OverlayContent>,
    ) -> RevertPartResult {
        let mode = restored_mode(before, after, now.image);
        let (bytes, edits) = if now.image.has_bytes_of(&after) {
            (if before.hash == after.hash { now.bytes.clone() } else { self.before(part, before)? }, 0)
        } else if now.image.has_bytes_of(&before) {
            (now.bytes.clone(), 0)
        } else if before.is_link() || after.is_link() || now.image.is_link() {
            let id = part.record.uuid.short();
            let reason =
                format!("is not what {id} left there, and links cannot be merged; move it away first");
            return Ok(conflict_because(&part.path, reason));
        } else if before.hash == after.hash {
            let known = self.images.image_before(part.record, part.file)?;
            (now.bytes.clone(), known.map_or(1, |known| merge::count_differences(&known, &now.bytes)))
        } else {
            match self.merge_later_edits(part, before, after, now)? {
                Ok(merged) => merged,
                Err(conflict) => return Ok(RevertPartOutcome::Conflict(conflict)),
            }
        };
        let content = OverlayContent::new(bytes, mode.bits);
        if part.path == part.old_path && content == **now {
            return Ok(RevertPartOutcome::Already);
        }
        if mode.changed_since {
            self.notes.push(format!(
                "{} keeps the permission bits {:04o} that it was given later",
                part.old_path, mode.bits
            ));
        }
        if self.conflicted.remove(&part.path) {
            self.conflicted.insert(part.old_path.clone());
        }
        self.kept.remove(&part.path);
        if edits > 0 {
            self.kept.insert(part.old_path.clone(), edits);
        }
        let from = self.overlay.origin(&part.path);
        Ok(RevertPartOutcome::Restored { content: Rc::new(content), from })
    }

    /// Merges by lines: the new bytes, and in how many places later edits stay in them.
    fn merge_later_edits(
        &mut self,
        part: &RevertPart<'_>,
        before: FileImage,
        after: FileImage,
        now: &OverlayContent,
    ) -> LedgerResult<Result<(Vec<u8>, usize), FileConflict>> {
        let id = part.record.uuid.short();
        let before = self.before(part, before)?;
        let written = self.after(part, after)?;
        let path = self.overlay.origin(&part.path).unwrap_or_else(|| part.path.clone()).to_string();
        let Some(merged) = RevertMerge::new(&written, &now.bytes, &before) else {
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
                self.notes.push(format!("{}: {conflicts} marked in it", part.old_path));
                self.conflicted.insert(part.path.clone());
            }
        }
        let bytes = merged.bytes(&id);
        let edits = merge::count_differences(&before, &bytes);
        Ok(Ok((bytes, edits)))
    }

    fn before(&self, part: &RevertPart<'_>, image: FileImage) -> LedgerResult<Vec<u8>> {
        let old_path = part.file.old_path();
        let gone = || part.not_revertible(format!("what {old_path} held before it is not kept any more"));
        let bytes = self.images.image_before(part.record, part.file)?.ok_or_else(gone)?;
        part.verify_digest(bytes, image, old_path)
    }

    fn after(&self, part: &RevertPart<'_>, image: FileImage) -> LedgerResult<Vec<u8>> {
        let path = &part.file.path;
        let gone = || {
            part.not_revertible(format!(
                "{path} was edited since, and what was written into it is not kept any more, so that the two cannot be told apart"
            ))
        };
        let bytes = self.images.image_after(part.record, part.file)?.ok_or_else(gone)?;
        part.verify_digest(bytes, image, path)
    }

    /// What all of it comes to. `goes` is what the records made, `left` the files that the newest of them left there.
    pub(super) fn finish(
        self,
        goes: RevertedPaths<'_>,
        left: &BTreeSet<RelPath>,
    ) -> LedgerResult<RevertPlan> {
        if !self.conflicts.is_empty() {
            return Err(LedgerError::RevertConflict(self.conflicts));
        }
        let difference = self.overlay.difference();
        let inside = |directory: &RelPath, path: &RelPath| {
            path.as_str().strip_prefix(directory.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        // It goes with what leaves it, or if it was made or left empty. One that others emptied since is left: nothing that is
        // taken back later would bring it again.
        let emptied = |directory: &&RelPath| {
            let leaves = difference.vacated.iter().any(|path| inside(directory, path));
            let left_empty = !left.iter().any(|path| inside(directory, path));
            (leaves || left_empty) && !difference.standing.iter().any(|path| inside(directory, path))
        };
        // What is inside sorts behind what holds it.
        let directories = goes.directories.iter().rev().filter(emptied).map(ToString::to_string).collect();
        let changed: BTreeSet<&RelPath> =
            difference.changes.iter().flat_map(|change| [&change.path, change.old_path()]).collect();
        let already = self.already.iter().filter(|path| !changed.contains(path));
        let kept = self.kept.iter().filter(|(path, _)| changed.contains(path));
        Ok(RevertPlan {
            unchanged: already.map(ToString::to_string).collect(),
            kept_edits: kept
                .map(|(path, edits)| KeptEdits { path: path.to_string(), edits: *edits })
                .collect(),
            conflict_marked: self.conflicted.iter().map(ToString::to_string).collect(),
            made_directories_to_remove: directories,
            links: difference.links,
            notes: self.notes,
            changes: difference.changes,
            ..RevertPlan::default()
        })
    }
}

/// The permission bits that a file shall have.
struct RestoredMode {
    bits: u32,
    /// Both the transaction and somebody after it changed them: the later one wins.
    changed_since: bool,
}

fn restored_mode(before: FileImage, after: FileImage, now: FileImage) -> RestoredMode {
    if before.is_link() {
        return RestoredMode { bits: before.mode, changed_since: false };
    }
    let changed = before.mode != after.mode;
    if changed && now.mode == after.mode {
        return RestoredMode { bits: before.mode, changed_since: false };
    }
    RestoredMode { bits: now.mode, changed_since: changed && now.mode != before.mode }
}

fn conflict_because(path: &RelPath, reason: String) -> RevertPartOutcome {
    RevertPartOutcome::Conflict(FileConflict {
        path: path.to_string(),
        regions: Vec::new(),
        reason: Some(reason),
    })
}

fn old_name_taken(part: &RevertPart<'_>, taken: &OverlayEntry) -> FileConflict {
    let id = part.record.uuid.short();
    let reason = match taken {
        OverlayEntry::Other(sentence) => sentence.clone(),
        _ => format!(
            "was renamed by {id} to {}, and another file has its old name now; move that away first",
            part.path
        ),
    };
    FileConflict { path: part.old_path.to_string(), regions: Vec::new(), reason: Some(reason) }
}

impl RevertPart<'_> {
    /// Whether it is one of the files that were taken back before.
    pub(super) fn is_among(&self, reverted: &RevertedNames) -> bool {
        let names = reverted.get(&self.record.uuid);
        names
            .is_some_and(|names| names.contains(self.path.as_str()) || names.contains(self.old_path.as_str()))
    }

    fn not_revertible(&self, reason: String) -> LedgerError {
        LedgerError::NotRevertible { id: self.record.uuid, reason }
    }

    /// Bytes that are what the record says they are.
    fn verify_digest(&self, bytes: Vec<u8>, image: FileImage, path: &str) -> LedgerResult<Vec<u8>> {
        if Digest::of(&bytes) == image.hash {
            return Ok(bytes);
        }
        let reason = format!("the bytes that it keeps of {path} are not the ones that it speaks of");
        Err(self.not_revertible(reason))
    }
}

/// A file of which only the state before is known.
fn revert_unknown(part: &RevertPart<'_>, now: Option<&OverlayContent>) -> RevertPartResult {
    let is_as_before = match (part.file.before, now) {
        (Some(before), Some(now)) => before.has_bytes_of(&now.image),
        (before, now) => before.is_none() && now.is_none(),
    };
    if is_as_before {
        return Ok(RevertPartOutcome::Already);
    }
    Err(part.not_revertible(format!("its record does not say what was written into {}", part.path)))
}
