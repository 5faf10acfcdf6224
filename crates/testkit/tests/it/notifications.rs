//! Notifications, as dunst gets them on a private bus.

use std::process::Command;
use std::time::Duration;

use relaycode_testkit::bus::TestBus;
use relaycode_testkit::display::X11;
use relaycode_testkit::dunst::{Dunst, DunstNotification};
use relaycode_testkit::or_skip;
use relaycode_testkit::process::output;

const LIMIT: Duration = Duration::from_secs(20);

/// Sends one with the program that comes with dunst.
fn notify(bus: &TestBus, summary: &str, body: &str) {
    let mut command = Command::new("dunstify");
    command.args(["--appname=relay", "--urgency=critical", "--", summary, body]);
    bus.surround(&mut command);
    assert!(output(&mut command, b"", LIMIT).unwrap().is_some(), "dunstify could not send it");
}

#[test]
fn dunst_tells_what_it_was_sent_in_order() {
    let (bus, display) = (or_skip!(TestBus::start()), or_skip!(X11::start()));
    let dunst = or_skip!(Dunst::start(&bus, &display));
    assert_eq!(dunst.notifications(), []);
    let body = "2 files, $(date) & \"more\"\n<b>b</b>";
    notify(&bus, "my-app: a decision waits", body);
    let first = dunst.wait_for(|notice| notice.summary.contains("decision"), LIMIT);
    let expected = DunstNotification {
        summary: "my-app: a decision waits".to_owned(),
        body: body.to_owned(),
        app: "relay".to_owned(),
        urgency: "CRITICAL".to_owned(),
    };
    assert_eq!(first, expected);
    notify(&bus, "my-app: applied", "");
    dunst.wait_for(|notice| notice.summary == "my-app: applied", LIMIT);
    assert_eq!(dunst.notifications().len(), 2);
    assert_eq!(dunst.notifications()[0], expected);
}

#[test]
fn two_buses_are_strangers() {
    let (one, two) = (or_skip!(TestBus::start()), or_skip!(TestBus::start()));
    assert_ne!(one.address(), two.address());
}
