//! The layers: one kind of harm each.

mod agent;
mod chains;
mod commands;
mod context;
mod disk;
mod errno;
mod everyday;
mod fence;
mod flips;
mod images;
mod kill;
mod paths;
mod poison;
mod power;
mod race;
mod rpc;
mod sessions;
mod soak;
mod walks;

use std::path::Path;
use std::time::Duration;

use crate::drive::{self, Cases, Tally};
use crate::prepared::PreparedScenarios;
use crate::scenario::ScenarioId;
use crate::world::World;

/// One case of a layer.
pub(super) trait Case: Sized + Sync {
    /// All of it in a few words: what `--replay` takes.
    fn spec(&self) -> String;

    /// The case that the words name.
    fn parse(spec: &str) -> anyhow::Result<Self>;
}

impl Case for String {
    fn spec(&self) -> String {
        self.clone()
    }

    fn parse(spec: &str) -> anyhow::Result<String> {
        Ok(spec.to_owned())
    }
}

impl Case for ScenarioId {
    fn spec(&self) -> String {
        self.to_string()
    }

    fn parse(spec: &str) -> anyhow::Result<ScenarioId> {
        spec.parse()
    }
}

/// What all cases of a layer use.
trait Setup: Sized + Sync {
    /// Makes it, beneath `base` if it needs a place.
    fn new(world: &World, base: &Path) -> anyhow::Result<Self>;
}

impl Setup for () {
    fn new(_: &World, _: &Path) -> anyhow::Result<()> {
        Ok(())
    }
}

impl Setup for PreparedScenarios {
    fn new(_: &World, base: &Path) -> anyhow::Result<PreparedScenarios> {
        Ok(PreparedScenarios::beneath(base))
    }
}

/// One kind of harm, as its file writes it down.
trait Layer {
    type Case: Case;
    type Setup: Setup;

    /// What `--only` takes.
    const NAME: &'static str;

    /// What it does and proves, in a line.
    const ABOUT: &'static str;

    /// How long a quick run takes at most.
    const QUICK_SECONDS: u64;

    /// What it needs that is not here: a tool or a right, by name.
    fn missing(_: &World) -> Option<String> {
        None
    }

    /// Where each case gets a directory of its own.
    fn base(world: &World) -> &Path {
        &world.memory
    }

    /// Its cases, in the order in which they run.
    fn cases(world: &World, setup: &Self::Setup) -> anyhow::Result<Vec<Self::Case>>;

    /// Runs one in the empty directory `room`; gives the number of checks made.
    fn check(world: &World, setup: &Self::Setup, room: &Path, case: &Self::Case) -> anyhow::Result<u64>;

    /// What else is worth telling about a run.
    fn note(_: &World, _: &Self::Setup, _: &[Self::Case]) -> Option<String> {
        None
    }

    /// The tally of another process that ran the layer, where this one has not the rights.
    fn run_elsewhere(_: &World) -> Option<anyhow::Result<Tally>> {
        None
    }
}

/// A layer, whatever its cases are.
pub(super) struct LayerEntry {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// What it needs that is not here: a tool or a right, by name.
    pub(super) missing: fn(&World) -> Option<String>,
    pub(super) run: fn(&World) -> anyhow::Result<Tally>,
    /// Runs the one case that the spec names, in an empty directory.
    pub(super) replay: fn(&World, &Path, &str) -> anyhow::Result<u64>,
}

/// In the order in which they run.
pub(super) const LAYERS: &[LayerEntry] = &[
    entry::<images::Images>(),
    entry::<kill::Kill>(),
    entry::<power::Power>(),
    entry::<errno::Errno>(),
    entry::<disk::Disk>(),
    entry::<soak::Soak>(),
    entry::<race::Race>(),
    entry::<chains::Chains>(),
    entry::<walks::Walks>(),
    entry::<commands::Commands>(),
    entry::<paths::Paths>(),
    entry::<flips::Flips>(),
    entry::<poison::Poisoned>(),
    entry::<sessions::Sessions>(),
    entry::<fence::Fence>(),
    entry::<everyday::Everyday>(),
    entry::<agent::AgentRuns>(),
    entry::<rpc::RpcRuns>(),
    entry::<context::Conversations>(),
];

const fn entry<L: Layer>() -> LayerEntry {
    LayerEntry { name: L::NAME, about: L::ABOUT, missing: L::missing, run: run::<L>, replay: replay::<L> }
}

fn run<L: Layer>(world: &World) -> anyhow::Result<Tally> {
    if let Some(tally) = L::run_elsewhere(world) {
        return tally;
    }
    let base = World::fresh(L::base(world), L::NAME)?;
    let setup = L::Setup::new(world, &base)?;
    let cases = L::cases(world, &setup)?;
    let limit = (!world.full()).then_some(Duration::from_secs(L::QUICK_SECONDS));
    let check = |room: &Path, case: &L::Case| L::check(world, &setup, room, case);
    let cases = Cases { layer: L::NAME, cases: &cases, base: &base, limit, run: &check };
    let mut tally = drive::drive(world, &cases)?;
    tally.notes.extend(L::note(world, &setup, cases.cases));
    Ok(tally)
}

fn replay<L: Layer>(world: &World, room: &Path, spec: &str) -> anyhow::Result<u64> {
    L::check(world, &L::Setup::new(world, &world.memory)?, room, &L::Case::parse(spec)?)
}

/// The words of a case; an error that names the form if there are not so many.
fn words<'t, const N: usize>(text: &'t str, form: &str) -> anyhow::Result<[&'t str; N]> {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.try_into().map_err(|_| anyhow::anyhow!("a case is `{form}`"))
}

/// In an order determined by the seed, so that any first part of them is a spread sample.
fn shuffled<T>(mut items: Vec<T>, seed: u64) -> Vec<T> {
    let mut random = relaycode_testkit::random::Random::new(seed);
    for at in (1..items.len()).rev() {
        items.swap(at, random.below(at + 1));
    }
    items
}
