//! P5, the race: a thread constantly exchanges a directory and a link to an outside directory while
//! transactions run on files beneath it. Nothing outside may ever change.
//!
//! A case is a number of flips, `seed.number`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use anyhow::{Context, ensure};
use relaycode_testkit::random::Random;
use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::Layer;
use crate::relay::{self, Do};
use crate::scenario::{ScenarioId, uuid};
use crate::snapshot::Snapshot;
use crate::world::World;

pub(super) struct Flips;

/// Least flips of one case.
const FLIPS: u64 = 2_000;
/// Least transactions of one case.
const TRANSACTIONS: u64 = 60;

impl Layer for Flips {
    type Case = ScenarioId;
    type Setup = ();
    const NAME: &'static str = "flips";
    const ABOUT: &'static str =
        "a directory turns into a link to the outside and back all the time: nothing outside is written";
    const QUICK_SECONDS: u64 = 10;

    fn cases(world: &World, (): &()) -> anyhow::Result<Vec<ScenarioId>> {
        Ok((0..world.choose(10, 100_000 / FLIPS)).map(|number| world.scenario(number)).collect())
    }

    fn check(world: &World, (): &(), room: &Path, case: &ScenarioId) -> anyhow::Result<u64> {
        run(world, room, *case)
    }
}

fn run(world: &World, room: &Path, id: ScenarioId) -> anyhow::Result<u64> {
    let mut random = id.random();
    let project = relay::furnish(room)?;
    let outside = room.join("outside");
    for folder in [project.join("dir/sub"), outside.join("sub")] {
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("file.txt"), b"first\n")?;
    }
    symlink(&outside, project.join("link"))?;
    let before = Snapshot::of(&outside)?;
    let (stop, flips) = (AtomicBool::new(false), AtomicU64::new(0));
    let outcome = std::thread::scope(|scope| {
        let flipper = scope.spawn(|| flip(&project, &stop, &flips));
        let mut outcome = Ok(());
        let mut transactions = 0;
        while outcome.is_ok() && (flips.load(Ordering::Relaxed) < FLIPS || transactions < TRANSACTIONS) {
            if flipper.is_finished() {
                break;
            }
            outcome = transaction(world, room, &mut random);
            transactions += 1;
        }
        stop.store(true, Ordering::Relaxed);
        let flipped = flipper.join().map_err(|_| anyhow::anyhow!("the flipping thread panicked"));
        outcome.and(flipped.and_then(|flipped| flipped))
    });
    let after = Snapshot::of(&outside)?;
    ensure!(after == before, "OUTSIDE WAS WRITTEN: {}", after.differences(&before));
    outcome?;
    // If all of them were refused, nothing would be proved.
    ensure!(Snapshot::of_ledger(&project)?.records() > 0, "no transaction came through");
    Ok(flips.load(Ordering::Relaxed))
}

/// Exchanges `dir` and `link` until told to stop.
fn flip(project: &Path, stop: &AtomicBool, flips: &AtomicU64) -> anyhow::Result<()> {
    let (dir, link) = (project.join("dir"), project.join("link"));
    while !stop.load(Ordering::Relaxed) {
        renameat_with(CWD, &dir, CWD, &link, RenameFlags::EXCHANGE).context("cannot exchange")?;
        flips.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// Changes, creates and removes beneath the directory, whatever it is at the moment.
fn transaction(world: &World, room: &Path, random: &mut Random) -> anyhow::Result<()> {
    let text = format!("relay {:016x}\n", random.number());
    let mut answer = format!(
        "```txt // dir/sub/file.txt\n{text}```\n\n```txt // dir/new{}/file.txt\n{text}```\n\n",
        random.below(50)
    );
    answer.push_str(&format!("```yaml\nprojectId: torture\nuuid: {}\n```\n", uuid(random)));
    fs::write(room.join("answer.md"), answer)?;
    let what = if random.once_in(3) { Do::Undo } else { Do::Apply };
    let ran = relay::run(&world.relay, room, &what)?;
    ensure!(ran.signal.is_none() && ran.code != Some(101), "{what:?} ended with {}", ran.told());
    // A transaction that lost its directory in the middle is put aside by the next command, whatever it
    // says.
    if ran.code == Some(6) {
        let mut command = relay::command(&world.relay, room, &Do::Recover);
        command.arg("--keep");
        relay::finish(command, room)?;
    }
    Ok(())
}
