//! Friends: what relay costs beside the agent, what checking the project costs, how soon nothing is left of
//! a cancelled friend, and what `record` and `do` cost before and after the work itself.
//!
//! relay is measured with a program that plays codex and reports its own costs, so that everything else is
//! relay's and its keeper's; and with the real codex, if it is installed.

mod asking;
mod cancelling;
mod copies;
mod player;
mod real;
mod stage;
mod tree;

use std::path::Path;

use anyhow::bail;

use super::measure::{BenchReport, median_row, middle};

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    asking::measure(report)?;
    real::measure(report)?;
    cancelling::measure(report)?;
    tree::measure(report)?;
    copies::measure(report)
}

/// The part that runs in a separate process.
pub(super) fn as_child(words: &[&str]) -> anyhow::Result<()> {
    match words {
        ["play", play, report] => player::play(play, Path::new(report)),
        ["tree", root] => tree::look(Path::new(root)),
        _ => bail!("`friends play PLAY FILE` and `friends tree DIR` are what a child can do"),
    }
}
