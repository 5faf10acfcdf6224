//! Runs relay as a child and asks the system what it cost, in projects on the disk of the build.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use tempfile::TempDir;

use super::startup::beside_this_one;
use relaycode_testkit::checkout;

/// The cost of one run.
#[derive(Clone, Copy)]
pub(super) struct Cost {
    /// From start to end.
    pub(super) wall: Duration,
    /// User and system time of the program itself.
    pub(super) processor: Duration,
    /// With the children it waited for.
    pub(super) with_children: Duration,
}

/// An empty directory on the disk of the build, which is not a memory disk.
pub(super) fn scratch() -> anyhow::Result<TempDir> {
    let beside = beside_this_one()?;
    let parent = beside.parent().context("the build has no directory")?;
    Ok(tempfile::Builder::new().prefix("bench-").tempdir_in(parent)?)
}

/// Without a home relay keeps no copy.
pub(super) fn relay(home: Option<&Path>) -> anyhow::Result<Command> {
    Ok(at_home(Command::new(beside_this_one()?), home))
}

fn at_home(mut command: Command, home: Option<&Path>) -> Command {
    command.env_remove("HOME").env_remove("RELAY_HOME");
    // The build directory lies in a project itself.
    command.env("RELAY_CEILING_DIRECTORIES", checkout::root());
    if let Some(home) = home {
        command.env("RELAY_HOME", home);
    }
    command
}

/// The command must succeed.
pub(super) fn run(command: &mut Command) -> anyhow::Result<Cost> {
    run_with(command, Stdio::null())
}

/// The same with something to read.
pub(super) fn run_with(command: &mut Command, input: Stdio) -> anyhow::Result<Cost> {
    let before = processor_of_children()?;
    let start = Instant::now();
    command.stdin(input).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("cannot run {command:?}"))?;
    let mut said = Vec::new();
    if let Some(mut stderr) = child.stderr.take() {
        stderr.read_to_end(&mut said)?;
    }
    let own = processor_of_ended(&child)?;
    let status = child.wait()?;
    let wall = start.elapsed();
    if !status.success() {
        bail!("{command:?} fails: {}", String::from_utf8_lossy(&said));
    }
    let with_children = processor_of_children()?.saturating_sub(before);
    Ok(Cost { wall, processor: own.unwrap_or(with_children), with_children })
}

/// Waits for a child; returns its processor time, with the children it waited for.
#[cfg(target_os = "linux")]
pub(super) fn ended(child: &mut Child) -> anyhow::Result<Duration> {
    let before = processor_of_children()?;
    child.wait()?;
    Ok(processor_of_children()?.saturating_sub(before))
}

/// The median of so many runs, each time for itself.
pub(super) fn repeated(runs: usize, run: impl FnMut() -> anyhow::Result<Cost>) -> anyhow::Result<Cost> {
    let costs: Vec<Cost> = std::iter::repeat_with(run).take(runs).collect::<anyhow::Result<_>>()?;
    Ok(median(&costs))
}

/// This program, doing a part of a measurement in a process of its own.
pub(super) fn part(words: &[&str]) -> anyhow::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--as-child").args(words);
    Ok(command)
}

/// The microseconds that a part says it took, so many times, and what else it said the last time.
pub(super) fn told(runs: usize, part: &mut Command) -> anyhow::Result<(Vec<Duration>, String)> {
    let (mut times, mut told) = (Vec::new(), String::new());
    for _ in 0..runs {
        let output = part.output()?;
        if !output.status.success() {
            bail!("{part:?} fails: {}", String::from_utf8_lossy(&output.stderr));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let (micros, rest) = text.trim().split_once(' ').context("the child said nothing")?;
        times.push(Duration::from_micros(micros.parse()?));
        told = rest.to_owned();
    }
    Ok((times, told))
}

/// The median of each value.
pub(super) fn median(costs: &[Cost]) -> Cost {
    let middle = |time: fn(&Cost) -> Duration| {
        let mut times: Vec<Duration> = costs.iter().map(time).collect();
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or(Duration::ZERO)
    };
    Cost {
        wall: middle(|cost| cost.wall),
        processor: middle(|cost| cost.processor),
        with_children: middle(|cost| cost.with_children),
    }
}

/// Waits for a process and reads its own processor time before it is reaped. `None` if the system counts
/// only a process and its children together.
#[cfg(target_os = "linux")]
fn processor_of_ended(child: &Child) -> anyhow::Result<Option<Duration>> {
    use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
    use nix::unistd::Pid;
    use rustix::process::{Pid as Waited, WaitId, WaitIdOptions, waitid};
    let number = i32::try_from(child.id())?;
    let waited = Waited::from_raw(number).context("no process")?;
    waitid(WaitId::Pid(waited), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
    let clock: ClockId = clock_getcpuclockid(Pid::from_raw(number))?;
    Ok(Some(Duration::from(clock_gettime(clock)?)))
}

#[cfg(not(target_os = "linux"))]
fn processor_of_ended(_child: &Child) -> anyhow::Result<Option<Duration>> {
    Ok(None)
}

#[cfg(unix)]
fn processor_of_children() -> anyhow::Result<Duration> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(Duration::from_micros(u64::try_from(micros).unwrap_or(0)))
}

/// Other systems tell nothing about a finished child.
#[cfg(not(unix))]
fn processor_of_children() -> anyhow::Result<Duration> {
    Ok(Duration::ZERO)
}

/// How often a program made each system call.
pub(super) struct Calls(BTreeMap<String, u64>);

impl Calls {
    pub(super) fn of(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    pub(super) fn all(&self) -> u64 {
        self.0.values().sum()
    }

    /// The calls made at least `per` times, with how often per `per`.
    pub(super) fn most(&self, per: u64) -> String {
        let mut calls: Vec<(&str, u64)> =
            self.0.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        calls.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let often = calls.iter().take_while(|(_, count)| *count >= per);
        let shown = often.map(|(name, count)| format!("{name} {:.1}", *count as f64 / per as f64));
        shown.collect::<Vec<_>>().join(", ")
    }
}

/// Runs relay once under `strace` and counts its calls; `None` without `strace`.
pub(super) fn calls<S: AsRef<OsStr>>(
    args: &[S],
    home: Option<&Path>,
    scratch: &Path,
) -> anyhow::Result<Option<Calls>> {
    let summary = scratch.join("calls");
    let mut strace = at_home(Command::new("strace"), home);
    strace.args(["-f", "-c", "-o"]).arg(&summary).arg(beside_this_one()?).args(args);
    let output = match strace.stdin(Stdio::null()).output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    if !output.status.success() {
        bail!("{strace:?} fails: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = std::fs::read_to_string(summary)?;
    // Share, seconds, microseconds a call, calls, errors if there were any, name.
    let counts = text.lines().filter_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let name = columns.last().filter(|name| **name != "total")?;
        Some(((*name).to_owned(), columns.get(3)?.parse().ok()?))
    });
    Ok(Some(Calls(counts.collect())))
}
