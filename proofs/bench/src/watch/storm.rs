//! A clipboard that changes a hundred times a second.

use std::time::{Duration, Instant};

use super::idle::megabytes;
use super::stage::{Gate, Stage, Watched, pause};
use crate::measure::{BenchReport, Measured};

/// How long it lasts.
const LASTS: Duration = Duration::from_secs(10);
/// From one change to the next.
const BEAT: Duration = Duration::from_millis(10);
/// Limit as a share of one processor, in percent.
const PROCESSOR_BELOW: f64 = 5.0;
/// Limit in megabytes.
const MEMORY_BELOW: f64 = 20.0;

/// The copied text, by its number.
type Make = fn(usize) -> String;

const KINDS: [(&str, Make); 2] = [
    ("plain text", |number| format!("line {number} of a text that is no answer\n").repeat(40)),
    ("patches for another project", Watched::foreign),
];

/// Every kind on every desktop.
pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    for stage in [Stage::X11, Stage::Wayland] {
        for (kind, make) in KINDS {
            let name = format!("watch, storm, {}, {kind}", stage.name());
            if !report.wants(&name) {
                continue;
            }
            match Watched::start(stage, Gate::True)? {
                Ok(watched) => one(&name, make, watched, report)?,
                Err(missing) => report.add(Measured::missing(name, missing)),
            }
        }
    }
    Ok(())
}

fn one(name: &str, make: Make, watched: Watched, report: &mut BenchReport) -> anyhow::Result<()> {
    let before = watched.screen.usage();
    let start = Instant::now();
    let (mut changes, mut peak) = (0_u32, before.memory);
    while start.elapsed() < LASTS {
        watched.copy(&make(changes as usize))?;
        changes += 1;
        if changes.is_multiple_of(50) {
            peak = peak.max(watched.screen.usage().memory);
        }
        pause((BEAT * changes).saturating_sub(start.elapsed()));
    }
    let took = start.elapsed();
    let after = watched.screen.usage();
    let processor = after.processor.saturating_sub(before.processor);
    let share = processor.as_secs_f64() / took.as_secs_f64() * 100.0;
    let row = Measured::single(format!("{name}, processor"), "%", share).below(PROCESSOR_BELOW);
    report.add(row.note(format!("{changes} changes, {} wakeups", after.wakeups - before.wakeups)));
    let row = Measured::single(format!("{name}, memory"), "MB", megabytes(peak.max(after.memory)))
        .below(MEMORY_BELOW);
    report.add(row.note(format!(
        "{:.1} MB before, {:.1} of its own after",
        megabytes(before.memory),
        megabytes(after.own_memory)
    )));
    watched.leave()
}
