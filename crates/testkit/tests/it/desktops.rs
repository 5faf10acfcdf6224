//! Desktops: what is copied can be pasted, and nothing stays behind.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use relaycode_testkit::display::{Wayland, X11};
use relaycode_testkit::or_skip;
use relaycode_testkit::process::output;

const LIMIT: Duration = Duration::from_secs(20);

#[test]
fn what_is_copied_on_x11_is_pasted() {
    let desktop = or_skip!(X11::start());
    assert_eq!(desktop.paste(), "");
    for text in ["one", "zwei äöü ✓\n", "zwei äöü ✓\n", &"long ".repeat(200_000)] {
        desktop.copy(text);
        assert!(desktop.paste() == text);
    }
    or_skip!(desktop.copy_with_xsel("from xsel"));
    assert_eq!(desktop.paste(), "from xsel");
    desktop.copy("again");
    assert_eq!(desktop.paste(), "again");
    desktop.copy_as("image/png", b"\x89PNG\0\xff");
    assert_eq!(desktop.paste(), "");
    assert_eq!(desktop.paste_as("image/png").unwrap(), b"\x89PNG\0\xff");
}

#[test]
fn what_is_copied_on_wayland_is_pasted() {
    let desktop = or_skip!(Wayland::start());
    assert_eq!(desktop.paste(), "");
    for text in ["one", "zwei äöü ✓\n", "zwei äöü ✓\n", &"long ".repeat(200_000)] {
        desktop.copy(text);
        assert!(desktop.paste() == text);
    }
    desktop.copy_as("image/png", b"\x89PNG\0\xff");
    assert_eq!(desktop.paste(), "");
    assert_eq!(desktop.paste_as("image/png").unwrap(), b"\x89PNG\0\xff");
}

#[test]
fn a_program_that_hangs_can_be_copied_over() {
    let desktop = or_skip!(X11::start());
    desktop.copy("hangs");
    desktop.hang_owner();
    desktop.copy("lives");
    assert_eq!(desktop.paste(), "lives");
    desktop.kill_owner();
    assert_eq!(desktop.paste(), "");
    let desktop = or_skip!(Wayland::start());
    desktop.copy("hangs");
    desktop.hang_owner();
    desktop.copy("lives");
    assert_eq!(desktop.paste(), "lives");
    desktop.kill_owner();
    assert_eq!(desktop.paste(), "");
}

#[test]
fn two_desktops_have_two_clipboards() {
    let (one, two) = (or_skip!(X11::start()), or_skip!(X11::start()));
    assert_ne!(one.display(), two.display());
    one.copy("one");
    two.copy("two");
    assert_eq!((one.paste(), two.paste()), ("one".to_owned(), "two".to_owned()));
}

#[test]
fn a_desktop_ends_with_a_test_that_fails_and_leaves_no_file() {
    let failed = std::thread::spawn(|| {
        let x11 = X11::start()?;
        let wayland = Wayland::start()?;
        x11.copy("held");
        wayland.copy(&"held ".repeat(100_000));
        let folder = wayland.env().remove(1).1;
        let socket = format!("/tmp/.X11-unix/X{}", &x11.display()[1..]);
        assert!(Path::new(&folder).exists() && Path::new(&socket).exists());
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            let _both = (x11, wayland);
            std::panic::resume_unwind(Box::new("on purpose"));
        }));
        assert!(result.is_err());
        Ok(folder)
    });
    let folder = or_skip!(failed.join().unwrap());
    assert!(!Path::new(&folder).exists());
    for process in fs::read_dir("/proc").unwrap().filter_map(Result::ok) {
        let environment = fs::read(process.path().join("environ")).unwrap_or_default();
        let environment = String::from_utf8_lossy(&environment);
        assert!(!environment.contains(&folder), "{:?} still runs", process.path());
    }
}

#[test]
fn a_program_is_on_one_desktop_only() {
    let desktop = or_skip!(X11::start());
    let mut shell = Command::new("sh");
    shell.args(["-c", "printf '%s %s' \"$DISPLAY\" \"$WAYLAND_DISPLAY\""]).env("WAYLAND_DISPLAY", "other");
    desktop.surround(shell.stderr(Stdio::null()));
    let said = output(&mut shell, b"", LIMIT).unwrap().unwrap();
    assert_eq!(String::from_utf8(said).unwrap(), format!("{} ", desktop.display()));
}

#[test]
fn somebody_inside_takes_the_clipboard_and_hands_it_over() {
    let desktop = or_skip!(X11::start());
    let owner = desktop.owner();
    for text in ["one", "zwei äöü ✓\n"] {
        owner.take(text);
        assert_eq!(desktop.paste(), text);
    }
    desktop.copy("somebody else's");
    drop(owner);
    assert_eq!(desktop.paste(), "somebody else's");
    let desktop = or_skip!(Wayland::start());
    let owner = desktop.owner();
    for text in ["one", "zwei äöü ✓\n"] {
        owner.take(text);
        assert_eq!(desktop.paste(), text);
    }
    drop(owner);
    assert_eq!(desktop.paste(), "");
}
