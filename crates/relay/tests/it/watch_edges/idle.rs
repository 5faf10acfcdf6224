//! Nothing runs while nothing happens.

use std::time::{Duration, Instant};

use relaycode_testkit::display::X11;
use relaycode_testkit::or_skip;
use relaycode_testkit::process::poll_until;

use super::*;

/// So long nothing happens.
const IDLE: Duration = Duration::from_secs(5);

#[test]
fn nothing_runs_while_nothing_happens() {
    let desktop = or_skip!(X11::start());
    let watched = Watched::new();
    let screen = watched.on(&desktop);
    let before = wait_idle(&screen);
    let (cpu, began) = (screen.cpu_time(), Instant::now());
    poll_until(IDLE, || (began.elapsed() > IDLE).then_some(()));
    let used = screen.cpu_time().saturating_sub(cpu);
    let after = sleeps(screen.pid());
    assert!(used < Duration::from_millis(5), "{used:?}");
    let woken = after.values().sum::<u64>() - before.values().sum::<u64>();
    assert!(woken <= 3, "woken {woken} times: {before:?} before, {after:?} after");
}
