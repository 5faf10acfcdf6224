//! Putting a transaction back: the same code after a refusal, an error, and a crash.
//!
//! Each step is judged by what stands at its path and in its slot, so that it does not matter how
//! far the transaction came, and doing it twice is doing it once. What is neither as before nor as
//! after is somebody's work: it is left alone and named, unless the caller forces it; then its bytes
//! are kept in the transaction's directory.

use std::io;

use relaycode_durable::Kind;
use relaycode_durable::fs::{DirMode, FileMode};

use crate::error::{LedgerError, Left, cannot};
use crate::journal::{Stage, Step, Transaction};
use crate::moves::{self, Swap, Touched};
use crate::paths::{Places, ancestors};
use crate::record::Image;
use crate::seen::{self, Seen};
use crate::transaction::SLOTS;

/// What to do with files that are neither as before nor as after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Others {
    /// They are left alone.
    LeaveAlone,
    /// They make room, and their bytes are kept.
    Keep,
}

/// What a put-back came to.
#[derive(Debug, Default)]
pub(crate) struct PutBack {
    /// Names that are as before.
    pub(crate) restored: Vec<String>,
    /// Names that are not.
    pub(crate) left: Vec<Left>,
}

/// Where the bytes of a file before the transaction come from, by its name then.
pub(crate) type BeforeBytes<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, LedgerError>;

/// Takes back whatever was done of `transaction`, and makes that durable.
pub(crate) fn put_back(
    places: &Places<'_>,
    transaction: &Transaction,
    before: BeforeBytes<'_>,
    others: Others,
) -> Result<PutBack, LedgerError> {
    let applied = transaction.stage == Stage::GateRunning;
    let mut back =
        Back { places, before, others, applied, touched: Touched::default(), done: PutBack::default() };
    back.remake_removed(transaction)?;
    for step in transaction.steps.iter().rev() {
        if !matches!(step, Step::Remove { .. }) {
            back.undo(step)?;
        }
    }
    for path in transaction.make_directories.iter().rev() {
        if moves::remove_directory(places, path).map_err(cannot("remove", path))? {
            back.touched.entry(path);
        }
    }
    // Once more: a file may have had to go before a directory has its name again.
    back.remake_removed(transaction)?;
    for step in transaction.steps.iter().rev() {
        if matches!(step, Step::Remove { .. }) {
            back.undo(step)?;
        }
    }
    back.touched.sync(places).map_err(cannot("write", "the changed directories"))?;
    Ok(back.done)
}

/// What a directory has before it gets the permission bits that it shall have.
const PRIVATE: u32 = 0o700;

struct Back<'a, 'r> {
    places: &'a Places<'r>,
    before: BeforeBytes<'a>,
    others: Others,
    /// Every step is known to have been carried out.
    applied: bool,
    touched: Touched,
    done: PutBack,
}

/// Why a step could not be taken back.
enum Stuck {
    /// Somebody's work is in the way.
    Left(Left),
    /// The system failed.
    Error(LedgerError),
}

impl From<LedgerError> for Stuck {
    fn from(error: LedgerError) -> Stuck {
        Stuck::Error(error)
    }
}

impl Back<'_, '_> {
    fn undo(&mut self, step: &Step) -> Result<(), LedgerError> {
        let (path, undone) = match step {
            Step::Replace { path, slot, before, after } => {
                (path, self.undo_replace((path, slot), before, after))
            }
            Step::Create { path, slot, after } => (path, self.undo_create(path, slot, after)),
            Step::Remove { path, slot, before } => (path, self.undo_remove((path, slot), before)),
            Step::Move { path, to, slot, image } => (path, self.undo_move((path, to), slot, image)),
        };
        match undone {
            Ok(()) => self.done.restored.push(path.clone()),
            Err(Stuck::Left(left)) => self.done.left.push(left),
            Err(Stuck::Error(error)) => return Err(error),
        }
        Ok(())
    }

    fn undo_replace(
        &mut self,
        (path, slot): (&str, &str),
        before: &Image,
        after: &Image,
    ) -> Result<(), Stuck> {
        let now = self.look(path, &[before, after])?;
        let waiting = self.look(slot, &[before, after])?;
        // The new file still waits: nothing at the path is ours.
        if now.is(before) || waiting.is(after) {
            return Ok(());
        }
        let displaced = match waiting {
            Seen::Nothing => None,
            _ => Some(slot),
        };
        if now.has_bytes_of(after) {
            let source = match displaced {
                Some(slot) => slot.to_string(),
                None => self.rewrite(slot, path, before)?,
            };
            return self.exchange(&source, path, after);
        }
        if self.others == Others::LeaveAlone {
            return Err(self.somebodys(path, now, displaced));
        }
        let source = match displaced {
            Some(slot) if waiting.is(before) => slot.to_string(),
            _ => self.rewrite(slot, path, before)?,
        };
        self.force(slot, &source, path, now)
    }

    fn undo_create(&mut self, path: &str, slot: &str, after: &Image) -> Result<(), Stuck> {
        let now = self.look(path, &[after])?;
        let is_gone = matches!(now, Seen::Nothing | Seen::Unreachable(_));
        if self.look(slot, &[after])? != Seen::Nothing || is_gone {
            return Ok(());
        }
        if !now.has_bytes_of(after) && self.others == Others::LeaveAlone {
            return Err(self.somebodys(path, now, None));
        }
        if let Seen::Other(_) = now {
            return self.move_aside(path, slot, "others", now);
        }
        self.shift(path, slot)?;
        if now.has_bytes_of(after) && !self.holds(slot, after)? {
            // Saved in the very moment: it goes back, unless the name is taken again.
            self.shift(slot, path)?;
            return Err(self.somebodys(path, Seen::Longer, None));
        }
        Ok(())
    }

    fn undo_remove(&mut self, (path, slot): (&str, &str), before: &Image) -> Result<(), Stuck> {
        let now = self.look(path, &[before])?;
        let kept = self.look(slot, &[before])?;
        match (now, kept) {
            (Seen::Nothing, Seen::Nothing) => {
                let source = self.rewrite(slot, path, before)?;
                self.bring(&source, path)
            }
            (Seen::Nothing, _) => self.bring(slot, path),
            (_, Seen::Nothing) => Ok(()),
            _ if now.has_bytes_of(before) => Ok(()),
            _ if self.others == Others::LeaveAlone => Err(self.somebodys(path, now, Some(slot))),
            _ => self.force(slot, slot, path, now),
        }
    }

    fn undo_move(&mut self, (path, to): (&str, &str), slot: &str, image: &Image) -> Result<(), Stuck> {
        let now = self.look(path, &[image])?;
        let moved = self.look(to, &[image])?;
        if now != Seen::Nothing {
            // Either it was never moved, or somebody made the old name anew.
            let ours_is_elsewhere = moved.has_bytes_of(image) && !now.has_bytes_of(image);
            if self.applied && !ours_is_elsewhere && !now.has_bytes_of(image) {
                // The project's commands took both names.
                if !matches!(moved, Seen::Nothing | Seen::Unreachable(_)) {
                    self.move_aside(to, slot, "new-name", moved)?;
                }
                let source = self.rewrite(slot, path, image)?;
                return self.force(slot, &source, path, now);
            }
            if !ours_is_elsewhere {
                return Ok(());
            }
            if self.others == Others::LeaveAlone {
                return Err(self.somebodys(path, now, Some(to)));
            }
            self.force(slot, to, path, now)?;
            if self.look(to, &[])? == Seen::Nothing {
                return Ok(());
            }
            let aside = aside(slot, "old-name");
            return self.shift(to, &aside);
        }
        match moved {
            Seen::Nothing => {
                let source = self.rewrite(slot, path, image)?;
                self.bring(&source, path)
            }
            _ if moved.has_bytes_of(image) => {
                self.bring(to, path)?;
                if self.holds(path, image)? {
                    return Ok(());
                }
                self.shift(path, to)?;
                Err(self.somebodys(to, Seen::Longer, None))
            }
            Seen::Unreachable(_) => Err(self.somebodys(to, moved, None)),
            _ if self.others == Others::LeaveAlone => Err(self.somebodys(to, moved, None)),
            _ => {
                self.move_aside(to, slot, "new-name", moved)?;
                let source = self.rewrite(slot, path, image)?;
                self.bring(&source, path)
            }
        }
    }

    /// The file in `source` and ours at `path` change places; what comes out must be ours.
    fn exchange(&mut self, source: &str, path: &str, ours: &Image) -> Result<(), Stuck> {
        self.entries(source, path);
        let swapped = moves::swap(self.places, source, path, ours);
        match swapped.map_err(|error| self.stuck(path, error))? {
            Swap::Replaced => return Ok(()),
            Swap::Unexpected => return Err(self.somebodys(path, Seen::Longer, Some(source))),
            Swap::Exchanged => {}
        }
        if self.holds(source, ours)? {
            return Ok(());
        }
        // Somebody saved between the look and the exchange: their save goes back.
        moves::swap(self.places, source, path, ours).map_err(|error| self.stuck(path, error))?;
        Err(self.somebodys(path, Seen::Longer, Some(source)))
    }

    /// The file in `source` takes the place of somebody's, whose bytes stay in the transaction's
    /// directory.
    fn force(&mut self, slot: &str, source: &str, path: &str, now: Seen) -> Result<(), Stuck> {
        match now {
            Seen::Nothing => return self.bring(source, path),
            Seen::Unreachable(_) => return Err(self.somebodys(path, now, Some(source))),
            // Not exchanged: a directory has no place among the files that relay displaced.
            Seen::Other(_) => {
                self.move_aside(path, slot, "others", now)?;
                return self.bring(source, path);
            }
            Seen::File(_) | Seen::Longer => {}
        }
        self.entries(source, path);
        if moves::exchange(self.places, source, path).map_err(|error| self.stuck(path, error))? {
            return Ok(());
        }
        let aside = aside(slot, "others");
        self.shift(path, &aside)?;
        self.shift(source, path)
    }

    /// Moves whatever stands at `path` into the transaction's directory, as it is. What is no file can
    /// only be moved on its own device.
    fn move_aside(&mut self, path: &str, slot: &str, what: &str, now: Seen) -> Result<(), Stuck> {
        if matches!(now, Seen::Other(_)) && !slot.starts_with(SLOTS) {
            return Err(self.somebodys(path, now, None));
        }
        self.shift(path, &aside(slot, what))
    }

    /// Moves a file to a free name, making the directories it needs.
    fn bring(&mut self, from: &str, to: &str) -> Result<(), Stuck> {
        for above in ancestors(to) {
            self.remake(above, DirMode::Usual)?;
        }
        self.shift(from, to)
    }

    fn shift(&mut self, from: &str, to: &str) -> Result<(), Stuck> {
        self.entries(from, to);
        moves::shift(self.places, from, to).map_err(|error| self.stuck(to, error))
    }

    /// Writes the bytes that `path` had before to a file beside the slots.
    fn rewrite(&mut self, slot: &str, path: &str, image: &Image) -> Result<String, Stuck> {
        let bytes = (self.before)(path)?;
        if Image::of(&bytes, image.mode) != *image {
            return Err(Stuck::Error(LedgerError::Damaged {
                path: path.to_string(),
                reason: "the bytes kept in the journal are not those it had".to_string(),
            }));
        }
        // Under a name of its own until it is whole: only then nobody's bytes can be taken for it.
        let fresh = aside(slot, FRESH);
        moves::remove(self.places, &fresh).map_err(cannot("remove", &fresh))?;
        for above in ancestors(&fresh) {
            self.remake(above, DirMode::Private)?;
        }
        let written = || -> io::Result<()> {
            let place = self.places.place(&fresh)?;
            let fs = self.places.fs();
            let file = fs.create(&place.dir, place.name, FileMode::Private)?;
            fs.write(&file, &bytes)?;
            // A journal is no reason to let others run a file as its owner, whoever wrote it.
            fs.set_mode(&file, image.mode & 0o777)?;
            fs.sync_file(&file)
        };
        written().map_err(cannot("write", &fresh))?;
        let name = aside(slot, "before");
        let left = self.look(&name, &[image])?;
        if left.has_bytes_of(image) {
            moves::remove(self.places, &name).map_err(cannot("remove", &name))?;
        } else if left != Seen::Nothing {
            // An earlier attempt let somebody's file change places with it.
            self.shift(&name, &aside(slot, "others"))?;
        }
        self.shift(&fresh, &name)?;
        Ok(name)
    }

    /// Makes the directories anew that the transaction removed, outermost first.
    fn remake_removed(&mut self, transaction: &Transaction) -> Result<(), LedgerError> {
        for directory in transaction.remove_directories.iter().rev() {
            let path = &directory.path;
            // One that an earlier attempt made, and died before it had its permission bits.
            if directory.mode != PRIVATE && self.mode_of(path)? == Some(PRIVATE) {
                moves::remove_directory(self.places, path).map_err(cannot("remove", path))?;
            }
            self.remake(path, DirMode::Exact(directory.mode))?;
        }
        Ok(())
    }

    /// The permission bits of a directory, if there is one.
    fn mode_of(&self, path: &str) -> Result<Option<u32>, LedgerError> {
        let found = || -> io::Result<Option<u32>> {
            let place = match self.places.place(path) {
                Ok(place) => place,
                Err(error) if moves::no_directory(&error) => return Ok(None),
                Err(error) => return Err(error),
            };
            match self.places.fs().stat(&place.dir, place.name) {
                Ok(stat) => Ok((stat.kind == Kind::Dir).then_some(stat.mode)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(error),
            }
        };
        found().map_err(cannot("look at", path))
    }

    fn remake(&mut self, path: &str, mode: DirMode) -> Result<(), LedgerError> {
        match moves::make_directory(self.places, path, mode) {
            Ok(true) => self.touched.entry(path),
            // Something else has its name; whatever belongs in it says so.
            Ok(false) => {}
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {}
            Err(error) if relaycode_durable::fs::is_link(&error) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(cannot("make", path)(error)),
        }
        Ok(())
    }

    fn look(&self, path: &str, images: &[&Image]) -> Result<Seen, LedgerError> {
        seen::look(self.places, path, images).map_err(cannot("read", path))
    }

    fn holds(&self, path: &str, image: &Image) -> Result<bool, LedgerError> {
        moves::holds(self.places, path, image).map_err(cannot("read", path))
    }

    fn entries(&mut self, a: &str, b: &str) {
        self.touched.entry(a);
        self.touched.entry(b);
    }

    /// A name was taken or removed in the very moment: somebody's work. Anything else is a failure.
    fn stuck(&self, path: &str, error: io::Error) -> Stuck {
        match error.kind() {
            io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                self.somebodys(path, Seen::Longer, None)
            }
            _ => Stuck::Error(cannot("put back", path)(error)),
        }
    }

    fn somebodys(&self, path: &str, now: Seen, kept: Option<&str>) -> Stuck {
        let reason = match now {
            Seen::Nothing => "was removed meanwhile, not by relay".to_string(),
            Seen::Other(what) | Seen::Unreachable(what) => format!("is {what} now"),
            Seen::File(_) | Seen::Longer => "was changed meanwhile, not by relay".to_string(),
        };
        Stuck::Left(Left { path: path.to_string(), reason, kept: kept.map(str::to_string) })
    }
}

/// What a copy of a file is called, behind the number of its step, until it is whole.
pub(crate) const FRESH: &str = "fresh";

/// A name of its own beside a slot.
pub(crate) fn aside(slot: &str, what: &str) -> String {
    format!("{slot}-{what}")
}
