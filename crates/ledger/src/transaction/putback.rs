//! Putting a transaction back: the same code after a refusal, an error, and a crash.
//!
//! Each step is judged by what stands at its path and in its slot, so that it does not matter how
//! far the transaction came, and doing it twice is doing it once. What is neither as before nor as
//! after is somebody's work: it is left alone and named, unless the caller forces it; then its bytes
//! are kept in the transaction's directory.

use std::io;

use relaycode_durable::DirMode;

use crate::disk::{DirtyDirectories, FileProbe, PathResolver, SwapOutcome, ancestors, if_directory};
use crate::record::FileImage;
use crate::transaction::{
    OWNER_MAY_WRITE, SLOTS_PATH, TransactionJournal, TransactionStage, TransactionStep,
};
use crate::{IoContext, LedgerError, LedgerResult, UnrestoredFile, io_error};

/// What to do with files that are neither as before nor as after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ForeignFilePolicy {
    /// They are left alone.
    KeepInPlace,
    /// They make room, and their bytes are kept.
    SetAside,
}

/// What a put-back came to.
#[derive(Debug, Default)]
pub(crate) struct PutBackOutcome {
    /// Names that are as before.
    pub(crate) restored: Vec<String>,
    /// Names that are not.
    pub(crate) left_alone: Vec<UnrestoredFile>,
    /// Names whose displaced file somebody wrote to: they are as before, and what was written stays in the slot.
    pub(crate) written_to: Vec<String>,
}

/// Where the bytes of a file before the transaction come from, by its name then.
pub(crate) type BeforeBytesFn<'a> = &'a dyn Fn(&str) -> LedgerResult<Vec<u8>>;

/// Takes back whatever was done of `transaction`, and makes that durable.
pub(crate) fn put_back(
    paths: &PathResolver<'_>,
    journal: &TransactionJournal,
    before: BeforeBytesFn<'_>,
    foreign_files: ForeignFilePolicy,
) -> LedgerResult<PutBackOutcome> {
    let (touched, outcome) = (DirtyDirectories::default(), PutBackOutcome::default());
    let mut back = PutBackRun { paths, before, foreign_files, stage: journal.stage, touched, outcome };
    let (removals, rest): (Vec<&TransactionStep>, Vec<&TransactionStep>) =
        journal.steps.iter().rev().partition(|step| matches!(step, TransactionStep::Remove { .. }));
    back.restore_modes(journal, true)?;
    back.make_removed_directories(journal)?;
    for step in rest {
        back.undo(step)?;
    }
    for path in journal.make_directories.iter().rev() {
        if paths.remove_directory(path).context("remove", path)? {
            back.touched.add_entry(path);
        }
    }
    // Once more: a file may have had to go before a directory has its name again.
    back.make_removed_directories(journal)?;
    for step in removals {
        back.undo(step)?;
    }
    back.restore_modes(journal, false)?;
    back.touched.sync(paths).context("write", "the changed directories")?;
    Ok(back.outcome)
}

/// What a directory has before it gets the permission bits that it shall have.
const PRIVATE: u32 = 0o700;

struct PutBackRun<'a, 'r> {
    paths: &'a PathResolver<'r>,
    before: BeforeBytesFn<'a>,
    foreign_files: ForeignFilePolicy,
    stage: TransactionStage,
    touched: DirtyDirectories,
    outcome: PutBackOutcome,
}

/// Why a step could not be taken back.
enum PutBackError {
    /// Somebody's work is in the way.
    Blocked(UnrestoredFile),
    /// The system failed.
    Failed(LedgerError),
}

type PutBackResult<T = ()> = Result<T, PutBackError>;

impl From<LedgerError> for PutBackError {
    fn from(error: LedgerError) -> PutBackError {
        PutBackError::Failed(error)
    }
}

impl PutBackRun<'_, '_> {
    /// Whether every step is known to have been carried out.
    fn was_applied(&self) -> bool {
        matches!(self.stage, TransactionStage::GateRunning | TransactionStage::GateFinished)
    }

    fn undo(&mut self, step: &TransactionStep) -> LedgerResult<()> {
        let (path, undone) = match step {
            TransactionStep::Replace { path, slot, before, after } => {
                (path, self.undo_replace((path, slot), before, after))
            }
            TransactionStep::Create { path, slot, after } => (path, self.undo_create(path, slot, after)),
            TransactionStep::Remove { path, slot, before } => (path, self.undo_remove((path, slot), before)),
            TransactionStep::Move { path, to, slot, image } => {
                (path, self.undo_move((path, to), slot, image))
            }
        };
        match undone {
            Ok(()) => self.outcome.restored.push(path.clone()),
            Err(PutBackError::Blocked(left)) => self.outcome.left_alone.push(left),
            Err(PutBackError::Failed(error)) => return Err(error),
        }
        Ok(())
    }

    fn undo_replace(
        &mut self,
        (path, slot): (&str, &str),
        before: &FileImage,
        after: &FileImage,
    ) -> PutBackResult {
        let now = self.probe_path(path, &[before, after])?;
        let waiting = self.probe_path(slot, &[before, after])?;
        // The new file still waits: nothing at the path is ours. Once all were put in place, only the project's commands
        // can have made it so.
        let is_waiting = waiting.matches_image(after) && !(self.was_applied() && now.matches_bytes(after));
        if now.matches_image(before) || is_waiting {
            return Ok(());
        }
        if now.matches_bytes(after) {
            let source = self.displaced_file(slot, path, waiting, before)?;
            return self.exchange(&source, path, after);
        }
        if self.foreign_files == ForeignFilePolicy::KeepInPlace {
            let displaced = (waiting != FileProbe::Nothing).then_some(slot);
            return Err(self.blocked_by_change(path, now, displaced));
        }
        let source = self.displaced_file(slot, path, waiting, before)?;
        self.replace_foreign(slot, &source, path, now)
    }

    fn undo_create(&mut self, path: &str, slot: &str, after: &FileImage) -> PutBackResult {
        let now = self.probe_path(path, &[after])?;
        let is_gone = matches!(now, FileProbe::Nothing | FileProbe::Unreachable(_));
        let waiting = self.probe_path(slot, &[after])?;
        if is_gone {
            return Ok(());
        }
        if waiting != FileProbe::Nothing {
            // Something that the project's commands put there is not the new file that still waits.
            let is_theirs = self.was_applied() && !waiting.matches_bytes(after);
            return if is_theirs { self.move_aside(path, slot, "others", now) } else { Ok(()) };
        }
        if !now.matches_bytes(after) && self.foreign_files == ForeignFilePolicy::KeepInPlace {
            return Err(self.blocked_by_change(path, now, None));
        }
        if let FileProbe::Other(_) = now {
            return self.move_aside(path, slot, "others", now);
        }
        self.rename_no_replace(path, slot)?;
        if now.matches_bytes(after) && !self.holds_bytes_of(slot, after)? {
            // Saved in the very moment: it goes back, unless the name is taken again.
            self.rename_no_replace(slot, path)?;
            return Err(self.blocked_by_change(path, FileProbe::Longer, None));
        }
        Ok(())
    }

    fn undo_remove(&mut self, (path, slot): (&str, &str), before: &FileImage) -> PutBackResult {
        let now = self.probe_path(path, &[before])?;
        let kept = self.probe_path(slot, &[before])?;
        match (now, kept) {
            (FileProbe::Nothing, _) => {
                let source = self.displaced_file(slot, path, kept, before)?;
                self.move_with_parents(&source, path)
            }
            (_, FileProbe::Nothing) => Ok(()),
            _ if now.matches_bytes(before) => Ok(()),
            _ if self.foreign_files == ForeignFilePolicy::KeepInPlace => {
                Err(self.blocked_by_change(path, now, Some(slot)))
            }
            _ => {
                let source = self.displaced_file(slot, path, kept, before)?;
                self.replace_foreign(slot, &source, path, now)
            }
        }
    }

    /// The file that was displaced into `slot`. If somebody wrote into it since, an editor that had it open did, and that
    /// goes back with it, unless the project's commands ran: they may reach relay's own directory, and then what they
    /// made of it stays there. A copy where it is not the file any more.
    fn displaced_file(
        &mut self,
        slot: &str,
        path: &str,
        waiting: FileProbe,
        before: &FileImage,
    ) -> PutBackResult<String> {
        let is_file = matches!(waiting, FileProbe::File(_) | FileProbe::Longer);
        let had_no_gate = self.stage == TransactionStage::Applying;
        let is_editors = is_file && had_no_gate && self.foreign_files == ForeignFilePolicy::KeepInPlace;
        if is_editors || waiting.matches_image(before) {
            return Ok(slot.to_string());
        }
        if is_file {
            self.outcome.written_to.push(path.to_string());
        }
        self.write_before_bytes(slot, path, before)
    }

    fn undo_move(&mut self, (path, to): (&str, &str), slot: &str, image: &FileImage) -> PutBackResult {
        let now = self.probe_path(path, &[image])?;
        let moved = self.probe_path(to, &[image])?;
        if now != FileProbe::Nothing {
            // Either it was never moved, or somebody made the old name anew.
            let ours_is_elsewhere = moved.matches_bytes(image) && !now.matches_bytes(image);
            if self.stage == TransactionStage::GateRunning && !ours_is_elsewhere && !now.matches_bytes(image)
            {
                // The project's commands took both names.
                if !matches!(moved, FileProbe::Nothing | FileProbe::Unreachable(_)) {
                    self.move_aside(to, slot, "new-name", moved)?;
                }
                let source = self.write_before_bytes(slot, path, image)?;
                return self.replace_foreign(slot, &source, path, now);
            }
            if !ours_is_elsewhere {
                return Ok(());
            }
            if self.foreign_files == ForeignFilePolicy::KeepInPlace {
                return Err(self.blocked_by_change(path, now, Some(to)));
            }
            self.replace_foreign(slot, to, path, now)?;
            if self.probe_path(to, &[])? == FileProbe::Nothing {
                return Ok(());
            }
            let aside = aside_path(slot, "old-name");
            return self.rename_no_replace(to, &aside);
        }
        match moved {
            FileProbe::Nothing => {
                let source = self.write_before_bytes(slot, path, image)?;
                self.move_with_parents(&source, path)
            }
            _ if moved.matches_bytes(image) => {
                self.move_with_parents(to, path)?;
                if self.holds_bytes_of(path, image)? {
                    return Ok(());
                }
                self.rename_no_replace(path, to)?;
                Err(self.blocked_by_change(to, FileProbe::Longer, None))
            }
            FileProbe::Unreachable(_) => Err(self.blocked_by_change(to, moved, None)),
            _ if self.foreign_files == ForeignFilePolicy::KeepInPlace => {
                Err(self.blocked_by_change(to, moved, None))
            }
            _ => {
                self.move_aside(to, slot, "new-name", moved)?;
                let source = self.write_before_bytes(slot, path, image)?;
                self.move_with_parents(&source, path)
            }
        }
    }

    /// The file in `source` and ours at `path` change paths; what comes out must be ours.
    fn exchange(&mut self, source: &str, path: &str, ours: &FileImage) -> PutBackResult {
        self.add_entries(source, path);
        let swapped = self.paths.swap(source, path, ours);
        match swapped.map_err(|error| self.put_back_error(path, error))? {
            SwapOutcome::Replaced => return Ok(()),
            SwapOutcome::Unexpected => {
                return Err(self.blocked_by_change(path, FileProbe::Longer, Some(source)));
            }
            SwapOutcome::Exchanged => {}
        }
        if self.holds_bytes_of(source, ours)? {
            return Ok(());
        }
        // Somebody saved between the look and the exchange: their save goes back.
        self.paths.swap(source, path, ours).map_err(|error| self.put_back_error(path, error))?;
        Err(self.blocked_by_change(path, FileProbe::Longer, Some(source)))
    }

    /// The file in `source` takes the place of somebody's, whose bytes stay in the transaction's
    /// directory.
    fn replace_foreign(&mut self, slot: &str, source: &str, path: &str, now: FileProbe) -> PutBackResult {
        match now {
            FileProbe::Nothing => return self.move_with_parents(source, path),
            FileProbe::Unreachable(_) => return Err(self.blocked_by_change(path, now, Some(source))),
            // Not exchanged: a directory has no place among the files that relay displaced.
            FileProbe::Other(_) => {
                self.move_aside(path, slot, "others", now)?;
                return self.move_with_parents(source, path);
            }
            FileProbe::File(_) | FileProbe::Longer => {}
        }
        self.add_entries(source, path);
        if self.paths.exchange(source, path).map_err(|error| self.put_back_error(path, error))? {
            return Ok(());
        }
        let aside = aside_path(slot, "others");
        self.rename_no_replace(path, &aside)?;
        self.rename_no_replace(source, path)
    }

    /// Moves whatever stands at `path` into the transaction's directory, as it is. What is no file can
    /// only be moved on its own device.
    fn move_aside(&mut self, path: &str, slot: &str, what: &str, now: FileProbe) -> PutBackResult {
        if matches!(now, FileProbe::Other(_)) && !slot.starts_with(SLOTS_PATH) {
            return Err(self.blocked_by_change(path, now, None));
        }
        self.rename_no_replace(path, &aside_path(slot, what))
    }

    /// Moves a file to a free name, making the directories it needs.
    fn move_with_parents(&mut self, from: &str, to: &str) -> PutBackResult {
        for above in ancestors(to) {
            self.make_directory(above, DirMode::Usual)?;
        }
        self.rename_no_replace(from, to)
    }

    fn rename_no_replace(&mut self, from: &str, to: &str) -> PutBackResult {
        self.add_entries(from, to);
        self.paths.rename_no_replace(from, to).map_err(|error| self.put_back_error(to, error))
    }

    /// Writes the bytes that `path` had before to a file beside the slots.
    fn write_before_bytes(&mut self, slot: &str, path: &str, image: &FileImage) -> PutBackResult<String> {
        let bytes = (self.before)(path)?;
        if FileImage::of(&bytes, image.mode) != *image {
            return Err(PutBackError::Failed(LedgerError::Damaged {
                path: path.to_string(),
                reason: "the bytes kept in the journal are not those it had".to_string(),
            }));
        }
        // Under a name of its own until it is whole: only then nobody's bytes can be taken for it.
        let fresh = aside_path(slot, FRESH);
        self.paths.remove_file(&fresh).context("remove", &fresh)?;
        for above in ancestors(&fresh) {
            self.make_directory(above, DirMode::Private)?;
        }
        let written = || -> io::Result<()> {
            if image.is_link() {
                let (place, fs) = (self.paths.resolve(&fresh)?, self.paths.fs());
                fs.make_link(&place.dir, place.name, &bytes)?;
                return fs.sync_dir(&place.dir);
            }
            // A journal is no reason to let others run a file as its owner, whoever wrote it.
            self.paths.write_new(&fresh, &bytes, image.mode & 0o777)
        };
        written().context("write", &fresh)?;
        let name = aside_path(slot, "before");
        let left = self.probe_path(&name, &[image])?;
        if left.matches_bytes(image) {
            self.paths.remove_file(&name).context("remove", &name)?;
        } else if left != FileProbe::Nothing {
            // An earlier attempt let somebody's file change paths with it.
            self.rename_no_replace(&name, &aside_path(slot, "others"))?;
        }
        self.rename_no_replace(&fresh, &name)?;
        Ok(name)
    }

    /// Makes the directories anew that the transaction removed, outermost first.
    fn make_removed_directories(&mut self, journal: &TransactionJournal) -> LedgerResult<()> {
        for directory in journal.remove_directories.iter().rev() {
            let path = &directory.path;
            // One that an earlier attempt made, and died before it had its permission bits.
            if directory.mode != PRIVATE && self.mode_of(path)? == Some(PRIVATE) {
                self.paths.remove_directory(path).context("remove", path)?;
            }
            self.make_directory(path, DirMode::Exact(directory.mode))?;
        }
        Ok(())
    }

    /// Gives directories the permission bits back that they had: first those that may be changed then.
    fn restore_modes(&mut self, journal: &TransactionJournal, first: bool) -> LedgerResult<()> {
        let is_writable = |mode: u32| mode & OWNER_MAY_WRITE == OWNER_MAY_WRITE;
        for change in journal.directory_modes.iter().filter(|change| is_writable(change.before) == first) {
            let path = &change.path;
            // Bits that are neither are somebody's.
            if self.mode_of(path)? == Some(change.after) {
                let set = self.paths.set_directory_mode(path, change.before);
                set.context("set the permissions of", path)?;
            }
        }
        Ok(())
    }

    fn mode_of(&self, path: &str) -> LedgerResult<Option<u32>> {
        self.paths.directory_mode(path).context("look at", path)
    }

    fn make_directory(&mut self, path: &str, mode: DirMode) -> LedgerResult<()> {
        // If something else has its name, whatever belongs in it says so.
        if if_directory(self.paths.make_directory(path, mode)).context("make", path)? == Some(true) {
            self.touched.add_entry(path);
        }
        Ok(())
    }

    fn probe_path(&self, path: &str, images: &[&FileImage]) -> LedgerResult<FileProbe> {
        self.paths.probe(path, images).context("read", path)
    }

    fn holds_bytes_of(&self, path: &str, image: &FileImage) -> LedgerResult<bool> {
        self.paths.holds_bytes_of(path, image).context("read", path)
    }

    fn add_entries(&mut self, a: &str, b: &str) {
        self.touched.add_entry(a);
        self.touched.add_entry(b);
    }

    /// A name was taken or removed in the very moment: somebody's work. Anything else is a failure.
    fn put_back_error(&self, path: &str, error: io::Error) -> PutBackError {
        match error.kind() {
            io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                self.blocked_by_change(path, FileProbe::Longer, None)
            }
            _ => PutBackError::Failed(io_error("put back", path)(error)),
        }
    }

    fn blocked_by_change(&self, path: &str, now: FileProbe, kept: Option<&str>) -> PutBackError {
        let reason = match now {
            FileProbe::Nothing => "was removed meanwhile, not by relay".to_string(),
            FileProbe::Other(what) | FileProbe::Unreachable(what) => format!("is {what} now"),
            FileProbe::File(_) | FileProbe::Longer => "was changed meanwhile, not by relay".to_string(),
        };
        PutBackError::Blocked(UnrestoredFile {
            path: path.to_string(),
            reason,
            kept: kept.map(str::to_string),
        })
    }
}

/// What a copy of a file is called, behind the number of its step, until it is whole.
pub(crate) const FRESH: &str = "fresh";

/// A name of its own beside a slot.
pub(crate) fn aside_path(slot: &str, what: &str) -> String {
    format!("{slot}-{what}")
}
