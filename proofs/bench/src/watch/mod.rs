//! `relay watch` on real desktops and in a terminal: how soon a copied answer is on the screen and in the project, what
//! watching costs while nothing happens, and that a long session costs no more than a short one.
//!
//! The clock starts just before the clipboard is taken, by an owner inside this process, so nothing that only the test
//! starts is counted. It stops when the terminal's side has read the bytes. What the watcher waited for a processor
//! that other programs kept busy is said beside it, and not taken off.

mod idle;
mod latency;
mod long;
mod stage;
mod start;
mod storm;

use super::measure::Measured;

/// Measures all of it.
pub(super) fn measure(wanted: &dyn Fn(&str) -> bool, keep: &mut impl FnMut(Measured)) -> anyhow::Result<()> {
    start::measure(wanted, keep)?;
    latency::measure(wanted, keep)?;
    idle::measure(wanted, keep)?;
    storm::measure(wanted, keep)?;
    long::measure(wanted, keep)
}

/// A measurement that cannot be made here is shown as such.
fn missing(name: &str, missing: &relaycode_testkit::display::Missing) -> Measured {
    let mut measured = Measured::single(name.to_owned(), "", 0.0, None);
    measured.note = format!("not measured: {missing}");
    measured
}
