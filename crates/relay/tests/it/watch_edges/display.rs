//! The display server goes, and comes back.

use std::process::Stdio;
use std::time::Duration;

use relaycode_testkit::missing::{Missing, find};
use relaycode_testkit::or_skip;
use relaycode_testkit::process::{Kept, first_line, holding};
use rustix::process::Signal;

use super::*;

/// An Xvfb; its display is the one that is named, or else one that is free.
fn server(display: Option<&str>) -> Result<(Kept, String), Missing> {
    find("xclip")?;
    let mut command = Command::new(find("Xvfb")?);
    command.args(display).args([
        "-displayfd",
        "1",
        "-screen",
        "0",
        "320x240x24",
        "-nolisten",
        "tcp",
        "-noreset",
    ]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = Kept::start(&mut command).unwrap();
    let number = first_line(&mut server, Duration::from_secs(20));
    assert!(!number.is_empty());
    Ok((server, format!(":{number}")))
}

fn copy(display: &str, text: &str) -> Kept {
    let mut xclip = Command::new("xclip");
    xclip.args(["-quiet", "-selection", "clipboard", "-in"]).env("DISPLAY", display);
    xclip.stdin(holding(text.as_bytes()).unwrap()).stdout(Stdio::null()).stderr(Stdio::null());
    Kept::start(&mut xclip).unwrap()
}

#[test]
fn a_display_that_goes_is_said_and_used_again_when_it_is_back() {
    let (mut first, display) = or_skip!(server(None));
    let watched = Watched::new();
    let screen = watched.start(|command| {
        command.env("DISPLAY", &display);
    });
    screen.wait_for_text(WATCHING);
    first.signal(Signal::KILL);
    screen.wait_for_text("relay looks for it again");
    screen.wait_for_text(PASTING);
    screen.paste(&watched.keyed("one", "ONE"));
    screen.wait_for_text("✓ applied");
    first.end();
    let _second = or_skip!(server(Some(&display)));
    screen.wait_for_text("the clipboard is back");
    let _copied = copy(&display, &watched.keyed("two", "TWO"));
    wait_said(&screen, "✓ applied", 2);
    assert_eq!(watched.text(), "ONE\nTWO\nthree\n");
}
