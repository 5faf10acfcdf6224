//! L4, for real: a disk that is full, from "nothing fits" to "everything fits" in steps of one page, and
//! the same with the number of files. Without root the layer runs in its own namespace.
//!
//! A case is `seed.scenario pages|inodes n`: that many are free.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use super::errno::honest;
use super::{Case, Layer, shuffled, words};
use crate::drive::{self, Tally};
use crate::mount::{Mount, is_root, missing_tool};
use crate::prepared::{Prepared, PreparedScenarios};
use crate::relay;
use crate::scenario::ScenarioId;
use crate::world::World;

pub(super) struct Disk;

const PAGE: u64 = 4096;

/// What runs out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scarce {
    Pages,
    Inodes,
}

pub(super) struct DiskCase {
    scenario: ScenarioId,
    scarce: Scarce,
    free: u64,
}

impl Case for DiskCase {
    fn spec(&self) -> String {
        let scarce = if self.scarce == Scarce::Pages { "pages" } else { "inodes" };
        format!("{} {scarce} {}", self.scenario, self.free)
    }

    fn parse(spec: &str) -> anyhow::Result<DiskCase> {
        let [scenario, scarce, free] = words(spec, "seed.scenario pages|inodes n")?;
        let scarce = if scarce == "pages" { Scarce::Pages } else { Scarce::Inodes };
        Ok(DiskCase { scenario: scenario.parse()?, scarce, free: free.parse()? })
    }
}

impl Layer for Disk {
    type Case = DiskCase;
    type Setup = PreparedScenarios;
    const NAME: &'static str = "disk";
    const ABOUT: &'static str = "a disk that is really full, page by page and file by file";
    const QUICK_SECONDS: u64 = 12;

    fn missing(world: &World) -> Option<String> {
        if may_mount(world) {
            return missing_tool(&["mount", "umount"]);
        }
        missing_tool(&["unshare", "mount", "umount"]).or_else(|| {
            let works = Command::new("unshare").args(["-rm", "true"]).stderr(Stdio::null()).status();
            (!works.is_ok_and(|status| status.success()))
                .then(|| "needs root, or unprivileged user namespaces (`unshare -rm`)".to_owned())
        })
    }

    fn run_elsewhere(world: &World) -> Option<anyhow::Result<Tally>> {
        (!may_mount(world)).then(|| in_namespace(world))
    }

    fn cases(world: &World, scenarios: &PreparedScenarios) -> anyhow::Result<Vec<DiskCase>> {
        let mut cases = Vec::new();
        for scenario in (0..world.choose(2, 6)).map(|number| world.scenario(number)) {
            let room = World::fresh(&world.memory, "disk-need")?;
            let (pages, inodes) = need(world, &room, &*scenarios.get(world, scenario)?)?;
            for (scarce, most) in [(Scarce::Pages, pages + 24), (Scarce::Inodes, inodes + 12)] {
                cases.extend((0..most).map(|free| DiskCase { scenario, scarce, free }));
            }
        }
        Ok(shuffled(cases, world.seed))
    }

    fn check(
        world: &World,
        scenarios: &PreparedScenarios,
        room: &Path,
        case: &DiskCase,
    ) -> anyhow::Result<u64> {
        ensure!(may_mount(world), "run it as root, or under `unshare -rm` with --in-namespace");
        run(world, room, &*scenarios.get(world, case.scenario)?, case)?;
        Ok(1)
    }
}

/// Whether this process may mount.
fn may_mount(world: &World) -> bool {
    is_root() || world.in_namespace
}

/// As root of its own namespace.
fn in_namespace(world: &World) -> anyhow::Result<Tally> {
    let exe = std::env::current_exe()?;
    let mut command = Command::new("unshare");
    command.arg("-rm").arg("--").arg(exe).args(["--only", "disk", "--in-namespace", "--relay"]);
    command.arg(&world.relay).args(["--seed", &world.seed.to_string()]);
    command.args(world.full().then_some("--full")).args(world.resume.then_some("--resume"));
    // The tally says more than its exit code.
    command.stdout(Stdio::null()).status().context("cannot run unshare")?;
    drive::last(world, "disk")
}

/// A room whose project is on its own tmpfs.
fn mounted(room: &Path, prepared: &Prepared) -> anyhow::Result<Mount> {
    prepared.furnish(room)?;
    let mount = Mount::tmpfs(&room.join("small"), "size=64m,mode=755")?;
    mount.carry_in(room)?;
    Ok(mount)
}

/// Pages and inodes in use.
fn used(dir: &Path) -> anyhow::Result<(u64, u64)> {
    let space = rustix::fs::statvfs(dir)?;
    Ok(((space.f_blocks - space.f_bfree) * space.f_frsize / PAGE, space.f_files - space.f_ffree))
}

/// Pages and inodes that an undisturbed run adds.
fn need(world: &World, room: &Path, prepared: &Prepared) -> anyhow::Result<(u64, u64)> {
    let mount = mounted(room, prepared)?;
    let before = used(mount.dir())?;
    let ran = relay::run(&world.relay, room, &prepared.what)?;
    ensure!(ran.code == Some(0), "on a roomy tmpfs it ended with {}", ran.told());
    let after = used(mount.dir())?;
    Ok((after.0.saturating_sub(before.0), after.1.saturating_sub(before.1)))
}

fn run(world: &World, room: &Path, prepared: &Prepared, case: &DiskCase) -> anyhow::Result<()> {
    let mount = mounted(room, prepared)?;
    let (pages, inodes) = used(mount.dir())?;
    match case.scarce {
        // A size of 0 would mean "no limit".
        Scarce::Pages => mount.change(&format!("size={}", (pages + case.free).max(1) * PAGE))?,
        Scarce::Inodes => mount.change(&format!("nr_inodes={}", (inodes + case.free).max(1)))?,
    }
    let ran = relay::run(&world.relay, room, &prepared.what)?;
    let outcome = honest(world, room, prepared, &ran);
    if outcome.is_err() {
        mount.carry_out(room)?;
    }
    outcome
}
