//! Questions and keys on a pseudo-terminal.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::thread;

use rustix::termios::{LocalModes, tcgetattr};

use super::*;

const LOOK: OutputStyle = OutputStyle { color: false, utf8: true, width: Some(80) };

/// The person's side, and relay's.
fn pair() -> (File, Terminal) {
    let (screen, file) = relaycode_testkit::screen::open_pty(80, 24).unwrap();
    (screen, Terminal::from_file(file, false))
}

/// Waits until `text` has appeared, then types.
fn when(screen: &File, text: &'static str, typed: &'static [u8]) -> thread::JoinHandle<()> {
    let mut screen = screen.try_clone().unwrap();
    thread::spawn(move || {
        let mut seen = String::new();
        let mut bytes = [0; 1_024];
        while !seen.contains(text) {
            let count = screen.read(&mut bytes).unwrap();
            seen += &String::from_utf8_lossy(&bytes[..count]);
        }
        screen.write_all(typed).unwrap();
    })
}

#[test]
fn what_is_pasted_answers_no_question() {
    let (screen, terminal) = pair();
    let pasted = when(&screen, "apply?", b"\x1b[200~y\ry\r\x1b[201~y\r");
    let answered = {
        let screen = screen.try_clone().unwrap();
        thread::spawn(move || {
            pasted.join().unwrap();
            when(&screen, "no answer)\r\n  apply?", b"no\r").join().unwrap();
        })
    };
    assert_eq!(terminal.prompt("  apply? ", &LOOK, &|| false), PromptAnswer::Line("no".into()));
    answered.join().unwrap();
    assert_eq!(terminal.take_paste().unwrap().bytes, b"y\ny\n");
    assert_eq!(terminal.take_paste(), None);
}

#[test]
fn what_is_being_pasted_when_a_question_comes_stays_a_paste_to_its_end() {
    // The rest of it would say yes, if it were taken for keys.
    for first in [&b"\x1b[200~one\r"[..], b"\x1b[20"] {
        let (mut screen, terminal) = pair();
        let _listening = terminal.enter_cbreak();
        screen.write_all(first).unwrap();
        let rest: &'static [u8] = if first.ends_with(b"\r") { b"y\r\x1b[201~" } else { b"0~y\r\x1b[201~" };
        let typing = {
            let screen = screen.try_clone().unwrap();
            thread::spawn(move || {
                when(&screen, "apply?", rest).join().unwrap();
                when(&screen, "no answer)\r\n  apply?", b"no\r").join().unwrap();
            })
        };
        assert_eq!(
            terminal.prompt("  apply? ", &LOOK, &|| false),
            PromptAnswer::Line("no".into()),
            "{first:?}"
        );
        typing.join().unwrap();
        assert!(terminal.take_paste().unwrap().bytes.ends_with(b"y\n"), "{first:?}");
    }
}

#[test]
fn the_terminal_is_as_it_was_while_it_is_lent_and_afterwards() {
    let (_screen, terminal) = pair();
    let canonical = || tcgetattr(terminal.file()).unwrap().local_modes.contains(LocalModes::ICANON);
    assert!(canonical());
    let outer = terminal.enter_cbreak();
    let inner = terminal.clone().enter_cbreak();
    assert!(!canonical());
    drop(inner);
    assert!(!canonical());
    let lent = terminal.lend();
    assert!(canonical());
    drop(lent);
    assert!(!canonical());
    drop(outer);
    assert!(canonical());
}

#[test]
fn a_key_a_paste_a_wake_and_the_time_end_the_wait() {
    let (mut screen, terminal) = pair();
    let _listening = terminal.enter_cbreak();
    let (read, write) = std::io::pipe().unwrap();
    screen.write_all(b"u").unwrap();
    assert_eq!(terminal.wait_event(read.as_fd(), None), TerminalEvent::Key(InputKey::Char('u')));
    screen.write_all(b"\x1b[200~text\x1b[201~").unwrap();
    assert!(
        matches!(terminal.wait_event(read.as_fd(), None), TerminalEvent::Paste(paste) if paste.bytes == b"text")
    );
    assert_eq!(terminal.wait_event(read.as_fd(), Some(Instant::now())), TerminalEvent::Timeout);
    (&write).write_all(b"x").unwrap();
    assert_eq!(terminal.wait_event(read.as_fd(), None), TerminalEvent::Wakeup);
    drop(screen);
    let mut one = [0];
    (&read).read_exact(&mut one).unwrap();
    assert!(matches!(terminal.wait_event(read.as_fd(), None), TerminalEvent::Disconnected(_)));
}

#[test]
fn in_raw_mode_every_key_is_a_key_and_afterwards_the_terminal_is_as_it_was() {
    let (mut screen, terminal) = pair();
    let before = tcgetattr(terminal.file()).unwrap();
    let cbreak = terminal.enter_cbreak();
    let (wake, _hold) = std::io::pipe().unwrap();
    {
        let _raw = terminal.enter_raw();
        assert!(!tcgetattr(terminal.file()).unwrap().local_modes.contains(LocalModes::ISIG));
        screen.write_all(b"\x03\x1b[13;2u\x1b[I\x1b[200~a\rb\x1b[201~").unwrap();
        let events: Vec<ScreenEvent> =
            (0..4).map(|_| terminal.wait_screen_event(wake.as_fd(), None)).collect();
        let paste = PastedText { bytes: b"a\nb".to_vec(), truncated: false };
        assert_eq!(
            events,
            [
                ScreenEvent::Key(KeyPress::ctrl('c')),
                ScreenEvent::Key(KeyPress::shift(KeyCode::Enter)),
                ScreenEvent::Focus(true),
                ScreenEvent::Paste(paste),
            ]
        );
        rustix::termios::tcsetwinsize(
            &screen,
            rustix::termios::Winsize { ws_row: 30, ws_col: 90, ws_xpixel: 0, ws_ypixel: 0 },
        )
        .unwrap();
        let resized = terminal.wait_screen_event(wake.as_fd(), None);
        assert_eq!(resized, ScreenEvent::Resize { columns: 90, rows: 30 });
        let timeout = terminal.wait_screen_event(wake.as_fd(), Some(Instant::now()));
        assert_eq!(timeout, ScreenEvent::Timeout);
    }
    assert!(tcgetattr(terminal.file()).unwrap().local_modes.contains(LocalModes::ISIG));
    drop(cbreak);
    assert_eq!(tcgetattr(terminal.file()).unwrap().local_modes, before.local_modes);
    drop(terminal);
    let mut seen = Vec::new();
    // Ends with an error, because nobody has the other side open.
    let _ = screen.read_to_end(&mut seen);
    let seen = String::from_utf8_lossy(&seen);
    // What was pushed is taken back, once.
    assert_eq!((seen.matches("\x1b[>1u").count(), seen.matches("\x1b[<u").count()), (1, 1), "{seen:?}");
    assert_eq!(
        (seen.matches("\x1b[?1004h").count(), seen.matches("\x1b[?1004l").count()),
        (1, 1),
        "{seen:?}"
    );
}
