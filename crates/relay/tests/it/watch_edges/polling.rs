//! A clipboard that does not tell of changes.

use std::thread;
use std::time::Duration;

use relaycode_testkit::or_skip;

use super::*;

/// Longer than it takes to notice a copy with a short interval, on a machine with much to do.
const A_WHILE: Duration = Duration::from_secs(2);

/// Milliseconds: more than this test takes.
const SELDOM: u32 = 600_000;

#[test]
fn the_interval_says_how_often_it_is_looked_at() {
    let desktop = or_skip!(X11::start());
    let watched_every = |milliseconds: u32| {
        let watched = Watched::new();
        let watcher = json!({"clipboardPollInterval": milliseconds});
        watched.configure(&json!({"projectId": "shop", "patch": {"linter": "true"}, "watcher": watcher}));
        let screen = watched.start(|command| {
            desktop.surround(command);
            command.env("RELAY_CLIPBOARD", "poll");
        });
        screen.wait_for_text("watching the clipboard (polled)");
        if milliseconds == SELDOM {
            // The first look is over.
            wait_idle(&screen);
        }
        desktop.copy(&watched.keyed("one", "ONE"));
        (watched, screen)
    };
    let (often, screen) = watched_every(50);
    screen.wait_for_text("✓ applied");
    assert_eq!(often.text(), BEFORE.replace("one", "ONE"));
    drop(screen);
    let (seldom, _screen) = watched_every(SELDOM);
    // Nothing to wait for: that nothing happens is what is looked at.
    thread::sleep(A_WHILE);
    assert_eq!(seldom.text(), BEFORE);
}
