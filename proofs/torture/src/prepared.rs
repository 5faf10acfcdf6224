//! A scenario made ready: its tree on disk, the command to run on it, and what the tree is before and after,
//! learned from one run of the binary that nobody disturbs.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use super::relay::{self, Do};
use super::scenario::{Kind, Scenario};
use super::snapshot::{self, Snapshot};
use super::strace::{self, Call};
use super::world::World;

/// A scenario that is ready to be run any number of times.
pub(super) struct Prepared {
    pub(super) scenario: Scenario,
    /// The room that every run starts with a copy of.
    template: PathBuf,
    /// What is run.
    pub(super) what: Do,
    pub(super) before: Snapshot,
    pub(super) after: Snapshot,
    pub(super) records_before: usize,
    pub(super) records_after: usize,
}

impl Prepared {
    /// Makes scenario `index` ready beneath `base`.
    pub(super) fn new(world: &World, base: &Path, seed: u64, index: u64) -> anyhow::Result<Prepared> {
        let scenario = Scenario::new(seed, index);
        let told = format!("scenario {}", super::scenario::name(seed, index));
        Prepared::make(world, base, scenario).with_context(|| told)
    }

    fn make(world: &World, base: &Path, scenario: Scenario) -> anyhow::Result<Prepared> {
        let template = World::fresh(base, &format!("template-{}-{}", scenario.seed, scenario.index))?;
        let project = relay::furnish(&template)?;
        scenario.plant(&project)?;
        fs::write(template.join("answer.md"), &scenario.answer)?;
        let earlier: &[Do] = match scenario.kind {
            Kind::Apply => &[],
            Kind::Revert => &[Do::Apply],
            Kind::RevertOfRevert => &[Do::Apply, Do::Revert],
        };
        for step in earlier {
            undisturbed(world, &template, step)?;
        }
        let what = if scenario.kind == Kind::Apply { Do::Apply } else { Do::Revert };
        let before = Snapshot::of(&project)?;
        let records_before = Snapshot::of_ledger(&project)?.records();
        let trial = base.join(format!("trial-{}-{}", scenario.seed, scenario.index));
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
        Ok(Prepared { scenario, template, what, before, after, records_before, records_after })
    }

    /// Turns the empty directory `room` into a room as it is before the run.
    pub(super) fn furnish(&self, room: &Path) -> anyhow::Result<()> {
        for part in ["project", "home"] {
            snapshot::copy(&self.template.join(part), &room.join(part))?;
        }
        fs::copy(self.template.join("answer.md"), room.join("answer.md"))?;
        Ok(())
    }

    /// The calls out of `names` that the run makes.
    pub(super) fn calls(&self, world: &World, base: &Path, names: &[&[&str]]) -> anyhow::Result<Vec<Call>> {
        let room = World::fresh(base, &format!("count-{}-{}", self.scenario.seed, self.scenario.index))?;
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
