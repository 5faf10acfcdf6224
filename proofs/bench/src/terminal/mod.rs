//! The conversation in a terminal, as its user sees it: how soon it is there, what it costs while nothing happens and while an
//! answer comes, how soon a key is on the screen, and how soon a long session shows its end.
//!
//! The terminal is this process's: a thread reads what relay writes as fast as a terminal does. Times end when the bytes were read.
//! With `--peers` codex and pi stream the same answer, and their bytes stand beside relay's.

mod idle;
mod keys;
mod stage;
mod start;
mod stream;

use super::measure::BenchReport;

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    start::measure(report)?;
    idle::measure(report)?;
    stream::measure(report)?;
    keys::measure(report)
}
