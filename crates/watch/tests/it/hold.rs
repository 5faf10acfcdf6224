//! What relay copies can be read by everybody until somebody else copies, and is recognised as relay's.

use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use relaycode_watch::clipboard::{ClipboardBackend, ClipboardContent, ClipboardUnavailable, open};
use relaycode_watch::{HOLD_MOST, HoldError, hold};
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{ConnectionExt, CreateWindowAux, WindowClass};
use x11rb::rust_connection::RustConnection;

use crate::display_servers::Display;
use crate::support::{LIMIT, changed, read, text, until};

type Held = Receiver<Result<(), HoldError>>;

/// Holds in its own thread; returns when the clipboard is owned.
fn held(display: &Display, said: &str) -> (JoinHandle<()>, Held) {
    let (desktop, said) = (display.desktop.clone(), said.to_owned());
    let (ready, is_ready) = channel();
    let (ended, has_ended) = channel();
    let thread = std::thread::spawn(move || {
        let result = hold(&said, &desktop, ClipboardBackend::Auto, || ready.send(()).unwrap());
        ended.send(result).unwrap();
    });
    is_ready.recv_timeout(LIMIT).unwrap();
    (thread, has_ended)
}

fn readers(display: &Display) -> Vec<Vec<u8>> {
    match display.desktop.x11 {
        Some(_) => vec![
            display.output("xclip", &["-o", "-selection", "clipboard"]),
            display.output("xclip", &["-o", "-selection", "clipboard", "-t", "UTF8_STRING"]),
            display.output("xsel", &["-b", "-o"]),
        ],
        None => {
            vec![display.output("wl-paste", &["-n"]), display.output("wl-paste", &["-n", "-t", "text/plain"])]
        }
    }
}

fn is_held_until_replaced(mut display: Display) {
    let mut watcher = open(&display.desktop, ClipboardBackend::Auto).unwrap();
    let long: String = (0..22_000).map(|line| format!("line {line:05} 世\n")).collect();
    assert!(long.len() > 300_000);
    for said in ["one\r\n", "Grüße 🙂", &long, &"x".repeat(HOLD_MOST)] {
        let (thread, has_ended) = held(&display, said);
        for read in readers(&display) {
            assert!(read == said.as_bytes(), "{} bytes of {}", read.len(), said.len());
        }
        changed(&mut *watcher);
        assert_eq!(read(&mut *watcher), ClipboardContent::OwnCopy);
        assert!(has_ended.try_recv().is_err(), "it ended by itself");
        display.copy_text("theirs");
        assert_eq!(has_ended.recv_timeout(LIMIT), Ok(Ok(())));
        thread.join().unwrap();
        changed(&mut *watcher);
        assert_eq!(read(&mut *watcher), text("theirs"));
    }
    // One holder takes over from another.
    let (first, first_ended) = held(&display, "first");
    let (second, second_ended) = held(&display, "second");
    assert_eq!(first_ended.recv_timeout(LIMIT), Ok(Ok(())));
    first.join().unwrap();
    assert_eq!(readers(&display)[0], b"second");
    display.kill();
    assert!(matches!(second_ended.recv_timeout(LIMIT), Ok(Err(HoldError::Gone(_)))));
    second.join().unwrap();
}

#[test]
fn on_x11_the_text_is_held_until_it_is_replaced() {
    let Some(display) = Display::x11(&[]) else { return };
    is_held_until_replaced(display);
}

#[test]
fn on_wayland_the_text_is_held_until_it_is_replaced() {
    let Some(display) = Display::wayland() else { return };
    is_held_until_replaced(display);
}

#[test]
fn on_x11_who_asks_just_before_somebody_else_copies_is_answered() {
    let Some(display) = Display::x11(&[]) else { return };
    let (server, screen) = RustConnection::connect(display.desktop.x11.as_deref()).unwrap();
    let window = server.generate_id().unwrap();
    let root = server.setup().roots[screen].root;
    let look = CreateWindowAux::new();
    server.create_window(0, window, root, 0, 0, 1, 1, 0, WindowClass::INPUT_ONLY, 0, &look).unwrap();
    let atom = |name: &str| server.intern_atom(false, name.as_bytes()).unwrap().reply().unwrap().atom;
    let (clipboard, form, property) = (atom("CLIPBOARD"), atom("UTF8_STRING"), atom("HERE"));
    for _ in 0..50 {
        let (thread, has_ended) = held(&display, "ours");
        // In one write, so that the holder answers and ends at once.
        server.convert_selection(window, clipboard, form, property, x11rb::CURRENT_TIME).unwrap();
        server.set_selection_owner(window, clipboard, x11rb::CURRENT_TIME).unwrap();
        server.flush().unwrap();
        assert_eq!(has_ended.recv_timeout(LIMIT), Ok(Ok(())));
        thread.join().unwrap();
        until("the answer", || matches!(server.poll_for_event().unwrap(), Some(Event::SelectionNotify(_))));
        let got = server.get_property(true, window, property, form, 0, 9).unwrap().reply().unwrap();
        assert_eq!(got.value, b"ours");
    }
}

#[test]
fn a_reader_that_stops_keeps_nobody_waiting() {
    let Some(display) = Display::wayland() else { return };
    let (thread, has_ended) = held(&display, &"x".repeat(HOLD_MOST));
    // Its output is not read: it hangs with a full pipe, and so does the holder's side.
    let mut stuck: Vec<_> = (0..20)
        .map(|_| {
            let mut paste = display.client("wl-paste", &["-n"]);
            paste.stdout(std::process::Stdio::piped()).spawn().unwrap()
        })
        .collect();
    assert_eq!(display.output("wl-paste", &["-n"]).len(), HOLD_MOST);
    display.copy_text("theirs");
    assert_eq!(has_ended.recv_timeout(Duration::from_secs(9)), Ok(Ok(())));
    thread.join().unwrap();
    for paste in &mut stuck {
        paste.kill().unwrap();
        paste.wait().unwrap();
    }
}

#[test]
fn too_much_or_nowhere_is_said_and_nothing_is_ready() {
    let desktop = relaycode_watch::clipboard::DisplayAddresses::default();
    let never = || panic!("ready");
    let much = "x".repeat(HOLD_MOST + 1);
    assert_eq!(
        hold(&much, &desktop, ClipboardBackend::Auto, never),
        Err(HoldError::TooLarge { size: HOLD_MOST + 1 })
    );
    assert_eq!(
        hold("x", &desktop, ClipboardBackend::Auto, never),
        Err(ClipboardUnavailable::NoDesktop.into())
    );
    assert_eq!(hold("x", &desktop, ClipboardBackend::None, never), Err(ClipboardUnavailable::Off.into()));
}
