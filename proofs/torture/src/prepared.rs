//! A prepared scenario: its tree on disk, the command to run on it, and the tree before and after, learned
//! from one undisturbed run of the binary.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, ensure};

use super::relay::{self, Do};
use super::scenario::{Kind, Scenario, ScenarioId};
use super::snapshot::{self, Snapshot};
use super::strace::{self, Call};
use super::world::World;

/// Can be run any number of times.
pub(super) struct Prepared {
    pub(super) id: ScenarioId,
    /// Every run starts with a copy of this room.
    template: PathBuf,
    /// What is run.
    pub(super) what: Do,
    pub(super) before: Snapshot,
    pub(super) after: Snapshot,
    pub(super) records_before: usize,
    pub(super) records_after: usize,
}

/// The scenarios of a layer: each is made ready once, when it is first asked for.
pub(super) struct PreparedScenarios {
    base: PathBuf,
    ready: Mutex<BTreeMap<ScenarioId, Arc<Prepared>>>,
}

impl PreparedScenarios {
    /// None so far; they will be beneath `base`.
    pub(super) fn beneath(base: &Path) -> PreparedScenarios {
        PreparedScenarios { base: base.to_path_buf(), ready: Mutex::default() }
    }

    /// The scenario, ready to be run.
    pub(super) fn get(&self, world: &World, id: ScenarioId) -> anyhow::Result<Arc<Prepared>> {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(prepared) = ready.get(&id) {
            return Ok(prepared.clone());
        }
        let prepared = Prepared::new(world, &self.base, id).with_context(|| format!("scenario {id}"))?;
        Ok(ready.entry(id).or_insert(Arc::new(prepared)).clone())
    }
}

impl Prepared {
    fn new(world: &World, base: &Path, id: ScenarioId) -> anyhow::Result<Prepared> {
        let scenario = Scenario::new(id);
        let template = World::fresh(base, &format!("template-{id}"))?;
        let project = relay::furnish(&template)?;
        scenario.plant(&project)?;
        fs::write(template.join("answer.md"), &scenario.answer)?;
        let earlier: &[Do] = match scenario.kind {
            Kind::Apply => &[],
            Kind::Undo => &[Do::Apply],
            Kind::Redo => &[Do::Apply, Do::Undo],
        };
        for step in earlier {
            undisturbed(world, &template, step)?;
        }
        let what = match scenario.kind {
            Kind::Apply => Do::Apply,
            Kind::Undo => Do::Undo,
            Kind::Redo => Do::Redo,
        };
        let before = Snapshot::of(&project)?;
        let records_before = Snapshot::of_ledger(&project)?.records();
        let trial = base.join(format!("trial-{id}"));
        if trial.exists() {
            fs::remove_dir_all(&trial)?;
        }
        snapshot::copy(&template, &trial)?;
        undisturbed(world, &trial, &what)?;
        let after = Snapshot::of(&trial.join("project"))?;
        let records_after = Snapshot::of_ledger(&trial.join("project"))?.records();
        fs::remove_dir_all(&trial)?;
        ensure!(before != after, "{what:?} changes nothing");
        ensure!(records_after == records_before + 1, "{what:?} left {records_after} records");
        Ok(Prepared { id, template, what, before, after, records_before, records_after })
    }

    /// Fills the empty directory `room` with the state before the run.
    pub(super) fn furnish(&self, room: &Path) -> anyhow::Result<()> {
        for part in ["project", "home"] {
            snapshot::copy(&self.template.join(part), &room.join(part))?;
        }
        fs::copy(self.template.join("answer.md"), room.join("answer.md"))?;
        Ok(())
    }

    /// The calls among `names` that the run makes.
    pub(super) fn calls(&self, world: &World, names: &[&[&str]]) -> anyhow::Result<Vec<Call>> {
        let base = self.template.parent().context("a template stands in the layer's directory")?;
        let room = World::fresh(base, &format!("count-{}", self.id))?;
        self.furnish(&room)?;
        let (calls, ran) = strace::calls(&world.relay, &room, &self.what, names)?;
        ensure!(ran.code == Some(0), "under strace {:?} ended with {}", self.what, ran.told());
        fs::remove_dir_all(&room)?;
        Ok(calls)
    }
}

/// Runs a step that must succeed.
fn undisturbed(world: &World, room: &Path, what: &Do) -> anyhow::Result<()> {
    let ran = relay::run(&world.relay, room, what)?;
    ensure!(ran.code == Some(0), "undisturbed, {what:?} ended with {}", ran.told());
    Ok(())
}
