//! L3: the power goes. The run is killed at a call, the file system drops everything it has not written, and
//! after the restart the project must be as before or as after. Exit 0 and then a cut must be "after".
//!
//! In half of the cases another file is synced first: that commits the file system's journal with our names
//! but without our data, which is what undoes programs that do not sync. A case is
//! `seed.scenario call@n mode alone|other`, with `end` as the call of a run that nobody killed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, ensure};

use super::{Layer, scenario_of, shuffled};
use crate::drive::{Cases, Tally, drive, workers};
use crate::mount::{Mount, is_root, missing_tool};
use crate::prepared::Prepared;
use crate::relay;
use crate::scenario::name;
use crate::snapshot;
use crate::strace::{self, CHANGING, Call, Injury};
use crate::verdict::{self, Side};
use crate::world::World;

/// The layer.
pub(super) struct Power;

/// How ext4 is mounted.
const MODES: &[(&str, &str)] =
    &[("ordered", ""), ("writeback", "data=writeback"), ("plain", "data=ordered,noauto_da_alloc")];
/// Scenarios of a full run.
const SCENARIOS: u64 = 8;
/// Cuts after a finished run, for each scenario, mode and kind.
const FINISHED: usize = 4;

struct Case {
    at: usize,
    /// None: the run finishes.
    call: Option<Call>,
    /// Which of the modes.
    mode: usize,
    /// Another file is synced before the cut.
    other: bool,
}

/// Mounted images that no case uses now, for each mode.
struct Pool {
    base: PathBuf,
    free: Vec<Mutex<Vec<Mount>>>,
    made: AtomicUsize,
}

impl Layer for Power {
    fn name(&self) -> &'static str {
        "l3"
    }

    fn about(&self) -> &'static str {
        "power cuts on ext4 at every call, and after exit 0: before or after, and done is done"
    }

    fn missing(&self, _: &World) -> Option<String> {
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

    fn run(&self, world: &World) -> anyhow::Result<Tally> {
        let base = World::fresh(&world.memory, "l3")?;
        let pool = Pool::new(&base);
        let mut prepared = Vec::new();
        let mut cases = Vec::new();
        for index in 0..world.choose(4, SCENARIOS) {
            let ready = Prepared::new(world, &base, world.seed, index)?;
            let calls = ready.calls(world, &base, &[CHANGING])?;
            let at = prepared.len();
            prepared.push(ready);
            for mode in 0..MODES.len() {
                for (number, call) in calls.iter().enumerate() {
                    cases.push(Case { at, call: Some(call.clone()), mode, other: (number + mode) % 2 == 0 });
                }
                let ends =
                    (0..2 * FINISHED).map(|number| Case { at, call: None, mode, other: number % 2 == 0 });
                cases.extend(ends);
            }
        }
        let cases = shuffled(cases, world.seed);
        let count = world.choose(48, cases.len());
        drive(
            world,
            &Cases {
                layer: self.name(),
                cases: &cases[..count.min(cases.len())],
                base: &base,
                workers: workers(),
                limit: world.limit(30),
                spec: &|case| spec(&prepared[case.at], case),
                run: &|room, case| run(world, room, &prepared[case.at], &pool, case).map(|()| 1),
            },
        )
    }

    fn replay(&self, world: &World, room: &Path, text: &str) -> anyhow::Result<u64> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [scenario, call, mode, other] = words[..] else {
            anyhow::bail!("a case is `seed.scenario call@n mode alone|other`")
        };
        let (seed, index) = scenario_of(scenario)?;
        let call = if call == "end" { None } else { Some(call.parse()?) };
        let mode = MODES.iter().position(|(name, _)| *name == mode).context("there is no such mode")?;
        let ready = Prepared::new(world, &world.memory, seed, index)?;
        let pool = Pool::new(&world.memory);
        run(world, room, &ready, &pool, &Case { at: 0, call, mode, other: other == "other" }).map(|()| 1)
    }
}

fn spec(prepared: &Prepared, case: &Case) -> String {
    let scenario = name(prepared.scenario.seed, prepared.scenario.index);
    let call = case.call.as_ref().map_or_else(|| "end".to_owned(), ToString::to_string);
    format!("{scenario} {call} {} {}", MODES[case.mode].0, if case.other { "other" } else { "alone" })
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

fn run(world: &World, room: &Path, prepared: &Prepared, pool: &Pool, case: &Case) -> anyhow::Result<()> {
    let mut mount = pool.take(case.mode)?;
    let cell = mount.dir().join("project");
    prepared.furnish(room)?;
    fs::rename(room.join("project"), room.join("planted"))?;
    snapshot::copy(&room.join("planted"), &cell)?;
    symlink(&cell, room.join("project"))?;
    rustix::fs::syncfs(fs::File::open(mount.dir())?)?;
    let outcome = cut(world, room, prepared, &mut mount, case);
    if outcome.is_err() {
        // The mount goes; its content stays with the case.
        fs::remove_file(room.join("project"))?;
        snapshot::copy(&cell, &room.join("project"))?;
    } else {
        fs::remove_dir_all(&cell)?;
        pool.give(case.mode, mount);
    }
    outcome
}

fn cut(
    world: &World,
    room: &Path,
    prepared: &Prepared,
    mount: &mut Mount,
    case: &Case,
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
