//! Friends: what relay costs beside the agent that is asked, what the look at the project costs, how soon nothing is
//! left of a friend that is broken off, and what `record` and `do` cost before and after the work itself.
//!
//! relay is measured with a program that plays codex and tells its own costs, so that everything else is relay's and
//! its keeper's; and with the real codex, where it is installed.

mod asking;
mod cancelling;
mod copies;
mod player;
mod real;
mod stage;
mod tree;

use std::path::Path;

use anyhow::bail;

use super::measure::Measured;

/// Measures all of it.
pub(super) fn measure(wanted: &dyn Fn(&str) -> bool, keep: &mut impl FnMut(Measured)) -> anyhow::Result<()> {
    asking::measure(wanted, keep)?;
    real::measure(wanted, keep)?;
    cancelling::measure(wanted, keep)?;
    tree::measure(wanted, keep)?;
    copies::measure(wanted, keep)
}

/// The part that a process of its own does.
pub(super) fn as_child(words: &[&str]) -> anyhow::Result<()> {
    match words {
        ["play", play, report] => player::play(play, Path::new(report)),
        ["tree", root] => tree::look(Path::new(root)),
        _ => bail!("`friends play PLAY FILE` and `friends tree DIR` are what a child can do"),
    }
}

/// The middle one.
fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// The middle value, held to a target; the least and the most in the note.
fn row(name: &str, unit: &'static str, values: &[f64], below: Option<f64>) -> Measured {
    let mut measured = Measured::single(name.to_owned(), unit, middle(values.to_vec()), below);
    let (least, most) = (
        values.iter().copied().fold(f64::INFINITY, f64::min),
        values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    );
    measured.note = format!("median of {}, {least:.1} to {most:.1}", values.len());
    measured
}
