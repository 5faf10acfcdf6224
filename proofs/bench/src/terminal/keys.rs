//! How soon a typed key is on the screen while an answer comes.

use std::thread::sleep;
use std::time::{Duration, Instant};

use relaycode_testkit::model::ScriptedTurn;

use super::stage::{LIMIT, TerminalStage};
use crate::measure::{BenchReport, Measured};

const KEYS: usize = 300;
/// As somebody types, and a little faster.
const PAUSE: Duration = Duration::from_millis(17);
/// Milliseconds.
const KEY_BELOW: f64 = 10.0;

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    let name = "terminal, key to screen while streaming";
    if !report.wants(name) {
        return Ok(());
    }
    let stage = TerminalStage::new()?;
    let screen = stage.start(&[])?;
    TerminalStage::wait_ready(&screen);
    let pieces = (0..20_000).map(|at| if at % 30 == 29 { "end.\n\n" } else { "some " });
    stage.says(ScriptedTurn { chunk_delay_ms: 1, ..ScriptedTurn::pieces(pieces) });
    screen.type_keys("tell\r");
    screen.wait_for(|screen| screen.text().contains("some some"), LIMIT);
    let mut times = Vec::new();
    let mut typed = String::new();
    for at in 0..KEYS {
        // A letter is found by those before it.
        let letter = char::from(b'A' + u8::try_from(at % 26)?);
        typed.push(letter);
        if typed.len() > 26 {
            // Ctrl-U: the line begins anew.
            screen.type_keys("\x15");
            typed = letter.to_string();
            sleep(PAUSE);
        }
        let began = Instant::now();
        screen.type_keys(&letter.to_string());
        screen.wait_for(|screen| screen.text().contains(&typed), LIMIT);
        times.push(began.elapsed());
        sleep(PAUSE);
    }
    report.add(Measured::from_times(name, times).below(KEY_BELOW));
    Ok(())
}
