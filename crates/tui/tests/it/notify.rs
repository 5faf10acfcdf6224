//! Notifications on a real desktop: they are shown, the next replaces the last, nothing is obeyed.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::Duration;

use relaycode_tui::notify::{
    BusError, DesktopProbe as Found, Notification, Notifier, NotifyMethod, TerminalEnv,
};

use relaycode_testkit::bus::TestBus;
use relaycode_testkit::or_skip;

use crate::desktop::{Desk, around, wait_for};

fn notice(summary: &str, body: &str, urgent: bool) -> Notification {
    Notification { summary: summary.to_owned(), body: body.to_owned(), urgent }
}

/// Repeats it on a loaded machine until the desktop confirms in time.
fn show(notifier: &Notifier, notice: &Notification) {
    wait_for("the desktop", || {
        let mut terminal = Vec::new();
        notifier.notify(notice, &mut terminal);
        terminal.is_empty().then_some(())
    });
}

#[test]
fn an_outcome_takes_the_place_of_the_question_that_waited() {
    let desk = or_skip!(Desk::start());
    let notifier = Notifier::new(around(desk.bus.address()));
    assert_eq!(notifier.method(), NotifyMethod::Desktop);
    assert_eq!(notifier.terminal_method(), NotifyMethod::Bell);
    assert!(matches!(notifier.probe(), Found::ServerRunning));

    show(&notifier, &notice("my-app: apply?", "3 files", true));
    assert_eq!(desk.displayed(), 1);
    show(&notifier, &notice("my-app: applied", "3 files, checked", false));
    assert_eq!(desk.displayed(), 1, "it was replaced, not added");
    let shown = desk.clear();
    assert_eq!(shown[0][..2], ["my-app: applied", "3 files, checked"]);
    assert_ne!(shown[0][2], "0", "the outcome goes away by itself");

    show(&notifier, &notice("again", "", true));
    assert_eq!(desk.clear()[0][2], "0", "what waits for a person stays");
    // A second notifier does not know the first one's: it adds.
    show(&notifier, &notice("one", "", false));
    show(&Notifier::new(around(desk.bus.address())), &notice("two", "", false));
    assert_eq!(desk.displayed(), 2);
}

#[test]
fn hostile_texts_arrive_as_plain_text() {
    let desk = or_skip!(Desk::start());
    let notifier = Notifier::new(around(desk.bus.address()));
    let hostile = [
        ("\x1b]0;x\x07 <b>", "<a href=\"http://x\">y</a> & \u{202e}z\n\n\0", "&lt;a href=", "\\\\u{202e}z"),
        ("long", &"x".repeat(100_000), "xxx", "x…"),
        ("wide", &"日\u{301}".repeat(50_000), "日", "…"),
    ];
    for (summary, body, begins, holds) in hostile {
        show(&notifier, &notice(summary, body, false));
        let shown = desk.clear().remove(0);
        assert!(shown[1].starts_with(begins) && shown[1].contains(holds), "{shown:?}");
        assert!(
            !shown[1].contains('<') && shown[1].len() < 2000 && !shown.concat().contains('\x1b'),
            "{shown:?}"
        );
    }
}

#[test]
fn on_a_bus_without_a_server_the_terminal_is_used() {
    let bus = or_skip!(TestBus::start());
    let notifier = Notifier::new(around(bus.address()));
    assert!(matches!(notifier.probe(), Found::NoServer));
    let mut terminal = Vec::new();
    notifier.notify(&notice("apply?", "", true), &mut terminal);
    assert_eq!(terminal, b"\x07");
}

#[test]
fn a_server_that_the_bus_can_start_is_found() {
    let bus = or_skip!(TestBus::start());
    bus.add_service("org.freedesktop.Notifications", "/bin/false");
    // The bus reads its folder when it sees the change; until then no server is known.
    let notifier = Notifier::new(around(bus.address()));
    wait_for("the service file", || matches!(notifier.probe(), Found::Startable).then_some(()));
}

#[test]
fn the_runtime_directory_leads_to_the_bus_and_several_addresses_are_tried_in_order() {
    let bus = or_skip!(TestBus::start());
    let address = format!(
        "tcp:host=localhost;unix:path={}/gone,guid=0;{},guid=1",
        bus.folder().display(),
        bus.address()
    );
    assert!(matches!(Notifier::new(around(&address)).probe(), Found::NoServer));
    let by_directory = TerminalEnv {
        bus_address: None,
        runtime_dir: Some(bus.folder().to_str().unwrap().to_owned()),
        ..around("")
    };
    assert!(matches!(Notifier::new(by_directory).probe(), Found::NoServer));
}

#[test]
fn a_bus_with_an_abstract_name_is_reached() {
    let name = format!("relay-test-{}", std::process::id());
    let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    // Forwarded to a real bus, byte by byte.
    let bus = or_skip!(TestBus::start());
    let socket = bus.folder().join("bus");
    let hand_on = std::thread::spawn(move || {
        let (ours, _) = listener.accept().unwrap();
        let theirs = UnixStream::connect(socket).unwrap();
        let (mut from, mut to) = (ours.try_clone().unwrap(), theirs.try_clone().unwrap());
        let up = std::thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut to);
            let _ = to.shutdown(std::net::Shutdown::Both);
        });
        let (mut from, mut to) = (theirs, ours);
        to.set_write_timeout(Some(Duration::from_secs(5))).unwrap();
        let _ = std::io::copy(&mut from, &mut to);
        up.join().unwrap();
    });
    let found = Notifier::new(around(&format!("unix:abstract={name}"))).probe();
    assert!(matches!(found, Found::NoServer), "{found:?}");
    hand_on.join().unwrap();
}

#[test]
fn without_a_bus_nothing_fails() {
    for address in ["unix:path=/nonexistent/bus", "autolaunch:", "", "unix:path=/dev/null"] {
        let notifier = Notifier::new(around(address));
        let found = notifier.probe();
        assert!(
            matches!(found, Found::Failed(BusError::NoAddress | BusError::Io(_))),
            "{address}: {found:?}"
        );
        let mut terminal = Vec::new();
        notifier.notify(&notice("apply?", "", true), &mut terminal);
        assert_eq!(terminal, b"\x07");
    }
}
