//! What watching costs while nothing happens. All kinds at once: they are independent.

use std::time::Duration;

use super::stage::{Gate, Stage, Watched, pause};
use crate::measure::{BenchReport, Measured, milliseconds};

/// How long nothing happens.
const IDLE: Duration = Duration::from_secs(60);
/// Everything that was begun is over after this long.
const SETTLED: Duration = Duration::from_secs(3);
/// Limit in milliseconds of processor time, all threads together.
const PROCESSOR_BELOW: f64 = 10.0;
/// Limit in megabytes.
const MEMORY_BELOW: f64 = 20.0;

const KINDS: [Stage; 4] = [Stage::X11, Stage::Wayland, Stage::Polled(2000), Stage::None];

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    let mut watchers = Vec::new();
    for stage in KINDS {
        let name = format!("watch, idle {} s, {}", IDLE.as_secs(), stage.name());
        if !report.wants(&name) {
            continue;
        }
        match Watched::start(stage, Gate::True)? {
            Ok(mut watched) => {
                used(stage, &mut watched)?;
                watchers.push((name, watched));
            }
            Err(missing) => report.add(Measured::missing(name, missing)),
        }
    }
    pause(SETTLED);
    let before: Vec<_> = watchers.iter().map(|(_, watched)| watched.screen.usage()).collect();
    if !watchers.is_empty() {
        pause(IDLE);
    }
    for ((name, watched), before) in watchers.into_iter().zip(before) {
        let after = watched.screen.usage();
        let processor = milliseconds(after.processor.saturating_sub(before.processor));
        let row = Measured::single(format!("{name}, processor"), "ms", processor).below(PROCESSOR_BELOW);
        report.add(row.note(format!(
            "{} wakeups, {} threads",
            after.wakeups - before.wakeups,
            after.threads
        )));
        let row =
            Measured::single(format!("{name}, memory"), "MB", megabytes(after.memory)).below(MEMORY_BELOW);
        report.add(row.note(format!("{:.1} MB of its own", megabytes(after.own_memory))));
        watched.leave()?;
    }
    Ok(())
}

/// One change was made, and the clipboard holds something that is not an answer, as usual.
fn used(stage: Stage, watched: &mut Watched) -> anyhow::Result<()> {
    let (text, _, outcome) = watched.next();
    // A polled clipboard is read once before anything on it is new.
    pause(SETTLED);
    if stage == Stage::None {
        watched.screen.paste(&text);
    } else {
        watched.copy(&text)?;
    }
    watched.wait(&outcome);
    watched.wait_ready();
    if stage != Stage::None {
        watched.copy("some text\n")?;
    }
    Ok(())
}

pub(super) fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
