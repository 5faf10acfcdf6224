//! `relay watch` on real desktops and in a terminal: how soon a copied answer is on the screen and in the
//! project, what watching costs while nothing happens, and that a long session costs no more than a short
//! one.
//!
//! The clock starts just before the clipboard is taken, by an owner inside this process, so nothing that
//! only the test starts is counted. It stops when the terminal's side has read the bytes. The time that the
//! watcher waited for a busy processor is shown beside it, and not subtracted.

mod idle;
mod latency;
mod long;
mod stage;
mod start;
mod storm;

use super::measure::BenchReport;

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    start::measure(report)?;
    latency::measure(report)?;
    idle::measure(report)?;
    storm::measure(report)?;
    long::measure(report)
}
