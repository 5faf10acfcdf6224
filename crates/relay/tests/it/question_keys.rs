//! A person at a real terminal: what each key of a question does, with real editors and pagers, and that no
//! question can be left in a way that changes something nobody agreed to.

use std::fs;
use std::process::Command;

use rustix::process::{Signal, kill_process};
use serde_json::json;

use crate::fixture::keyed_project::{Scene, executable};
use crate::fixture::scratch_project::{Project, control, edit, whole};
use crate::terminal_questions::Session;

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve\n";
const ASKED: &str = "apply? [y/N]";

/// Two files; the first has two places far apart.
fn project() -> Project {
    let project = Project::new(&[("a.txt", TEXT), ("b.txt", "b\n")]);
    let answer = edit("a.txt", "one", "1") + &edit("a.txt", "twelve", "12") + &edit("b.txt", "b", "B");
    project.put("a.md", answer.as_bytes());
    project
}

fn session(project: &Project) -> Session {
    let mut session = Session::start(project, &["apply", "a.md"], "");
    session.wait_for(ASKED);
    session
}

fn with_env(project: &Project, set: &[(&str, &str)]) -> Session {
    Session::start_with(project, &["apply", "a.md"], "", &|command: &mut Command| {
        command.env("PATH", std::env::var_os("PATH").unwrap());
        for (name, value) in set {
            command.env(name, value);
        }
    })
}

/// The same on a terminal of this size, before relay looks at it.
fn sized(project: &Project, rows: u16, columns: u16, set: &[(&str, &str)]) -> Session {
    let script = format!("stty rows {rows} cols {columns}; exec \"$RELAY\" apply a.md");
    Session::start_program(project, "/bin/sh", &["-c", &script], "", &|command: &mut Command| {
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("RELAY", env!("CARGO_BIN_EXE_relay"));
        for (name, value) in set {
            command.env(name, value);
        }
    })
}

/// A script of the user's, outside of the project.
fn program(project: &Project, name: &str, text: &str) -> String {
    let path = project.home().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    executable(&path);
    path.to_str().unwrap().to_string()
}

fn assert_applied(session: Session) -> String {
    let (code, seen) = session.end();
    assert_eq!(code, Some(0), "{seen}");
    seen
}

#[test]
fn files_and_single_places_can_be_picked_and_are_asked_about_again() {
    for (typed, a, b) in [
        ("f 2\n", TEXT.to_string(), "B\n"),
        ("f -2\n", TEXT.replace("one", "1").replace("twelve", "12"), "b\n"),
        ("f 1.2\n", TEXT.replace("twelve", "12"), "b\n"),
        ("f 1.1 2\n", TEXT.replace("one", "1"), "B\n"),
    ] {
        let project = project();
        let mut session = session(&project);
        session.type_in(typed);
        session.wait_for(ASKED);
        session.type_in("y\n");
        assert_applied(session);
        assert_eq!((project.text("a.txt"), project.text("b.txt")), (a, b.to_string()), "{typed:?}");
        let why = project.relay(&["why", "1"]).out;
        assert!(why.contains("you changed what it does"), "{why}");
    }
}

#[test]
fn picking_shows_a_list_explains_what_it_does_not_understand_and_can_be_left() {
    let project = project();
    let mut session = session(&project);
    session.type_in("f\n");
    session.wait_for("1.2");
    session.wait_for("which?");
    session.type_in("7\n");
    session.wait_for("`7` is none of these");
    session.wait_for("which?");
    session.type_in("d 1.2\n");
    session.wait_for("+12");
    session.wait_for("which?");
    session.type_in("-1-2\n");
    session.wait_for("nothing would be left of it");
    session.wait_for("which?");
    session.type_in("\n");
    session.wait_for(ASKED);
    session.type_in("n\n");
    assert_eq!(session.end().0, Some(4));
    assert_eq!(project.text("b.txt"), "b\n");
}

#[test]
fn the_result_can_be_edited_and_what_comes_of_it_is_asked_about() {
    let project = project();
    let editor = program(&project, "my editor/ed.sh", "[ \"$1\" = --wait ] || exit 9; echo mine >> \"$2\"");
    for (name, value) in
        [("EDITOR", format!("'{editor}' --wait")), ("VISUAL", format!("\"{editor}\" --wait"))]
    {
        let mut session = with_env(&project, &[(name, &value), ("PAGER", "cat")]);
        session.wait_for(ASKED);
        session.type_in("e 2\n");
        session.wait_for(ASKED);
        assert_eq!(project.text("b.txt"), "b\n", "nothing is written before the yes");
        session.type_in("d 2\n");
        session.wait_for("+mine");
        session.wait_for(ASKED);
        session.type_in("n\n");
        assert_eq!(session.end().0, Some(4));
    }
    let value = format!("'{editor}' --wait");
    let mut session = with_env(&project, &[("EDITOR", &value)]);
    session.wait_for(ASKED);
    session.type_in("e\n");
    session.wait_for("edit which?");
    session.type_in("2\n");
    session.wait_for(ASKED);
    session.type_in("y\n");
    assert_applied(session);
    assert_eq!(project.text("b.txt"), "B\nmine\n");
    assert_eq!(project.text("a.txt"), TEXT.replace("one", "1").replace("twelve", "12"));
    let left: Vec<String> = project.listing().into_iter().filter(|name| name.starts_with("relay-")).collect();
    assert_eq!(left, [] as [&str; 0], "the private copy is gone");
}

#[test]
fn an_editor_that_fails_or_changes_nothing_changes_nothing() {
    let project = project();
    for (script, says) in [
        ("echo mine >> \"$1\"; exit 3", "the editor ended with code 3: nothing changes"),
        ("exit 0", "the text is as it was: nothing changes"),
        ("rm \"$1\"", "nothing changes"),
        ("kill -9 $$", "nothing changes"),
    ] {
        let editor = program(&project, "ed.sh", script);
        let mut session = with_env(&project, &[("EDITOR", &editor)]);
        session.wait_for(ASKED);
        session.type_in("e 2\n");
        session.wait_for(says);
        session.wait_for(ASKED);
        session.type_in("n\n");
        assert_eq!(session.end().0, Some(4), "{script}");
    }
    let mut session = with_env(&project, &[("EDITOR", "/no/such/editor"), ("PATH", "/nonexistent")]);
    session.wait_for(ASKED);
    session.type_in("e 2\n");
    session.wait_for("there is no editor");
    session.wait_for("set VISUAL or EDITOR");
    session.wait_for(ASKED);
    session.type_in("y\n");
    assert_applied(session);
    assert_eq!(project.text("b.txt"), "B\n");
}

#[test]
fn a_diff_that_is_longer_than_the_screen_goes_through_a_pager() {
    let long: String = (0..200).map(|number| format!("line {number}\n")).collect();
    let project = project();
    project.put("a.md", whole("long.txt", &long).as_bytes());
    let pager = program(&project, "pager.sh", "echo paged by me; tail -1 \"$1\"");
    let mut session = sized(&project, 24, 80, &[("PAGER", &pager)]);
    session.wait_for(ASKED);
    session.type_in("d\n");
    session.wait_for("paged by me");
    session.wait_for("line 199");
    session.wait_for(ASKED);
    assert!(!session.seen().contains("line 100"), "{}", session.seen());
    session.type_in("n\n");
    assert_eq!(session.end().0, Some(4));
    if !std::path::Path::new("/usr/bin/less").exists() {
        eprintln!("skipped: less is not installed");
        return;
    }
    let mut session = sized(&project, 24, 80, &[("TERM", "xterm")]);
    session.wait_for(ASKED);
    session.type_in("d\n");
    session.wait_for("+line 10");
    // The end, then quit.
    session.type_in("G");
    session.wait_for("line 199");
    session.type_in("q");
    session.wait_for(ASKED);
    session.type_in("y\n");
    assert_applied(session);
    assert_eq!(project.text("long.txt"), long);
}

#[test]
fn a_no_with_a_reason_hands_it_on() {
    for typed in [
        &["n because the tests are missing\n"][..],
        &["r the tests are missing\n"],
        &["r\n", "the tests are missing\n"],
    ] {
        let project = project();
        let mut session = session(&project);
        session.type_in(typed[0]);
        if let Some(reason) = typed.get(1) {
            session.wait_for("why?");
            session.type_in(reason);
        }
        let (code, seen) = session.end();
        assert_eq!(code, Some(4), "{seen}");
        assert!(seen.contains("The change was not applied: the tests are missing."), "{seen}");
        assert_eq!(project.text("b.txt"), "b\n");
    }
}

#[test]
fn w_names_the_rule_and_the_digest_and_a_question_mark_every_key() {
    let project = project();
    let preview = project.relay(&["preview", "a.md", "--json", "-q"]).json();
    let digest = preview["digest"].as_str().unwrap().to_string();
    let mut session = session(&project);
    session.type_in("w\n");
    session.wait_for("no-config");
    session.wait_for("a yes counts for exactly this: ");
    session.wait_for(ASKED);
    assert!(session.seen().contains(&digest[..12]), "{digest}\n{}", session.seen());
    session.type_in("?\n");
    for key in [
        "y  put it on disk",
        "n  leave everything",
        "r  say no",
        "d  show the diff",
        "f  pick",
        "e  edit",
        "w  say which",
    ] {
        session.wait_for(key);
    }
    session.wait_for(ASKED);
    session.type_in("y\n");
    assert_applied(session);
    let why = project.relay(&["why", "1"]).out;
    assert!(why.contains(&digest), "shown, approved and recorded are one: {why}");
}

/// Ctrl-C, the signal, and a terminal that is closed.
fn left_in_every_way(start: &dyn Fn() -> (Scene, Session), state: &str) {
    let (scene, mut session) = start();
    session.type_in("\x03");
    let (code, seen) = session.end();
    assert_eq!(code, Some(130), "{seen}");
    assert!(seen.contains("interrupted") && seen.contains(state), "{seen}");
    assert_eq!(scene.text("a.txt"), TEXT);
    scene.assert_settled();
    for signal in [Signal::INT, Signal::TERM] {
        let (scene, session) = start();
        kill_process(session.pid(), signal).unwrap();
        let (code, seen) = session.end();
        assert_eq!(code, Some(130), "{signal:?}: {seen}");
        assert_eq!(scene.text("a.txt"), TEXT, "{signal:?}");
        scene.assert_settled();
    }
    let (scene, session) = start();
    let code = session.hang_up();
    assert_eq!(code, Some(130), "the terminal is gone");
    assert_eq!(scene.text("a.txt"), TEXT);
    scene.assert_settled();
}

/// A scene at a prompt: an answer, what is waited for, and what is typed before the next one.
fn at(trusted: bool, patch: &serde_json::Value, steps: &[(&str, &str)]) -> (Scene, Session) {
    let files = [("a.txt", TEXT), ("b.txt", "b\n")];
    let scene = if trusted { Scene::trusted(&files, patch) } else { Scene::untrusted(&files, patch) };
    let answer = edit("a.txt", "one", "1") + &edit("b.txt", "b", "B");
    let mut session = scene.session(&answer, &[]);
    for (wait, typed) in steps {
        session.wait_for(wait);
        session.type_in(typed);
    }
    (scene, session)
}

#[test]
fn every_prompt_before_the_yes_can_be_left_with_nothing_changed() {
    let manual = json!({"approvalMode": "manual"});
    let prompts: [&[(&str, &str)]; 4] = [
        &[(ASKED, "")],
        &[(ASKED, "f\n"), ("which?", "")],
        &[(ASKED, "r\n"), ("why?", "")],
        &[(ASKED, "e\n"), ("edit which?", "")],
    ];
    for steps in prompts {
        left_in_every_way(&|| at(true, &manual, steps), "nothing was changed");
    }
}

#[test]
fn the_question_for_trust_can_be_left_with_nothing_run() {
    let wants = json!({"linter": "touch ran"});
    left_in_every_way(
        &|| {
            let (scene, session) = at(false, &wants, &[("from now on? [y/N]", "")]);
            assert!(!scene.project.path("ran").exists());
            (scene, session)
        },
        "nothing was changed",
    );
}

#[test]
fn the_question_after_the_gate_can_be_left_with_everything_put_back() {
    let linter = json!({"linter": "grep -q '^one' *.txt"});
    left_in_every_way(
        &|| at(true, &linter, &[(ASKED, "y\n"), ("keep? [y/N]", "")]),
        "everything was put back",
    );
}

#[test]
fn the_questions_for_a_new_change_and_for_a_revert_elsewhere_can_be_interrupted() {
    const UUID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";
    let project = project();
    project.put(".git/HEAD", b"ref: refs/heads/main\n");
    project.applied(&(edit("b.txt", "b", "B") + &control(UUID, "one")));
    project.put("a.md", (edit("a.txt", "two", "2") + &control(UUID, "two")).as_bytes());
    let mut session = Session::start(&project, &["apply", "a.md"], "");
    session.wait_for("is this a new change? [y/N]");
    session.type_in("\x03");
    let (code, seen) = session.end();
    assert_eq!(code, Some(130), "{seen}");
    project.put(".git/HEAD", b"ref: refs/heads/other\n");
    let mut session = Session::start(&project, &["revert"], "");
    session.wait_for("undo it here? [y/N]");
    session.type_in("\x03");
    let (code, seen) = session.end();
    assert_eq!(code, Some(130), "{seen}");
    assert!(seen.contains("nothing was changed"), "{seen}");
    assert_eq!((project.text("a.txt").as_str(), project.text("b.txt").as_str()), (TEXT, "B\n"));
}

#[test]
fn a_file_that_changes_while_the_question_stands_is_planned_and_asked_about_again() {
    let project = project();
    let mut session = session(&project);
    project.put("a.txt", TEXT.replace("six", "6").as_bytes());
    session.type_in("y\n");
    session.wait_for("a.txt changed meanwhile: planned again");
    session.wait_for(ASKED);
    assert_eq!(project.text("b.txt"), "b\n", "the first yes counts no longer");
    session.type_in("w\n");
    session.wait_for("changed-meanwhile");
    session.wait_for(ASKED);
    session.type_in("y\n");
    assert_applied(session);
    let both = TEXT.replace("six", "6").replace("one", "1").replace("twelve", "12");
    assert_eq!(project.text("a.txt"), both);
}

#[test]
fn a_file_that_no_longer_fits_when_the_yes_comes_is_refused() {
    let project = project();
    let mut session = session(&project);
    project.put("a.txt", b"something else\n");
    session.type_in("y\n");
    let (code, seen) = session.end();
    assert_eq!(code, Some(3), "{seen}");
    assert_eq!((project.text("a.txt").as_str(), project.text("b.txt").as_str()), ("something else\n", "b\n"));
}

#[test]
fn a_yes_on_stdin_is_no_answer() {
    let project = project();
    let ran = project.pipe(&["apply", "a.md"], b"y\ny\n");
    assert_eq!(ran.code, 13, "{ran:?}");
    // Also where there is a terminal: that is where the answer has to come from.
    let args = ["-c", "echo y | \"$RELAY\" apply a.md; echo \"code $?\""];
    let mut session = Session::start_program(&project, "/bin/sh", &args, "", &|command| {
        command.env("RELAY", env!("CARGO_BIN_EXE_relay"));
    });
    session.wait_for(ASKED);
    session.type_in("n\n");
    session.wait_for("code 4");
    session.end();
    assert_eq!(project.text("b.txt"), "b\n");
}

#[test]
fn a_narrow_terminal_without_utf8_and_without_colour_shows_all_of_it() {
    let project = project();
    let mut session = sized(&project, 24, 40, &[("LANG", "C"), ("LC_ALL", "C"), ("NO_COLOR", "1")]);
    session.wait_for("w why");
    session.type_in("?\n");
    session.wait_for("show this");
    session.wait_for("w why");
    session.type_in("w\n");
    session.wait_for("a yes counts");
    session.wait_for("w why");
    session.type_in("y\n");
    let seen = assert_applied(session);
    assert!(seen.is_ascii() && !seen.contains('\x1b'), "{seen:?}");
    for line in seen.lines().filter(|line| !line.contains("a yes counts")) {
        assert!(line.trim_end().len() <= 44, "{line:?}");
    }
}

#[test]
fn colour_is_there_for_a_terminal_that_wants_it() {
    let project = project();
    let mut session = Session::start_with(&project, &["apply", "a.md"], "", &|command| {
        command.env_remove("NO_COLOR").env("TERM", "xterm-256color");
    });
    session.wait_for(ASKED);
    assert!(session.seen().contains("\x1b["), "{:?}", session.seen());
    session.type_in("n\n");
    session.end();
    let mut session = with_env(&project, &[("NO_COLOR", "1"), ("TERM", "xterm-256color")]);
    session.wait_for(ASKED);
    assert!(!session.seen().contains('\x1b'), "{:?}", session.seen());
    session.type_in("n\n");
    session.end();
}
