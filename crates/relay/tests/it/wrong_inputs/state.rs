//! What relay keeps, damaged or out of reach: `.relaycode/`, the user's own directory, the disk.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Stdio;

use relaycode_testkit::process::unshare_command;

use super::{project, typed};
use crate::fixture::scratch_project::{Project, Ran, edit, run};
use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;

/// A project with one change.
fn changed() -> Project {
    let project = project();
    project.applied(&edit("a.txt", "one", "1"));
    project
}

#[test]
fn a_state_directory_that_is_none() {
    let mut transcript = Transcript::default();
    let file = project();
    file.put(".relaycode", b"mine\n");
    transcript.add("a file: relay log", &file.relay(&["log"]));
    transcript.add("a file: relay apply", &file.apply(&edit("a.txt", "one", "1")));
    let link = project();
    symlink("src", link.path(".relaycode")).unwrap();
    transcript.add("a link: relay log", &link.relay(&["log"]));
    transcript.add("a link: relay apply", &link.apply(&edit("a.txt", "one", "1")));
    transcript.add("a link: relay init", &link.relay(&["init"]));
    relay_snapshot!(transcript, @"
    # a file: relay log
    exit 1
    ----- stderr -----
    ✗ cannot open .relaycode: it is not a directory; nothing was changed
      move it away: relay keeps this project's history in a directory of that name

    # a file: relay apply
    exit 1
    ----- stderr -----
    ✗ cannot open .relaycode: it is not a directory; nothing was changed
      move it away: relay keeps this project's history in a directory of that name

    # a link: relay log
    exit 1
    ----- stderr -----
    ✗ cannot open .relaycode: it is a symbolic link, not a directory; nothing was changed
      move it away: relay keeps this project's history in a directory of that name

    # a link: relay apply
    exit 1
    ----- stderr -----
    ✗ cannot open .relaycode: it is a symbolic link, not a directory; nothing was changed
      move it away: relay keeps this project's history in a directory of that name

    # a link: relay init
    exit 1
    ----- stderr -----
    ✗ cannot open .relaycode: it is a symbolic link, not a directory; nothing was changed
      move it away: relay keeps this project's history in a directory of that name
    ");
}

#[test]
fn a_damaged_state() {
    let project = changed();
    for entry in fs::read_dir(project.path(".relaycode")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        if name.ends_with(".yml") || name.starts_with("index") {
            fs::write(&path, "{{{ not what it was\n").unwrap();
        }
    }
    fs::remove_dir_all(project.copy()).unwrap();
    relay_snapshot!(typed(&project, &["log", "show 1", "undo"]), @"
    # relay log
    exit 0
    ----- stdout -----
      1 ! change-1      0 files    cannot be read: .relaycode/change-1-….yml is damaged: unclosed bracket '{' at line 1, column 3

    # relay show 1
    exit 1
    ----- stderr -----
    ✗ .relaycode/change-1-….yml is damaged: unclosed bracket '{' at line 1, column 3; nothing was changed
      relay does not use it; move it away to go on without it

    # relay undo
    exit 2
    ----- stderr -----
    ✗ there is nothing to undo; nothing was changed
      `relay log` lists what was done here
    ");
}

#[test]
fn a_home_that_cannot_be_used() {
    let mut transcript = Transcript::default();
    for (what, args) in [
        ("apply", &["apply", "answer.md", "-y"][..]),
        ("trust", &["trust", "-y"]),
        ("prompt", &["prompt", "-q", "--copy"]),
        ("keys set", &["keys", "set", "anthropic"]),
        ("sessions", &["sessions"]),
    ] {
        let project = super::project();
        project.put("answer.md", edit("a.txt", "one", "1").as_bytes());
        fs::write(project.home().join("file"), "").unwrap();
        let ran = run(project.command(args).env("RELAY_HOME", project.home().join("file/home")));
        transcript.add(&format!("RELAY_HOME below a file: relay {what}"), &ran);
        let project = super::project();
        project.put("answer.md", edit("a.txt", "one", "1").as_bytes());
        let ran = run(project.command(args).env_remove("RELAY_HOME"));
        transcript.add(&format!("neither HOME nor RELAY_HOME: relay {what}"), &ran);
    }
    relay_snapshot!(transcript, @"
    # RELAY_HOME below a file: relay apply
    exit 0
    ----- stdout -----
    ▸ answer.md                                                                1 file  +1 −1
        M  a.txt  +1 −1   1 exact
    ✓ applied change-1 · 1 file · `relay undo` undoes it
    ----- stderr -----
    ! relay cannot mark its changes as yours, so undo will ask first: <home>/file/home cannot be used: Not a directory (os error 20)
    ! your own copy of this project's history cannot be used: cannot open <home>/file/home: Not a directory (os error 20)

    # neither HOME nor RELAY_HOME: relay apply
    exit 0
    ----- stdout -----
    ▸ answer.md                                                                1 file  +1 −1
        M  a.txt  +1 −1   1 exact
    ✓ applied change-1 · 1 file · `relay undo` undoes it
    ----- stderr -----
    ! relay cannot mark its changes as yours, so undo will ask first: neither HOME nor RELAY_HOME names an absolute path, so relay has no place for its own files; set one of them

    # RELAY_HOME below a file: relay trust
    exit 0
    ----- stdout -----
    this project wants nothing that needs trust

    # neither HOME nor RELAY_HOME: relay trust
    exit 0
    ----- stdout -----
    this project wants nothing that needs trust

    # RELAY_HOME below a file: relay prompt
    exit 1
    ----- stderr -----
    ✗ this checkout's key cannot be used: <home>/file cannot be used: File exists (os error 17)
      `relay doctor` checks the directory where relay keeps it

    # neither HOME nor RELAY_HOME: relay prompt
    exit 1
    ----- stderr -----
    ✗ it cannot be copied: there is no clipboard here
      `relay doctor` says what this system can do

    # RELAY_HOME below a file: relay keys set
    exit 13
    ----- stderr -----
    ✗ there is no terminal to ask for the key on; nothing was changed
      `relay keys set anthropic --stdin` reads it from stdin

    # neither HOME nor RELAY_HOME: relay keys set
    exit 13
    ----- stderr -----
    ✗ there is no terminal to ask for the key on; nothing was changed
      `relay keys set anthropic --stdin` reads it from stdin

    # RELAY_HOME below a file: relay sessions
    exit 1
    ----- stderr -----
    ✗ the sessions cannot be read: Not a directory (os error 20)
      in <home>/file/home/sessions

    # neither HOME nor RELAY_HOME: relay sessions
    exit 2
    ----- stderr -----
    ✗ relay does not know where sessions are kept
      set HOME, or RELAY_HOME to a full path
    ");
}

#[test]
fn a_read_only_disk() {
    let project = changed();
    project.put("answer.md", edit("a.txt", "two", "2").as_bytes());
    let mut transcript = Transcript::default();
    for args in [
        &["apply", "answer.md", "-y"][..],
        &["undo"],
        &["init"],
        &["record", "--", "true"],
        &["log", "--oneline"],
    ] {
        let Some(ran) = on_a_read_only_disk(&project, args) else { return };
        transcript.add(&format!("relay {}", args.join(" ")), &ran);
    }
    relay_snapshot!(transcript, @"
    # relay apply answer.md -y
    exit 1
    ----- stderr -----
    ✗ cannot lock .relaycode/lock: Read-only file system (os error 30); nothing was changed
      check the disk and the permissions, then try again

    # relay undo
    exit 1
    ----- stderr -----
    ✗ cannot lock .relaycode/lock: Read-only file system (os error 30); nothing was changed
      check the disk and the permissions, then try again

    # relay init
    exit 1
    ----- stderr -----
    ✗ cannot lock .relaycode/lock: Read-only file system (os error 30); nothing was changed
      check the disk and the permissions, then try again

    # relay record -- true
    exit 1
    ----- stderr -----
    ✗ cannot lock .relaycode/lock: Read-only file system (os error 30); nothing was changed
      check the disk and the permissions, then try again

    # relay log --oneline
    exit 0
    ----- stdout -----
    change-1 edit a.txt
    ");
}

/// Each message names what stands in the way itself, never the directory around it: who follows the tip loses nothing.
#[test]
fn what_stands_where_relay_keeps_something() {
    let mut transcript = Transcript::default();
    for (name, what) in
        [("lock", "a link"), ("lock", "a directory"), ("blobs", "a link"), ("undone", "a link")]
    {
        let project = changed();
        let path = project.path(".relaycode").join(name);
        let elsewhere = project.home().join("elsewhere");
        fs::rename(&path, &elsewhere).unwrap();
        match what {
            "a link" => symlink(&elsewhere, &path).unwrap(),
            _ => fs::create_dir(&path).unwrap(),
        }
        transcript.add(&format!(".relaycode/{name} is {what}: relay undo"), &project.relay(&["undo"]));
    }
    let project = changed();
    let (path, elsewhere) = (project.home().join("ledgers"), project.home().join("elsewhere"));
    fs::rename(&path, &elsewhere).unwrap();
    symlink(&elsewhere, &path).unwrap();
    transcript.add("~/.relaycode/ledgers is a link: relay undo", &project.relay(&["undo"]));
    relay_snapshot!(transcript, @"
    # .relaycode/lock is a link: relay undo
    exit 1
    ----- stderr -----
    ✗ cannot lock .relaycode/lock: it is a symbolic link; nothing was changed
      relay does not follow links here: replace it with what it points to, or remove it to start anew

    # .relaycode/lock is a directory: relay undo
    exit 1
    ----- stderr -----
    ✗ cannot lock .relaycode/lock: Is a directory (os error 21); nothing was changed
      move it away: relay makes it anew

    # .relaycode/blobs is a link: relay undo
    exit 1
    ----- stderr -----
    ✗ cannot open .relaycode/blobs: it is a symbolic link; nothing was changed
      relay does not follow links here: replace it with what it points to, or remove it to start anew

    # .relaycode/undone is a link: relay undo
    exit 1
    ----- stderr -----
    ✗ cannot open .relaycode/undone: it is a symbolic link; nothing was changed
      relay does not follow links here: replace it with what it points to, or remove it to start anew

    # ~/.relaycode/ledgers is a link: relay undo
    exit 1
    ----- stderr -----
    ✗ cannot open <home>/ledgers: it is a symbolic link; nothing was changed
      relay does not follow links here: replace it with what it points to, or remove it to start anew
    ");
}

/// `relay` where the project's disk is mounted read-only; nothing where nobody may mount.
fn on_a_read_only_disk(project: &Project, args: &[&str]) -> Option<Ran> {
    const MOUNT: &str = "mount --bind . . && mount -o remount,bind,ro . && cd \"$PWD\" && exec \"$0\" \"$@\"";
    let mut command = unshare_command(&["--mount"], "sh")?;
    command.args(["-c", MOUNT, env!("CARGO_BIN_EXE_relay")]).args(args);
    project.surround(&mut command);
    command.env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin").stdin(Stdio::null());
    Some(run(&mut command))
}
