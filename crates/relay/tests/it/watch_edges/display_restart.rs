//! The display server goes, and comes back.

use std::process::Stdio;
use std::time::Duration;

use relaycode_testkit::missing::{Missing, find};
use relaycode_testkit::or_skip;
use relaycode_testkit::process::{ChildGuard, first_line, temp_file_with};
use rustix::process::Signal;

use super::*;

/// An Xvfb on this display.
fn server(display: &str) -> Result<ChildGuard, Missing> {
    find("xclip")?;
    let mut command = Command::new(find("Xvfb")?);
    command.arg(display).args([
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
    let mut server = ChildGuard::start(&mut command).unwrap();
    let number = first_line(&mut server, Duration::from_secs(20));
    assert!(!number.is_empty());
    Ok(server)
}

fn copy(display: &str, text: &str) -> ChildGuard {
    let mut xclip = Command::new("xclip");
    xclip.args(["-quiet", "-selection", "clipboard", "-in"]).env("DISPLAY", display);
    xclip.stdin(temp_file_with(text.as_bytes()).unwrap()).stdout(Stdio::null()).stderr(Stdio::null());
    ChildGuard::start(&mut xclip).unwrap()
}

#[test]
fn a_display_that_goes_is_said_and_used_again_when_it_is_back() {
    // Far from those that are free when somebody else looks for one: nobody may take it meanwhile.
    let display = format!(":{}", 1_000 + std::process::id() % 50_000);
    let mut first = or_skip!(server(&display));
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
    let _second = or_skip!(server(&display));
    screen.wait_for_text("the clipboard is back");
    let _copied = copy(&display, &watched.keyed("two", "TWO"));
    wait_said(&screen, "✓ applied", 2);
    assert_eq!(watched.text(), "ONE\nTWO\nthree\n");
}
