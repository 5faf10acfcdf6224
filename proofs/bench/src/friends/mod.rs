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

use super::measure::{BenchReport, Measured};

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

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// The median, held to a target; minimum and maximum in the note.
fn median_row(name: &str, unit: &'static str, values: &[f64], below: Option<f64>) -> Measured {
    let (least, most) = (
        values.iter().copied().fold(f64::INFINITY, f64::min),
        values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    );
    let measured = Measured::single(name, unit, middle(values.to_vec())).below(below);
    measured.note(format!("median of {}, {least:.1} to {most:.1}", values.len()))
}
