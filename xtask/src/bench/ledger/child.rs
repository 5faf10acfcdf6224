//! Running relay as a child and asking the system what it cost.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::bench::startup::beside_this_one;
use crate::workspace;

/// What one run took.
#[derive(Clone, Copy)]
pub(super) struct Cost {
    /// From start to end.
    pub(super) wall: Duration,
    /// On a processor, in the program and in the system for it.
    pub(super) processor: Duration,
}

/// relay, with no home, so that it keeps no copy; or with one.
pub(super) fn relay(home: Option<&Path>) -> anyhow::Result<Command> {
    Ok(at_home(Command::new(beside_this_one()?), home))
}

fn at_home(mut command: Command, home: Option<&Path>) -> Command {
    command.env_remove("HOME").env_remove("RELAY_HOME");
    // The build directory lies in a project of its own.
    command.env("RELAY_CEILING_DIRECTORIES", workspace::root());
    if let Some(home) = home {
        command.env("RELAY_HOME", home);
    }
    command
}

/// Runs a command that must succeed.
pub(super) fn run(command: &mut Command) -> anyhow::Result<Cost> {
    let before = processor_of_children()?;
    let start = Instant::now();
    let output = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).output();
    let output = output.with_context(|| format!("cannot run {command:?}"))?;
    let wall = start.elapsed();
    if !output.status.success() {
        bail!("{command:?} fails: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(Cost { wall, processor: processor_of_children()?.saturating_sub(before) })
}

/// The median of the runs, by processor time and by the clock.
pub(super) fn median(mut costs: Vec<Cost>) -> Cost {
    let middle = costs.len() / 2;
    costs.sort_by_key(|cost| cost.wall);
    let wall = costs.get(middle).map_or(Duration::ZERO, |cost| cost.wall);
    costs.sort_by_key(|cost| cost.processor);
    let processor = costs.get(middle).map_or(Duration::ZERO, |cost| cost.processor);
    Cost { wall, processor }
}

#[cfg(unix)]
fn processor_of_children() -> anyhow::Result<Duration> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(Duration::from_micros(u64::try_from(micros).unwrap_or(0)))
}

/// Elsewhere nothing is known of a finished child.
#[cfg(not(unix))]
fn processor_of_children() -> anyhow::Result<Duration> {
    Ok(Duration::ZERO)
}

/// How often a program called the system, by the call's name.
pub(super) struct Calls(BTreeMap<String, u64>);

impl Calls {
    pub(super) fn of(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    pub(super) fn all(&self) -> u64 {
        self.0.values().sum()
    }

    /// What was called `per` times or more often, with how often per `per`.
    pub(super) fn most(&self, per: u64) -> String {
        let mut calls: Vec<(&str, u64)> =
            self.0.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        calls.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let often = calls.iter().take_while(|(_, count)| *count >= per);
        let shown = often.map(|(name, count)| format!("{name} {:.1}", *count as f64 / per as f64));
        shown.collect::<Vec<_>>().join(", ")
    }
}

/// Runs relay once under `strace` and counts its calls; `None` where there is no such program.
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
