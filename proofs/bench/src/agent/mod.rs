//! relay's own agent as its user starts it, with a scripted model that answers at once: one prompt, many commands, commands that
//! say much, a long session that goes on, and `search`. Everything is the processor time of relay and of all that it started;
//! nothing is subtracted, and what the bare commands take stands beside it.
//!
//! With `--peers` the agents of other projects that `cargo xtask agents` installed do the same, as far as they can.

mod peers;
mod prompts;
mod resume;
mod search;
mod stage;

pub(crate) use stage::AgentStage;

use super::measure::BenchReport;

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    prompts::measure(report)?;
    resume::measure(report)?;
    search::measure(report)?;
    peers::measure(report)
}
