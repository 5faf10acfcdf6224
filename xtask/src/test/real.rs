//! `cargo xtask test --real`: the tests that need real agents, and no others.
//!
//! They are the ones in a module called `real` of any crate's integration tests. The agents are installed first. What
//! cannot be is named, and so is every test that lacks it; where all are there, none may be skipped. The run as a whole
//! has a limit, after which everything that it started is told to end.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use super::{seconds, seeded, works};
use crate::programs;

/// Longer than all of them take on a slow machine; building is not counted. Each test has limits of its own.
const LIMIT: Duration = Duration::from_secs(1800);

/// How long cargo may take to end after it was told to.
const GRACE: Duration = Duration::from_secs(10);

/// Between two looks whether the run has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Lets a test that lacks an agent fail instead of being skipped.
const REQUIRE: &str = "RELAY_REQUIRE_AGENTS";

/// Installs the agents and runs the tests that need them.
pub(crate) fn run() -> anyhow::Result<()> {
    let started = Instant::now();
    println!("== real: tests with real agents");
    installed_and_tested().context("real failed; `cargo xtask test --real` shows it again")?;
    println!("== real: ok, {}", seconds(started.elapsed()));
    Ok(())
}

fn installed_and_tested() -> anyhow::Result<()> {
    let complete = programs::succeed("agents", &[]).is_ok();
    // Not the unit tests: modules of that name are something else there.
    let (tests, more): (&[&str], &[&str]) = if works("nextest") {
        let tests = &["nextest", "run", "--workspace", "--test", "*", "-E", super::REAL];
        // What a test that passes says is not shown otherwise, and it may say that it was skipped.
        (tests, if complete { &["--status-level", "slow"] } else { &["--success-output", "final"] })
    } else {
        (&["test", "--quiet", "--workspace", "--test", "*"], &["--", "real::"])
    };
    let build = [tests, &["--no-run"]].concat();
    super::cargo(&build)?;
    within(LIMIT, &[tests, more].concat(), complete)
}

/// Runs cargo, but no longer than `limit`.
fn within(limit: Duration, args: &[&str], complete: bool) -> anyhow::Result<()> {
    let mut command = seeded();
    if complete {
        command.env(REQUIRE, "1");
    }
    let shown = format!("cargo {}", args.join(" "));
    let mut program =
        command.args(args).spawn().with_context(|| format!("`{shown}` could not be started"))?;
    let Some(status) = ended(&mut program, limit)? else {
        terminate(&below(program.id()));
        if ended(&mut program, GRACE)?.is_none() {
            program.kill()?;
        }
        bail!("`{shown}` ran longer than {} s and was ended", limit.as_secs());
    };
    if status.success() {
        return Ok(());
    }
    bail!("`{shown}` failed ({status})")
}

/// How the program ended; `None` when it still runs after `limit`.
fn ended(program: &mut Child, limit: Duration) -> anyhow::Result<Option<ExitStatus>> {
    let began = Instant::now();
    loop {
        let status = program.try_wait()?;
        if status.is_some() || began.elapsed() > limit {
            return Ok(status);
        }
        thread::sleep(LOOK_AGAIN);
    }
}

/// Tells processes to end.
fn terminate(processes: &[u32]) {
    let _ = Command::new("kill").args(processes.iter().map(u32::to_string)).status();
}

/// A process and its descendants.
fn below(root: u32) -> Vec<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(number) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // The name stands in brackets and may hold anything; the state and the parent follow it.
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse().ok());
        children.entry(parent.unwrap_or(0)).or_default().push(number);
    }
    let (mut found, mut next) = (vec![root], vec![root]);
    while let Some(parent) = next.pop() {
        let own = children.remove(&parent).unwrap_or_default();
        found.extend(&own);
        next.extend(own);
    }
    found
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn children_of_children_are_found_in_any_session() {
        let mut shell =
            Command::new("sh").args(["-c", "sh -c 'setsid sleep 60 & wait' & wait"]).spawn().unwrap();
        let began = Instant::now();
        while below(shell.id()).len() < 3 && began.elapsed() < LONG {
            thread::sleep(LOOK_AGAIN);
        }
        let all = below(shell.id());
        assert_eq!(all.len(), 3);
        terminate(&all);
        assert!(ended(&mut shell, LONG).unwrap().is_some());
    }
}
