//! What a conversation costs while nobody says anything.

use std::thread::sleep;
use std::time::Duration;

use relaycode_testkit::model::ScriptedTurn;

use super::stage::{LIMIT, TerminalStage, megabytes};
use crate::measure::{BenchReport, Measured, milliseconds};

const IDLE: Duration = Duration::from_secs(60);
/// Connections are closed and everything that was begun is over after this long.
const SETTLED: Duration = Duration::from_secs(5);
/// Limits: megabytes, and wakeups of all threads.
const MEMORY_BELOW: f64 = 40.0;
const WAKEUPS_BELOW: f64 = 1.0;

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    let name = "terminal, idle 60 s";
    if !report.wants(name) {
        return Ok(());
    }
    let stage = TerminalStage::new()?;
    let screen = stage.start(&[])?;
    TerminalStage::wait_ready(&screen);
    stage.says(ScriptedTurn::text("It says one and two."));
    screen.type_keys("what does a.txt say?\r");
    screen.wait_for(|screen| screen.text().contains("It says one and two."), LIMIT);
    sleep(SETTLED);
    let before = screen.usage();
    sleep(IDLE);
    let after = screen.usage();
    let wakeups = (after.wakeups - before.wakeups) as f64;
    let processor = milliseconds(after.processor.saturating_sub(before.processor));
    let row = Measured::single(format!("{name}, wakeups"), "", wakeups).below(WAKEUPS_BELOW);
    report.add(row.note(format!("{processor:.2} ms of the processor, {} threads", after.threads)));
    let row = Measured::single(format!("{name}, memory"), "MB", megabytes(after.memory)).below(MEMORY_BELOW);
    report.add(row.note(format!("{:.1} MB of its own", megabytes(after.own_memory))));
    Ok(())
}
