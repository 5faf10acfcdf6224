//! Buses that hang, lie or talk without end: the deadline is kept, and the terminal is used.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

use relaycode_tui::notify::{BusError, DEADLINE, DesktopProbe, Notification, Notifier, SHOWN_WAIT};
use tempfile::TempDir;

use crate::desktop::{around, wait_for};

/// What a busy machine may add to a limit.
const SLACK: Duration = Duration::from_secs(2);

/// Listens in its own directory, and lets `answer` talk to every caller.
fn listen(answer: impl Fn(UnixStream) + Send + Sync + Copy + 'static) -> (TempDir, Notifier) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bus");
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        for caller in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || answer(caller));
        }
    });
    (dir, Notifier::new(around(&format!("unix:path={}", path.display()))))
}

/// Holds the connection until the other side gives up.
fn hold(mut caller: UnixStream) {
    let _ = std::io::copy(&mut caller, &mut std::io::sink());
}

/// Authenticates the caller like a bus does.
fn let_in(caller: &mut UnixStream) {
    let mut first = [0; 64];
    let _ = caller.read(&mut first);
    let _ = caller.write_all(b"OK 0123456789abcdef\r\n");
}

fn check(notifier: &Notifier, expected: impl Fn(&BusError) -> bool) {
    let start = Instant::now();
    let found = notifier.probe();
    assert!(matches!(&found, DesktopProbe::Failed(error) if expected(error)), "{found:?}");
    assert!(start.elapsed() < DEADLINE + SLACK, "{:?}", start.elapsed());
    let start = Instant::now();
    let mut terminal = Vec::new();
    notifier.notify(&Notification { summary: "apply?".to_owned(), ..Notification::default() }, &mut terminal);
    assert!(start.elapsed() < SHOWN_WAIT + SLACK, "{:?}", start.elapsed());
    assert_eq!(terminal, b"\x07");
}

#[test]
fn a_bus_that_never_answers_is_given_up() {
    let (_dir, notifier) = listen(hold);
    check(&notifier, |error| matches!(error, BusError::TimedOut));
}

#[test]
fn a_bus_that_never_accepts_is_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bus");
    let listener = UnixListener::bind(&path).unwrap();
    let notifier = Notifier::new(around(&format!("unix:path={}", path.display())));
    check(&notifier, |error| matches!(error, BusError::TimedOut));
    drop(listener);
}

#[test]
fn a_bus_with_too_many_callers_waiting_is_given_up_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bus");
    let listener = UnixListener::bind(&path).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let _waits = UnixStream::connect(&path).unwrap();
    let notifier = Notifier::new(around(&format!("unix:path={}", path.display())));
    check(&notifier, |error| matches!(error, BusError::Io(_)));
}

#[test]
fn a_bus_that_sends_a_byte_now_and_then_is_given_up() {
    let (_dir, notifier) = listen(|mut caller| {
        while caller.write_all(b"O").is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    check(&notifier, |error| matches!(error, BusError::TimedOut));
}

#[test]
fn a_bus_that_hangs_up_is_given_up() {
    let (_dir, notifier) = listen(|_| ());
    check(&notifier, |error| matches!(error, BusError::Io(_)));
    let (_dir, notifier) = listen(|mut caller| let_in(&mut caller));
    check(&notifier, |error| matches!(error, BusError::Io(_)));
}

#[test]
fn a_bus_that_lets_nobody_in_is_given_up() {
    let (_dir, notifier) = listen(|mut caller| {
        let _ = caller.write_all(b"REJECTED EXTERNAL\r\n");
        hold(caller);
    });
    check(&notifier, |error| matches!(error, BusError::Refused));
}

#[test]
fn garbage_is_not_taken_for_a_bus() {
    let (_dir, notifier) = listen(|mut caller| {
        let _ = caller.write_all(&[b'x'; 100_000]);
        hold(caller);
    });
    check(&notifier, |error| matches!(error, BusError::NotABus));
    let (_dir, notifier) = listen(|mut caller| {
        let_in(&mut caller);
        let _ = caller.write_all(&[0xff; 100_000]);
        hold(caller);
    });
    check(&notifier, |error| matches!(error, BusError::NotABus));
    // A length of 4 GB, and nothing after it.
    let (_dir, notifier) = listen(|mut caller| {
        let_in(&mut caller);
        let _ = caller.write_all(&[b'l', 2, 0, 1, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0, 0, 0, 0]);
        hold(caller);
    });
    check(&notifier, |error| matches!(error, BusError::NotABus));
}

#[test]
fn a_bus_that_talks_without_end_of_other_things_is_given_up() {
    let (_dir, notifier) = listen(|mut caller| {
        let_in(&mut caller);
        // Signals without any field: whole messages, but never the answer.
        while caller.write_all(&[b'l', 4, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]).is_ok() {}
    });
    check(&notifier, |error| matches!(error, BusError::NotABus));
}

#[test]
fn while_one_hangs_no_other_is_sent_and_afterwards_one_is() {
    let (_dir, notifier) = listen(hold);
    let tell = || {
        let start = Instant::now();
        let mut terminal = Vec::new();
        notifier.notify(&Notification::default(), &mut terminal);
        assert_eq!(terminal, b"\x07");
        start.elapsed()
    };
    let start = Instant::now();
    assert!(tell() >= SHOWN_WAIT, "the first is waited for");
    let later: Duration = (0..200).map(|_| tell()).sum();
    // Another one may have been sent only if the machine took longer than the deadline.
    assert!(later < SHOWN_WAIT || start.elapsed() > DEADLINE, "{later:?}");
    wait_for("the first to be given up", || (tell() >= SHOWN_WAIT).then_some(()));
}
