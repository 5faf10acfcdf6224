//! L3: the power fails. The run is killed at a call, the file system drops everything it has not written,
//! and after the restart the project must be as before or as after. A cut after exit 0 must be "after".
//!
//! In half of the cases another file is synced first: that commits the file system's journal with our names
//! but without our data, which breaks programs that do not sync. A case is `seed.scenario call@n mode
//! alone|other`, with `end` as the call of a run that nobody killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, ensure};

use super::{Case, Layer, Setup, shuffled, words};
use crate::mount::{Mount, is_root, missing_tool};
use crate::prepared::{Prepared, PreparedScenarios};
use crate::relay;
use crate::scenario::ScenarioId;
use crate::strace::{self, CHANGING, Call, Injury};
use crate::verdict::{self, Side};
use crate::world::World;

pub(super) struct Power;

/// How ext4 is mounted.
const MODES: &[(&str, &str)] =
    &[("ordered", ""), ("writeback", "data=writeback"), ("plain", "data=ordered,noauto_da_alloc")];
/// Scenarios of a full run.
const SCENARIOS: u64 = 8;
/// Cuts after a finished run, for each scenario, mode and kind.
const FINISHED: usize = 4;

pub(super) struct PowerCase {
    scenario: ScenarioId,
    /// `None`: the run finishes.
    call: Option<Call>,
    mode: usize,
    /// Another file is synced before the cut.
    other: bool,
}

/// The scenarios, and the disks whose power is cut.
pub(super) struct PowerSetup {
    scenarios: PreparedScenarios,
    pool: Pool,
}

/// Mounted images that no case uses now, for each mode.
struct Pool {
    base: PathBuf,
    free: Vec<Mutex<Vec<Mount>>>,
    made: AtomicUsize,
}

impl Case for PowerCase {
    fn spec(&self) -> String {
        let call = self.call.as_ref().map_or_else(|| "end".to_owned(), ToString::to_string);
        let other = if self.other { "other" } else { "alone" };
        format!("{} {call} {} {other}", self.scenario, MODES[self.mode].0)
    }

    fn parse(spec: &str) -> anyhow::Result<PowerCase> {
        let [scenario, call, mode, other] = words(spec, "seed.scenario call@n mode alone|other")?;
        Ok(PowerCase {
            scenario: scenario.parse()?,
            call: if call == "end" { None } else { Some(call.parse()?) },
            mode: MODES.iter().position(|(name, _)| *name == mode).context("there is no such mode")?,
            other: other == "other",
        })
    }
}

impl Setup for PowerSetup {
    fn new(_: &World, base: &Path) -> anyhow::Result<PowerSetup> {
        Ok(PowerSetup { scenarios: PreparedScenarios::beneath(base), pool: Pool::new(base) })
    }
}

impl Layer for Power {
    type Case = PowerCase;
    type Setup = PowerSetup;
    const NAME: &'static str = "l3";
    const ABOUT: &'static str =
        "power cuts on ext4 at every call, and after exit 0: before or after, and done is done";
    const QUICK_SECONDS: u64 = 30;

    fn missing(_: &World) -> Option<String> {
        if !is_root() {
            return Some("needs root, to mount an image".to_owned());
        }
        missing_tool(&["mkfs.ext4", "losetup", "mount", "umount", "xfs_io"]).or_else(strace::missing).or_else(
            || {
                let base = std::env::temp_dir().join(format!("relay-torture-probe-{}", std::process::id()));
                let probe = Mount::ext4(&base, "").and_then(|mut mount| mount.cut());
                probe.err().map(|error| format!("an image cannot be mounted and cut here: {error:#}"))
            },
        )
    }

    fn cases(world: &World, setup: &PowerSetup) -> anyhow::Result<Vec<PowerCase>> {
        let mut cases = Vec::new();
        for scenario in (0..world.choose(4, SCENARIOS)).map(|number| world.scenario(number)) {
            let calls = setup.scenarios.get(world, scenario)?.calls(world, &[CHANGING])?;
            for mode in 0..MODES.len() {
                let case = |call, other| PowerCase { scenario, call, mode, other };
                let killed = calls.iter().enumerate();
                cases.extend(killed.map(|(at, call)| case(Some(call.clone()), (at + mode) % 2 == 0)));
                cases.extend((0..2 * FINISHED).map(|number| case(None, number % 2 == 0)));
            }
        }
        let mut cases = shuffled(cases, world.seed);
        cases.truncate(world.choose(48, usize::MAX));
        Ok(cases)
    }

    fn check(world: &World, setup: &PowerSetup, room: &Path, case: &PowerCase) -> anyhow::Result<u64> {
        run(world, room, &*setup.scenarios.get(world, case.scenario)?, &setup.pool, case)?;
        Ok(1)
    }
}

impl Pool {
    fn new(base: &Path) -> Pool {
        let free = MODES.iter().map(|_| Mutex::new(Vec::new())).collect();
        Pool { base: base.to_path_buf(), free, made: AtomicUsize::new(0) }
    }

    fn take(&self, mode: usize) -> anyhow::Result<Mount> {
        if let Some(mount) = self.free[mode].lock().ok().and_then(|mut free| free.pop()) {
            return Ok(mount);
        }
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        Mount::ext4(&self.base.join(format!("mount-{number}")), MODES[mode].1)
    }

    /// Only a mount whose case held comes back; another one is unmounted by its drop.
    fn give(&self, mode: usize, mount: Mount) {
        if let Ok(mut free) = self.free[mode].lock() {
            free.push(mount);
        }
    }
}

fn run(world: &World, room: &Path, prepared: &Prepared, pool: &Pool, case: &PowerCase) -> anyhow::Result<()> {
    let mut mount = pool.take(case.mode)?;
    prepared.furnish(room)?;
    mount.carry_in(room)?;
    rustix::fs::syncfs(fs::File::open(mount.dir())?)?;
    let outcome = cut(world, room, prepared, &mut mount, case);
    match outcome {
        Ok(()) => {
            fs::remove_dir_all(mount.project())?;
            pool.give(case.mode, mount);
            Ok(())
        }
        Err(error) => match mount.carry_out(room) {
            Ok(()) => Err(error),
            Err(lost) => Err(error.context(format!("its files could not be kept: {lost:#}"))),
        },
    }
}

fn cut(
    world: &World,
    room: &Path,
    prepared: &Prepared,
    mount: &mut Mount,
    case: &PowerCase,
) -> anyhow::Result<()> {
    let ran = match &case.call {
        Some(call) => strace::injured(&world.relay, room, &prepared.what, call, &Injury::Kill)?,
        None => relay::run(&world.relay, room, &prepared.what)?,
    };
    ensure!(ran.killed() || ran.code == Some(0), "the run ended with {}", ran.told());
    if case.other {
        let other = mount.dir().join("other");
        fs::write(&other, b"a file that has nothing to do with it")?;
        fs::File::open(&other)?.sync_all()?;
    }
    mount.cut()?;
    let side = verdict::recovered(&world.relay, room, prepared)?;
    ensure!(ran.killed() || side == Side::After, "exit 0, then a power cut, and the change is gone");
    Ok(())
}
