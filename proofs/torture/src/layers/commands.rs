//! L8: a recorded command, and relay killed with SIGKILL at any moment around it: while the project is secured, while the
//! command runs, while what it did is recorded. Afterwards nothing is lost: the project is as the command left it, and an undo
//! makes it what it was, byte for byte, with links, permission bits and empty directories; a redo brings the command's side back.
//!
//! A case is `seed.number`: it decides the project, the command and the moment.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use relaycode_testkit::random::Random;

use super::{Layer, Setup};
use crate::relay::{self, Do};
use crate::scenario::ScenarioId;
use crate::snapshot::{STATE, Snapshot};
use crate::world::World;

pub(super) struct Commands;

/// Commands of a full run, and of a quick one.
const COMMANDS: (u64, u64) = (500, 40);
/// How long whatever the dead relay left may take to end.
const PATIENCE: Duration = Duration::from_secs(60);
/// So few names that what the command does meets.
const FILES: [&str; 9] = ["a", "b.txt", "d/a", "d/b", "d/e/f", "g/h", "g/large.bin", "x y", "ü/z"];
const DIRECTORIES: [&str; 5] = ["d", "d/e", "g", "ü", "empty"];
const FILE_MODES: [u32; 4] = [0o644, 0o600, 0o755, 0o440];
const DIRECTORY_MODES: [u32; 3] = [0o755, 0o700, 0o775];

/// How long a run takes that nobody kills, on this machine at this time.
pub(super) struct RunTimes(Mutex<Vec<Duration>>);

impl Setup for RunTimes {
    fn new(_: &World, _: &Path) -> anyhow::Result<RunTimes> {
        Ok(RunTimes(Mutex::default()))
    }
}

impl RunTimes {
    fn add(&self, time: Duration) {
        if let Ok(mut all) = self.0.lock() {
            all.push(time);
        }
    }

    /// The median; `None`: there was none.
    fn usual(&self) -> Option<Duration> {
        let mut all = self.0.lock().ok()?.clone();
        all.sort_unstable();
        all.get(all.len() / 2).copied()
    }
}

impl Layer for Commands {
    type Case = ScenarioId;
    type Setup = RunTimes;
    const NAME: &'static str = "commands";
    const ABOUT: &'static str =
        "relay is killed around a recorded command: undo brings back what was, redo what the command left";
    const QUICK_SECONDS: u64 = 40;

    fn cases(world: &World, _: &RunTimes) -> anyhow::Result<Vec<ScenarioId>> {
        Ok((0..world.choose(COMMANDS.1, COMMANDS.0)).map(|number| world.scenario(number)).collect())
    }

    fn check(world: &World, times: &RunTimes, room: &Path, case: &ScenarioId) -> anyhow::Result<u64> {
        run(world, room, times, *case)
    }
}

fn run(world: &World, room: &Path, times: &RunTimes, id: ScenarioId) -> anyhow::Result<u64> {
    let mut random = id.random();
    let project = relay::furnish(room)?;
    furnish(&project, &mut random)?;
    let script = room.join("command.sh");
    fs::write(&script, command(&mut random))?;
    let before = Snapshot::of(&project)?;

    // One in ten is killed by nobody: from those it is known when the others may be.
    let moment = times.usual().filter(|_| !random.once_in(10)).map(|usual| {
        let spread = usual.as_micros() as usize * 5 / 4;
        Duration::from_micros(random.below(spread.max(1)) as u64)
    });
    let began = Instant::now();
    let mut recording = Command::new(&world.relay);
    recording.args(["record", "-C"]).arg(&project).args(["--quiet", "--", "sh"]).arg(&script);
    relay::in_room(&mut recording, room);
    match moment {
        None => {
            let ran = relay::finish(recording, room)?;
            ensure!(ran.code == Some(0), "it ended with {}", ran.told());
            times.add(began.elapsed());
        }
        Some(moment) => {
            let mut child = relay::start(&mut recording, room)?;
            while began.elapsed() < moment && child.try_wait()?.is_none() {
                std::thread::sleep(Duration::from_micros(200));
            }
            child.kill()?;
            child.wait()?;
        }
    }
    wait_for_silence(room)?;
    let left = Snapshot::of(&project)?;

    let recovered = relay::run(&world.relay, room, &Do::Recover)?;
    ensure!(recovered.code == Some(0), "recover ended with {}", recovered.told());
    same(&project, &left, "the recovery changed the project")?;
    ensure!(!has_recordings(room)?, "the recovery left a recording");
    let again = relay::run(&world.relay, room, &Do::Recover)?;
    ensure!(again.code == Some(0), "the second recover ended with {}", again.told());
    let records = Snapshot::of_ledger(&project)?.records();
    ensure!(records <= 1, "there are {records} records of one command");
    if records == 0 {
        same(&project, &before, "nothing was recorded")?;
        return Ok(2);
    }
    let undone = relay::run(&world.relay, room, &Do::Undo)?;
    ensure!(undone.code == Some(0), "undo ended with {}", undone.told());
    same(&project, &before, "after undo")?;
    let redone = relay::run(&world.relay, room, &Do::Redo)?;
    ensure!(redone.code == Some(0), "redo ended with {}", redone.told());
    same(&project, &left, "after redo")?;
    Ok(4)
}

fn same(project: &Path, wanted: &Snapshot, when: &str) -> anyhow::Result<()> {
    let now = Snapshot::of(project)?;
    ensure!(now == *wanted, "{when}: {}", now.differences(wanted));
    Ok(())
}

/// Waits until no process works in the room: the keeper has ended the command, and itself.
fn wait_for_silence(room: &Path) -> anyhow::Result<()> {
    let began = Instant::now();
    while works_in(room)? {
        ensure!(began.elapsed() < PATIENCE, "a process of the command goes on");
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

fn works_in(room: &Path) -> anyhow::Result<bool> {
    for process in fs::read_dir("/proc")? {
        let process = process?.path();
        let is_in_room = |link: &str| fs::read_link(process.join(link)).is_ok_and(|at| at.starts_with(room));
        if process.join("cwd").is_symlink() && is_in_room("cwd") {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether anything of a recording is left, in the user's own directory or in the project.
fn has_recordings(room: &Path) -> anyhow::Result<bool> {
    let ledgers = room.join("home/.relaycode/ledgers");
    let mut places: Vec<PathBuf> = vec![room.join("project").join(STATE)];
    if let Ok(entries) = fs::read_dir(ledgers) {
        for entry in entries {
            places.push(entry?.path());
        }
    }
    Ok(places.iter().any(|place| place.join("recordings").exists()))
}

fn furnish(project: &Path, random: &mut Random) -> anyhow::Result<()> {
    for path in DIRECTORIES {
        let full = project.join(path);
        fs::create_dir_all(&full)?;
        fs::set_permissions(&full, fs::Permissions::from_mode(*random.pick(&DIRECTORY_MODES)))?;
    }
    for path in FILES.iter().filter(|_| !random.once_in(4)).collect::<Vec<_>>() {
        let full = project.join(path);
        let length = if path.ends_with(".bin") { 300_000 } else { random.below(3_000) };
        let bytes: Vec<u8> = (0..length).map(|_| random.number() as u8).collect();
        fs::write(&full, bytes).with_context(|| format!("cannot write {path}"))?;
        fs::set_permissions(&full, fs::Permissions::from_mode(*random.pick(&FILE_MODES)))?;
    }
    symlink("a", project.join("link"))?;
    symlink("nowhere", project.join("d/dangling"))?;
    Ok(())
}

/// A command that changes the project in some steps. A step that cannot be done is none.
fn command(random: &mut Random) -> String {
    let mut script = String::from("exec 2> /dev/null\n");
    for step in 0..4 + random.below(16) {
        let (file, other) = (*random.pick(&FILES), *random.pick(&FILES));
        let directory = *random.pick(&DIRECTORIES);
        let line = match random.below(14) {
            0 => format!("echo step {step} > '{file}'"),
            1 => format!("echo step {step} >> '{file}'"),
            2 => format!("rm -f '{file}'"),
            3 => format!("rm -rf '{directory}'"),
            4 => format!("mv -f '{file}' '{other}'"),
            5 => format!("mkdir -p '{directory}/new{step}'"),
            6 => format!("ln -sfn '{other}' '{file}'"),
            7 => format!("chmod {:o} '{file}'", random.pick(&FILE_MODES)),
            8 => format!("chmod {:o} '{directory}'", random.pick(&DIRECTORY_MODES)),
            // As long as before, with the time of its last change set back.
            9 => format!(
                "touch -r '{file}' ../was; printf '%{}s' {step} > '{file}'; touch -r ../was '{file}'",
                20
            ),
            10 => format!("cp -p '{file}' '{other}'"),
            11 => format!("mkdir -p many; for n in 1 2 3 4 5 6 7 8 9; do echo $n > many/{step}-$n; done"),
            12 => format!("mv '{directory}' moved{step}"),
            _ => format!("head -c 200000 /dev/urandom > 'bytes{}'", step % 3),
        };
        let _ = writeln!(script, "{line}");
    }
    script + "true\n"
}
