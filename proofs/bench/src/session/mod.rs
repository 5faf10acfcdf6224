//! Sessions: what a very long one costs to continue, what very many cost to list, what an entry costs to
//! append, and the prompt history. Conversations are generated here, the same on every run, on the disk of
//! the build.

mod appending;
mod listing;
mod long;
mod made;
mod prompts;

use std::path::Path;

use anyhow::bail;

use super::measure::BenchReport;

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    long::measure(report)?;
    listing::measure(report)?;
    appending::measure(report)?;
    prompts::measure(report)
}

/// Writes the session of a hundred megabytes, about `cwd`, into a home; returns its id.
#[cfg(target_os = "linux")]
pub(super) fn write_long(home: &Path, cwd: &Path) -> anyhow::Result<&'static str> {
    long::write_in(home, cwd)
}

/// The part that runs in a separate process.
pub(super) fn as_child(words: &[&str]) -> anyhow::Result<()> {
    match words {
        ["open", path] => long::open(Path::new(path)),
        _ => bail!("`session open FILE` is what a child can do"),
    }
}
