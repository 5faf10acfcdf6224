//! From the start of the program to its first line, and until it watches.

use super::stage::{Gate, Stage, Watched};
use crate::measure::{BenchReport, Measured};

const STARTS: usize = 20;
/// Milliseconds until it watches.
const READY_BELOW: f64 = 100.0;

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    for stage in [Stage::X11, Stage::Wayland, Stage::None] {
        let name = |what: &str| format!("watch, start to {what}, {}", stage.name());
        if !report.wants(&name("ready")) && !report.wants(&name("first line")) {
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
                    report.add(Measured::missing(name("ready"), missing));
                    break;
                }
            }
        }
        report.add(Measured::from_times(name("first line"), lines));
        report.add(Measured::from_times(name("ready"), ready).below(READY_BELOW));
    }
    Ok(())
}
