//! Others watch as well: the same checkout, or another one with the same project id.

use relaycode_testkit::display::X11;
use relaycode_testkit::or_skip;
use rustix::process::Signal;

use super::*;

#[test]
fn a_second_watcher_of_a_checkout_is_turned_away_until_the_first_is_gone() {
    let watched = Watched::new();
    let mut first = watched.pasting();
    let second = watched.scene.relay(&["watch"]);
    let process = format!("process {}", first.pid().as_raw_nonzero());
    assert_eq!(second.code, 2, "{second:?}");
    assert!(second.err.contains("already runs here") && second.err.contains(&process), "{second:?}");
    assert!(second.err.contains("begun"), "{second:?}");
    first.paste(&watched.keyed("one", "ONE"));
    first.wait_for_text("✓ applied");
    first.signal(Signal::KILL);
    first.wait_exit();
    let third = watched.pasting();
    third.paste(&watched.keyed("two", "TWO"));
    third.wait_for_text("✓ applied");
}

#[test]
fn of_two_checkouts_the_one_whose_key_it_carries_takes_an_answer() {
    let desktop = or_skip!(X11::start());
    let (ours, theirs) = (Watched::new(), Watched::new());
    let (here, there) = (ours.on(&desktop), theirs.on(&desktop));
    desktop.copy(&ours.keyed("one", "ONE"));
    here.wait_for_text("✓ applied");
    there.wait_for_text("an answer for another checkout of shop was copied: left alone");
    desktop.copy(&ours.keyed("two", "TWO"));
    wait_said(&here, "✓ applied", 2);
    there.wait_for_text("copied: an answer for another checkout of this project");
    // Without a key it may be for either.
    desktop.copy(&ours.bare("three", "THREE"));
    for screen in [&here, &there] {
        screen.wait_for_text("apply? [y/N]");
    }
    assert_eq!((ours.text(), theirs.text()), ("ONE\nTWO\nthree\n".into(), BEFORE.into()));
    for screen in [&here, &there] {
        screen.type_keys("n\r");
        screen.wait_for_text("nothing was changed");
    }
    assert_eq!(said(&there, "was copied: left alone"), 1, "{}", there.text());
    assert_eq!((ours.text(), theirs.text()), ("ONE\nTWO\nthree\n".into(), BEFORE.into()));
}
