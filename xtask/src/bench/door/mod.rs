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

use super::measure::Measured;

/// Measures all of it.
pub(super) fn measure(wanted: &dyn Fn(&str) -> bool, keep: &mut impl FnMut(Measured)) -> anyhow::Result<()> {
    applying::measure(wanted, keep)?;
    commands::measure(wanted, keep)?;
    limits::measure(wanted, keep)?;
    redaction::measure(wanted, keep);
    Ok(())
}
