//! A long session: a thousand changes in a row cost no more memory, files, threads or processes than a
//! hundred, and the last takes as long as the first.

use std::time::{Duration, Instant};

use relaycode_testkit::screen::ProcessUsage;

use super::idle::megabytes;
use super::stage::{Gate, Stage, Watched, pause};
use crate::measure::{BenchReport, Measured, milliseconds};

/// After this many changes the watcher's usage is read.
const LOOKS: [usize; 4] = [100, 500, 900, 1_000];
/// Limit in kilobytes per change, from the first reading to the last: the noise of an allocator.
const GROWTH_BELOW: f64 = 1.0;
/// Milliseconds for a change.
const CHANGE_BELOW: f64 = 250.0;
/// Time between two copies: not a storm yet.
const BETWEEN: Duration = Duration::from_millis(300);

/// How the answers come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Copying,
    Pasting,
}

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    row(report, "pasted, no gate", By::Pasting, Gate::None)?;
    row(report, "copied, gate", By::Copying, Gate::True)
}

fn row(report: &mut BenchReport, kind: &str, by: By, gate: Gate) -> anyhow::Result<()> {
    let most = LOOKS.last().copied().unwrap_or_default();
    let name = format!("watch, {most} in a row, {kind}");
    if !report.wants(&name) {
        return Ok(());
    }
    let stage = if by == By::Copying { Stage::X11 } else { Stage::None };
    let mut watched = match Watched::start(stage, gate)? {
        Ok(watched) => watched,
        Err(missing) => {
            report.add(Measured::missing(name, missing));
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
    told(report, &name, times, &looks);
    watched.leave()
}

fn told(report: &mut BenchReport, name: &str, times: Vec<Duration>, looks: &[(usize, ProcessUsage)]) {
    let (Some((first_at, first)), Some((last_at, last))) = (looks.first(), looks.last()) else { return };
    let early: Duration = times.iter().take(100).sum::<Duration>() / 100;
    let late: Duration = times.iter().rev().take(100).sum::<Duration>() / 100;
    report.add(Measured::from_times(format!("{name}, a change"), times).below(CHANGE_BELOW).note(format!(
        "mean of the first 100: {:.1} ms, of the last: {:.1} ms",
        milliseconds(early),
        milliseconds(late)
    )));
    let grown = last.own_memory as f64 - first.own_memory as f64;
    let slope = grown / 1e3 / (last_at - first_at) as f64;
    let at = |(number, usage): &(usize, ProcessUsage)| {
        format!("{number}: {:.2}/{:.2}", megabytes(usage.memory), megabytes(usage.own_memory))
    };
    let looks = looks.iter().map(at).collect::<Vec<_>>().join(", ");
    let row = Measured::single(format!("{name}, growth"), "kB", slope).below(GROWTH_BELOW);
    report.add(row.note(format!("a change; MB in all/of its own after {looks}")));
    let counted = |usage: &ProcessUsage| usage.threads + usage.descriptors + usage.children;
    let more = counted(last).saturating_sub(counted(first)) as f64;
    report.add(Measured::single(format!("{name}, left over"), "", more).below(1.0).note(format!(
        "threads {} → {}, files {} → {}, children {} → {}",
        first.threads, last.threads, first.descriptors, last.descriptors, first.children, last.children
    )));
}
