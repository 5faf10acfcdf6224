//! From the start of the program to its first line, and until it watches.

use super::stage::{Gate, Stage, Watched};
use crate::measure::Measured;

/// Starts of each kind.
const STARTS: usize = 20;
/// Milliseconds until it watches.
const READY_BELOW: f64 = 100.0;

/// Measures every kind.
pub(super) fn measure(wanted: &dyn Fn(&str) -> bool, keep: &mut impl FnMut(Measured)) -> anyhow::Result<()> {
    for stage in [Stage::X11, Stage::Wayland, Stage::None] {
        let name = |what: &str| format!("watch, start to {what}, {}", stage.name());
        if !wanted(&name("ready")) && !wanted(&name("first line")) {
            continue;
        }
        let (mut lines, mut ready) = (Vec::new(), Vec::new());
        for _ in 0..STARTS {
            match Watched::timed(stage, Gate::True)? {
                Ok((watched, line)) => {
                    lines.push(line);
                    ready.push(watched.wait_ready().duration_since(watched.started));
                    watched.leave()?;
                }
                Err(missing) => {
                    keep(super::missing(&name("ready"), &missing));
                    break;
                }
            }
        }
        keep(Measured::from_times(name("first line"), lines, None));
        keep(Measured::from_times(name("ready"), ready, Some(READY_BELOW)));
    }
    Ok(())
}
