//! A long session: a thousand changes in a row cost no more memory, files, threads or processes than a hundred, and
//! the last takes as long as the first.

use std::time::{Duration, Instant};

use relaycode_testkit::screen::ProcessUsage;

use super::idle::megabytes;
use super::stage::{Gate, Stage, Watched, pause};
use crate::measure::Measured;

/// After so many changes is looked at what the watcher uses.
const LOOKS: [usize; 4] = [100, 500, 900, 1_000];
/// Kilobytes per change, from the first look to the last, to stay below: the noise of an allocator.
const GROWTH_BELOW: f64 = 1.0;
/// Milliseconds for a change.
const CHANGE_BELOW: f64 = 250.0;
/// Between two copies: so often is no storm yet.
const BETWEEN: Duration = Duration::from_millis(300);

/// How the answers come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Copying,
    Pasting,
}

/// Measures all kinds.
pub(super) fn measure(wanted: &dyn Fn(&str) -> bool, keep: &mut impl FnMut(Measured)) -> anyhow::Result<()> {
    row(wanted, keep, "pasted, no gate", By::Pasting, Gate::None)?;
    row(wanted, keep, "copied, gate", By::Copying, Gate::True)
}

fn row(
    wanted: &dyn Fn(&str) -> bool,
    keep: &mut impl FnMut(Measured),
    kind: &str,
    by: By,
    gate: Gate,
) -> anyhow::Result<()> {
    let most = LOOKS.last().copied().unwrap_or_default();
    let name = format!("watch, {most} in a row, {kind}");
    if !wanted(&name) {
        return Ok(());
    }
    let stage = if by == By::Copying { Stage::X11 } else { Stage::None };
    let mut watched = match Watched::start(stage, gate)? {
        Ok(watched) => watched,
        Err(missing) => {
            keep(super::missing(&name, &missing));
            return Ok(());
        }
    };
    let (mut times, mut looks) = (Vec::new(), Vec::new());
    for number in 1..=most {
        let (text, _, outcome) = watched.next();
        let start = if by == By::Copying { watched.copy(&text)? } else { Instant::now() };
        if by == By::Pasting {
            watched.screen.paste(&text);
        }
        times.push(watched.wait(&outcome).duration_since(start));
        watched.wait_ready();
        if LOOKS.contains(&number) {
            looks.push((number, watched.screen.usage()));
        }
        if by == By::Copying {
            pause(BETWEEN.saturating_sub(start.elapsed()));
        }
    }
    told(keep, &name, times, &looks);
    watched.leave()
}

fn told(keep: &mut impl FnMut(Measured), name: &str, times: Vec<Duration>, looks: &[(usize, ProcessUsage)]) {
    let (Some((first_at, first)), Some((last_at, last))) = (looks.first(), looks.last()) else { return };
    let early: Duration = times.iter().take(100).sum::<Duration>() / 100;
    let late: Duration = times.iter().rev().take(100).sum::<Duration>() / 100;
    let mut measured = Measured::from_times(format!("{name}, a change"), times, Some(CHANGE_BELOW));
    measured.note = format!(
        "mean of the first 100: {:.1} ms, of the last: {:.1} ms",
        early.as_secs_f64() * 1e3,
        late.as_secs_f64() * 1e3
    );
    keep(measured);
    let grown = last.own_memory as f64 - first.own_memory as f64;
    let slope = grown / 1e3 / (last_at - first_at) as f64;
    let mut measured = Measured::single(format!("{name}, growth"), "kB", slope, Some(GROWTH_BELOW));
    let at = |(number, usage): &(usize, ProcessUsage)| {
        format!("{number}: {:.2}/{:.2}", megabytes(usage.memory), megabytes(usage.own_memory))
    };
    measured.note = format!(
        "a change; MB in all/of its own after {}",
        looks.iter().map(at).collect::<Vec<_>>().join(", ")
    );
    keep(measured);
    let counted = |usage: &ProcessUsage| usage.threads + usage.descriptors + usage.children;
    let more = counted(last).saturating_sub(counted(first)) as f64;
    let mut measured = Measured::single(format!("{name}, left over"), "", more, Some(1.0));
    measured.note = format!(
        "threads {} → {}, files {} → {}, children {} → {}",
        first.threads, last.threads, first.descriptors, last.descriptors, first.children, last.children
    );
    keep(measured);
}
