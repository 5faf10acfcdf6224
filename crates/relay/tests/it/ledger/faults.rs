//! The system fails, or the process is told to stop or killed, at the n-th call of a kind: what relay
//! says of the project is true, and `relay recover` makes it whole.
//!
//! The calls are made to fail by `strace`; where there is none, or it may not trace, and on other
//! systems than Linux, these tests are skipped. Limits of the shell are used beside it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use crate::fixture::scratch_project::{Project, Ran, edit, run, whole};

type Tree = BTreeMap<String, (u32, Vec<u8>)>;

/// A project and an answer that changes, deletes, makes and moves files of it.
fn project() -> Project {
    let long = "line\n".repeat(20_000);
    let project = Project::new(&[("a.txt", "one\n"), ("d/b.txt", &long), ("m.txt", "m\n")]);
    let answer = edit("a.txt", "one", "1")
        + "```text // d/b.txt\n//TODO: delete this file\n```\n"
        + &whole("new/c.txt", "made\n")
        + "```json // rename-file\n{\"from\": \"m.txt\", \"to\": \"n/m.txt\"}\n```\n";
    fs::write(project.home().join("a.md"), answer).unwrap();
    // Whether the user's secret can be made is another question.
    project.done(&["recover"]);
    project
}

fn arguments(project: &Project) -> Vec<String> {
    vec!["apply".into(), project.home().join("a.md").to_str().unwrap().into(), "-y".into()]
}

/// `relay` behind another program.
fn behind(project: &Project, program: &[&str], args: &[String]) -> Ran {
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).arg(env!("CARGO_BIN_EXE_relay")).args(args);
    project.surround(&mut command);
    run(command.env("PATH", "/usr/bin:/bin").process_group(0).stdin(Stdio::null()))
}

/// `relay` of which `calls` are tampered with; and whether that happened.
fn tampered(project: &Project, args: &[String], calls: &str, how: &str) -> (Ran, bool) {
    let trace = project.home().join("trace");
    let (traced, inject) = (format!("trace={calls}"), format!("inject={calls}:{how}"));
    let strace =
        ["strace", "-f", "-qq", "-o", trace.to_str().unwrap(), "-e", traced.as_str(), "-e", inject.as_str()];
    let ran = behind(project, &strace, args);
    let text = fs::read_to_string(trace).unwrap_or_default();
    (ran, text.contains("(INJECTED)") || text.contains("+++ killed by") || text.contains("--- SIG"))
}

fn can_trace() -> bool {
    let project = project();
    cfg!(target_os = "linux") && {
        let strace = Command::new("strace").args(["-qq", "-e", "trace=none", "true"]).status();
        strace.is_ok_and(|status| status.success())
            && tampered(&project, &arguments(&project), "renameat2", "error=EIO:when=1").1
    }
}

/// The project as it is before, and after the answer.
fn both() -> (Tree, Tree) {
    let project = project();
    let before = project.tree();
    let args = arguments(&project);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    assert_eq!(project.relay(&args).code, 0);
    (before, project.tree())
}

/// What was said is true; what follows makes it whole and goes on.
fn check(project: &Project, ran: &Ran, (before, after): &(Tree, Tree), case: &str) {
    let now = project.tree();
    match ran.code {
        0 | 9 => assert_eq!(now, *after, "{case}: {ran:?}"),
        1 | 3 | 130 => {
            assert_eq!(now, *before, "{case}: {ran:?}");
            let said = ["nothing was changed", "everything was put back"];
            assert!(said.iter().any(|said| ran.err.contains(said)), "{case}: {ran:?}");
        }
        2 => assert_eq!(now, *before, "{case}: {ran:?}"),
        6 => assert!(ran.err.contains("could not be put back yet"), "{case}: {ran:?}"),
        // Killed, or ended by a signal before anything was begun.
        -1 => {}
        _ => panic!("{case}: {ran:?}"),
    }
    let again = project.relay(&["recover"]);
    assert_eq!(again.code, 0, "{case}: {again:?}");
    let committed = project.log().len() == 1;
    assert_eq!(project.tree(), *if committed { after } else { before }, "{case}: {again:?}");
    assert!(committed || ![0, 9].contains(&ran.code), "{case}: {ran:?}");
    if !committed {
        let args = arguments(project);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let ran = project.relay(&args);
        assert_eq!((ran.code, project.tree() == *after), (0, true), "{case}: {ran:?}");
    }
    project.done(&["revert"]);
    assert_eq!(project.tree(), *before, "{case}");
}

/// Tampers with the first, the second … of some calls, in steps, until there is none left.
fn each_call(calls: &str, how: &str, step: usize) {
    if !can_trace() {
        return; // skipped: there is no `strace` that may trace
    }
    let trees = both();
    let mut hits = 0;
    for n in (1..200).step_by(step) {
        let project = project();
        let (ran, hit) = tampered(&project, &arguments(&project), calls, &format!("{how}:when={n}"));
        if hit {
            check(&project, &ran, &trees, &format!("{calls} {n}"));
            hits += 1;
        } else {
            break;
        }
    }
    assert!(hits > 1, "{calls} never came");
}

#[test]
fn a_rename_that_fails() {
    each_call("renameat2,renameat", "error=EIO", 1);
}

#[test]
fn a_sync_that_fails() {
    each_call("fsync", "error=EIO", 3);
}

#[test]
fn a_removal_that_fails() {
    each_call("unlinkat", "error=EIO", 2);
}

#[test]
fn a_disk_that_is_full_when_a_directory_is_made() {
    each_call("mkdirat", "error=ENOSPC", 2);
}

#[test]
fn a_signal_at_a_rename() {
    each_call("renameat2,renameat", "signal=INT", 1);
    each_call("renameat2,renameat", "signal=TERM", 3);
}

#[test]
fn a_kill_at_a_rename_or_a_sync() {
    each_call("renameat2,renameat", "signal=KILL", 1);
    each_call("fsync", "signal=KILL", 4);
}

#[test]
fn a_disk_that_is_gone_for_good_is_not_called_unchanged() {
    if !can_trace() {
        return; // skipped: there is no `strace` that may trace
    }
    let trees = both();
    let mut half_way = 0;
    for calls in ["renameat2", "fsync"] {
        for n in [1, 2, 3, 4, 8, 12] {
            let project = project();
            // That one and all that follow: putting back fails as well.
            let (ran, hit) = tampered(&project, &arguments(&project), calls, &format!("error=EIO:when={n}+"));
            if hit {
                half_way += usize::from(ran.code == 6);
                check(&project, &ran, &trees, &format!("{calls} {n}+"));
            }
        }
    }
    assert!(half_way > 2, "{half_way}");
}

#[test]
fn a_recovery_that_fails_or_is_killed_is_done_again() {
    if !can_trace() {
        return; // skipped: there is no `strace` that may trace
    }
    let (before, after) = both();
    let recover = ["recover".to_string()];
    for (calls, how) in [
        ("renameat2", "error=EIO"),
        ("renameat2", "signal=KILL"),
        ("unlinkat", "signal=KILL"),
        ("fsync", "error=EIO"),
    ] {
        for n in [1, 2, 3] {
            let case = format!("{calls} {how} {n}");
            let project = project();
            tampered(&project, &arguments(&project), "renameat2", "signal=KILL:when=4");
            assert!(project.tree() != before && project.tree() != after, "{case}: not in the middle");
            let (ran, _) = tampered(&project, &recover, calls, &format!("{how}:when={n}"));
            match ran.code {
                0 => assert_eq!(project.tree(), before, "{case}: {ran:?}"),
                6 => assert!(ran.err.contains("files may be partly changed"), "{case}: {ran:?}"),
                1 | -1 => {}
                _ => panic!("{case}: {ran:?}"),
            }
            let ran = project.relay(&["recover"]);
            assert_eq!((ran.code, project.tree() == before), (0, true), "{case}: {ran:?}");
        }
    }
}

#[test]
fn few_open_files_and_short_ones() {
    let trees = both();
    let limits = [6, 7, 8, 9, 10, 11, 12, 14].map(|n| format!("-n {n}")).into_iter();
    for limit in limits.chain([0, 8, 40, 80, 160].map(|n| format!("-f {n}"))) {
        let project = project();
        let script = format!("ulimit {limit} && exec \"$@\"");
        let ran = behind(&project, &["sh", "-c", &script, "sh"], &arguments(&project));
        check(&project, &ran, &trees, &limit);
    }
}
