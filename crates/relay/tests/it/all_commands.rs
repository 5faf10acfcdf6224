//! What holds for every command: one object with `--json`, the same from anywhere, without git and without
//! `relay init`.

use std::fs;

use crate::commands_around_apply::with_history;
use crate::fixture::configured_project::{relay_git, repository};
use crate::fixture::scratch_project::{Project, edit, run};
use crate::relay_snapshot;

fn project() -> Project {
    Project::new(&[("a.txt", "one\ntwo\nthree\n")])
}

/// Every command that has a project, with arguments that make it succeed in [`with_history`].
const COMMANDS: &[&[&str]] = &[
    &["init"],
    &["prompt", "a.txt"],
    &["preview", "-"],
    &["apply", "-", "-y"],
    &["log"],
    &["show", "1"],
    &["undo"],
    &["revert", "1"],
    &["recover"],
    &["blame", "a.txt"],
    &["git", "commit", "-y", "-m", "x"],
    &["sessions"],
    &["sessions", "search", "x"],
    &["stats"],
    &["trust", "-y"],
    &["permissions"],
    &["permissions", "test", "ls"],
    &["why"],
    &["config"],
    &["config", "show"],
    &["config", "show", "projectId"],
    &["config", "check"],
    &["demo", "--auto"],
    &["completions", "bash"],
];

fn ready() -> (Project, String) {
    let project = with_history();
    repository(&project);
    project.put("a.txt", b"one\n2\n3\n");
    let answer = edit("a.txt", "one", "1");
    (project, answer)
}

#[test]
fn every_command_answers_with_one_object() {
    for args in COMMANDS {
        let (project, answer) = ready();
        project.put("answer.md", answer.as_bytes());
        let mut args: Vec<&str> =
            args.iter().map(|arg| if *arg == "-" { "answer.md" } else { *arg }).collect();
        if args[0] == "git" {
            let ran = relay_git(&project, &["apply", "answer.md", "-y"]);
            assert_eq!(ran.code, 0, "{ran:?}");
        }
        args.push("--json");
        let ran = relay_git(&project, &args);
        let value = ran.json();
        assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
        assert_eq!(
            (&value["ok"], &value["code"], &value["command"]),
            (&true.into(), &0.into(), &args[0].into())
        );
        args.push("-q");
        let ran = relay_git(&project, &args);
        assert_eq!((ran.out.lines().count(), ran.err.as_str()), (1, ""), "{args:?}: {ran:?}");
    }
}

#[test]
fn every_failure_answers_with_one_object() {
    let project = project();
    for args in [
        &["apply", "missing.md"][..],
        &["preview", "missing.md"],
        &["show", "1"],
        &["undo"],
        &["redo"],
        &["revert"],
        &["why"],
        &["blame", "missing.txt"],
        &["git", "commit"],
        &["prompt", "missing.txt"],
        &["config", "show", "nothing"],
        &["log", "-C", "missing"],
        &["completions", "nonsense"],
        &["nonsense"],
    ] {
        let args: Vec<&str> = args.iter().chain(&["--json"]).copied().collect();
        let ran = project.relay(&args);
        let value = ran.json();
        assert_eq!((&value["ok"], &value["code"]), (&false.into(), &ran.code.into()), "{args:?}: {ran:?}");
        assert_ne!(ran.code, 0);
        assert!(value["error"]["message"].is_string() && value["command"].is_string(), "{value}");
    }
}

#[test]
fn commands_work_from_elsewhere_and_from_below() {
    let project = with_history();
    fs::create_dir(project.path("sub")).unwrap();
    let root = project.path(".");
    for args in [&["log", "-q"][..], &["show", "1"], &["blame"], &["config", "show"], &["why"]] {
        let here: Vec<&str> =
            args.iter().chain(if args[0] == "blame" { &["a.txt"][..] } else { &[] }).copied().collect();
        let below: Vec<&str> =
            args.iter().chain(if args[0] == "blame" { &["../a.txt"][..] } else { &[] }).copied().collect();
        let wanted = project.done(&here);
        let there: Vec<&str> = ["-C", root.to_str().unwrap()].iter().chain(&here).copied().collect();
        let ran = run(project.command(&there).current_dir("/"));
        assert_eq!((ran.code, &ran.out), (0, &wanted), "{there:?}: {ran:?}");
        let ran = run(project.command(&below).current_dir(project.path("sub")));
        assert_eq!((ran.code, &ran.out), (0, &wanted), "{below:?} from below: {ran:?}");
    }
    let ran = run(project.command(&["revert", "-q"]).current_dir(project.path("sub")));
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn without_git_and_without_init_everything_but_a_commit_works() {
    let project = project();
    project.applied(&edit("a.txt", "two", "2"));
    for args in [
        &["prompt"][..],
        &["log"],
        &["show", "1"],
        &["blame", "a.txt"],
        &["why"],
        &["config"],
        &["trust"],
        &["recover"],
    ] {
        project.done(args);
    }
    relay_snapshot!(relay_git(&project, &["git", "commit", "-y", "-m", "x"]), @"
    exit 2
    ----- stderr -----
    ✗ <project> is not in a git repository; `git init` creates one; nothing was changed
    ");
    assert!(!project.path("relaycode.config.json").exists());
    project.done(&["revert"]);
    assert_eq!(project.text("a.txt"), "one\ntwo\nthree\n");
}
