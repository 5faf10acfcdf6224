//! At the limits: as many edits, and as many and as large files, as one answer may have. What relay does
//! about them must grow with them and no faster, so half of each is measured beside it.

use super::applying::milliseconds;
use super::project::{large, settle};
use crate::child::{median, run};
use crate::measure::Measured;

/// What is measured: its name, and for a share of it in quarters the files, the bytes of each, the edits of each.
type Shape = fn(usize) -> (usize, usize, usize);

const SHAPES: &[(&str, Shape)] = &[
    ("2000 edits of 20 files of 64 KiB", |quarters| (20, 64 << 10, 25 * quarters)),
    ("2000 edits of one file of 1 MiB", |quarters| (1, quarters * 250_000, 500 * quarters)),
    ("200 files of 1 MiB", |quarters| (50 * quarters, (1 << 20) - 4096, 1)),
];
/// From a quarter to the whole the time may grow so many times; four is linear, the rest is noise.
const GROWTH_BELOW: f64 = 6.5;
const RUNS: usize = 3;

/// Measures every shape, a quarter of it and the whole.
pub(super) fn measure(wanted: &dyn Fn(&str) -> bool, keep: &mut impl FnMut(Measured)) -> anyhow::Result<()> {
    for (what, shape) in SHAPES {
        let name = format!("door, limits, {what}");
        if !wanted(&name) {
            continue;
        }
        let mut times = Vec::new();
        for quarters in [1, 4] {
            let mut costs = Vec::new();
            for _ in 0..RUNS {
                let (files, bytes, edits) = shape(quarters);
                let (_scratch, mut apply) = large(files, bytes, edits)?;
                settle()?;
                costs.push(run(&mut apply)?);
            }
            times.push(median(&costs));
        }
        if let [quarter, whole] = times[..] {
            let mut measured = Measured::single(name.clone(), "ms", milliseconds(whole.processor), None);
            measured.note = format!("wall {:.0} ms", milliseconds(whole.wall));
            keep(measured);
            let growth = milliseconds(whole.processor) / milliseconds(quarter.processor).max(0.1);
            keep(Measured::single(format!("{name}, growth from a quarter"), "×", growth, Some(GROWTH_BELOW)));
        }
    }
    Ok(())
}
