//! What `relay doctor` says of a machine and a project.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use relaycode_testkit::bus::TestBus;
use relaycode_testkit::display::{Wayland, X11};
use relaycode_testkit::dunst::Dunst;
use relaycode_testkit::or_skip;
use serde_json::Value;

use crate::fixture::scratch_project::{Project, run};
use crate::relay_snapshot;

fn finding<'a>(value: &'a Value, name: &str) -> &'a Value {
    let found = value["checks"].as_array().unwrap().iter().find(|check| check["name"] == name);
    found.unwrap_or_else(|| panic!("{name} is missing in {value}"))
}

#[test]
fn a_project_that_is_well_is_said_to_be_and_nothing_is_made() {
    let project = Project::new(&[("a.txt", "a\n")]);
    let before = project.tree();
    let ran = project.relay(&["doctor", "--json"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    let value = ran.json();
    assert_eq!(finding(&value, "processes")["state"], "good");
    assert_eq!(finding(&value, "terminal")["state"], "note");
    assert_eq!(finding(&value, "configuration")["next"], "`relay init` writes one");
    assert_eq!(project.tree(), before);
    assert!(!project.path(".relaycode").exists());
    project.done(&["init", "-q"]);
    let listing = || -> Vec<_> {
        let entries = fs::read_dir(project.path(".relaycode")).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    };
    let before = listing();
    let text = project.done(&["doctor"]);
    assert!(text.contains("✓ configuration   relaycode.config.json, for"), "{text}");
    assert_eq!(listing(), before, "what was tried out is gone");
}

#[test]
fn what_needs_somebody_is_named_with_what_to_do() {
    let project = Project::new(&[("relaycode.config.json", "{\"projectId\": 3}\n")]);
    relay_snapshot!(project.relay(&["doctor", "-q"]), @"
    exit 6
    ----- stdout -----
    ! terminal        there is nobody to ask (UTF-8)
                      `-y` and `--allow` answer beforehand
    ! editor          none was found
                      set EDITOR
    ! pager           none was found
                      set PAGER
    ! clipboard       there is no desktop here (neither WAYLAND_DISPLAY nor DISPLAY is set)
                      paste answers into `relay watch`, or save them and `relay apply` the file
    ! copying         there is neither a clipboard nor a terminal to copy to
                      `relay prompt > prompt.md` writes to a file instead
    ! paste           there is no terminal to paste into
                      `relay apply -` reads an answer from a pipe, or up to Ctrl-D
    ! notifications   there is no desktop: nobody is told
                      kitty, WezTerm, ghostty, foot and iTerm2 show them by themselves
    ! file system     whether files can be exchanged was not tried: there is no .relaycode yet
    ✗ configuration   relaycode.config.json:1:15: `projectId` is 3; it must be a text of 1 to 100 visible characters
    ");
    let config = "{\"projectId\": \"a\", \"patch\": {\"linter\": \"no-such-linter-here --fast\"}}";
    project.put("relaycode.config.json", config.as_bytes());
    let value = project.relay(&["doctor", "--json"]).json();
    assert_eq!(value["code"], 6);
    assert_eq!(finding(&value, "trust")["next"], "`relay trust`");
    assert!(finding(&value, "command")["said"].as_str().unwrap().contains("no-such-linter-here"));
    fs::set_permissions(project.home(), Permissions::from_mode(0o777)).unwrap();
    let value = project.relay(&["doctor", "--json"]).json();
    assert_eq!(finding(&value, "your directory")["state"], "bad");
}

/// What doctor says with this clipboard or bus around it, and what it printed.
fn examined(project: &Project, surround: impl Fn(&mut Command)) -> (i32, Value, String) {
    let mut command = project.command(&["doctor", "--json"]);
    surround(&mut command);
    let ran = run(&mut command);
    (ran.code, ran.json(), ran.out + &ran.err)
}

fn said<'a>(value: &'a Value, name: &str) -> &'a str {
    finding(value, name)["said"].as_str().unwrap()
}

#[test]
fn without_a_desktop_the_other_ways_are_named() {
    let project = Project::new(&[("a.txt", "a\n")]);
    let (code, value, _) = examined(&project, |_| {});
    assert_eq!(code, 0, "{value}");
    assert_eq!(finding(&value, "clipboard")["state"], "note");
    assert!(said(&value, "clipboard").contains("there is no desktop here"), "{value}");
    assert!(
        finding(&value, "clipboard")["next"].as_str().unwrap().contains("paste answers into `relay watch`")
    );
    for (name, expected) in [
        ("copying", "neither a clipboard nor a terminal"),
        ("paste", "no terminal to paste into"),
        ("notifications", "there is no desktop: nobody is told"),
    ] {
        assert_eq!(finding(&value, name)["state"], "note");
        assert!(said(&value, name).contains(expected), "{value}");
    }
}

#[test]
fn a_clipboard_that_is_wrong_off_or_not_there_is_told_apart() {
    let project = Project::new(&[("a.txt", "a\n")]);
    let with = |vars: &[(&str, &str)]| {
        let (code, value, _) = examined(&project, |command| {
            command.envs(vars.iter().copied());
        });
        (code, finding(&value, "clipboard").clone())
    };
    let (code, wrong) = with(&[("RELAY_CLIPBOARD", "x12")]);
    assert_eq!((code, &wrong["state"]), (6, &Value::from("bad")), "{wrong}");
    assert_eq!(wrong["next"], "it may be one of auto, wayland, x11, poll, none");
    let (code, off) = with(&[("RELAY_CLIPBOARD", "none")]);
    assert_eq!((code, &off["said"]), (0, &Value::from("switched off by RELAY_CLIPBOARD=none")));
    let (code, gone) = with(&[("DISPLAY", ":4321")]);
    assert_eq!((code, &gone["state"]), (0, &Value::from("note")), "{gone}");
    assert!(gone["said"].as_str().unwrap().starts_with("the clipboard (X11) cannot be reached: "), "{gone}");
    let (code, asked) = with(&[("DISPLAY", ":4321"), ("RELAY_CLIPBOARD", "x11")]);
    assert_eq!((code, &asked["state"]), (6, &Value::from("bad")), "{asked}");
    let (_, none) = with(&[("DISPLAY", ":65000")]);
    assert!(none["said"].as_str().unwrap().contains("no display has such a number"), "{none}");
    let (code, asked) = with(&[("RELAY_CLIPBOARD", "wayland")]);
    assert_eq!((code, &asked["next"]), (6, &Value::from("unset RELAY_CLIPBOARD")), "{asked}");
}

#[test]
fn a_clipboard_of_x11_is_read_and_nothing_of_it_is_said() {
    let desktop = or_skip!(X11::start());
    let project = Project::new(&[("a.txt", "a\n")]);
    let (_, value, _) = examined(&project, |command| desktop.surround(command));
    let empty = "X11, which tells of changes; it can be read: it is empty";
    assert_eq!(said(&value, "clipboard"), empty);
    desktop.copy("what nobody else may read");
    let (code, value, all) = examined(&project, |command| desktop.surround(command));
    assert_eq!(code, 0, "{value}");
    assert_eq!(said(&value, "clipboard"), "X11, which tells of changes; it can be read: there is text on it");
    assert!(said(&value, "copying").starts_with("onto the clipboard (X11)"), "{value}");
    assert!(!all.contains("nobody else"), "{all}");
    desktop.copy_as("image/png", b"no text");
    let (_, value, _) = examined(&project, |command| desktop.surround(command));
    assert!(said(&value, "clipboard").ends_with("there is no text on it"), "{value}");
    desktop.copy("again");
    desktop.hang_owner();
    let (code, value, _) = examined(&project, |command| desktop.surround(command));
    assert_eq!((code, &finding(&value, "clipboard")["state"]), (0, &Value::from("note")), "{value}");
}

#[test]
fn a_clipboard_of_wayland_is_read_and_nothing_of_it_is_said() {
    let desktop = or_skip!(Wayland::start());
    let project = Project::new(&[("a.txt", "a\n")]);
    desktop.copy("what nobody else may read");
    let (code, value, all) = examined(&project, |command| desktop.surround(command));
    assert_eq!(code, 0, "{value}");
    let expected = "Wayland, which tells of changes; it can be read: there is text on it";
    assert_eq!(said(&value, "clipboard"), expected);
    assert!(!all.contains("nobody else"), "{all}");
}

#[test]
fn whoever_shows_notifications_is_found_and_missed() {
    let bus = or_skip!(TestBus::start());
    let project = Project::new(&[("a.txt", "a\n")]);
    let (_, value, _) = examined(&project, |command| bus.surround(command));
    assert_eq!(said(&value, "notifications"), "nobody on this desktop shows them: nobody is told");
    assert!(finding(&value, "notifications")["next"].as_str().unwrap().contains("dunst"), "{value}");
    let display = or_skip!(X11::start());
    let _dunst = or_skip!(Dunst::start(&bus, &display));
    let (code, value, _) = examined(&project, |command| bus.surround(command));
    assert_eq!((code, said(&value, "notifications")), (0, "the desktop shows them"));
    let off = "{\"projectId\": \"a\", \"core\": {\"enableNotifications\": false}}";
    project.put("relaycode.config.json", off.as_bytes());
    let (_, value, _) = examined(&project, |command| bus.surround(command));
    assert!(said(&value, "notifications").starts_with("switched off"), "{value}");
}
