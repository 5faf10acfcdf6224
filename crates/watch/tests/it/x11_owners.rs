//! X11: owners that hang, die, lie or come in between.

use std::process::Stdio;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

use relaycode_watch::clipboard::{Clipboard, ClipboardBackend, ClipboardContent, ClipboardWake, open};
use rustix::process::{Pid, Signal, kill_process};
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ConnectionExt, CreateWindowAux, EventMask, PropMode, SELECTION_NOTIFY_EVENT,
    SelectionNotifyEvent, SelectionRequestEvent, Window, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use crate::display_servers::Display;
use crate::support::{changed, read, text, until, wait_for};

/// Owns the clipboard as badly as a test wants.
struct Owner {
    server: RustConnection,
    window: Window,
}

impl Owner {
    fn new(display: &Display) -> Owner {
        let (server, screen) = RustConnection::connect(display.desktop.x11.as_deref()).unwrap();
        let window = server.generate_id().unwrap();
        let root = server.setup().roots[screen].root;
        let look = CreateWindowAux::new();
        server.create_window(0, window, root, 0, 0, 1, 1, 0, WindowClass::INPUT_ONLY, 0, &look).unwrap();
        Owner { server, window }
    }

    fn atom(&self, name: &str) -> Atom {
        self.server.intern_atom(false, name.as_bytes()).unwrap().reply().unwrap().atom
    }

    fn own(&self) {
        let clipboard = self.atom("CLIPBOARD");
        self.server.set_selection_owner(self.window, clipboard, x11rb::CURRENT_TIME).unwrap();
        self.server.flush().unwrap();
    }

    fn asked(&self) -> SelectionRequestEvent {
        loop {
            if let Event::SelectionRequest(asked) = self.server.wait_for_event().unwrap() {
                return asked;
            }
        }
    }

    fn answer(&self, asked: &SelectionRequestEvent, property: Atom) {
        let SelectionRequestEvent { time, requestor, selection, target, .. } = *asked;
        let response_type = SELECTION_NOTIFY_EVENT;
        let answer =
            SelectionNotifyEvent { response_type, sequence: 0, time, requestor, selection, target, property };
        self.server.send_event(false, requestor, EventMask::NO_EVENT, answer).unwrap();
        self.server.flush().unwrap();
    }

    /// Answers with these bytes.
    fn say(&self, asked: &SelectionRequestEvent, bytes: &[u8]) {
        let replace = PropMode::REPLACE;
        self.server.change_property8(replace, asked.requestor, asked.property, asked.target, bytes).unwrap();
        self.answer(asked, asked.property);
    }

    /// Offers UTF-8, and begins to send it in parts.
    fn begin(&self) -> SelectionRequestEvent {
        let asked = self.asked();
        let (utf8, list, incr) = (self.atom("UTF8_STRING"), self.atom("ATOM"), self.atom("INCR"));
        let replace = PropMode::REPLACE;
        self.server.change_property32(replace, asked.requestor, asked.property, list, &[utf8]).unwrap();
        self.answer(&asked, asked.property);
        let asked = self.asked();
        let look =
            x11rb::protocol::xproto::ChangeWindowAttributesAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        self.server.change_window_attributes(asked.requestor, &look).unwrap();
        self.server.change_property32(replace, asked.requestor, asked.property, incr, &[4]).unwrap();
        self.answer(&asked, asked.property);
        asked
    }
}

fn opened(display: &Display) -> Box<dyn Clipboard> {
    open(&display.desktop, ClipboardBackend::X11).unwrap()
}

#[test]
fn a_change_is_noticed_at_once() {
    let Some(display) = Display::x11(&[]) else { return };
    let mut clipboard = opened(&display);
    let owner = Owner::new(&display);
    let mut took: Vec<Duration> = (0..20)
        .map(|_| {
            let begun = Instant::now();
            owner.own();
            changed(&mut *clipboard);
            begun.elapsed()
        })
        .collect();
    took.sort();
    // Half of them: the others may wait for a busy processor.
    assert!(took[10] < Duration::from_millis(100), "{took:?}");
}

#[test]
fn an_owner_that_never_answers_is_given_up_in_time() {
    let Some(display) = Display::x11(&[]) else { return };
    let mut clipboard = opened(&display);
    let owner = Owner::new(&display);
    owner.own();
    changed(&mut *clipboard);
    for _ in 0..12 {
        let begun = Instant::now();
        assert_eq!(clipboard.read(9, Duration::from_millis(100)).unwrap(), ClipboardContent::Silent);
        assert!(begun.elapsed() < Duration::from_secs(3));
    }
    display.copy_text("alive");
    changed(&mut *clipboard);
    assert_eq!(read(&mut *clipboard), text("alive"));
}

#[test]
fn the_late_answer_to_an_earlier_request_is_not_taken_for_this_one() {
    let Some(display) = Display::x11(&[]) else { return };
    let mut clipboard = opened(&display);
    let owner = Owner::new(&display);
    owner.own();
    changed(&mut *clipboard);
    assert_eq!(clipboard.read(99, Duration::from_millis(100)).unwrap(), ClipboardContent::Silent);
    let late = owner.asked();
    let (said, is_said) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(|| {
            // The list of forms is refused, the text is answered: after the late answer.
            owner.answer(&owner.asked(), x11rb::NONE);
            let asked = owner.asked();
            owner.say(&late, b"late");
            owner.say(&asked, b"in time");
            drop(said);
        });
        assert_eq!(read(&mut *clipboard), text("in time"));
        let _ = is_said.recv();
    });
}

#[test]
fn an_owner_that_dies_in_the_middle_leaves_no_half_text() {
    let Some(display) = Display::x11(&[]) else { return };
    let mut clipboard = opened(&display);
    let owner = Owner::new(&display);
    owner.own();
    changed(&mut *clipboard);
    let dying = thread::spawn(move || {
        let asked = owner.begin();
        while !matches!(owner.server.wait_for_event().unwrap(), Event::PropertyNotify(gone) if u8::from(gone.state) == 1)
        {
        }
        let replace = PropMode::REPLACE;
        owner
            .server
            .change_property8(replace, asked.requestor, asked.property, asked.target, b"half a pa")
            .unwrap();
        owner.server.flush().unwrap();
        while !matches!(owner.server.wait_for_event().unwrap(), Event::PropertyNotify(gone) if u8::from(gone.state) == 1)
        {
        }
    });
    let begun = Instant::now();
    assert_eq!(read(&mut *clipboard), ClipboardContent::Silent);
    assert!(begun.elapsed() < Duration::from_secs(3), "the server tells that it died");
    dying.join().unwrap();
    changed(&mut *clipboard);
    assert_eq!(read(&mut *clipboard), ClipboardContent::Empty);
}

#[test]
fn an_owner_that_never_ends_is_stopped_at_the_limit() {
    let Some(display) = Display::x11(&[]) else { return };
    let mut clipboard = opened(&display);
    let owner = Owner::new(&display);
    owner.own();
    changed(&mut *clipboard);
    let endless = thread::spawn(move || {
        let asked = owner.begin();
        let part = vec![b'x'; 60_000];
        // Until the window is gone.
        loop {
            match owner.server.wait_for_event().unwrap() {
                Event::PropertyNotify(taken) if u8::from(taken.state) == 1 => {
                    let (window, property) = (asked.requestor, asked.property);
                    let put = owner.server.change_property8(
                        PropMode::REPLACE,
                        window,
                        property,
                        asked.target,
                        &part,
                    );
                    if put.unwrap().check().is_err() {
                        return;
                    }
                }
                Event::SelectionClear(_) => return,
                _ => {}
            }
        }
    });
    assert_eq!(clipboard.read(1_000_000, Duration::from_secs(9)).unwrap(), ClipboardContent::TooLarge);
    display.copy_text("over");
    endless.join().unwrap();
}

#[test]
fn a_new_owner_in_the_middle_is_asked_instead() {
    let Some(display) = Display::x11(&[]) else { return };
    let mut clipboard = opened(&display);
    let owner = Owner::new(&display);
    owner.own();
    changed(&mut *clipboard);
    thread::scope(|scope| {
        scope.spawn(|| {
            owner.begin();
            display.copy_text("the new one");
        });
        let begun = Instant::now();
        assert_eq!(read(&mut *clipboard), text("the new one"));
        assert!(begun.elapsed() < Duration::from_secs(4));
    });
    // And what was read is not new.
    let woken = wait_for(&mut *clipboard, Duration::from_millis(100)).unwrap();
    assert_eq!(woken, ClipboardWake::Stopped);
}

#[test]
fn a_stopped_xclip_is_silent_and_survives_being_given_up() {
    let Some(display) = Display::x11(&[]) else { return };
    let mut clipboard = opened(&display);
    let mut xclip = display.client("xclip", &["-quiet", "-selection", "clipboard", "/dev/stdin"]);
    let mut xclip = xclip.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut input = xclip.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, b"sleepy").unwrap();
    drop(input);
    changed(&mut *clipboard);
    assert_eq!(read(&mut *clipboard), text("sleepy"));
    let pid = Pid::from_child(&xclip);
    kill_process(pid, Signal::STOP).unwrap();
    assert_eq!(clipboard.read(99, Duration::from_millis(200)).unwrap(), ClipboardContent::Silent);
    kill_process(pid, Signal::CONT).unwrap();
    assert_eq!(read(&mut *clipboard), text("sleepy"));
    xclip.kill().unwrap();
    xclip.wait().unwrap();
    until("nothing is there", || read(&mut *clipboard) == ClipboardContent::Empty);
}

/// For a server that must not lose a client: Xvfb without XFIXES dies of it.
fn says(owner: Owner, tells_time: bool, texts: &[&'static str], next: &Receiver<()>) {
    let (timestamp, utf8) = (owner.atom("TIMESTAMP"), owner.atom("UTF8_STRING"));
    let mut texts = texts.iter();
    let mut now = "";
    loop {
        if next.try_recv().is_ok() {
            let Some(text) = texts.next() else { return std::mem::forget(owner) };
            now = text;
            owner.own();
        }
        let Some(event) = owner.server.poll_for_event().unwrap() else {
            thread::sleep(Duration::from_millis(1));
            continue;
        };
        let Event::SelectionRequest(asked) = event else { continue };
        if asked.target == utf8 {
            owner.say(&asked, now.as_bytes());
        } else if asked.target == timestamp && tells_time {
            let time = u32::try_from(texts.len()).unwrap();
            let (replace, window, property) = (PropMode::REPLACE, asked.requestor, asked.property);
            owner.server.change_property32(replace, window, property, AtomEnum::INTEGER, &[time]).unwrap();
            owner.answer(&asked, property);
        } else {
            owner.answer(&asked, x11rb::NONE);
        }
    }
}

#[test]
fn a_server_without_xfixes_is_asked_every_so_often() {
    for tells_time in [true, false] {
        let Some(display) = Display::x11(&["-extension", "XFIXES"]) else { return };
        let mut clipboard = opened(&display);
        assert!(!clipboard.notifies_changes());
        let (next, is_next) = channel();
        let owner = Owner::new(&display);
        let thread =
            thread::spawn(move || says(owner, tells_time, &["before", "new", "new, longer"], &is_next));
        next.send(()).unwrap();
        until("the first text", || read(&mut *clipboard) == text("before"));
        assert_eq!(wait_for(&mut *clipboard, Duration::from_millis(200)), Ok(ClipboardWake::Stopped));
        for said in ["new", "new, longer"] {
            next.send(()).unwrap();
            changed(&mut *clipboard);
            assert_eq!(read(&mut *clipboard), text(said));
            assert_eq!(wait_for(&mut *clipboard, Duration::from_millis(200)), Ok(ClipboardWake::Stopped));
        }
        next.send(()).unwrap();
        thread.join().unwrap();
    }
}

#[test]
fn a_flood_of_events_outlasts_nobodys_patience() {
    let Some(display) = Display::x11(&[]) else { return };
    let mut clipboard = opened(&display);
    let owner = Owner::new(&display);
    owner.own();
    changed(&mut *clipboard);
    let (enough, is_enough) = channel::<()>();
    thread::scope(|scope| {
        let owner = &owner;
        scope.spawn(move || {
            let asked = owner.asked();
            let noise = owner.atom("NOISE");
            while is_enough.try_recv() == Err(TryRecvError::Empty) {
                for _ in 0..100 {
                    let (append, text) = (PropMode::APPEND, AtomEnum::STRING);
                    owner.server.change_property8(append, asked.requestor, noise, text, &[]).unwrap();
                }
                owner.server.sync().unwrap();
            }
        });
        let begun = Instant::now();
        assert_eq!(clipboard.read(9, Duration::from_millis(300)).unwrap(), ClipboardContent::Silent);
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
        assert_eq!(wait_for(&mut *clipboard, Duration::from_millis(300)), Ok(ClipboardWake::Stopped));
        assert!(begun.elapsed() < Duration::from_secs(6), "{:?}", begun.elapsed());
        drop(enough);
    });
}
