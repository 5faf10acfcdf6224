//! How long `relay --version` takes, how much memory, and how large the binary is. Spawning a process has a
//! cost of its own, so an empty one is spawned in turn with it and subtracted.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};

use super::measure::{BenchReport, Measured, RUNS, once};

/// Limit in milliseconds over an empty process.
const VERSION_BELOW: f64 = 5.0;
/// Limit in megabytes of resident memory.
const MEMORY_BELOW: f64 = 12.0;

/// Measures the binary built beside this one.
pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    if !report.wants("relay --version") {
        return Ok(());
    }
    let relay = beside_this_one()?;
    let mut taken = Vec::new();
    let mut empty = Vec::new();
    for _ in 0..RUNS {
        empty.push(spawn(Path::new("true"), &[])?);
        taken.push(spawn(&relay, &["--version"])?);
    }
    let empty = Measured::from_times("spawning an empty process", empty);
    let overhead: Vec<Duration> =
        taken.iter().map(|time| time.saturating_sub(Duration::from_secs_f64(empty.median / 1e3))).collect();
    let over = Measured::from_times("relay --version, over an empty process", overhead)
        .below(VERSION_BELOW)
        .plain(empty.median);
    report.add(Measured::from_times("relay --version, wall", taken));
    report.add(over);
    report.add(empty);
    memory(&relay, report)?;
    let bytes = std::fs::metadata(&relay)?.len();
    report.add(Measured::single("relay, size of the binary", "MB", bytes as f64 / 1e6));
    Ok(())
}

/// relay, as built together with this program.
pub(super) fn beside_this_one() -> anyhow::Result<PathBuf> {
    let relay = std::env::current_exe()?.with_file_name(format!("relay{}", std::env::consts::EXE_SUFFIX));
    if !relay.is_file() {
        bail!("{} does not exist; build relay first", relay.display());
    }
    Ok(relay)
}

fn spawn(program: &Path, args: &[&str]) -> anyhow::Result<Duration> {
    let mut status = None;
    let taken = once(&mut || {
        status = Some(Command::new(program).args(args).stdout(Stdio::null()).status());
    });
    match status {
        Some(Ok(status)) if status.success() => Ok(taken),
        Some(Err(error)) => Err(error).with_context(|| format!("cannot run {}", program.display())),
        _ => bail!("{} fails", program.display()),
    }
}

fn memory(relay: &Path, report: &mut BenchReport) -> anyhow::Result<()> {
    let Some(megabytes) = peak(Command::new(relay).arg("--version"))? else {
        return Ok(());
    };
    report.add(Measured::single("relay --version, memory", "MB", megabytes).below(MEMORY_BELOW));
    Ok(())
}

/// The memory peak of a command in megabytes; `None` where it is not known. It is what the system
/// counts for finished children, so a fresh process has to ask: this one has had larger children.
pub(super) fn peak(command: &Command) -> anyhow::Result<Option<f64>> {
    let mut asks = Command::new(std::env::current_exe()?);
    asks.args(["--peak-of"]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => asks.env(name, value),
            None => asks.env_remove(name),
        };
    }
    let output = asks.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let kilobytes = text.trim().lines().last().and_then(|line| line.parse::<f64>().ok());
    Ok(kilobytes.map(|kilobytes| kilobytes * 1024.0 / 1e6))
}

/// The largest resident memory, in kilobytes, of any child of this process after it ran `command`.
#[cfg(unix)]
pub(super) fn peak_of(command: &[String]) -> anyhow::Result<i64> {
    use nix::sys::resource::{UsageWho, getrusage};
    let Some((program, args)) = command.split_first() else {
        bail!("no command");
    };
    let status = Command::new(program).args(args).stdout(Stdio::null()).status()?;
    if !status.success() {
        bail!("{program} fails");
    }
    let peak = getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss();
    // Darwin counts bytes, all others kilobytes.
    Ok(if cfg!(target_vendor = "apple") { peak / 1024 } else { peak })
}

/// Other systems tell nothing about a finished child.
#[cfg(not(unix))]
pub(super) fn peak_of(_command: &[String]) -> anyhow::Result<i64> {
    bail!("the memory of a finished process is not known on this system");
}
