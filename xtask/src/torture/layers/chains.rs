//! P4: chains of changes, reverts and reverts of reverts, with every kind of bytes and permission bits. After each
//! step the tree is exactly what the step before or its undoing left.
//!
//! A case is a chain, `seed.number`.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use relaycode_testkit::random::Random;

use super::super::drive::{Cases, Tally, drive, workers};
use super::super::relay::{self, Do};
use super::super::scenario::{Scenario, name};
use super::super::snapshot::Snapshot;
use super::super::world::World;
use super::{Layer, scenario_of};

/// The layer.
pub(super) struct Chains;

impl Layer for Chains {
    fn name(&self) -> &'static str {
        "chains"
    }

    fn about(&self) -> &'static str {
        "chains of apply, revert and revert of revert: byte for byte, mode for mode"
    }

    fn missing(&self, _: &World) -> Option<String> {
        None
    }

    fn run(&self, world: &World) -> anyhow::Result<Tally> {
        let base = World::fresh(&world.memory, "chains")?;
        let cases: Vec<u64> = (0..world.choose(200, 10_000)).collect();
        drive(
            world,
            &Cases {
                layer: self.name(),
                cases: &cases,
                base: &base,
                workers: workers(),
                limit: world.limit(12),
                spec: &|number| name(world.seed, *number),
                run: &|room, number| run(world, room, world.seed, *number).map(|()| 1),
            },
        )
    }

    fn replay(&self, world: &World, room: &Path, text: &str) -> anyhow::Result<u64> {
        let (seed, number) = scenario_of(text)?;
        run(world, room, seed, number).map(|()| 1)
    }
}

fn run(world: &World, room: &Path, seed: u64, number: u64) -> anyhow::Result<()> {
    let mut random = Random::of_case(seed, number);
    let scenario = Scenario::new(seed, number);
    let project = relay::furnish(room)?;
    scenario.plant(&project)?;
    fs::write(room.join("answer.md"), &scenario.answer)?;
    let before = Snapshot::of(&project)?.plain();
    step(world, room, &Do::Apply)?;
    let after = Snapshot::of(&project)?.plain();
    ensure!(before != after, "apply changes nothing");
    // Each further revert takes the one before it back.
    for turn in 0..1 + random.below(5) {
        step(world, room, &Do::Revert).with_context(|| format!("revert {turn}"))?;
        let now = Snapshot::of(&project)?.plain();
        let wanted = if turn % 2 == 0 { &before } else { &after };
        ensure!(now == *wanted, "revert {turn} is not the identity: {}", now.differences(wanted));
    }
    Ok(())
}

fn step(world: &World, room: &Path, what: &Do) -> anyhow::Result<()> {
    let ran = relay::run(&world.relay, room, what)?;
    ensure!(ran.code == Some(0), "{what:?} ended with {}", ran.told());
    Ok(())
}
