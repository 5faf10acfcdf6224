//! The polled clipboard. Its library finds the display in the environment, so the test runs in its own
//! process.

use std::process::Stdio;
use std::time::Duration;

use relaycode_watch::clipboard::{ClipboardBackend, ClipboardContent, ClipboardWake, DisplayAddresses, open};

use crate::display_servers::Display;
use crate::support::{changed, follow, read, text, until, wait_for};

#[test]
fn a_clipboard_that_does_not_tell_is_looked_at() {
    let Some(display) = Display::x11(&[]) else { return };
    let me = std::env::current_exe().unwrap();
    let arguments = ["--exact", "polled::in_a_process_of_its_own", "--ignored", "--nocapture"];
    let mut child = display.client(me.to_str().unwrap(), &arguments);
    let ended = child.stdin(Stdio::null()).stderr(Stdio::piped()).output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(String::from_utf8_lossy(&ended.stdout).contains("1 passed"));
}

#[test]
#[ignore = "run by the test above, with a display of its own in the environment"]
fn in_a_process_of_its_own() {
    let copy = |arguments: &[&str], bytes: &[u8]| {
        let mut xclip = std::process::Command::new("xclip");
        xclip.args(["-selection", "clipboard"]).args(arguments);
        let mut xclip =
            xclip.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::io::Write::write_all(&mut xclip.stdin.take().unwrap(), bytes).unwrap();
        assert!(xclip.wait().unwrap().success());
    };
    copy(&[], b"before");
    let mut clipboard = open(&DisplayAddresses::default(), ClipboardBackend::Poll).unwrap();
    assert!(!clipboard.notifies_changes());
    until("the first text", || read(&mut *clipboard) == text("before"));
    assert_eq!(wait_for(&mut *clipboard, Duration::from_millis(200)), Ok(ClipboardWake::Stopped));
    copy(&[], "neu: 世\r\n".as_bytes());
    changed(&mut *clipboard);
    assert_eq!(read(&mut *clipboard), text("neu: 世\r\n"));
    assert_eq!(clipboard.read(4, Duration::from_secs(1)).unwrap(), ClipboardContent::TooLarge);
    // The same text again is not new.
    copy(&[], "neu: 世\r\n".as_bytes());
    assert_eq!(wait_for(&mut *clipboard, Duration::from_millis(200)), Ok(ClipboardWake::Stopped));
    copy(&["-t", "image/png"], b"\x89PNG");
    // xclip answers with the image whatever it is asked for, which the library takes for a failure.
    until("no text", || {
        matches!(read(&mut *clipboard), ClipboardContent::NotText | ClipboardContent::Silent)
    });
    copy(&[], b"text again");
    follow(&mut *clipboard, &text("text again"));
}
