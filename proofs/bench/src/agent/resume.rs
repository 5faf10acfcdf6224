//! A session of a hundred megabytes goes on with one more prompt. It was compacted now and then, as one of that length has to be,
//! so that the model reads the last eight megabytes of it.

use anyhow::Context;
use relaycode_testkit::model::ScriptedTurn;

use super::prompts::{memory_row, processor_row};
use super::stage::AgentStage;
use crate::measure::BenchReport;
use crate::session::write_long;

/// Milliseconds of the processor, and megabytes at the peak.
const PROCESSOR_BELOW: f64 = 1_000.0;
const MEMORY_BELOW: f64 = 100.0;
const RUNS: usize = 7;

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    let name = "agent, resume of 100 MB";
    if !report.wants(name) {
        return Ok(());
    }
    let stage = AgentStage::new()?;
    let project = stage.project().canonicalize()?;
    let id = write_long(&stage.home(), &project)?;
    let words = ["--resume", id, "And now?"];
    let mut costs = Vec::new();
    for _ in 0..RUNS {
        costs.push(stage.run(&words, [ScriptedTurn::text("It is done.")]).context("a session that goes on")?);
    }
    report.add(processor_row(&format!("{name}, processor"), &costs, Some(PROCESSOR_BELOW)));
    stage.says([ScriptedTurn::text("It is done.")]);
    memory_row(report, name, &stage, &words, Some(MEMORY_BELOW))
}
