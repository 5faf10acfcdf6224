//! Staging: the new files are written into slots, with the permission bits, owner and attributes of
//! the files they continue, before anything in the project is touched.

use std::collections::{HashMap, HashSet};

use relaycode_durable::{FileMode, Fs, FsFile, FsKind, FsStat, atomic};

use crate::disk::{PathResolver, is_no_directory, split_parent};
use crate::record::{FileImage, LINK_MODE};
use crate::transaction::{
    NewMode, PlannedFile, PlannedStep, SLOTS_PATH, TransactionDirectory, TransactionStep, cleanup,
};
use crate::{IoContext, LedgerResult, io_error};

/// Up to this many files each is synced by itself; beyond, the whole file system is, once.
pub(crate) const SYNC_EACH: usize = 16;

/// What staging came to.
#[derive(Default)]
pub(super) struct StagedSteps {
    pub(super) steps: Vec<TransactionStep>,
    /// What could not be kept as it was.
    pub(super) notes: Vec<String>,
    /// Everything on the device of the transaction's directory is durable, names included.
    pub(super) all_synced: bool,
}

/// Where the slots are.
struct SlotLayout<'t> {
    own: &'t TransactionDirectory,
    /// The transaction's own directory, beneath the root.
    directory: &'t str,
    device: u64,
}

impl SlotLayout<'_> {
    /// A slot for every step. Those on other devices are written down first, so that they can be
    /// found whatever happens.
    fn assign(&self, paths: &PathResolver<'_>, wanted: &[PlannedStep<'_>]) -> LedgerResult<Vec<String>> {
        let mut slots = Vec::with_capacity(wanted.len());
        let mut elsewhere = String::new();
        let mut devices: HashMap<&str, (u64, &str)> = HashMap::new();
        for (number, step) in wanted.iter().enumerate() {
            let parent = split_parent(step.path()).0;
            let (device, at) = match devices.get(parent) {
                Some(known) => *known,
                None => *devices.entry(parent).or_insert(device_of(paths, parent)?),
            };
            if device == self.device {
                slots.push(format!("{}/{number}", self.directory));
                continue;
            }
            let at = outermost_on_device(paths, at, device)?;
            let slash = if at.is_empty() { "" } else { "/" };
            slots.push(format!("{at}{slash}.relaycode-{}-{number}", self.own.name));
            elsewhere += &slots[number];
            elsewhere.push('\n');
        }
        if !elsewhere.is_empty() {
            let fs = paths.fs();
            atomic::stage(fs, (&self.own.dir, cleanup::SLOT_LIST), elsewhere.as_bytes())
                .and_then(|()| fs.sync_dir(&self.own.dir))
                .and_then(|()| fs.sync_dir(&paths.open_directory(SLOTS_PATH)?))
                .context("write", self.directory)?;
        }
        Ok(slots)
    }
}

/// The outermost directory above `directory`, or itself, on the same device: none that goes with
/// the change.
fn outermost_on_device<'p>(paths: &PathResolver<'_>, dir: &'p str, device: u64) -> LedgerResult<&'p str> {
    let mut at = dir;
    while !at.is_empty() {
        let above = split_parent(at).0;
        if device_of(paths, above)?.0 != device {
            break;
        }
        at = above;
    }
    Ok(at)
}

/// The device that files in `directory` are on, and the innermost directory above it that is there:
/// one that has still to be made will be on its parent's device.
pub(super) fn device_of<'p>(paths: &PathResolver<'_>, directory: &'p str) -> LedgerResult<(u64, &'p str)> {
    let mut at = directory;
    let dir = loop {
        match paths.open_directory(at) {
            Ok(dir) => break dir,
            Err(error) if !at.is_empty() && is_no_directory(&error) => at = split_parent(at).0,
            Err(error) => return Err(io_error("open", at)(error)),
        }
    };
    let stat = paths.fs().stat_dir(&dir).context("look at", at)?;
    Ok((stat.dev, at))
}

/// Writes every new file into its slot. They are durable afterwards; so are their names if there are
/// more than [`SYNC_EACH`], except for those on other devices.
pub(super) fn stage(
    paths: &PathResolver<'_>,
    wanted: &[PlannedStep<'_>],
    own: &TransactionDirectory,
    stats: &HashMap<String, FsStat>,
    special_modes: &[String],
) -> LedgerResult<StagedSteps> {
    let directory = own.path();
    let device = paths.fs().stat_dir(&own.dir).context("look at", &directory)?.dev;
    let slots = &SlotLayout { own, directory: &directory, device };
    let new_files =
        wanted.iter().filter(|step| matches!(step, PlannedStep::Replace { .. } | PlannedStep::Create { .. }));
    let sync_each = new_files.count() <= SYNC_EACH;
    let special_modes = special_modes.iter().map(String::as_str).collect();
    let stager = FileStager { paths, stats, slots, special_modes, sync_each };
    let mut staged = StagedSteps { all_synced: !sync_each, ..StagedSteps::default() };
    for (step, slot) in wanted.iter().zip(slots.assign(paths, wanted)?) {
        let known = |path: &str, bytes: &[u8]| FileImage::of(bytes, stats.get(path).map_or(0, image_mode));
        let path = step.path().to_string();
        let step = match step {
            PlannedStep::Remove { path, before } => {
                TransactionStep::Remove { before: known(path, before), path: path.to_string(), slot }
            }
            PlannedStep::Move { path, to, before } => TransactionStep::Move {
                image: known(path, before),
                path: path.to_string(),
                to: to.to_string(),
                slot,
            },
            PlannedStep::Replace { before, after, .. } => {
                let image = stager.stage_file(&path, &slot, after, &mut staged.notes)?;
                let before = known(&path, before);
                if image == before {
                    // Nothing would change but the time: the file stays as it is.
                    remove(paths, &slot)?;
                    continue;
                }
                TransactionStep::Replace { before, after: image, path, slot }
            }
            PlannedStep::Create { after, .. } => TransactionStep::Create {
                after: stager.stage_file(&path, &slot, after, &mut staged.notes)?,
                path,
                slot,
            },
        };
        staged.steps.push(step);
    }
    if staged.all_synced {
        paths.fs().sync_all(&slots.own.dir).context("write", "the staged files")?;
    }
    Ok(staged)
}

fn remove(paths: &PathResolver<'_>, path: &str) -> LedgerResult<()> {
    let removed = paths.resolve(path).and_then(|place| paths.fs().remove_file(&place.dir, place.name));
    removed.context("remove", path)
}

struct FileStager<'a, 'r> {
    paths: &'a PathResolver<'r>,
    stats: &'a HashMap<String, FsStat>,
    slots: &'a SlotLayout<'a>,
    special_modes: HashSet<&'a str>,
    sync_each: bool,
}

impl FileStager<'_, '_> {
    fn stage_file(
        &self,
        path: &str,
        slot: &str,
        new: &PlannedFile<'_>,
        notes: &mut Vec<String>,
    ) -> LedgerResult<FileImage> {
        let fs = self.paths.fs();
        let place = self.paths.resolve(slot).context("open", slot)?;
        let old = new.predecessor.and_then(|name| Some((name, self.stats.get(name)?)));
        let is_link = |(_, stat): (&str, &FsStat)| stat.kind == FsKind::Link;
        if new.mode == NewMode::Exact(LINK_MODE) || (new.mode == NewMode::Keep && old.is_some_and(is_link)) {
            // Its name makes it durable: there is nothing else to sync.
            fs.make_link(&place.dir, place.name, new.bytes).context("make", slot)?;
            return Ok(FileImage::of(new.bytes, LINK_MODE));
        }
        // A link has nothing that a file could continue.
        let old = old.filter(|(_, stat)| stat.kind == FsKind::File);
        let mode = match (old, new.mode) {
            (None, NewMode::Executable(true)) => FileMode::Usual { executable: true },
            (None, NewMode::Keep | NewMode::Executable(false)) => FileMode::Usual { executable: false },
            _ => FileMode::Private,
        };
        let file = fs.create(&place.dir, place.name, mode).context("make", slot)?;
        fs.write(&file, new.bytes).context("write", slot)?;
        let mut bits = match (old, new.mode) {
            (_, NewMode::Exact(bits)) if self.special_modes.contains(path) => Some(bits),
            (old, NewMode::Exact(bits)) => Some(mask_setuid(bits, old.map(|(_, stat)| stat.mode))),
            (Some((_, stat)), NewMode::Keep) => Some(stat.mode),
            (Some((_, stat)), NewMode::Executable(yes)) => Some(with_execution(stat.mode, yes)),
            (None, _) => None,
        };
        let stat = fs.stat_file(&file).context("look at", slot)?;
        if let Some((name, old)) = old {
            self.copy_attributes(&file, &stat, (name, old), path, notes)?;
            let owner = fs.stat_file(&file).context("look at", slot)?.uid;
            if owner != old.uid {
                bits = bits.map(without_owner_powers);
            }
        }
        let mode = match bits {
            Some(bits) => {
                fs.set_mode(&file, bits).context("set the permissions of", slot)?;
                bits
            }
            None => stat.mode,
        };
        if let NewMode::Exact(wanted) = new.mode
            && wanted != mode
        {
            notes.push(format!("{path}: it has the permission bits {mode:04o} instead of {wanted:04o}"));
        }
        // One on another device is not among what is synced at once.
        if self.sync_each || split_parent(slot).0 != self.slots.directory {
            fs.sync_file(&file).context("write", slot)?;
        }
        Ok(FileImage::of(new.bytes, mode))
    }

    /// Gives a staged file the owner and the attributes of the file that it continues. What the
    /// system does not allow is noted: the change itself is what the user wants.
    fn copy_attributes(
        &self,
        file: &FsFile,
        stat: &FsStat,
        (name, old): (&str, &FsStat),
        path: &str,
        notes: &mut Vec<String>,
    ) -> LedgerResult<()> {
        let fs: &dyn Fs = self.paths.fs();
        if (stat.uid, stat.gid) != (old.uid, old.gid)
            && let Err(error) = fs.set_owner(file, old.uid, old.gid)
        {
            let FsStat { uid, gid, .. } = old;
            notes.push(format!("{path}: it belonged to {uid}:{gid}, which could not be kept ({error})"));
        }
        let place = self.paths.resolve(name).context("open", name)?;
        let attributes = fs.attributes(&place.dir, place.name).context("read the attributes of", name)?;
        for (attribute, value) in attributes {
            if let Err(error) = fs.set_attribute(file, &attribute, &value) {
                notes.push(format!("{path}: its attribute {attribute} could not be kept ({error})"));
            }
        }
        Ok(())
    }
}

/// The mode of an image of what is there.
fn image_mode(stat: &FsStat) -> u32 {
    if stat.kind == FsKind::Link { LINK_MODE } else { stat.mode }
}

/// The permission bits without those that let others run a file as its owner, unless it has them now:
/// a record is no reason to give them, whoever wrote it.
fn mask_setuid(bits: u32, now: Option<u32>) -> u32 {
    bits & (0o777 | now.unwrap_or(0))
}

/// The permission bits without those that let others run a file as its owner or group: they were given to another one.
fn without_owner_powers(bits: u32) -> u32 {
    bits & 0o1777
}

/// The permission bits with or without the right to run: whoever may read may run.
fn with_execution(mode: u32, executable: bool) -> u32 {
    if executable { mode | ((mode & 0o444) >> 2) } else { mode & !0o111 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_may_read_may_run() {
        assert_eq!(with_execution(0o640, true), 0o750);
        assert_eq!(with_execution(0o755, false), 0o644);
        assert_eq!(with_execution(0o600, true), 0o700);
    }

    #[test]
    fn a_record_gives_nobody_the_powers_of_the_owner() {
        assert_eq!(mask_setuid(0o6755, None), 0o755);
        assert_eq!(mask_setuid(0o4755, Some(0o644)), 0o755);
        assert_eq!(mask_setuid(0o4755, Some(0o4711)), 0o4755);
    }

    #[test]
    fn another_owner_gives_nobody_its_powers() {
        assert_eq!(without_owner_powers(0o6755), 0o755);
        assert_eq!(without_owner_powers(0o1644), 0o1644);
    }
}
