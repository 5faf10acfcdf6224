//! Projects and changes generated from a number: mixtures of every kind of step, with files that are
//! binary, empty, executable, private or without a final newline, and links, in old and new directories, some of
//! which are empty or get other permission bits.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use relaycode_change::proposal::path::RelPath;
use relaycode_ledger::record::{DirectoryModeChange, LINK_MODE, RemovedDirectory};
use relaycode_ledger::transaction::change::{AfterContent, FileChange, NewMode};
use relaycode_ledger::{CommitVerdict, Ledger, LedgerError, RevertOptions, TransactionHeader, TxId};
use relaycode_proof_crashfs::ModelFs;

use super::verify::{ExpectedTrees, project};
use super::{ledger, recover};
use crate::random::Random;

/// Bytes and permission bits, by name.
pub(super) type ScenarioFiles = BTreeMap<String, (Vec<u8>, u32)>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScenarioKind {
    /// The first change in a project.
    First,
    /// A change in a project that has a ledger.
    Apply,
    /// A change that is put back.
    PutBack,
    /// Reverting the newest change.
    Revert,
    /// The recovery of a change that died after everything was in place.
    Recover,
    /// The recovery of a change that died in the middle.
    RecoverHalf,
}

/// How a scenario ends if nothing harms it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScenarioEnding {
    /// With the record of its transaction.
    Committed,
    /// With everything as before.
    PutBack,
}

/// A project, and what happens to it.
#[derive(Debug, Clone)]
pub struct CrashScenario {
    /// Determines everything else.
    pub number: u64,
    pub kind: ScenarioKind,
    /// The project at first.
    pub files: ScenarioFiles,
    pub changes: Vec<FileChange<'static>>,
    /// What it does to directories, and which names are links.
    pub header: TransactionHeader,
    /// One of the directories is on another device.
    pub elsewhere: bool,
    /// The file system cannot exchange two files.
    pub without_exchange: bool,
}

/// A directory that gets other permission bits, and what they are at first.
const HOLDS: &str = "src";
const USUAL: u32 = 0o755;

/// Empty directories, innermost first.
const EMPTY: [&str; 2] = ["empty/inner", "empty"];

/// That directory.
const ELSEWHERE: &str = "docs";

const KINDS: [ScenarioKind; 6] = [
    ScenarioKind::First,
    ScenarioKind::Apply,
    ScenarioKind::PutBack,
    ScenarioKind::Revert,
    ScenarioKind::Recover,
    ScenarioKind::RecoverHalf,
];

const NAMES: [&str; 14] = [
    "a.txt",
    "b.rs",
    "run.sh",
    "src/c.rs",
    "src/d.rs",
    "src/deep/e.txt",
    "docs/f.md",
    "g",
    "h.bin",
    "src/i",
    "docs/x/j",
    "k.toml",
    "l.txt",
    "docs/m.md",
];

impl CrashScenario {
    pub fn new(number: u64) -> CrashScenario {
        let mut random = Random::of_case(0x1ed6e5, number);
        let kind = KINDS[usize::try_from(number).unwrap_or(0) % KINDS.len()];
        let files = files(&mut random);
        // Sometimes so many that syncs are batched.
        let most = if random.once_in(12) { 40 } else { 12 };
        let count = 1 + random.below(most);
        let mut changes = changes(&mut random, &files, count);
        let elsewhere = random.once_in(4);
        if elsewhere {
            // A file that is only renamed cannot leave its device.
            let leaves = |change: &FileChange<'_>| {
                change.old_path().as_str().starts_with(ELSEWHERE)
                    && !change.path.as_str().starts_with(ELSEWHERE)
            };
            changes.retain(|change| !leaves(change));
            changes.push(change(None, Some(("docs/made/there.md", content(&mut random), NewMode::Keep))));
        }
        let without_exchange = random.once_in(6);
        let mut header = TransactionHeader::new(TxId::random(), "crash", "2026-01-02T03:04:05.678Z", "test");
        let is_link = |path: &&str| files.get(*path).is_some_and(|(_, mode)| *mode == LINK_MODE);
        header.links = changes
            .iter()
            .map(|change| change.old_path().as_str())
            .filter(is_link)
            .map(String::from)
            .collect();
        if random.once_in(2) {
            let mode = *random.pick(&[0o750, 0o700, 0o2775, 0o555]);
            header.directories_to_make = vec![RemovedDirectory { path: "made/empty".to_string(), mode }];
        }
        if random.once_in(2) {
            header.directories_to_remove = EMPTY.map(String::from).to_vec();
        }
        if random.once_in(2) {
            let after = *random.pick(&[0o700, 0o555, 0o2755, 0o1777]);
            let change = DirectoryModeChange { path: HOLDS.to_string(), before: USUAL, after };
            header.directory_mode_changes = vec![change];
        }
        CrashScenario { number, kind, files, changes, header, elsewhere, without_exchange }
    }

    /// The disk right before, everything durable, and the expected results.
    ///
    /// # Errors
    /// If the ledger fails without any harm.
    pub(super) fn prepare(&self) -> Result<(Arc<ModelFs>, ExpectedTrees), Box<dyn std::error::Error>> {
        let model =
            Arc::new(if self.without_exchange { ModelFs::without_exchange() } else { ModelFs::new() });
        if self.elsewhere {
            model.mkdir(ELSEWHERE)?;
            model.mount(ELSEWHERE, 7)?;
        }
        model.mkdir(EMPTY[0])?;
        model.mkdir(HOLDS)?;
        put(&model, &self.files)?;
        model.mark_all_durable();
        let mut before = project(&model);
        let mut id = self.id(2);
        let mut ending = ScenarioEnding::Committed;
        if self.kind != ScenarioKind::First {
            let first = [change(None, Some(("first.txt", b"first\n".to_vec(), NewMode::Keep)))];
            commit(&ledger(&model)?, &first, self.about(1))?;
            before = project(&model);
        }
        // The result is found out on a copy.
        let copy = Arc::new((*model).clone());
        commit(&ledger(&copy)?, &self.changes, self.header())?;
        let mut after = project(&copy);
        match self.kind {
            ScenarioKind::First | ScenarioKind::Apply => {}
            ScenarioKind::PutBack => ending = ScenarioEnding::PutBack,
            ScenarioKind::Revert => {
                commit(&ledger(&model)?, &self.changes, self.header())?;
                std::mem::swap(&mut before, &mut after);
                id = self.id(3);
            }
            ScenarioKind::Recover => {
                ending = ScenarioEnding::PutBack;
                drop(ledger(&model)?.begin(&self.changes, self.header(), &|| false)?);
            }
            ScenarioKind::RecoverHalf => {
                ending = ScenarioEnding::PutBack;
                let probe = Arc::new((*model).clone());
                let first = probe.operations();
                drop(ledger(&probe)?.begin(&self.changes, self.header(), &|| false)?);
                let operations = probe.operations() - first;
                let mut random = Random::of_case(0xdead, self.number);
                model.crash_at(first + 1 + random.below(operations));
                let _ = ledger(&model)?.begin(&self.changes, self.header(), &|| false);
                let left = model.operations();
                let died =
                    Arc::new(model.image(&relaycode_proof_crashfs::CrashChoice {
                        operations: left,
                        not_kept: Vec::new(),
                    }));
                died.mark_all_durable();
                return Ok((died, ExpectedTrees { before, after, id, ending }));
            }
        }
        model.mark_all_durable();
        Ok((model, ExpectedTrees { before, after, id, ending }))
    }

    pub(super) fn run(&self, model: &Arc<ModelFs>) -> Result<(), LedgerError> {
        match self.kind {
            ScenarioKind::First | ScenarioKind::Apply => {
                commit(&ledger(model)?, &self.changes, self.header())
            }
            ScenarioKind::PutBack => {
                let ledger = ledger(model)?;
                ledger.begin(&self.changes, self.header(), &|| false)?.put_back().map(drop)
            }
            ScenarioKind::Revert => {
                let ledger = ledger(model)?;
                revert(&ledger, self.about(3))
            }
            ScenarioKind::Recover | ScenarioKind::RecoverHalf => recover(model),
        }
    }

    fn id(&self, which: u64) -> TxId {
        let text = format!("{:08x}-0000-4000-8000-{:012x}", which, self.number);
        text.parse().unwrap_or_else(|_| TxId::random())
    }

    fn about(&self, which: u64) -> TransactionHeader {
        TransactionHeader::new(self.id(which), "crash", "2026-01-02T03:04:05.678Z", "test")
    }

    /// That of the change itself.
    fn header(&self) -> TransactionHeader {
        TransactionHeader { uuid: self.id(2), ..self.header.clone() }
    }
}

/// Reverts the newest entry of the log.
pub(super) fn revert(ledger: &Ledger, about: TransactionHeader) -> Result<(), LedgerError> {
    let target = ledger.find_target("1")?;
    let reversal = ledger.plan_revert(&target, &RevertOptions::default())?;
    commit(ledger, &reversal.changes, reversal.header(about))
}

/// Makes a change and keeps it. An error of the disk after the commit counts as a failure.
pub(super) fn commit(
    ledger: &Ledger,
    changes: &[FileChange<'_>],
    about: TransactionHeader,
) -> Result<(), LedgerError> {
    let committed = ledger.begin(changes, about, &|| false)?.commit(CommitVerdict::default())?;
    match committed.durability_doubt {
        None => Ok(()),
        Some(doubt) => Err(LedgerError::Io {
            action: "make durable",
            path: "the record".to_string(),
            source: io::Error::other(doubt),
            put_back: false,
        }),
    }
}

fn put(model: &ModelFs, files: &ScenarioFiles) -> io::Result<()> {
    for (path, (bytes, mode)) in files {
        match *mode {
            LINK_MODE => model.link(path, &String::from_utf8_lossy(bytes))?,
            mode => model.put(path, bytes, mode)?,
        }
    }
    Ok(())
}

/// A random project.
fn files(random: &mut Random) -> ScenarioFiles {
    let mut files = ScenarioFiles::new();
    for name in NAMES {
        if random.once_in(4) {
            continue;
        }
        if random.once_in(6) {
            files.insert(name.to_string(), (target(random), LINK_MODE));
            continue;
        }
        let mode = *random.pick(&[0o644, 0o644, 0o644, 0o755, 0o600, 0o664]);
        files.insert(name.to_string(), (content(random), mode));
    }
    files
}

/// Where a link leads: nothing need be there.
fn target(random: &mut Random) -> Vec<u8> {
    format!("../{}", random.pick(&NAMES)).into_bytes()
}

/// Bytes of the kinds that projects have.
fn content(random: &mut Random) -> Vec<u8> {
    let lines = random.below(30);
    let end = if random.once_in(3) { "\r\n" } else { "\n" };
    let mut text: String =
        (0..lines).map(|at| format!("line {at} says {}{end}", random.below(1000))).collect();
    if random.once_in(4) {
        text.truncate(text.trim_end().len());
    }
    let mut bytes = text.into_bytes();
    if random.once_in(6) {
        bytes.extend([0xff, 0xfe, 0x00, 0x80]);
    }
    if random.once_in(20) {
        bytes = (0..70_000).map(|at| u8::try_from((at * 7 + lines) % 251).unwrap_or(0)).collect();
    }
    bytes
}

/// A random change of at most `count` files; each name takes part once.
fn changes(random: &mut Random, files: &ScenarioFiles, count: usize) -> Vec<FileChange<'static>> {
    let mut free: Vec<&String> = files.keys().collect();
    let mut changes = Vec::new();
    for at in 0..count {
        let new_name = match random.below(3) {
            0 => format!("new-{at}.txt"),
            1 => format!("fresh/{at}/n.rs"),
            _ => format!("src/more/{at}.rs"),
        };
        if free.is_empty() || random.once_in(4) {
            let mode = if random.once_in(3) { NewMode::Executable(true) } else { NewMode::Keep };
            changes.push(if random.once_in(4) {
                change(None, Some((&new_name, target(random), NewMode::Exact(LINK_MODE))))
            } else {
                change(None, Some((&new_name, content(random), mode)))
            });
            continue;
        }
        let name = free.remove(random.below(free.len()));
        let (bytes, mode) = &files[name];
        let old = Some((name.as_str(), bytes.clone()));
        if *mode == LINK_MODE {
            changes.push(match random.below(5) {
                0 => change(old, None),
                1 => change(old, Some((&new_name, bytes.clone(), NewMode::Keep))),
                2 => change(old, Some((name, content(random), NewMode::Exact(0o640)))),
                3 => change(
                    old,
                    Some((&format!("{name}/inside/{at}"), content(random), NewMode::Exact(0o644))),
                ),
                _ => change(old, Some((name, target(random), NewMode::Exact(LINK_MODE)))),
            });
            continue;
        }
        changes.push(match random.below(10) {
            8 => change(old, Some((name, target(random), NewMode::Exact(LINK_MODE)))),
            9 => change(old, Some((name, bytes.clone(), NewMode::Exact(mode ^ 0o020)))),
            0 | 1 => change(old, None),
            2 => change(old, Some((&new_name, bytes.clone(), NewMode::Keep))),
            3 => change(old, Some((&new_name, content(random), NewMode::Keep))),
            4 => change(old, Some((name, bytes.clone(), NewMode::Executable(mode & 0o100 == 0)))),
            5 => change(old, Some((&format!("{name}/inside/{at}"), bytes.clone(), NewMode::Keep))),
            _ => change(old, Some((name, content(random), NewMode::Keep))),
        });
    }
    changes
}

/// From the old file to the new one.
fn change(old: Option<(&str, Vec<u8>)>, new: Option<(&str, Vec<u8>, NewMode)>) -> FileChange<'static> {
    let parse = |text: &str| RelPath::parse(text).ok();
    let old_name = old.as_ref().and_then(|old| parse(old.0));
    let new_name = new.as_ref().and_then(|new| parse(new.0));
    let path = new_name.clone().or_else(|| old_name.clone());
    FileChange {
        // All names used here are valid.
        path: path.unwrap_or_else(unreachable_path),
        renamed_from: old_name.filter(|old| new_name.as_ref().is_some_and(|new| new != old)),
        before: old.map(|old| old.1.into()),
        after: new.map(|new| AfterContent { bytes: new.1.into(), mode: new.2 }),
        added: 1,
        removed: 1,
    }
}

fn unreachable_path() -> RelPath {
    #[expect(clippy::unwrap_used, reason = "a plain name is a good path")]
    RelPath::parse("unreachable").unwrap()
}
