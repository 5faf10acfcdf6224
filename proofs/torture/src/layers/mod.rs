//! The layers: one kind of harm each.

mod chains;
mod disk;
mod errno;
mod flips;
mod images;
mod kill;
mod paths;
mod poison;
mod power;
mod race;
mod sessions;
mod soak;

use std::path::Path;

use super::drive::Tally;
use super::world::World;

/// One kind of harm.
pub(super) trait Layer: Sync {
    /// What `--only` takes.
    fn name(&self) -> &'static str;

    /// What it does and proves, in a line.
    fn about(&self) -> &'static str;

    /// What it needs that is not here: a tool or a right, by name.
    fn missing(&self, world: &World) -> Option<String>;

    /// Runs its cases.
    fn run(&self, world: &World) -> anyhow::Result<Tally>;

    /// Runs the one case that `spec` names, in the empty directory `room`.
    fn replay(&self, world: &World, room: &Path, spec: &str) -> anyhow::Result<u64>;
}

/// Every layer, in the order in which they run.
pub(super) const LAYERS: &[&dyn Layer] = &[
    &images::Images,
    &kill::Kill,
    &power::Power,
    &errno::Errno,
    &disk::Disk,
    &soak::Soak,
    &race::Race,
    &chains::Chains,
    &paths::Paths,
    &flips::Flips,
    &poison::Poisoned,
    &sessions::Sessions,
];

/// Puts `items` in an order that the seed decides, so that any first part of them is a spread sample.
fn shuffled<T>(mut items: Vec<T>, seed: u64) -> Vec<T> {
    let mut random = relaycode_testkit::random::Random::new(seed);
    for at in (1..items.len()).rev() {
        items.swap(at, random.below(at + 1));
    }
    items
}

/// The number that a spec's part stands for, as in `7.3`: seed and scenario.
fn scenario_of(text: &str) -> anyhow::Result<(u64, u64)> {
    use anyhow::Context;
    let (seed, index) =
        text.split_once('.').with_context(|| format!("`{text}` is no scenario (seed.number)"))?;
    Ok((seed.parse()?, index.parse()?))
}
