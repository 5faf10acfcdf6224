//! Waiting with a limit, what a wait costs, what a process holds.

use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use relaycode_watch::clipboard::{Clipboard, ClipboardContent, ClipboardError, ClipboardWake, stop_pair};

/// A test that goes wrong fails instead of hanging.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);
/// Limits for reads in the tests.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
pub(crate) const MOST: usize = 4 * 1024 * 1024;
/// Poll interval of clipboards that do not report changes.
pub(crate) const INTERVAL: Duration = Duration::from_millis(50);

pub(crate) fn until(what: &str, mut so: impl FnMut() -> bool) {
    let limit = Instant::now() + LIMIT;
    while !so() {
        assert!(Instant::now() < limit, "waited too long for: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Waits for a change, but not longer than that.
pub(crate) fn wait_for(
    clipboard: &mut dyn Clipboard,
    limit: Duration,
) -> Result<ClipboardWake, ClipboardError> {
    let (stopper, stop) = stop_pair().unwrap();
    let (done, is_done) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            let _ = is_done.recv_timeout(limit);
            drop(stopper);
        });
        let woken = clipboard.wait(INTERVAL, &stop);
        drop(done);
        woken
    })
}

/// Fails unless there is a change soon.
pub(crate) fn changed(clipboard: &mut dyn Clipboard) {
    assert_eq!(wait_for(clipboard, LIMIT), Ok(ClipboardWake::Changed));
}

pub(crate) fn read(clipboard: &mut dyn Clipboard) -> ClipboardContent {
    clipboard.read(MOST, PATIENCE).unwrap()
}

pub(crate) fn text(text: &str) -> ClipboardContent {
    ClipboardContent::Text(text.into())
}

/// Reads at each change until `last` is there.
pub(crate) fn follow(clipboard: &mut dyn Clipboard, last: &ClipboardContent) {
    let limit = Instant::now() + LIMIT;
    while &read(clipboard) != last {
        assert!(Instant::now() < limit, "never saw {last:?}");
        changed(clipboard);
    }
}

/// CPU time of this thread for two seconds of waiting.
pub(crate) fn idle_cost(clipboard: &mut dyn Clipboard) -> Duration {
    let spent = || {
        let line = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        Duration::from_nanos(line.split(' ').next().unwrap().parse().unwrap())
    };
    let before = spent();
    assert_eq!(wait_for(clipboard, Duration::from_secs(2)), Ok(ClipboardWake::Stopped));
    spent() - before
}

/// A field of this process's status, in KiB.
pub(crate) fn status(field: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
