//! The door: what relay itself costs from an answer to a recorded change, in a project that was set up and is
//! trusted. Measured through the release binary: processor time without the commands that the
//! project names, the peak of the memory, and the clock beside them.
//!
//! The syntax check is a parser's work over every changed file, so it is shown apart.

mod applying;
mod commands;
mod limits;
mod project;
mod redaction;

use super::measure::BenchReport;

/// Measures all of it.
pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    // They all stay to the end: ext4 looks long for a place among what was just deleted.
    let mut kept = Vec::new();
    applying::measure(report, &mut kept)?;
    commands::measure(report, &mut kept)?;
    limits::measure(report)?;
    redaction::measure(report);
    Ok(())
}
