//! Nothing runs while nothing happens.

use std::time::{Duration, Instant};

use relaycode_testkit::display::X11;
use relaycode_testkit::or_skip;
use relaycode_testkit::process::until;

use super::*;

/// So long nothing happens.
const IDLE: Duration = Duration::from_secs(5);

#[test]
fn nothing_runs_while_nothing_happens() {
    let desktop = or_skip!(X11::start());
    let watched = Watched::new();
    let screen = watched.on(&desktop);
    // Whatever it began with is done once it has not been awake for a while.
    let (mut awake, mut since) = (0, Instant::now());
    until(crate::scene::LONG, || {
        let now = slept(screen.pid(), None);
        if now != awake {
            (awake, since) = (now, Instant::now());
        }
        (since.elapsed() > Duration::from_millis(300)).then_some(())
    });
    let (cpu, awake, began) = (screen.cpu_time(), slept(screen.pid(), None), Instant::now());
    until(IDLE, || (began.elapsed() > IDLE).then_some(()));
    let used = screen.cpu_time().saturating_sub(cpu);
    let wakeups = slept(screen.pid(), None) - awake;
    assert!(used < Duration::from_millis(5), "{used:?}");
    assert!(wakeups <= 3, "woken {wakeups} times");
}
