//! P4: chains of changes, reverts and reverts of reverts, with every kind of bytes and permission bits. A revert of
//! the newest transaction is the tree before it, directories included; a revert of an older one whose files nobody
//! touched since brings exactly those files back.
//!
//! A case is a chain, `seed.number model` on the file system in memory, or `seed.number binary` through the binary.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use relaycode_change::proposal::path::RelPath;
use relaycode_durable::Fs;
use relaycode_ledger::log::LogTarget;
use relaycode_ledger::revert::RevertOptions;
use relaycode_ledger::transaction::change::{AfterContent, FileChange, NewMode};
use relaycode_ledger::{CommitVerdict, Ledger, LedgerSettings, TransactionHeader, TxId, UndoState};
use relaycode_proof_crashfs::{ModelFs, ModelSnapshot as ModelTree};
use relaycode_testkit::random::Random;

use super::{Case, Layer, words};
use crate::relay::{self, Do};
use crate::scenario::{self, Flavour, Scenario, ScenarioId};
use crate::snapshot::{STATE, Snapshot};
use crate::world::World;

pub(super) struct Chains;

/// One chain in this many goes through the binary.
const THROUGH_BINARY: u64 = 40;
/// File names of a chain.
const NAMES: &[&str] = &[
    "a.txt",
    "b.bin",
    "src/c.rs",
    "src/d.txt",
    "src/deep/e.txt",
    "lib/f",
    "lib/g.dat",
    "new/h.txt",
    "new/in/i.txt",
    "j",
];
const MODES: &[u32] = &[0o644, 0o755, 0o600, 0o640, 0o444 | 0o200, 0o700];
const FLAVOURS: &[Flavour] =
    &[Flavour::Plain, Flavour::Crlf, Flavour::NoFinalNewline, Flavour::Empty, Flavour::Bytes];

pub(super) struct ChainCase {
    id: ScenarioId,
    binary: bool,
}

impl Case for ChainCase {
    fn spec(&self) -> String {
        format!("{} {}", self.id, if self.binary { "binary" } else { "model" })
    }

    fn parse(spec: &str) -> anyhow::Result<ChainCase> {
        let [id, through] = words(spec, "seed.number model|binary")?;
        Ok(ChainCase { id: id.parse()?, binary: through == "binary" })
    }
}

impl Layer for Chains {
    type Case = ChainCase;
    type Setup = ();
    const NAME: &'static str = "chains";
    const ABOUT: &'static str = "chains of apply, revert and revert of revert: byte for byte, mode for mode";
    const QUICK_SECONDS: u64 = 15;

    fn cases(world: &World, (): &()) -> anyhow::Result<Vec<ChainCase>> {
        let case = |number: u64| ChainCase {
            id: world.scenario(number),
            binary: number.is_multiple_of(THROUGH_BINARY),
        };
        Ok((0..world.choose(1_000, 10_250)).map(case).collect())
    }

    fn check(world: &World, (): &(), room: &Path, case: &ChainCase) -> anyhow::Result<u64> {
        if case.binary {
            through_binary(world, room, case.id)?;
        } else {
            Chain::new(case.id)?.run()?;
        }
        Ok(1)
    }
}

/// Applies a scenario, and goes back and forth with undo and redo.
fn through_binary(world: &World, room: &Path, id: ScenarioId) -> anyhow::Result<()> {
    let mut random = id.random();
    let scenario = Scenario::new(id);
    let project = relay::furnish(room)?;
    scenario.plant(&project)?;
    fs::write(room.join("answer.md"), &scenario.answer)?;
    let before = Snapshot::of(&project)?.plain();
    step(world, room, &Do::Apply)?;
    let after = Snapshot::of(&project)?.plain();
    ensure!(before != after, "apply changes nothing");
    for turn in 0..1 + random.below(5) {
        let (what, wanted) = if turn % 2 == 0 { (Do::Undo, &before) } else { (Do::Redo, &after) };
        step(world, room, &what).with_context(|| format!("turn {turn}"))?;
        let now = Snapshot::of(&project)?.plain();
        ensure!(now == *wanted, "{what:?} in turn {turn} is not the identity: {}", now.differences(wanted));
    }
    Ok(())
}

fn step(world: &World, room: &Path, what: &Do) -> anyhow::Result<()> {
    let ran = relay::run(&world.relay, room, what)?;
    ensure!(ran.code == Some(0), "{what:?} ended with {}", ran.told());
    Ok(())
}

/// A project in memory, and all its earlier trees.
struct Chain {
    random: Random,
    model: Arc<ModelFs>,
    ledger: Ledger,
    /// The tree before each transaction, with its id.
    past: Vec<(TxId, ModelTree)>,
}

impl Chain {
    fn new(id: ScenarioId) -> anyhow::Result<Chain> {
        let mut random = id.random();
        let model = Arc::new(ModelFs::new());
        for path in NAMES {
            if !random.once_in(3) {
                let bytes = content(&mut random);
                model.put(path, &bytes, *random.pick(MODES))?;
            }
        }
        let ledger =
            Ledger::open(Arc::clone(&model) as Arc<dyn Fs>, Path::new("/"), LedgerSettings::default())?;
        Ok(Chain { random, model, ledger, past: Vec::new() })
    }

    fn run(mut self) -> anyhow::Result<()> {
        for number in 0..3 + self.random.below(8) {
            let what = if self.past.is_empty() { 0 } else { self.random.below(4) };
            match what {
                0 | 1 => self.change(),
                2 => self.revert_newest(),
                _ => self.revert_older(),
            }
            .with_context(|| format!("step {number}"))?;
        }
        Ok(())
    }

    fn tree(&self) -> ModelTree {
        let mut tree = self.model.snapshot();
        tree.files.retain(|path, _| !path.starts_with(STATE));
        tree.dirs.retain(|path| !path.starts_with(STATE));
        tree.dir_modes.retain(|path, _| !path.starts_with(STATE));
        tree
    }

    /// Changes, creates, removes or moves one to four files.
    fn change(&mut self) -> anyhow::Result<()> {
        let before = self.tree();
        let mut names: Vec<&str> = NAMES.to_vec();
        let mut changes = Vec::new();
        let mut wanted = before.files.clone();
        for _ in 0..1 + self.random.below(4) {
            let path = names.remove(self.random.below(names.len()));
            let old = wanted.get(path).cloned();
            let goes = old.is_some() && self.random.once_in(4);
            let target = names.iter().find(|name| !wanted.contains_key(**name)).copied();
            let moves = target.filter(|_| old.is_some() && !goes && self.random.once_in(4));
            let (bytes, mode) = match &old {
                Some((bytes, mode)) if self.random.once_in(5) => (bytes.clone(), *mode ^ 0o100),
                _ => (content(&mut self.random), *self.random.pick(MODES)),
            };
            let at = moves.unwrap_or(path);
            names.retain(|name| *name != at);
            wanted.remove(path);
            if !goes {
                wanted.insert(at.to_owned(), (bytes.clone(), mode));
            }
            changes.push(FileChange {
                path: RelPath::parse(at)?,
                renamed_from: moves.map(|_| RelPath::parse(path)).transpose()?,
                before: old.map(|(bytes, _)| bytes.into()),
                after: (!goes).then_some(AfterContent { bytes: bytes.into(), mode: NewMode::Exact(mode) }),
                added: 0,
                removed: 0,
            });
        }
        let id = self.commit(&changes, Vec::new(), Vec::new())?;
        let now = self.tree();
        ensure!(now.files == wanted, "the change did not do what it said");
        self.past.push((id, before));
        Ok(())
    }

    fn revert_newest(&mut self) -> anyhow::Result<()> {
        let Some((newest, wanted)) = self.past.last().cloned() else { return Ok(()) };
        let before = self.tree();
        let Some(id) = self.revert(newest)? else {
            ensure!(before.files == wanted.files, "there is nothing to revert, but the tree was another");
            return Ok(());
        };
        let now = self.tree();
        ensure!(now == wanted, "{}", different(&now, &wanted));
        self.past.push((id, before));
        Ok(())
    }

    /// Reverts any transaction that is in. If its files are as it left them, the result is known.
    fn revert_older(&mut self) -> anyhow::Result<()> {
        let at = self.random.below(self.past.len());
        let (id, then) = self.past[at].clone();
        if self.ledger.undo_states(&[id])?.get(&id) == Some(&UndoState::Undone) {
            return Ok(());
        }
        let left = self.past.get(at + 1).map_or_else(|| self.tree(), |(_, tree)| tree.clone());
        let before = self.tree();
        let touched: Vec<&&str> =
            NAMES.iter().filter(|path| then.files.get(**path) != left.files.get(**path)).collect();
        let as_left = touched.iter().all(|path| before.files.get(**path) == left.files.get(**path));
        let mut wanted = before.files.clone();
        for path in touched {
            wanted.remove(*path);
            wanted.extend(then.files.get_key_value(*path).map(|(path, file)| (path.clone(), file.clone())));
        }
        match self.revert(id) {
            Ok(reverted) => {
                let now = self.tree();
                ensure!(
                    !as_left || now.files == wanted,
                    "reverting {} left other files than it found",
                    id.short()
                );
                if let Some(reverted) = reverted {
                    self.past.push((reverted, before));
                }
                Ok(())
            }
            // Later edits prevent it; then nothing may have changed.
            Err(error) if !as_left => {
                ensure!(self.tree() == before, "a revert that was refused changed something: {error:#}");
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// `None` if there was nothing to do.
    fn revert(&mut self, id: TxId) -> anyhow::Result<Option<TxId>> {
        let plan = self.ledger.plan_revert(&LogTarget::Transaction(id), &RevertOptions::default())?;
        if plan.changes.is_empty() {
            return Ok(None);
        }
        self.commit(&plan.changes, plan.reverts, plan.made_directories_to_remove).map(Some)
    }

    fn commit(
        &mut self,
        changes: &[FileChange<'_>],
        of: Vec<TxId>,
        remove: Vec<String>,
    ) -> anyhow::Result<TxId> {
        let id: TxId = scenario::uuid(&mut self.random).parse()?;
        let mut about = TransactionHeader::new(id, "torture", "2026-01-01T00:00:00Z", "test");
        about.revert_of = of;
        about.directories_to_remove = remove;
        let committed = self.ledger.begin(changes, about, &|| false)?.commit(CommitVerdict::default())?;
        if let Some(doubt) = committed.durability_doubt {
            bail!("committed in doubt: {doubt}");
        }
        Ok(id)
    }
}

fn content(random: &mut Random) -> Vec<u8> {
    let flavour = *random.pick(FLAVOURS);
    scenario::content(random, flavour)
}

fn different(now: &ModelTree, wanted: &ModelTree) -> String {
    let names = NAMES.iter().filter(|name| now.files.get(**name) != wanted.files.get(**name));
    let dirs: Vec<&String> = now.dirs.symmetric_difference(&wanted.dirs).collect();
    let names: Vec<_> = names.collect();
    let (modes, wanted) = (&now.dir_modes, &wanted.dir_modes);
    format!(
        "the revert is not the identity: files {names:?}, directories {dirs:?}, modes {modes:?} for {wanted:?}"
    )
}
