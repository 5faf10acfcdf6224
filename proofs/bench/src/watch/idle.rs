//! What watching costs while nothing happens. All kinds at once: they have nothing to do with each other.

use std::time::Duration;

use super::stage::{Gate, Stage, Watched, pause};
use crate::measure::Measured;

/// How long nothing happens.
const IDLE: Duration = Duration::from_secs(60);
/// Whatever was begun is over after this long.
const SETTLED: Duration = Duration::from_secs(3);
/// Milliseconds of processor time to stay below, all threads together.
const PROCESSOR_BELOW: f64 = 10.0;
/// Megabytes to stay below.
const MEMORY_BELOW: f64 = 20.0;

const KINDS: [Stage; 4] = [Stage::X11, Stage::Wayland, Stage::Polled(2000), Stage::None];

/// Measures every kind.
pub(super) fn measure(wanted: &dyn Fn(&str) -> bool, keep: &mut impl FnMut(Measured)) -> anyhow::Result<()> {
    let mut watchers = Vec::new();
    for stage in KINDS {
        let name = format!("watch, idle {} s, {}", IDLE.as_secs(), stage.name());
        if !wanted(&name) {
            continue;
        }
        match Watched::start(stage, Gate::True)? {
            Ok(mut watched) => {
                used(stage, &mut watched)?;
                watchers.push((name, watched));
            }
            Err(missing) => keep(super::missing(&name, &missing)),
        }
    }
    pause(SETTLED);
    let before: Vec<_> = watchers.iter().map(|(_, watched)| watched.screen.usage()).collect();
    if !watchers.is_empty() {
        pause(IDLE);
    }
    for ((name, watched), before) in watchers.into_iter().zip(before) {
        let after = watched.screen.usage();
        let processor = after.processor.saturating_sub(before.processor).as_secs_f64() * 1e3;
        let mut measured =
            Measured::single(format!("{name}, processor"), "ms", processor, Some(PROCESSOR_BELOW));
        measured.note = format!("{} wakeups, {} threads", after.wakeups - before.wakeups, after.threads);
        keep(measured);
        let mut measured =
            Measured::single(format!("{name}, memory"), "MB", megabytes(after.memory), Some(MEMORY_BELOW));
        measured.note = format!("{:.1} MB of its own", megabytes(after.own_memory));
        keep(measured);
        watched.leave()?;
    }
    Ok(())
}

/// One change was made, and something that is no answer lies on the clipboard, as it mostly does.
fn used(stage: Stage, watched: &mut Watched) -> anyhow::Result<()> {
    let (text, _, outcome) = watched.next();
    // A clipboard that does not tell is looked at once before anything on it is new.
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
