//! X11: what real programs copy is noticed and read as it is.

use std::time::Duration;

use relaycode_watch::clipboard::{
    Clipboard, ClipboardBackend, ClipboardContent, ClipboardUnavailable, ClipboardWake, DisplayAddresses,
    open,
};

use crate::display_servers::Display;
use crate::support::{changed, follow, idle_cost, read, status, text, until, wait_for};

const XCLIP: [&str; 2] = ["-selection", "clipboard"];

fn opened(display: &Display) -> Box<dyn Clipboard> {
    open(&display.desktop, ClipboardBackend::Auto).unwrap()
}

#[test]
fn what_is_copied_is_noticed_and_read_as_it_is() {
    let Some(display) = Display::x11(&[]) else { return };
    display.copy_before("before");
    let mut clipboard = opened(&display);
    assert_eq!((clipboard.name(), clipboard.notifies_changes()), ("X11", true));
    // What was there before is not new.
    assert_eq!(wait_for(&mut *clipboard, Duration::from_millis(100)), Ok(ClipboardWake::Stopped));
    assert_eq!(read(&mut *clipboard), text("before"));
    for said in ["plain", "Grüße, 世界 🙂\n", "a\r\nb\r\n", "\0 nul \x1b[31m\n\n\n"] {
        display.copy_text(said);
        changed(&mut *clipboard);
        assert_eq!(read(&mut *clipboard), text(said));
        display.copy("xsel", &["-b", "-i"], said.replace('\0', "").as_bytes());
        changed(&mut *clipboard);
        assert_eq!(read(&mut *clipboard), text(&said.replace('\0', "")));
    }
}

#[test]
fn what_is_no_text_is_told_apart_from_nothing() {
    let Some(display) = Display::x11(&[]) else { return };
    let mut clipboard = opened(&display);
    assert_eq!(read(&mut *clipboard), ClipboardContent::Empty);
    let copied = [
        ("image/png", &b"\x89PNG\r\n\x1a\n"[..], ClipboardContent::NotText),
        ("text/uri-list", b"file:///etc/passwd\r\n", ClipboardContent::NotText),
        ("UTF8_STRING", b"\xff\xfe not utf-8", ClipboardContent::NotUtf8),
        ("STRING", b"caf\xe9", text("café")),
        ("UTF8_STRING", b"", ClipboardContent::Empty),
        ("application/x-relaycode", b"", ClipboardContent::OwnCopy),
        ("x-kde-passwordManagerHint", b"secret", ClipboardContent::Secret),
    ];
    for (target, bytes, content) in copied {
        display.copy("xclip", &[&XCLIP[..], &["-t", target]].concat(), bytes);
        changed(&mut *clipboard);
        assert_eq!(read(&mut *clipboard), content, "{target}");
    }
    // Its owner exits: nothing is there.
    display.copy("xsel", &["-b", "-c"], b"");
    changed(&mut *clipboard);
    assert_eq!(read(&mut *clipboard), ClipboardContent::Empty);
}

#[test]
fn long_text_comes_in_parts_and_up_to_the_limit() {
    let Some(display) = Display::x11(&[]) else { return };
    let mut clipboard = opened(&display);
    let long: String = (0..60_000).map(|line| format!("line {line} 世\n")).collect();
    for program in ["xclip", "xsel"] {
        let arguments = if program == "xclip" { &XCLIP[..] } else { &["-b", "-i"] };
        display.copy(program, arguments, long.as_bytes());
        changed(&mut *clipboard);
        assert_eq!(clipboard.read(long.len(), Duration::from_secs(9)).unwrap(), text(&long), "{program}");
        assert_eq!(
            clipboard.read(long.len() - 1, Duration::from_secs(9)).unwrap(),
            ClipboardContent::TooLarge,
            "{program}"
        );
        // Neither giving up in the middle nor leaving right after has hurt its owner.
        for _ in 0..5 {
            let mut once = opened(&display);
            assert_eq!(once.read(long.len(), Duration::from_secs(9)).unwrap(), text(&long), "{program}");
        }
    }
}

#[test]
fn a_hundred_megabytes_are_refused_without_being_read() {
    let Some(display) = Display::x11(&[]) else { return };
    let mut clipboard = opened(&display);
    let mut copying =
        display.shell("head -c 100000000 /dev/zero | tr '\\0' a | xclip -i -selection clipboard");
    changed(&mut *clipboard);
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let before = status("VmRSS");
    assert_eq!(read(&mut *clipboard), ClipboardContent::TooLarge);
    assert!(status("VmHWM") < before + 30 * 1024, "held too much of it");
    assert!(copying.wait().unwrap().success());
    display.copy_text("small again");
    changed(&mut *clipboard);
    assert_eq!(read(&mut *clipboard), text("small again"));
}

#[test]
fn what_is_too_large_for_relay_can_still_be_pasted_elsewhere() {
    let Some(display) = Display::x11(&[]) else { return };
    let mut clipboard = opened(&display);
    // xclip serves its readers one after the other.
    let mut copying =
        display.shell("head -c 20000000 /dev/zero | tr '\\0' a | xclip -i -selection clipboard");
    changed(&mut *clipboard);
    assert_eq!(read(&mut *clipboard), ClipboardContent::TooLarge);
    assert!(copying.wait().unwrap().success());
    // relay waits for the next change, as it does when watching, and receives the rest meanwhile.
    let paste = ["1", "xclip", "-o", "-selection", "clipboard"];
    until("a paste of all of it", || {
        let _ = wait_for(&mut *clipboard, Duration::from_millis(200));
        display.output("timeout", &paste).len() == 20_000_000
    });
}

#[test]
fn a_storm_of_copies_ends_with_the_last_one() {
    let Some(display) = Display::x11(&[]) else { return };
    let mut clipboard = opened(&display);
    let mut storm =
        display.shell("for i in $(seq 200); do printf 'text %s' $i | xclip -sel c; sleep 0.005; done");
    follow(&mut *clipboard, &text("text 200"));
    assert!(storm.wait().unwrap().success());
}

#[test]
fn waiting_for_nothing_costs_nothing() {
    let Some(display) = Display::x11(&[]) else { return };
    let mut clipboard = opened(&display);
    let cost = idle_cost(&mut *clipboard);
    assert!(cost < Duration::from_millis(2), "{cost:?}");
}

#[test]
fn a_server_that_dies_is_an_error_and_not_a_hang() {
    let Some(mut display) = Display::x11(&[]) else { return };
    let mut clipboard = opened(&display);
    display.kill();
    let error = wait_for(&mut *clipboard, Duration::from_secs(9)).unwrap_err();
    assert_eq!(error.name, "X11");
    assert!(clipboard.read(9, Duration::from_secs(1)).is_err());
    assert!(matches!(
        open(&display.desktop, ClipboardBackend::Auto),
        Err(ClipboardUnavailable::Unreachable { name: "X11", .. })
    ));
}

#[test]
fn a_display_that_is_not_there_is_named() {
    let nowhere = DisplayAddresses { wayland: None, x11: Some(":987".into()) };
    let Err(no) = open(&nowhere, ClipboardBackend::Auto) else {
        panic!("opened a display that is not there")
    };
    assert!(no.to_string().contains(":987"), "{no}");
    let nonsense = DisplayAddresses { wayland: None, x11: Some("no display".into()) };
    assert!(matches!(open(&nonsense, ClipboardBackend::X11), Err(ClipboardUnavailable::Unreachable { .. })));
    assert!(matches!(open(&nonsense, ClipboardBackend::Wayland), Err(ClipboardUnavailable::NoDesktop)));
}
