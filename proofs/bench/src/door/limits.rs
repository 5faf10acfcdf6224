//! At the limits: as many edits, and as many and as large files, as one answer may have. The cost must grow
//! with them and no faster, so a quarter of each is measured as well.

use super::project::{large, settle};
use crate::child::{repeated, run};
use crate::measure::{BenchReport, Measured, milliseconds};

/// For a number of quarters: the files, the bytes of each, the edits of each.
type Shape = fn(usize) -> (usize, usize, usize);

const SHAPES: &[(&str, Shape)] = &[
    ("2000 edits of 20 files of 64 KiB", |quarters| (20, 64 << 10, 25 * quarters)),
    ("2000 edits of one file of 1 MiB", |quarters| (1, quarters * 250_000, 500 * quarters)),
    ("200 files of 1 MiB", |quarters| (50 * quarters, (1 << 20) - 4096, 1)),
];
/// Allowed growth from a quarter to the whole; four is linear, the rest is noise.
const GROWTH_BELOW: f64 = 6.5;
const RUNS: usize = 3;

/// Every shape, a quarter of it and the whole.
pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    for (what, shape) in SHAPES {
        let name = format!("door, limits, {what}");
        if !report.wants(&name) {
            continue;
        }
        let mut times = Vec::new();
        for quarters in [1, 4] {
            times.push(repeated(RUNS, || {
                let (files, bytes, edits) = shape(quarters);
                let (_scratch, mut apply) = large(files, bytes, edits)?;
                settle()?;
                run(&mut apply)
            })?);
        }
        if let [quarter, whole] = times[..] {
            let row = Measured::single(name.clone(), "ms", milliseconds(whole.processor));
            report.add(row.note(format!("wall {:.0} ms", milliseconds(whole.wall))));
            let growth = milliseconds(whole.processor) / milliseconds(quarter.processor).max(0.1);
            report.add(
                Measured::single(format!("{name}, growth from a quarter"), "×", growth).below(GROWTH_BELOW),
            );
        }
    }
    Ok(())
}
