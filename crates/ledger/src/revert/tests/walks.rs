//! Random walks of changes, undo, redo, reverts by name and own edits on a project in memory, against the simplest model of
//! undo there is: two stacks. A walk that fails says its number; `RELAY_WALK=NUMBER` runs that one alone.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::memory_project::{Files, World, change, edit};
use crate::log::index::IndexLine;
use crate::log::{LogEntry, LogTransaction, RevertedIds, UndoState, log_transaction};
use crate::record::{Record, title};
use crate::revert::history::{HistoryKind, RedoTarget, RevertStep, find_redo, find_undo};
use crate::revert::{RevertOptions, plan};
use crate::transaction::FileChange;
use crate::{LedgerError, TxId};

const WALKS: u64 = 2_000;
const STEPS: usize = 24;
const NAMES: [&str; 5] = ["a", "b", "c/d", "c/e", "f"];
/// Lines of every file that are there from the beginning, and stay unless a change says otherwise.
const LINES: usize = 30;
/// How lines of the user's own begin.
const OWN: &str = "own ";

#[test]
fn two_thousand_walks_keep_what_undo_and_redo_promise() {
    let only = std::env::var("RELAY_WALK").ok().and_then(|number| number.parse().ok());
    let walks = only.map_or(0..WALKS, |number| number..number + 1);
    let (mut undone, mut redone, mut conflicts) = (0, 0, 0);
    for number in walks {
        let mut walk = Walk::new(number);
        if let Err(cause) = catch_unwind(AssertUnwindSafe(|| walk.run())) {
            let said = cause.downcast_ref::<String>().cloned();
            let said = said.or_else(|| cause.downcast_ref::<&str>().map(ToString::to_string));
            let steps = walk.told.join("\n  ");
            panic!("walk {number}: {}\n  {steps}\nreplay: RELAY_WALK={number}", said.unwrap_or_default());
        }
        (undone, redone, conflicts) =
            (undone + walk.count.undone, redone + walk.count.redone, conflicts + walk.count.conflicts);
    }
    if only.is_none() {
        assert!(undone > 5_000 && redone > 1_000 && conflicts > 100, "{undone} {redone} {conflicts}");
    }
}

/// The `splitmix64` sequence.
struct WalkRandom(u64);

impl WalkRandom {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound.max(1) as u64).unwrap()
    }
}

#[derive(Default)]
struct WalkCount {
    undone: usize,
    redone: usize,
    conflicts: usize,
}

struct Walk {
    random: WalkRandom,
    world: World,
    /// Oldest first.
    records: Vec<Record>,
    first: Files,
    /// The two stacks: entries that are in, and entries that undo took out.
    done: Vec<Vec<TxId>>,
    undone: Vec<Vec<TxId>>,
    own_lines: BTreeSet<String>,
    /// Somebody's edits were in the way once, so that not everything need come back.
    was_in_the_way: bool,
    told: Vec<String>,
    count: WalkCount,
}

impl Walk {
    fn new(number: u64) -> Walk {
        let mut random = WalkRandom(number.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let mut world = World::default();
        for name in NAMES {
            if random.below(4) > 0 {
                let text: String = (0..LINES).map(|line| format!("{name} {line}\n")).collect();
                world.write(name, &text, 0o644);
            }
        }
        Walk {
            random,
            first: world.files.clone(),
            world,
            records: Vec::new(),
            done: Vec::new(),
            undone: Vec::new(),
            own_lines: BTreeSet::new(),
            was_in_the_way: false,
            told: Vec::new(),
            count: WalkCount::default(),
        }
    }

    fn run(&mut self) {
        for step in 0..STEPS {
            match self.random.below(10) {
                0..=2 => self.change(step),
                3 => self.own_edit(step),
                4..=6 => _ = self.step(RevertStep::Undo),
                7 | 8 => _ = self.step(RevertStep::Redo),
                _ => self.revert_any(),
            }
            self.check_log();
            self.check_own_lines();
        }
        self.there_and_back();
        self.undo_everything();
    }

    /// One change, or two in a group.
    fn change(&mut self, step: usize) {
        let count = if self.random.below(5) == 0 { 2 } else { 1 };
        let group = (count > 1).then(|| format!("turn-{step}"));
        let mut ids = Vec::new();
        for part in 0..count {
            let changes = self.wishes(&format!("change {step}.{part}"));
            let mut record = self.world.commit(&changes);
            record.group = group.clone();
            record.origin = if self.random.below(4) == 0 { "record" } else { "file" }.to_string();
            ids.insert(0, self.keep(record));
        }
        self.told.push(format!("change {}", short(&ids)));
        self.done.push(ids);
        self.undone.clear();
    }

    fn keep(&mut self, mut record: Record) -> TxId {
        record.number = self.records.len() as u64 + 1;
        let id = record.uuid;
        self.records.push(record);
        id
    }

    /// What a change wants of some files: never the end of a line of the user's own.
    fn wishes(&mut self, mark: &str) -> Vec<FileChange<'static>> {
        let mut names: Vec<&str> = NAMES.to_vec();
        let mut changes = Vec::new();
        for _ in 0..1 + self.random.below(2) {
            let name = names.remove(self.random.below(names.len()));
            let Some((bytes, mode)) = self.world.files.get(name).cloned() else {
                changes.push(change(&self.world, name, &format!("{mark}\nnew\n"), 0o644));
                continue;
            };
            let text = String::from_utf8(bytes.clone()).unwrap();
            let is_own = text.lines().any(|line| line.starts_with(OWN));
            let free = names.iter().position(|name| !self.world.files.contains_key(*name));
            match (self.random.below(6), free) {
                (0, _) if !is_own => changes.push(edit(&self.world, None, name, None)),
                (1, Some(at)) => {
                    let to = names.remove(at);
                    changes.push(edit(&self.world, Some(name), to, Some((bytes, mode))));
                }
                (2, _) => changes.push(edit(&self.world, None, name, Some((bytes, mode ^ 0o111)))),
                _ => {
                    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_string).collect();
                    let at = self.random.below(lines.len());
                    let line = format!("{mark} {}\n", self.random.below(3));
                    match lines.get(at).filter(|old| !old.starts_with(OWN)) {
                        Some(_) if self.random.below(2) == 0 => lines[at] = line,
                        _ => lines.insert(at, line),
                    }
                    changes.push(edit(&self.world, None, name, Some((lines.concat().into(), mode))));
                }
            }
        }
        changes
    }

    /// A line of the user's own, somewhere.
    fn own_edit(&mut self, step: usize) {
        let names: Vec<String> = self.world.files.keys().cloned().collect();
        let Some(name) = names.get(self.random.below(names.len())) else { return };
        let (bytes, mode) = self.world.files[name].clone();
        let mut lines: Vec<String> =
            String::from_utf8(bytes).unwrap().split_inclusive('\n').map(str::to_string).collect();
        let line = format!("{OWN}{step}\n");
        lines.insert(self.random.below(lines.len() + 1), line.clone());
        self.world.write(name, &lines.concat(), mode);
        self.told.push(format!("own edit in {name}"));
        self.own_lines.insert(line);
    }

    /// Takes one step back or forward; says whether something was done.
    fn step(&mut self, step: RevertStep) -> bool {
        let entries = self.entries();
        let entry = match step {
            RevertStep::Redo => match find_redo(&entries) {
                RedoTarget::Undo(undo) => Some(*undo),
                _ => None,
            },
            _ => find_undo(&entries).cloned(),
        };
        let Some(entry) = entry else { return false };
        let ids = entry.members.iter().filter_map(|item| item.id).collect::<Vec<_>>();
        if !self.take_back(&ids, step) {
            return false;
        }
        match step {
            RevertStep::Redo => {
                let back = self.undone.pop().expect("the model has something to redo");
                self.done.push(back);
                self.count.redone += 1;
            }
            _ => {
                let out = self.done.pop().expect("the model has something to undo");
                self.undone.push(out);
                self.count.undone += 1;
            }
        }
        true
    }

    /// Takes any entry back by its name.
    fn revert_any(&mut self) {
        let mut entries = self.entries();
        if entries.is_empty() {
            return;
        }
        let entry = entries.swap_remove(self.random.below(entries.len()));
        let ids = entry.members.iter().filter_map(|item| item.id).collect::<Vec<_>>();
        if entry.is_in() && self.take_back(&ids, RevertStep::Revert) {
            let id = self.records.last().unwrap().uuid;
            self.done.push(vec![id]);
            self.undone.clear();
        }
    }

    /// Takes back what is in of these; what stands in the way leaves everything as it is.
    fn take_back(&mut self, ids: &[TxId], step: RevertStep) -> bool {
        let states = self.states();
        let is_in = |id: &&TxId| states.iter().any(|(other, state)| other == *id && *state == UndoState::In);
        let records: Vec<Record> = ids.iter().filter(is_in).map(|id| self.record(*id).clone()).collect();
        let name = step.name();
        let planned = match plan(&records, &self.world, &self.world, &RevertOptions::default()) {
            Ok(planned) => planned,
            Err(LedgerError::RevertConflict(conflicts)) => {
                self.told.push(format!("{name} {}: {}", short(ids), conflicts[0].path));
                self.was_in_the_way = true;
                self.count.conflicts += 1;
                return false;
            }
            Err(error) => panic!("{name}: {error}"),
        };
        self.told.push(format!("{name} {}", short(ids)));
        let mut record = self.world.commit(&planned.changes);
        record.revert_of = planned.reverts;
        record.title = Some(planned.title);
        record.origin = name.to_string();
        self.keep(record);
        true
    }

    fn record(&self, id: TxId) -> &Record {
        self.records.iter().find(|record| record.uuid == id).unwrap()
    }

    /// Each transaction with what is left of it, newest first.
    fn states(&self) -> Vec<(TxId, UndoState)> {
        let mut reverted = RevertedIds::default();
        let newest_first = self.records.iter().rev();
        newest_first
            .map(|record| (record.uuid, reverted.observe_line(&IndexLine::from_record(record, false, None))))
            .collect()
    }

    /// The log as it is shown.
    fn entries(&self) -> Vec<LogEntry> {
        let mut entries: Vec<LogEntry> = Vec::new();
        for ((id, state), position) in self.states().into_iter().zip(1..) {
            let record = self.record(id);
            let line = IndexLine::from_record(record, false, None);
            let item: LogTransaction = log_transaction(line, &state, true);
            match entries.last_mut().filter(|last| last.group.is_some() && last.group == record.group) {
                Some(last) => last.members.push(item),
                None => {
                    let group = record.group.clone();
                    entries.push(LogEntry {
                        group,
                        members: vec![item],
                        files: 1,
                        interrupted: false,
                        position,
                    });
                }
            }
        }
        entries
    }

    /// The log says what the two stacks say.
    fn check_log(&self) {
        let entries = self.entries();
        let ids = |entry: &LogEntry| entry.members.iter().filter_map(|item| item.id).collect::<Vec<_>>();
        assert_eq!(find_undo(&entries).map(ids), self.done.last().cloned(), "what undo takes back");
        let redo = match find_redo(&entries) {
            RedoTarget::Undo(undo) => Some(undo.members[0].revert_of.clone()),
            _ => None,
        };
        assert_eq!(redo, self.undone.last().cloned(), "what redo brings back");
        for entry in &entries {
            let title = entry.title();
            assert!(!title.is_empty(), "every entry has a title");
            let takes_back = title.starts_with("undoes: ") || title.starts_with("brings back: ");
            assert_eq!(takes_back, !entry.members[0].revert_of.is_empty(), "{title}");
            assert_ne!(entry.history_kind(), HistoryKind::Unknown);
        }
        for record in &self.records {
            assert!(!title::title(record).contains("undoes: undoes: "), "{}", title::title(record));
        }
    }

    /// No byte of the user's own is lost, ever.
    fn check_own_lines(&self) {
        for line in &self.own_lines {
            let stands = self.world.files.values().any(|(bytes, _)| {
                String::from_utf8_lossy(bytes).split_inclusive('\n').any(|other| other == line)
            });
            assert!(stands, "{line:?} is lost");
        }
    }

    /// Undo and redo are the identity.
    fn there_and_back(&mut self) {
        let mut trees = vec![self.world.files.clone()];
        while self.step(RevertStep::Undo) {
            trees.push(self.world.files.clone());
        }
        let back = trees.pop().unwrap();
        assert_eq!(self.world.files, back);
        for tree in trees.iter().rev() {
            if !self.step(RevertStep::Redo) {
                // Only what is in the user's own lines may be.
                assert!(!self.own_lines.is_empty(), "redo was refused");
                return;
            }
            assert_eq!(&self.world.files, tree, "redo gives the bytes from before the undo");
        }
    }

    /// Back at the beginning, but for the user's own lines.
    fn undo_everything(&mut self) {
        while self.step(RevertStep::Undo) {}
        self.check_own_lines();
        if !self.was_in_the_way {
            assert!(self.done.is_empty());
            assert_eq!(without_own_lines(&self.world.files), self.first, "the bytes of the beginning");
        }
    }
}

fn without_own_lines(files: &Files) -> Files {
    let strip = |bytes: &[u8]| -> Vec<u8> {
        let text = std::str::from_utf8(bytes).unwrap();
        text.split_inclusive('\n').filter(|line| !line.starts_with(OWN)).collect::<String>().into()
    };
    files.iter().map(|(name, (bytes, mode))| (name.clone(), (strip(bytes), *mode))).collect()
}

fn short(ids: &[TxId]) -> String {
    ids.iter().map(TxId::short).collect::<Vec<_>>().join(", ")
}
