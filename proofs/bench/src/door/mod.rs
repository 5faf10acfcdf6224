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
    // They all stay to the end: ext4 looks long for a place among what was just deleted.
    let mut kept = Vec::new();
    applying::measure(wanted, keep, &mut kept)?;
    commands::measure(wanted, keep, &mut kept)?;
    limits::measure(wanted, keep)?;
    redaction::measure(wanted, keep);
    Ok(())
}
