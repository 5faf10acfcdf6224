//! Sessions: what a very long one costs to go on with, what very many cost to list, what an entry costs to append, and
//! the prompt history. Conversations are made here, the same on every run, on the disk that the build is on.

mod appending;
mod listing;
mod long;
mod made;
mod prompts;

use std::path::Path;

use anyhow::bail;

use super::measure::Measured;

/// Measures all of it.
pub(super) fn measure(wanted: &dyn Fn(&str) -> bool, keep: &mut impl FnMut(Measured)) -> anyhow::Result<()> {
    long::measure(wanted, keep)?;
    listing::measure(wanted, keep)?;
    appending::measure(wanted, keep)?;
    prompts::measure(wanted, keep)
}

/// The part that a process of its own does.
pub(super) fn as_child(words: &[&str]) -> anyhow::Result<()> {
    match words {
        ["open", path] => long::open(Path::new(path)),
        _ => bail!("`session open FILE` is what a child can do"),
    }
}
