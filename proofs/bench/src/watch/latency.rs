//! From a change of the clipboard to the card on the screen, and on to the change in the project.

use std::time::Duration;

use relaycode_testkit::random::Random;

use super::stage::{Gate, Stage, Watched, pause};
use crate::measure::{BenchReport, Measured, milliseconds};

const COPIES: usize = 100;
/// Limit in milliseconds, besides the interval of a polled clipboard.
const CARD_BELOW: f64 = 50.0;
/// Time between two copies: not a storm yet.
const BETWEEN: Duration = Duration::from_millis(300);

const KINDS: [(Stage, Gate); 5] = [
    (Stage::X11, Gate::None),
    (Stage::X11, Gate::True),
    (Stage::Wayland, Gate::None),
    (Stage::Polled(300), Gate::None),
    (Stage::Polled(2000), Gate::None),
];

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    for (stage, gate) in KINDS {
        let gated = if gate == Gate::True { ", gate" } else { "" };
        let name = |what: &str| format!("watch, copy to {what}, {}{gated}", stage.name());
        if !report.wants(&name("card")) && !report.wants(&name("applied")) {
            continue;
        }
        let mut watched = match Watched::start(stage, gate)? {
            Ok(watched) => watched,
            Err(missing) => {
                report.add(Measured::missing(name("card"), missing));
                continue;
            }
        };
        let mut random = Random::new(1);
        let (mut cards, mut applied, mut waited) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..COPIES {
            // At any moment between two polls.
            pause(BETWEEN + Duration::from_millis(random.below(stage.interval().max(1) as usize) as u64));
            let (text, title, outcome) = watched.next();
            let before = watched.screen.usage().waited;
            let start = watched.copy(&text)?;
            cards.push(watched.wait(&title).duration_since(start));
            waited.push(watched.screen.usage().waited.saturating_sub(before));
            applied.push(watched.wait(&outcome).duration_since(start));
            watched.wait_ready();
        }
        let below = CARD_BELOW + stage.interval() as f64;
        let stolen = Measured::from_times("", waited);
        report.add(
            spread(name("card"), cards, Some(below))
                .note(format!("; of it waiting for a processor {:.1}, p99 {:.1}", stolen.median, stolen.p99)),
        );
        report.add(spread(name("applied"), applied, None));
        watched.leave()?;
    }
    Ok(())
}

/// With what the table has no column for.
fn spread(name: String, mut times: Vec<Duration>, below: Option<f64>) -> Measured {
    times.sort_unstable();
    let at = |index: usize| times.get(index).copied().map_or(0.0, milliseconds);
    let note = format!("p95 {:.1}, max {:.1}", at(times.len() * 95 / 100 - 1), at(times.len() - 1));
    Measured::from_times(name, times).below(below).note(note)
}
