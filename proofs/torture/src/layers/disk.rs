//! L4, for real: a disk that is full, from "nothing fits" to "all fits" in steps of one page, and the same with
//! the number of files. Without root the layer runs in a namespace of its own.
//!
//! A case is `seed.scenario pages|inodes n`: so many are free.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};

use super::errno::honest;
use super::{Layer, scenario_of, shuffled};
use crate::drive::{self, Cases, Tally, drive, workers};
use crate::mount::{Mount, is_root, missing_tool};
use crate::prepared::Prepared;
use crate::relay;
use crate::scenario::name;
use crate::snapshot;
use crate::world::World;

/// The layer.
pub(super) struct Disk;

const PAGE: u64 = 4096;

/// What runs out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scarce {
    Pages,
    Inodes,
}

struct Case {
    at: usize,
    scarce: Scarce,
    free: u64,
}

impl Layer for Disk {
    fn name(&self) -> &'static str {
        "disk"
    }

    fn about(&self) -> &'static str {
        "a disk that is really full, page by page and file by file"
    }

    fn missing(&self, world: &World) -> Option<String> {
        if is_root() || world.in_namespace {
            return missing_tool(&["mount", "umount"]);
        }
        missing_tool(&["unshare", "mount", "umount"]).or_else(|| {
            let works = Command::new("unshare").args(["-rm", "true"]).stderr(Stdio::null()).status();
            (!works.is_ok_and(|status| status.success()))
                .then(|| "needs root, or unprivileged user namespaces (`unshare -rm`)".to_owned())
        })
    }

    fn run(&self, world: &World) -> anyhow::Result<Tally> {
        if !is_root() && !world.in_namespace {
            return in_namespace(world);
        }
        let base = World::fresh(&world.memory, "disk")?;
        let mut prepared = Vec::new();
        let mut cases = Vec::new();
        for index in 0..world.choose(2, 6) {
            let ready = Prepared::new(world, &base, world.seed, index)?;
            let need = need(world, &World::fresh(&base, "need")?, &ready)?;
            let at = prepared.len();
            prepared.push(ready);
            cases.extend((0..need.0 + 24).map(|free| Case { at, scarce: Scarce::Pages, free }));
            cases.extend((0..need.1 + 12).map(|free| Case { at, scarce: Scarce::Inodes, free }));
        }
        let cases = shuffled(cases, world.seed);
        drive(
            world,
            &Cases {
                layer: self.name(),
                cases: &cases,
                base: &base,
                workers: workers(),
                limit: world.limit(12),
                spec: &|case| {
                    let scenario = &prepared[case.at].scenario;
                    let scarce = if case.scarce == Scarce::Pages { "pages" } else { "inodes" };
                    format!("{} {scarce} {}", name(scenario.seed, scenario.index), case.free)
                },
                run: &|room, case| run(world, room, &prepared[case.at], case.scarce, case.free).map(|()| 1),
            },
        )
    }

    fn replay(&self, world: &World, room: &Path, text: &str) -> anyhow::Result<u64> {
        ensure!(
            is_root() || world.in_namespace,
            "run it as root, or under `unshare -rm` with --in-namespace"
        );
        let words: Vec<&str> = text.split_whitespace().collect();
        let [scenario, scarce, free] = words[..] else { bail!("a case is `seed.scenario pages|inodes n`") };
        let (seed, index) = scenario_of(scenario)?;
        let scarce = if scarce == "pages" { Scarce::Pages } else { Scarce::Inodes };
        let ready = Prepared::new(world, &world.memory, seed, index)?;
        run(world, room, &ready, scarce, free.parse()?).map(|()| 1)
    }
}

/// Runs the layer as root of a namespace of its own.
fn in_namespace(world: &World) -> anyhow::Result<Tally> {
    let exe = std::env::current_exe()?;
    let mut command = Command::new("unshare");
    command.arg("-rm").arg("--").arg(exe).args(["--only", "disk", "--in-namespace", "--relay"]);
    command.arg(&world.relay).args(["--seed", &world.seed.to_string()]);
    command.args(world.full().then_some("--full")).args(world.resume.then_some("--resume"));
    // Its exit code says no more than the tally it leaves.
    command.stdout(Stdio::null()).status().context("cannot run unshare")?;
    drive::last(world, "disk")
}

/// A room whose project is on a tmpfs of its own.
fn mounted(room: &Path, prepared: &Prepared) -> anyhow::Result<Mount> {
    prepared.furnish(room)?;
    let mount = Mount::tmpfs(&room.join("small"), "size=64m,mode=755")?;
    fs::rename(room.join("project"), room.join("planted"))?;
    let project = mount.dir().join("project");
    snapshot::copy(&room.join("planted"), &project)?;
    symlink(&project, room.join("project"))?;
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

fn run(world: &World, room: &Path, prepared: &Prepared, scarce: Scarce, free: u64) -> anyhow::Result<()> {
    let mount = mounted(room, prepared)?;
    let (pages, inodes) = used(mount.dir())?;
    match scarce {
        // A size of 0 would mean "no limit".
        Scarce::Pages => mount.change(&format!("size={}", (pages + free).max(1) * PAGE))?,
        Scarce::Inodes => mount.change(&format!("nr_inodes={}", (inodes + free).max(1)))?,
    }
    let ran = relay::run(&world.relay, room, &prepared.what)?;
    let outcome = honest(world, room, prepared, &ran);
    if outcome.is_err() {
        let kept = mount.dir().join("project");
        fs::remove_file(room.join("project"))?;
        snapshot::copy(&kept, &room.join("project"))?;
    }
    outcome
}
