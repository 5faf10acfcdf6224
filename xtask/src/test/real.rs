//! `cargo xtask test --real`: the tests that need real agents, and no others.
//!
//! They are the ones in a module called `real` of any crate's integration tests. The agents are installed first. What
//! cannot be is named, and so is every test that lacks it; where all are there, none may be skipped. The run as a whole
//! has a limit, after which everything that it started is told to end.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use anyhow::{Context, bail};
use relaycode_testkit::agents::REQUIRE_VAR;
use relaycode_testkit::process::ChildGuard;
use rustix::process::{Pid, Signal, kill_process};

use super::{seeded, works};
use crate::agents;

/// Longer than all of them take on a slow machine; building is not counted. Each test has limits of its own.
const LIMIT: Duration = Duration::from_secs(1800);

/// Installs the agents and runs the tests that need them.
pub(super) fn run() -> anyhow::Result<()> {
    let complete = match agents::run(&agents::Args { check: false }) {
        Ok(()) => true,
        Err(error) => {
            println!("  {error}");
            false
        }
    };
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
        command.env(REQUIRE_VAR, "1");
    }
    let shown = format!("cargo {}", args.join(" "));
    let mut program =
        ChildGuard::start(command.args(args)).with_context(|| format!("`{shown}` could not be started"))?;
    let Some(status) = program.wait_exit(limit) else {
        for pid in below(program.pid()) {
            let _ = kill_process(pid, Signal::TERM);
        }
        bail!("`{shown}` ran longer than {} s and was ended", limit.as_secs());
    };
    if status.success() {
        return Ok(());
    }
    bail!("`{shown}` failed ({status})")
}

/// A process's descendants.
fn below(root: Pid) -> Vec<Pid> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(number) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // The name stands in brackets and may hold anything; the state and the parent follow it.
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse().ok());
        children.entry(parent.unwrap_or(0)).or_default().push(number);
    }
    let (mut found, mut next) = (Vec::new(), vec![root.as_raw_nonzero().get()]);
    while let Some(parent) = next.pop() {
        let own = children.remove(&parent).unwrap_or_default();
        found.extend(own.iter().filter_map(|number| Pid::from_raw(*number)));
        next.extend(own);
    }
    found
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use relaycode_testkit::process::{GENEROUS_TIMEOUT, poll_until};

    use super::*;

    #[test]
    fn children_of_children_are_found_in_any_session() {
        let mut shell =
            ChildGuard::start(Command::new("sh").args(["-c", "sh -c 'setsid sleep 60 & wait' & wait"]))
                .unwrap();
        assert!(poll_until(GENEROUS_TIMEOUT, || (below(shell.pid()).len() == 2).then_some(())).is_some());
        let all = below(shell.pid());
        all.iter().for_each(|pid| kill_process(*pid, Signal::TERM).unwrap());
        assert!(shell.wait_exit(GENEROUS_TIMEOUT).is_some());
    }
}
