//! A project in memory with the records of what was done to it. It checks changes as a transaction
//! does: what must stand there stands there, and no path takes part twice.

use std::collections::{BTreeMap, BTreeSet};

use relaycode_change::proposal::path::RelPath;

use crate::record::{FORMAT, FileImage, FileRecord, Record};
use crate::revert::{CurrentFiles, RecordImages, RevertOptions, RevertPlan, plan};
use crate::transaction::{AfterContent, FileChange, NewMode};
use crate::{LedgerError, LedgerRefusal, LedgerResult, LedgerRule, TxId};

pub(super) type Files = BTreeMap<String, (Vec<u8>, u32)>;

#[derive(Default)]
pub(super) struct World {
    pub(super) files: Files,
    blocked: BTreeSet<String>,
    before: BTreeMap<(TxId, String), Vec<u8>>,
    after: BTreeMap<(TxId, String), Vec<u8>>,
}

impl World {
    pub(super) fn of(files: Files) -> World {
        World { files, ..World::default() }
    }

    pub(super) fn with(files: &[(&str, &str, u32)]) -> World {
        let mut world = World::default();
        files.iter().for_each(|(name, text, mode)| world.write(name, text, *mode));
        world
    }

    pub(super) fn write(&mut self, name: &str, text: &str, mode: u32) {
        self.files.insert(name.into(), (text.into(), mode));
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.files.remove(name);
    }

    /// Lets a directory stand there.
    pub(super) fn block(&mut self, name: &str) {
        self.blocked.insert(name.into());
    }

    pub(super) fn unblock(&mut self, name: &str) {
        self.blocked.remove(name);
    }

    pub(super) fn file(&self, name: &str) -> Option<(&str, u32)> {
        self.files.get(name).map(|(bytes, mode)| (std::str::from_utf8(bytes).unwrap(), *mode))
    }

    pub(super) fn plan(&self, records: &[&Record]) -> LedgerResult<RevertPlan> {
        self.plan_with(records, &RevertOptions::default())
    }

    pub(super) fn plan_with(&self, records: &[&Record], options: &RevertOptions) -> LedgerResult<RevertPlan> {
        let records: Vec<Record> = records.iter().map(|record| (*record).clone()).collect();
        plan(&records, self, self, options)
    }

    /// Carries changes out and records them.
    pub(super) fn commit(&mut self, changes: &[FileChange<'_>]) -> Record {
        let mut used = BTreeSet::new();
        for change in changes {
            assert!(used.insert(change.path.clone()), "{} takes part twice", change.path);
            if let Some(old) = &change.renamed_from {
                assert!(used.insert(old.clone()), "{old} takes part twice");
                assert!(!self.files.contains_key(change.path.as_str()), "{} exists", change.path);
            }
            let now = self.files.get(change.old_path().as_str()).map(|(bytes, _)| bytes);
            assert_eq!(
                now.map(Vec::as_slice),
                change.before.as_deref(),
                "{} is not as planned",
                change.old_path()
            );
        }
        let record = self.record(changes);
        for change in changes {
            self.files.remove(change.old_path().as_str());
        }
        for (change, file) in changes.iter().zip(&record.result) {
            if let (Some(after), Some(image)) = (&change.after, file.after) {
                self.files.insert(change.path.to_string(), (after.bytes.to_vec(), image.mode));
            }
        }
        record
    }

    /// Records changes.
    pub(super) fn record(&mut self, changes: &[FileChange<'_>]) -> Record {
        let uuid = TxId::random();
        let mut result = Vec::new();
        for change in changes {
            let before = self.files.get(change.old_path().as_str());
            let before = before.filter(|_| change.before.is_some());
            let before_image = before.map(|(bytes, mode)| FileImage::of(bytes, *mode));
            if let Some((bytes, _)) = before {
                self.before.insert((uuid, change.old_path().to_string()), bytes.clone());
            }
            if let Some(after) = &change.after {
                self.after.insert((uuid, change.path.to_string()), after.bytes.to_vec());
            }
            let bits = |after: &AfterContent<'_>| match (after.mode, before_image) {
                (NewMode::Exact(mode), _) => mode,
                (NewMode::Keep, Some(before)) if change.renamed_from.is_some() => before.mode,
                (other, _) => panic!("a revert says which bits it wants, not {other:?}"),
            };
            result.push(FileRecord {
                path: change.path.to_string(),
                renamed_from: change.renamed_from.as_ref().map(ToString::to_string),
                before: before_image,
                after: change.after.as_ref().map(|after| FileImage::of(&after.bytes, bits(after))),
                added: change.added,
                removed: change.removed,
                ..FileRecord::default()
            });
        }
        record(uuid, result)
    }

    pub(super) fn forget_before(&mut self, record: &Record) {
        self.before.retain(|(id, _), _| *id != record.uuid);
    }

    pub(super) fn forget_after(&mut self, record: &Record) {
        self.after.retain(|(id, _), _| *id != record.uuid);
    }
}

fn record(uuid: TxId, result: Vec<FileRecord>) -> Record {
    Record {
        uuid,
        project_id: "p".into(),
        created_at: String::new(),
        git_commit_msg: None,
        prompt_summary: None,
        reasoning: Vec::new(),
        operations: Vec::new(),
        snapshot: BTreeMap::new(),
        approved: true,
        version: FORMAT,
        number: 0,
        origin: "file".into(),
        group: None,
        branch: None,
        head: None,
        answer: None,
        result,
        made_directories: Vec::new(),
        removed_directories: Vec::new(),
        directory_modes: Vec::new(),
        omissions: Vec::new(),
        matches: Vec::new(),
        gate: None,
        decided_by: None,
        revert_of: Vec::new(),
        revert_paths: Vec::new(),
        title: None,
        notes: Vec::new(),
        plan: None,
        rules: Vec::new(),
        transaction: None,
    }
}

impl CurrentFiles for World {
    fn read_file(&self, path: &str) -> LedgerResult<Option<(Vec<u8>, u32)>> {
        if self.blocked.contains(path) {
            let rule = LedgerRule::NotAFile("a directory");
            return Err(LedgerError::Refused(vec![LedgerRefusal { path: path.into(), rule }]));
        }
        Ok(self.files.get(path).cloned())
    }
}

impl RecordImages for World {
    fn image_before(&self, record: &Record, file: &FileRecord) -> LedgerResult<Option<Vec<u8>>> {
        Ok(self.before.get(&(record.uuid, file.old_path().to_string())).cloned())
    }

    fn image_after(&self, record: &Record, file: &FileRecord) -> LedgerResult<Option<Vec<u8>>> {
        Ok(self.after.get(&(record.uuid, file.path.clone())).cloned())
    }
}

pub(super) fn path(name: &str) -> RelPath {
    RelPath::parse(name).unwrap()
}

pub(super) fn edit(
    world: &World,
    from: Option<&str>,
    to: &str,
    after: Option<(Vec<u8>, u32)>,
) -> FileChange<'static> {
    let before = world.files.get(from.unwrap_or(to)).map(|(bytes, _)| bytes.clone().into());
    let after = after.map(|(bytes, mode)| AfterContent { bytes: bytes.into(), mode: NewMode::Exact(mode) });
    FileChange { path: path(to), renamed_from: from.map(path), before, after, added: 0, removed: 0 }
}

pub(super) fn change(world: &World, name: &str, text: &str, mode: u32) -> FileChange<'static> {
    edit(world, None, name, Some((text.into(), mode)))
}

pub(super) fn create(name: &str, text: &str, mode: u32) -> FileChange<'static> {
    change(&World::default(), name, text, mode)
}

pub(super) fn delete(world: &World, name: &str) -> FileChange<'static> {
    edit(world, None, name, None)
}

pub(super) fn rename(world: &World, from: &str, to: &str, text: &str, mode: u32) -> FileChange<'static> {
    edit(world, Some(from), to, Some((text.into(), mode)))
}
