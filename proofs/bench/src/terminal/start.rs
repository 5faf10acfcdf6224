//! From the start of the program to its first bytes and to the editor; and with a session of a hundred megabytes to its end.

use std::time::Instant;

use relaycode_testkit::screen::TestScreen;

use super::stage::{LIMIT, PROMPT_SIGN, ROWS, TerminalStage};
use crate::measure::{BenchReport, Measured};
use crate::session::write_long;

const STARTS: usize = 20;
const LONG_STARTS: usize = 7;
/// Milliseconds.
const FIRST_PAINT_BELOW: f64 = 30.0;
const LONG_BELOW: f64 = 300.0;

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    let name = "terminal, first paint";
    if report.wants(name) {
        let stage = TerminalStage::new()?;
        let mut times = Vec::new();
        for _ in 0..STARTS {
            let began = Instant::now();
            let screen = stage.start(&[])?;
            TerminalStage::wait_ready(&screen);
            times.push(began.elapsed());
        }
        report.add(
            Measured::from_times(name, times).below(FIRST_PAINT_BELOW).note("until the editor is there"),
        );
    }
    let name = "terminal, end of a session of 100 MB";
    if report.wants(name) {
        let stage = TerminalStage::new()?;
        let id = write_long(&stage.agent.home(), &stage.agent.project().canonicalize()?)?;
        let mut times = Vec::new();
        for _ in 0..LONG_STARTS {
            let began = Instant::now();
            let screen = stage.start(&["--resume", id])?;
            // Its end fills the screen above the editor.
            let is_filled = |screen: &TestScreen| screen.text().lines().count() > usize::from(ROWS) / 2;
            screen.wait_for(|screen| is_filled(screen) && screen.text().contains(PROMPT_SIGN), LIMIT);
            times.push(began.elapsed());
        }
        report.add(Measured::from_times(name, times).below(LONG_BELOW));
    }
    Ok(())
}
