//! The ledger: what putting two hundred files on disk costs in syncs, system calls and processor
//! time, and what ten thousand records cost those who come after them. Everything is measured
//! through the release binary, in projects on the disk that the build is on.

mod applying;
mod project;
mod records;

pub(super) use project::write_plainly;

use super::measure::Measured;

/// Measures all of it.
pub(super) fn measure(wanted: &dyn Fn(&str) -> bool, keep: &mut impl FnMut(Measured)) -> anyhow::Result<()> {
    applying::measure(wanted, keep)?;
    records::measure(wanted, keep)
}
