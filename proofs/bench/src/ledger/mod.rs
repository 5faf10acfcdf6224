//! The ledger: what putting two hundred files on disk costs in syncs, system calls and processor time, and
//! what ten thousand records cost later commands. Measured through the release binary, in projects on the
//! disk of the build.

mod applying;
mod project;
mod records;

pub(super) use project::write_plainly;

use super::measure::BenchReport;

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    applying::measure(report)?;
    records::measure(report)
}
