//! One attempt at one level, from outside.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use relaycode_exec::{FenceAccess, FenceChannel, FenceLevel, FenceReport, FenceSpec, JobFence};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, openpt, ptsname, unlockpt};

use crate::attempts::RAN;
use crate::traces::WorldTraces;
use crate::{Attempt, AttemptKind, World};

/// An attempt that takes longer is ended.
const PATIENCE: Duration = Duration::from_secs(20);

/// What came of an attempt.
#[derive(Debug, Clone)]
pub struct AttemptOutcome {
    /// It had an effect outside, or, if that cannot be seen, says so itself; one that is allowed says that it worked.
    pub through: bool,
    /// What was seen, and what it said.
    pub details: String,
}

/// What a fence around the attempts in this world is told.
pub(crate) fn spec(world: &World, level: FenceLevel, access: FenceAccess, words: Vec<OsString>) -> FenceSpec {
    let (base, project) = (&world.place.base, world.project());
    let fence = JobFence {
        level,
        access,
        directories: vec![project.clone()],
        visible: Vec::new(),
        layers: Vec::new(),
        read_only: [".git/hooks", ".git/config", ".relaycode"].map(|name| project.join(name)).to_vec(),
        masked: vec![base.join("home/.ssh"), base.join("home/.netrc"), project.join(".env")],
        temp: base.join("temp").into(),
        network: false,
        sockets: Vec::new(),
    };
    FenceSpec {
        fence,
        directory: project.into(),
        words,
        environment: vec![("PATH".into(), "/usr/bin:/bin".into()), ("HOME".into(), base.join("home").into())],
    }
}

/// Runs it, and looks.
pub fn run_attempt(
    attempt: &Attempt,
    world: &mut World,
    level: FenceLevel,
    access: FenceAccess,
    program: &Path,
) -> anyhow::Result<AttemptOutcome> {
    let place = &world.place;
    let numbers = [place.victim.to_string(), place.tcp_port.to_string(), place.udp_port.to_string()];
    let mut words: Vec<OsString> =
        vec![program.into(), "attempt".into(), attempt.name.into(), place.base.clone().into()];
    words.extend(numbers.map(OsString::from));
    let mut channel = FenceChannel::new(&spec(world, level, access, words))?;
    let before = WorldTraces::before(world, attempt.name == "shared_memory_write")?;

    let (input, _terminal) = stdin(world, attempt)?;
    let mut command = channel.command(program);
    command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
    world.user.start_as(&mut command);
    let (status, said, errors) = finish(&mut command)?;
    if let Ok(FenceReport::Failed { step, said }) = channel.report() {
        bail!("{}: the fence was not built: {step}: {said}", attempt.name);
    }
    judge(attempt, world, &before, (status, said, errors))
}

/// The same with the real binary: `relay record --access workspace`. With `without_namespaces` the machine allows no level 1.
pub fn run_attempt_with_relay(
    attempt: &Attempt,
    world: &mut World,
    relay: &Path,
    program: &Path,
    without_namespaces: bool,
) -> anyhow::Result<AttemptOutcome> {
    let place = &world.place;
    let (base, project) = (place.base.clone(), world.project());
    let mut command = match without_namespaces {
        true => {
            let mut command = Command::new("unshare");
            let line = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
            command.args(["--user", "--map-root-user", "sh", "-c", line, "sh"]).arg(relay);
            command
        }
        false => Command::new(relay),
    };
    command
        .args(["record", "--quiet", "--access", "workspace", "--"])
        .arg(program)
        .args(["attempt", attempt.name]);
    command.arg(&base);
    command.args([place.victim.to_string(), place.tcp_port.to_string(), place.udp_port.to_string()]);
    command
        .current_dir(&project)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", base.join("home"))
        .env("RELAY_HOME", base.join("relay"))
        .env("TMPDIR", base.join("temp"));
    let before = WorldTraces::before(world, attempt.name == "shared_memory_write")?;
    let (input, _terminal) = stdin(world, attempt)?;
    command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
    world.user.start_as(&mut command);
    let ended = finish(&mut command)?;
    judge(attempt, world, &before, ended)
}

fn finish(command: &mut Command) -> anyhow::Result<(ExitStatus, String, String)> {
    let mut child = command.spawn()?;
    let status = wait(&mut child)?;
    let (mut said, mut errors) = (String::new(), String::new());
    child.stdout.take().context("no stdout")?.read_to_string(&mut said)?;
    child.stderr.take().context("no stderr")?.read_to_string(&mut errors)?;
    Ok((status, said, errors))
}

/// What came of it, by what is seen from outside.
fn judge(
    attempt: &Attempt,
    world: &mut World,
    before: &WorldTraces,
    (status, said, errors): (ExitStatus, String, String),
) -> anyhow::Result<AttemptOutcome> {
    ensure!(said.starts_with(RAN), "{} did not run: {status} {said} {errors}", attempt.name);

    let mut changes = before.changes(world)?;
    if said.contains(&world.secret) {
        changes.push("read the secret".to_owned());
    }
    let through = match attempt.kind {
        AttemptKind::SeenOutside => !changes.is_empty(),
        AttemptKind::SaysItself => !changes.is_empty() || status.success(),
        AttemptKind::Allowed | AttemptKind::AllowedInNamespaces => {
            ensure!(changes.is_empty(), "{} changed {changes:?}", attempt.name);
            status.success()
        }
    };
    Ok(AttemptOutcome { through, details: format!("{changes:?} {} {}", said.trim(), errors.trim()) })
}

/// Runs words of the command line in a fence around the current directory, with this program's variables and streams.
pub(crate) fn run_words(words: &[OsString]) -> anyhow::Result<ExitCode> {
    let (level, words) = words.split_first().context("a level and a program")?;
    let level =
        FenceLevel::ALL.into_iter().find(|known| *level.to_string_lossy() == known.number().to_string());
    let project = std::env::current_dir()?.canonicalize()?;
    let temp = tempfile::tempdir_in("/var/tmp")?;
    let fence = JobFence {
        level: level.context("levels are 1, 2 and 3")?,
        access: FenceAccess::Workspace,
        directories: vec![project.clone()],
        visible: Vec::new(),
        layers: Vec::new(),
        read_only: [".git/hooks", ".git/config", ".relaycode"].map(|name| project.join(name)).to_vec(),
        masked: Vec::new(),
        temp: temp.path().into(),
        network: false,
        sockets: Vec::new(),
    };
    let spec = FenceSpec {
        fence,
        directory: project.into(),
        words: words.to_vec(),
        environment: std::env::vars_os().collect(),
    };
    let mut channel = FenceChannel::new(&spec)?;
    let status = channel.command(&std::env::current_exe()?).status()?;
    if let Ok(FenceReport::Failed { step, said }) = channel.report() {
        bail!("the fence was not built: {step}: {said}");
    }
    Ok(ExitCode::from(status.code().map_or(u8::MAX, |code| code as u8)))
}

/// A file outside, open to be read; a terminal for the attempt that types.
fn stdin(world: &World, attempt: &Attempt) -> anyhow::Result<(Stdio, Option<OwnedFd>)> {
    if attempt.name != "type_into_terminal" {
        return Ok((File::open(world.place.outside("file"))?.into(), None));
    }
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?;
    let terminal = rustix::fs::open(&*name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    Ok((terminal.into(), Some(master)))
}

fn wait(child: &mut std::process::Child) -> anyhow::Result<ExitStatus> {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() > until {
            child.kill()?;
            child.wait()?;
            bail!("it hung");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
