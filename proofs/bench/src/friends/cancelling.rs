//! From Ctrl-C until nothing is left: of a friend that obeys, and of one that does not, whose children left
//! its session and ignore signals.

use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::bail;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::median_row;
use super::player::BEGUN;
use super::stage::Stage;
use crate::measure::{BenchReport, milliseconds};

/// Milliseconds.
const GONE_BELOW: f64 = 2_500.0;
const RUNS: usize = 8;
const LIMIT: Duration = Duration::from_secs(30);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// A friend that does not exit: it and its children ignore every signal that can be ignored.
const STUBBORN: &str = "trap '' TERM INT HUP\nsetsid sleep 600 &\nsetsid sleep 600 &\nsleep 600 &\n\
                        setsid sh -c 'setsid sleep 600 & exec sleep 600' &";

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    // Relay and its keeper, the player and its children.
    let kinds = [("obeys", "wait", "", 3), ("is deaf, with 5 children", "deaf", STUBBORN, 8)];
    for (kind, play, first, count) in kinds {
        let name = format!("friends, cancel, a friend that {kind}");
        if !report.wants(&name) {
            continue;
        }
        let stage = Stage::new(play, first)?;
        let (mut all, mut relays) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            let (relay, gone) = one(&stage, count)?;
            relays.push(milliseconds(relay));
            all.push(milliseconds(gone));
        }
        let mut row = median_row(&name, "ms", &all, Some(GONE_BELOW));
        row.p99 = all.iter().copied().fold(0.0, f64::max);
        report.add(row.note(format!("; relay ended after {:.0}", super::middle(relays))));
    }
    Ok(())
}

/// How long until relay exited, and until nothing was left.
fn one(stage: &Stage, count: usize) -> anyhow::Result<(Duration, Duration)> {
    let mut command = stage.relay()?;
    command.args(["ask", "--to", "codex", "--no-tree-check", "what is this"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut relay = command.spawn()?;
    let marker = stage.path().join(BEGUN);
    until(|| stage.running() >= count && marker.exists())?;
    std::fs::remove_file(&marker)?;
    let began = Instant::now();
    kill(Pid::from_raw(i32::try_from(relay.id())?), Signal::SIGINT)?;
    let mut ended = None;
    until(|| {
        if ended.is_none() && relay.try_wait().is_ok_and(|status| status.is_some()) {
            ended = Some(began.elapsed());
        }
        ended.is_some() && stage.running() == 0
    })?;
    Ok((ended.unwrap_or_default(), began.elapsed()))
}

fn until(mut there: impl FnMut() -> bool) -> anyhow::Result<()> {
    let began = Instant::now();
    while !there() {
        if began.elapsed() > LIMIT {
            bail!("what was waited for did not come in {} s", LIMIT.as_secs());
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    Ok(())
}
