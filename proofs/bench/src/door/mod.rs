//! The door: what relay itself costs from an answer to a recorded change, in a trusted project. Measured
//! through the release binary: processor time without the project's commands, peak memory, and wall time.
//!
//! The syntax check is a parser's work over every changed file, so it is shown separately.

mod applying;
mod commands;
mod limits;
mod project;
mod redaction;

use super::measure::BenchReport;

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    // They are all kept to the end: ext4 is slow to find room among what was just deleted.
    let mut kept = Vec::new();
    applying::measure(report, &mut kept)?;
    commands::measure(report, &mut kept)?;
    limits::measure(report)?;
    redaction::measure(report);
    Ok(())
}
