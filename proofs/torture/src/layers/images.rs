//! L1: power cuts on a model of the file system. A change, a put-back, a revert or a recovery is run once on the
//! model; then every disk that a cut after any operation could have left, with writes lost, torn and reordered, is
//! recovered and judged. Besides, every single call is made to fail once.
//!
//! A case is a scenario, by its number; a failure names the one disk or call in it, which `--replay` takes too.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::bail;
use relaycode_durable::model::CrashBounds;
use relaycode_testkit::crash::{self, CrashCase, CrashReport};

use super::Layer;
use crate::drive::{Cases, Tally, drive, workers};
use crate::world::World;

/// The layer.
pub(super) struct Images;

impl Layer for Images {
    fn name(&self) -> &'static str {
        "l1"
    }

    fn about(&self) -> &'static str {
        "different disks after a power cut at any operation, and calls that fail, on the model"
    }

    fn missing(&self, _: &World) -> Option<String> {
        None
    }

    fn run(&self, world: &World) -> anyhow::Result<Tally> {
        let base = World::fresh(&world.memory, self.name())?;
        let first = world.seed.wrapping_mul(1_000_000);
        let scenarios: Vec<u64> = (0..world.choose(36, 700)).map(|number| first + number).collect();
        let (disks, calls) = (AtomicU64::new(0), AtomicU64::new(0));
        let mut tally = drive(
            world,
            &Cases {
                layer: self.name(),
                cases: &scenarios,
                base: &base,
                workers: workers(),
                limit: world.limit(25),
                spec: &ToString::to_string,
                run: &|_, scenario| {
                    let judged = judge(*scenario)?;
                    disks.fetch_add(judged.disks, Ordering::Relaxed);
                    calls.fetch_add(judged.calls, Ordering::Relaxed);
                    Ok(judged.disks + judged.calls)
                },
            },
        )?;
        let (disks, calls) = (disks.into_inner(), calls.into_inner());
        tally.notes.push(format!("{disks} different disks and {calls} calls that fail in this run"));
        Ok(tally)
    }

    fn replay(&self, _: &World, _: &Path, spec: &str) -> anyhow::Result<u64> {
        if let Ok(scenario) = spec.parse() {
            return judge(scenario).map(|judged| judged.disks + judged.calls);
        }
        let case: CrashCase = spec.parse().map_err(anyhow::Error::msg)?;
        match crash::replay(&case) {
            None => Ok(1),
            Some(problem) => bail!("{problem}"),
        }
    }
}

/// What was tried of a scenario.
struct Judged {
    disks: u64,
    calls: u64,
}

fn judge(scenario: u64) -> anyhow::Result<Judged> {
    let bounds = CrashBounds { seed: scenario, ..CrashBounds::default() };
    let cut = held(crash::explore(scenario, &bounds))?;
    let failed = held(crash::fail_every_call(scenario))?;
    Ok(Judged { disks: cut.images as u64, calls: failed.errors as u64 })
}

fn held(report: CrashReport) -> anyhow::Result<CrashReport> {
    match report.failures.first() {
        None => Ok(report),
        Some(failure) => {
            bail!(
                "{} of its cases; the first, `{}`: {}",
                report.failures.len(),
                failure.replay,
                failure.problem
            )
        }
    }
}
