//! What `relay ask` costs beside the agent: relay and its keeper, without the player.

use super::median_row;
use super::player::PIECES;
use super::stage::Stage;
use crate::child::run;
use crate::measure::{BenchReport, milliseconds};

/// Milliseconds of processor time beyond the agent's own.
const PROCESSOR_BELOW: f64 = 20.0;
/// Megabytes of relay.
const MEMORY_BELOW: f64 = 20.0;
/// One that talks, one that reads, and no other.
const THREADS_BELOW: f64 = 3.0;
const RUNS: usize = 60;
const LONG_RUNS: usize = 10;

/// A short answer, and a very long one.
pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    let name = "friends, ask, a short answer";
    if report.wants(name) {
        one(name, "answer", RUNS, true, report)?;
    }
    let name = format!("friends, ask, {PIECES} pieces");
    if report.wants(&name) {
        one(&name, "long", LONG_RUNS, false, report)?;
    }
    Ok(())
}

fn one(name: &str, play: &str, runs: usize, held: bool, report: &mut BenchReport) -> anyhow::Result<()> {
    let stage = Stage::new(play, "")?;
    let (mut processor, mut own, mut wall) = (Vec::new(), Vec::new(), Vec::new());
    let (mut memory, mut keeper, mut threads) = (Vec::new(), Vec::new(), Vec::new());
    let mut player = Vec::new();
    for _ in 0..runs {
        let mut ask = stage.relay()?;
        let cost = run(ask.args(["ask", "--to", "codex", "--no-tree-check", "what is this"]))?;
        let told = stage.report()?;
        processor.push(milliseconds(cost.with_children.saturating_sub(told.processor)));
        own.push(milliseconds(cost.processor));
        wall.push(milliseconds(cost.wall));
        player.push(milliseconds(told.processor));
        memory.push(told.relay.peak * 1024.0 / 1e6);
        keeper.push(told.keeper.peak * 1024.0 / 1e6);
        threads.push(told.relay.threads);
    }
    report.add(
        median_row(&format!("{name}, processor"), "ms", &processor, held.then_some(PROCESSOR_BELOW)).note(
            format!(
                "; relay alone {:.1}, the player {:.1}, wall {:.0}",
                super::middle(own),
                super::middle(player),
                super::middle(wall)
            ),
        ),
    );
    let row = median_row(&format!("{name}, memory"), "MB", &memory, Some(MEMORY_BELOW));
    report.add(row.note(format!("; the keeper {:.1}", super::middle(keeper))));
    report.add(median_row(&format!("{name}, threads"), "", &threads, Some(THREADS_BELOW)));
    Ok(())
}
