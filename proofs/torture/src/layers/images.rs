//! L1: power cuts on the model file system. A change, a put-back, a revert or a recovery is run once on the
//! model; then every disk that a cut after any operation could have left, with writes lost, torn and
//! reordered, is recovered and judged. Also, every single call is made to fail once.
//!
//! A case is a scenario, by its number; a failure names the one disk or call in it, which `--replay` takes
//! too.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::bail;
use relaycode_proof_crashfs::CrashBounds;
use relaycode_testkit::crash::{self, CrashCase, CrashReport};

use super::{Layer, Setup};
use crate::world::World;

pub(super) struct Images;

/// How much was tried, over all cases.
#[derive(Default)]
pub(super) struct ImageCount {
    disks: AtomicU64,
    calls: AtomicU64,
}

impl Setup for ImageCount {
    fn new(_: &World, _: &Path) -> anyhow::Result<ImageCount> {
        Ok(ImageCount::default())
    }
}

impl Layer for Images {
    type Case = String;
    type Setup = ImageCount;
    const NAME: &'static str = "l1";
    const ABOUT: &'static str =
        "different disks after a power cut at any operation, and calls that fail, on the model";
    const QUICK_SECONDS: u64 = 25;

    fn cases(world: &World, _: &ImageCount) -> anyhow::Result<Vec<String>> {
        let first = world.seed.wrapping_mul(1_000_000);
        Ok((0..world.choose(36, 700)).map(|number| (first + number).to_string()).collect())
    }

    fn check(_: &World, count: &ImageCount, _: &Path, case: &String) -> anyhow::Result<u64> {
        let Ok(scenario) = case.parse() else {
            let case: CrashCase = case.parse().map_err(anyhow::Error::msg)?;
            return crash::replay(&case).map_or(Ok(1), |problem| bail!("{problem}"));
        };
        let bounds = CrashBounds { seed: scenario, ..CrashBounds::default() };
        let disks = held(crash::explore(scenario, &bounds))?.images as u64;
        let calls = held(crash::fail_every_call(scenario))?.errors as u64;
        count.disks.fetch_add(disks, Ordering::Relaxed);
        count.calls.fetch_add(calls, Ordering::Relaxed);
        Ok(disks + calls)
    }

    fn note(_: &World, count: &ImageCount, _: &[String]) -> Option<String> {
        let (disks, calls) = (count.disks.load(Ordering::Relaxed), count.calls.load(Ordering::Relaxed));
        Some(format!("{disks} different disks and {calls} calls that fail in this run"))
    }
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
