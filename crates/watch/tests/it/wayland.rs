//! Wayland: the same through sway's data control.

use std::process::Stdio;
use std::time::{Duration, Instant};

use relaycode_watch::clipboard::{
    Clipboard, ClipboardBackend, ClipboardContent, ClipboardUnavailable, ClipboardWake, DisplayAddresses,
    open,
};
use rustix::process::{Pid, Signal, kill_process};

use crate::compositor::{Play, compositor};
use crate::display_servers::Display;
use crate::support::{MOST, changed, follow, idle_cost, read, status, text, wait_for};

fn opened(display: &Display) -> Box<dyn Clipboard> {
    open(&display.desktop, ClipboardBackend::Auto).unwrap()
}

#[test]
fn what_is_copied_is_noticed_and_read_as_it_is() {
    let Some(display) = Display::wayland() else { return };
    display.copy_before("before");
    let mut clipboard = opened(&display);
    assert_eq!((clipboard.name(), clipboard.notifies_changes()), ("Wayland", true));
    assert_eq!(wait_for(&mut *clipboard, Duration::from_millis(100)), Ok(ClipboardWake::Stopped));
    assert_eq!(read(&mut *clipboard), text("before"));
    for said in ["plain", "Grüße, 世界 🙂\n", "a\r\nb\r\n", "\x1b[31m\n\n\n"] {
        display.copy_text(said);
        changed(&mut *clipboard);
        assert_eq!(read(&mut *clipboard), text(said));
    }
    let long: String = (0..60_000).map(|line| format!("line {line} 世\n")).collect();
    display.copy_text(&long);
    changed(&mut *clipboard);
    assert_eq!(clipboard.read(long.len(), Duration::from_secs(9)).unwrap(), text(&long));
    assert_eq!(clipboard.read(long.len() - 1, Duration::from_secs(9)).unwrap(), ClipboardContent::TooLarge);
    assert_eq!(clipboard.read(long.len(), Duration::from_secs(9)).unwrap(), text(&long));
}

#[test]
fn what_is_no_text_is_told_apart_from_nothing() {
    let Some(display) = Display::wayland() else { return };
    let mut clipboard = opened(&display);
    assert_eq!(read(&mut *clipboard), ClipboardContent::Empty);
    let copied = [
        ("image/png", &b"\x89PNG\r\n\x1a\n"[..], ClipboardContent::NotText),
        ("x-special/gnome-copied-files", b"copy\nfile:///etc/passwd", ClipboardContent::NotText),
        ("text/plain", b"\xff\xfe not utf-8", ClipboardContent::NotUtf8),
        ("text/plain;charset=utf-8", b"", ClipboardContent::Empty),
        ("application/x-relaycode", b"x", ClipboardContent::OwnCopy),
        ("x-kde-passwordManagerHint", b"secret", ClipboardContent::Secret),
    ];
    for (mime, bytes, content) in copied {
        display.copy("wl-copy", &["-t", mime], bytes);
        changed(&mut *clipboard);
        assert_eq!(read(&mut *clipboard), content, "{mime}");
    }
    display.copy("wl-copy", &["-c"], b"");
    changed(&mut *clipboard);
    assert_eq!(read(&mut *clipboard), ClipboardContent::Empty);
}

#[test]
fn a_hundred_megabytes_are_refused_without_being_read() {
    let Some(display) = Display::wayland() else { return };
    let mut clipboard = opened(&display);
    let line = "head -c 100000000 /dev/zero | tr '\\0' a | wl-copy -t text/plain";
    let mut copying = display.shell(line);
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
fn an_owner_that_hangs_is_given_up_and_one_that_dies_leaves_no_half_text() {
    let Some(display) = Display::wayland() else { return };
    let mut clipboard = opened(&display);
    let mut wl_copy = display.client("wl-copy", &["--foreground", "-t", "text/plain", "sleepy"]);
    let mut wl_copy = wl_copy.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    changed(&mut *clipboard);
    assert_eq!(read(&mut *clipboard), text("sleepy"));
    let pid = Pid::from_child(&wl_copy);
    kill_process(pid, Signal::STOP).unwrap();
    let begun = Instant::now();
    assert_eq!(clipboard.read(99, Duration::from_millis(200)).unwrap(), ClipboardContent::Silent);
    assert!(begun.elapsed() < Duration::from_secs(3));
    // Dies while being asked, before the answer, so that the reader sees nothing but the end.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            wl_copy.kill().unwrap();
            wl_copy.wait().unwrap();
        });
        let content = clipboard.read(MOST, Duration::from_secs(9)).unwrap();
        assert!(matches!(content, ClipboardContent::Silent | ClipboardContent::Empty), "{content:?}");
    });
}

#[test]
fn a_storm_of_copies_ends_with_the_last_one() {
    let Some(display) = Display::wayland() else { return };
    let mut clipboard = opened(&display);
    let line = "for i in $(seq 200); do printf 'text %s' $i | wl-copy -t text/plain; sleep 0.005; done";
    let mut storm = display.shell(line);
    follow(&mut *clipboard, &text("text 200"));
    assert!(storm.wait().unwrap().success());
}

#[test]
fn waiting_for_nothing_costs_nothing() {
    let Some(display) = Display::wayland() else { return };
    let mut clipboard = opened(&display);
    let cost = idle_cost(&mut *clipboard);
    assert!(cost < Duration::from_millis(2), "{cost:?}");
}

#[test]
fn a_compositor_that_dies_is_an_error_and_not_a_hang() {
    let Some(mut display) = Display::wayland() else { return };
    let mut clipboard = opened(&display);
    display.kill();
    let error = wait_for(&mut *clipboard, Duration::from_secs(9)).unwrap_err();
    assert_eq!(error.name, "Wayland");
    assert!(clipboard.read(9, Duration::from_secs(1)).is_err());
    assert!(matches!(
        open(&display.desktop, ClipboardBackend::Auto),
        Err(ClipboardUnavailable::Unreachable { name: "Wayland", .. })
    ));
}

#[test]
fn a_socket_that_is_not_there_is_named_and_x11_is_tried() {
    let Some(mut display) = Display::x11(&[]) else { return };
    display.desktop.wayland = Some("/nowhere/wayland-9".into());
    assert_eq!(opened(&display).name(), "X11");
    let Err(no) = open(&display.desktop, ClipboardBackend::Wayland) else {
        panic!("opened a socket that is not there")
    };
    assert!(no.to_string().contains("/nowhere/wayland-9"), "{no}");
}

#[test]
fn the_standard_protocol_is_preferred_and_spoken() {
    let globals = &["zwlr_data_control_manager_v1", "wl_seat", "ext_data_control_manager_v1"];
    for globals in [&globals[..], &globals[1..], &globals[..2]] {
        let (_folder, socket, thread) =
            compositor(Play { globals, says: "said 世".as_bytes(), dies: false });
        let desktop = DisplayAddresses { wayland: Some(socket), x11: None };
        let mut clipboard = open(&desktop, ClipboardBackend::Auto).unwrap();
        assert_eq!(read(&mut *clipboard), text("said 世"));
        drop(clipboard);
        thread.join().unwrap();
    }
}

#[test]
fn an_owner_that_dies_in_the_middle_leaves_no_half_text() {
    let globals = &["wl_seat", "ext_data_control_manager_v1"];
    let (_folder, socket, thread) = compositor(Play { globals, says: b"half a pa", dies: true });
    let desktop = DisplayAddresses { wayland: Some(socket), x11: None };
    let mut clipboard = open(&desktop, ClipboardBackend::Auto).unwrap();
    assert_eq!(read(&mut *clipboard), ClipboardContent::Silent);
    changed(&mut *clipboard);
    assert_eq!(read(&mut *clipboard), ClipboardContent::Empty);
    drop(clipboard);
    thread.join().unwrap();
}

#[test]
fn a_compositor_that_lets_nobody_watch_is_named_and_x11_is_tried() {
    let refusing = Play { globals: &["wl_seat"], says: b"", dies: false };
    let (_folder, socket, thread) = compositor(refusing);
    let desktop = DisplayAddresses { wayland: Some(socket), x11: None };
    assert_eq!(open(&desktop, ClipboardBackend::Auto).err(), Some(ClipboardUnavailable::NoDataControl));
    thread.join().unwrap();
    let Some(mut display) = Display::x11(&[]) else { return };
    let (_folder, socket, thread) = compositor(refusing);
    display.desktop.wayland = Some(socket);
    assert_eq!(opened(&display).name(), "X11");
    thread.join().unwrap();
}

#[test]
fn nothing_open_is_handed_to_other_programs() {
    let Some(display) = Display::wayland() else { return };
    let Some(x11) = Display::x11(&[]) else { return };
    let open_in_others = || display.output("sh", &["-c", "ls /proc/self/fd"]);
    let before = open_in_others();
    let _clipboards = [opened(&display), open(&x11.desktop, ClipboardBackend::X11).unwrap()];
    let _stop = relaycode_watch::clipboard::stop_pair().unwrap();
    assert_eq!(open_in_others(), before);
}
