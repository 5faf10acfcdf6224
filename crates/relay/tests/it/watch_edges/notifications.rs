//! Who looks elsewhere is told: by the desktop, or through the terminal, and nothing waits for either.

use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use relaycode_testkit::bus::TestBus;
use relaycode_testkit::display::X11;
use relaycode_testkit::dunst::Dunst;
use relaycode_testkit::or_skip;

use super::*;
use crate::fixture::keyed_project::LONG;

#[test]
fn the_desktop_tells_that_a_question_waits_and_what_came_of_an_answer() {
    let (bus, desktop) = (or_skip!(TestBus::start()), or_skip!(X11::start()));
    let dunst = or_skip!(Dunst::start(&bus, &desktop));
    let watched = Watched::new();
    let screen = watched.start(|command| bus.surround(command));
    screen.wait_for_text(PASTING);
    let told = |summary: &str| dunst.wait_for(|notice| notice.summary.starts_with(summary), LONG);

    screen.paste(&watched.bare("one", "1"));
    screen.wait_for_text("apply? [y/N]");
    let question = told("shop: apply?");
    assert_eq!((question.body.as_str(), question.urgency.as_str()), ("a.txt", "CRITICAL"));
    screen.type_keys("n\r");
    screen.wait_for_text(PASTING);

    screen.paste(&watched.keyed("one", "ONE"));
    let applied = told("shop: applied");
    assert_eq!((applied.body.as_str(), applied.urgency.as_str()), ("a.txt", "NORMAL"));
    screen.paste(&watched.keyed("missing", "there"));
    told("shop: refused");
    let before = dunst.notifications().len();
    screen.wait_for_text(PASTING);
    let quiet =
        json!({"projectId": "shop", "core": {"enableNotifications": false}, "patch": {"linter": "true"}});
    watched.configure(&quiet);
    screen.wait_for_text("core.enableNotifications is now false");
    screen.paste(&watched.keyed("two", "TWO"));
    wait_said(&screen, "✓ applied", 2);
    screen.paste(&watched.bare("three", "3"));
    wait_said(&screen, "apply? [y/N]", 2);
    assert_eq!(dunst.notifications().len(), before, "{:?}", dunst.notifications());
}

#[test]
fn a_change_that_is_not_kept_is_told() {
    let (bus, desktop) = (or_skip!(TestBus::start()), or_skip!(X11::start()));
    let dunst = or_skip!(Dunst::start(&bus, &desktop));
    let watched = Watched::with(&json!({"linter": "sh gate.sh"}));
    watched.scene.project.put("gate.sh", b"! grep -q BAD a.txt\n");
    let told = || dunst.wait_for(|notice| notice.summary.starts_with("shop: "), LONG);
    // Nobody is there to be asked whether to keep it.
    let _relay = watched.piped(&desktop, &[], |command| bus.surround(command));
    desktop.copy(&watched.keyed("one", "BAD"));
    let told = told();
    assert_eq!(
        (told.summary.as_str(), told.body.as_str()),
        ("shop: not kept, everything was put back", "a.txt")
    );
    assert_eq!(watched.text(), BEFORE);
}

#[test]
fn without_a_desktop_the_terminal_tells() {
    for (variable, value, expected) in [
        ("TERM", "xterm-kitty", "\x1b]9;relay: shop: apply?: a.txt\x07"),
        ("TERM_PROGRAM", "WezTerm", "\x1b]9;relay: shop: apply?: a.txt\x07"),
        ("TERM", "foot", "\x1b]777;notify;relay: shop: apply?;a.txt\x07"),
        ("TERM", "xterm", "\x07"),
    ] {
        let watched = Watched::new();
        let screen = watched.start(|command| {
            command.env(variable, value);
        });
        screen.wait_for_text(PASTING);
        assert!(!screen.raw().contains(&7));
        screen.paste(&watched.bare("one", "ONE"));
        screen.wait_for(|screen| String::from_utf8_lossy(&screen.raw()).contains(expected), LONG);
        let raw = String::from_utf8_lossy(&screen.raw()).into_owned();
        assert_eq!(raw.contains("\x1b]"), expected.len() > 1, "{value}");
    }
}

#[test]
fn a_bus_that_hangs_holds_nothing_up() {
    let watched = Watched::new();
    let socket = watched.home("bus");
    // It takes everybody in, and never says a word.
    let _listener = UnixListener::bind(&socket).unwrap();
    let times = [false, true].map(|hangs| {
        let mut screen = watched.start(|command| {
            if hangs {
                command.env("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}", socket.display()));
            }
        });
        screen.wait_for_text(PASTING);
        let began = Instant::now();
        screen.paste(&watched.bare("one", "ONE"));
        screen.wait_for_text("apply? [y/N]");
        let took = began.elapsed();
        // The terminal tells instead.
        screen.wait_for(|screen| screen.raw().contains(&7), LONG);
        screen.type_keys("\x03");
        screen.wait_exit();
        took
    });
    assert!(times[1] < times[0] * 3 + Duration::from_millis(250), "{times:?}");
}
