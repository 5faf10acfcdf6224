//! `relay record`: whatever a command does to a project, `relay revert` takes back byte for byte; and the command
//! itself notices nothing of it.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};
use std::time::Instant;

use relaycode_testkit::missing;
use relaycode_testkit::process::{ChildGuard, GENEROUS_TIMEOUT, poll_until};
use relaycode_testkit::process_table::find_processes;
use rustix::process::Signal;

use crate::fixture::scratch_project::{Project, Ran, run};
use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;
use crate::terminal_questions::Session;

fn project() -> Project {
    let project = Project::new(&[("a.txt", "one\ntwo\n"), ("sub/b.txt", "b\n"), ("sub/deep/c.txt", "c\n")]);
    project.put("bin", b"\0\xff\0binary");
    project.put("tool.sh", b"#!/bin/sh\n");
    fs::set_permissions(project.path("tool.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    project
}

/// `relay record` with these options, of a shell that does this.
fn command(project: &Project, options: &[&str], line: &str) -> Command {
    let words: Vec<&str> =
        ["record"].iter().chain(options).chain(&["--", "sh", "-c", line]).copied().collect();
    let mut command = project.command(&words);
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command
}

fn record(project: &Project, line: &str) -> Ran {
    run(&mut command(project, &[], line))
}

/// Records this, reverts it, and compares the whole tree.
fn comes_back(project: &Project, line: &str) -> Ran {
    let was = project.tree();
    let ran = record(project, line);
    assert_ne!(project.tree(), was, "{ran:?}");
    assert!(ran.err.contains("✓ recorded "), "{ran:?}");
    assert!(!project.path(".relaycode/recordings").exists());
    project.done(&["revert", "-y"]);
    assert_eq!(project.tree(), was, "{ran:?}");
    ran
}

#[test]
fn everything_that_a_command_does_to_files_is_taken_back() {
    let line = "echo three >> a.txt; printf 'x\\0y' > bin; chmod 700 bin; rm -r sub; mkdir -p n/m/empty; \
                echo new > n/m/f; mv tool.sh moved.sh; chmod 444 a.txt";
    relay_snapshot!(comes_back(&project(), line), @"
    exit 0
    ----- stderr -----
    backed up 5 files, 31 bytes in <duration>
    ✓ recorded change-1 · 6 files +2 −2 · `relay revert <id>` undoes it
    ");
}

#[test]
fn a_read_only_file_that_is_replaced_comes_back_read_only() {
    let project = project();
    fs::set_permissions(project.path("a.txt"), fs::Permissions::from_mode(0o444)).unwrap();
    comes_back(&project, "echo x > n; mv -f n a.txt; chmod 400 bin");
}

#[test]
fn log_show_and_blame_know_it_like_any_other_change() {
    let project = project();
    let ran = run(&mut command(&project, &["--message", "try something"], "echo three >> a.txt"));
    assert_eq!(ran.code, 0, "{ran:?}");
    let log = project.log();
    assert_eq!((log.len(), &log[0]["origin"], &log[0]["files"]), (1, &"record".into(), &1.into()));
    assert_eq!(log[0]["summary"], "try something");
    relay_snapshot!(project.relay(&["show", "1", "--diff"]), @"
    exit 0
    ----- stdout -----
    change-1  try something                                                       1 file  +1
        M  a.txt  +1
      id         change-1-…
      when       <time>, now
      from       record
      group      change-1-…
      yes by     user
      asked for  sh -c 'echo three >> a.txt'
      notes
        it ended with exit code 0 after <duration>

    --- a/a.txt
    +++ b/a.txt
    @@ -1,2 +1,3 @@
     one
     two
    +three
    ");
    relay_snapshot!(project.relay(&["blame", "a.txt:3"]), @"
    exit 0
    ----- stdout -----
    3  three
      change     change-1, now, from record
      title      try something
      asked for  sh -c 'echo three >> a.txt'
      `relay show change-1` shows all of it
    ");
}

#[test]
fn the_commands_own_exit_code_is_passed_on() {
    let project = project();
    let mut transcript = Transcript::default();
    for line in ["true", "exit 3", "exit 255", "kill -9 $$", "kill -TERM $$"] {
        transcript.add(line, &record(&project, line));
    }
    relay_snapshot!(transcript, @"
    # true
    exit 0
    ----- stderr -----
    backed up 5 files, 31 bytes in <duration>
    ✓ nothing changed while `sh -c true` ran: nothing to record

    # exit 3
    exit 3
    ----- stderr -----
    backed up 5 files, 31 bytes in <duration>
    ✓ nothing changed while `sh -c 'exit 3'` ran: nothing to record

    # exit 255
    exit 255
    ----- stderr -----
    backed up 5 files, 31 bytes in <duration>
    ✓ nothing changed while `sh -c 'exit 255'` ran: nothing to record

    # kill -9 $$
    exit 137
    ----- stderr -----
    backed up 5 files, 31 bytes in <duration>
    ✓ nothing changed while `sh -c 'kill -9 $$'` ran: nothing to record

    # kill -TERM $$
    exit 143
    ----- stderr -----
    backed up 5 files, 31 bytes in <duration>
    ✓ nothing changed while `sh -c 'kill -TERM $$'` ran: nothing to record
    ");
    let ran = comes_back(&project, "echo x > a.txt; exit 7");
    assert_eq!(ran.code, 7);
    relay_snapshot!(project.relay(&["record", "--", "/no/such/program"]), @"
    exit 2
    ----- stderr -----
    backed up 5 files, 31 bytes in <duration>
    ✗ program `/no/such/program` not found
      check its name and PATH; nothing was run or recorded
    ");
    assert_eq!(project.relay(&["record"]).code, 2);
    assert!(!project.path(".relaycode/recordings").exists());
}

#[test]
fn its_streams_go_straight_through() {
    let project = project();
    let mut command = command(&project, &[], "cat; echo err >&2");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"in\xff\0put").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"in\xff\0put");
    relay_snapshot!(String::from_utf8(output.stderr).unwrap(), @"
    backed up 5 files, 31 bytes in <duration>
    err
    ✓ nothing changed while `sh -c 'cat; echo err >&2'` ran: nothing to record
    ");
}

#[test]
fn a_machine_gets_one_object_and_the_command_prints_beside_it() {
    let project = project();
    symlink("a.txt", project.path("link")).unwrap();
    let line = "echo out; echo x >> a.txt; rm link bin; mkfifo pipe; exit 4";
    let ran = run(&mut command(&project, &["--json"], line));
    relay_snapshot!(ran.err, @"
    backed up 5 files, 31 bytes in <duration>
    out
    ✓ recorded change-1 · 3 files +1 −1 · `relay revert <id>` undoes it
    ! changed while it ran, not undoable: pipe was made: it is a special file
    ");
    let value = ran.json();
    assert_eq!((ran.code, &value["code"], &value["ok"]), (4, &4.into(), &false.into()));
    assert_eq!(value["exit"]["code"], 4);
    let files: Vec<(&str, &str)> = value["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (file["change"].as_str().unwrap(), file["path"].as_str().unwrap()))
        .collect();
    assert_eq!(files, [("M", "a.txt"), ("D", "bin"), ("D", "link")]);
    assert_eq!(value["notUndoable"][0]["path"], "pipe");
    assert!(value["ran"].as_str().unwrap().starts_with("sh -c '"), "{value}");
    assert_eq!(value["id"], project.log()[0]["id"]);
}

#[test]
fn names_that_are_not_portable_come_back_and_are_escaped() {
    let project = project();
    let line = "echo 1 > 'line\nbreak'; echo 2 > \"$(printf 'n\\377')\"; echo 3 > a:b; echo 4 > 'q?'; echo 5 > 'back\\slash'";
    let was = project.tree();
    let ran = record(&project, line);
    relay_snapshot!(ran, @"
    exit 0
    ----- stderr -----
    backed up 5 files, 31 bytes in <duration>
    ✓ recorded change-1 · 5 files +5 · `relay revert <id>` undoes it
    ");
    let shown = project.relay(&["show"]).out;
    for name in [r"line\nbreak", r"n\u{0}ff", "a:b", "q?", r"back\slash"] {
        assert!(shown.contains(name), "{name}: {shown}");
    }
    let is = project.tree();
    project.done(&["revert", "-y"]);
    assert_eq!(project.tree(), was);
    project.done(&["redo", "-y"]);
    assert_eq!(project.tree(), is);
    assert!(project.path("a:b").exists());
}

#[test]
fn names_equal_but_for_their_case_come_back_both() {
    let project = project();
    project.put("up.txt", b"small\n");
    project.put("UP.txt", b"large\n");
    relay_snapshot!(comes_back(&project, "rm up.txt UP.txt a.txt"), @"
    exit 0
    ----- stderr -----
    backed up 7 files, 43 bytes in <duration>
    ✓ recorded change-1 · 3 files −4 · `relay revert <id>` undoes it
    ");
}

#[test]
fn a_file_that_became_a_hard_link_comes_back() {
    let project = project();
    project.put("own.txt", b"own\n");
    relay_snapshot!(comes_back(&project, "ln -f a.txt own.txt"), @"
    exit 0
    ----- stderr -----
    backed up 6 files, 35 bytes in <duration>
    ✓ recorded change-1 · 1 file +2 −1 · `relay revert <id>` undoes it
    ");
}

#[test]
fn ten_thousand_files_come_and_go() {
    let project = project();
    let line = "i=0; mkdir -p m; while [ $i -lt 10000 ]; do echo $i > m/$i; i=$((i+1)); done";
    relay_snapshot!(comes_back(&project, line), @"
    exit 0
    ----- stderr -----
    backed up 5 files, 31 bytes in <duration>
    ✓ recorded change-1 · 10000 files +10000 · `relay revert <id>` undoes it
    ");
    let ran = record(&project, line);
    assert_eq!(ran.code, 0, "{ran:?}");
    comes_back(&project, "rm -r m");
}

#[test]
fn what_a_command_leaves_running_is_ended_before_anything_is_compared() {
    // Had it written once more after the comparison, its file could not be taken back.
    let writes = "(setsid sh -c 'while :; do echo x >> tick; sleep 0.01; done' &)";
    let line = format!("{writes}; until [ -s tick ]; do sleep 0.01; done; echo x > a.txt");
    let ran = comes_back(&project(), &line);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("that it left running"), "{ran:?}");
}

#[test]
fn git_is_left_alone_and_a_commit_that_the_command_made_is_said() {
    let project = project();
    project.put(".gitignore", b"target/\n.relaycode/\n");
    let git = |words: &str| {
        format!(
            "git -c user.name=a -c user.email=a@example.invalid -c init.defaultBranch=main -c core.hooksPath=/dev/null {words}"
        )
    };
    let ran = run(&mut command(
        &project,
        &[],
        &format!("{}; {}; {}", git("init -q ."), git("add -A"), git("commit -qm first")),
    ));
    assert_eq!(ran.code, 0, "{ran:?}");
    let line =
        format!("echo more >> a.txt; mkdir -p target; echo o > target/o; {}", git("commit -qam second"));
    relay_snapshot!(record(&project, &line), @"
    exit 0
    ----- stderr -----
    backed up 6 files, 51 bytes in <duration>
    ✓ recorded change-1 · 1 file +1 · `relay revert <id>` undoes it
    ! git has main at <commit> checked out now, and had main at <commit>: a revert takes files back, not commits
      git: main moved <commit> → <commit>, index changed
    ! changed while it ran, not undoable: target/ was made, and is build output
    ");
    let head = fs::read(project.path(".git/refs/heads/main")).unwrap();
    relay_snapshot!(project.relay(&["revert"]), @"
    exit 0
    ----- stdout -----
    ✓ undone: run: sh -c 'echo more >> a.txt; mkdir -p target; echo o > target/o; git -c user.name=a -c user.email=a@example.invalid -c init.defaultBranch=main -c core.hooksPath=/dev/null commit -qam second'
      target/ stays as it is: build output
      `relay redo` brings it back
    ");
    assert_eq!(project.text("a.txt"), "one\ntwo\n");
    assert!(project.path("target/o").exists());
    assert_eq!(fs::read(project.path(".git/refs/heads/main")).unwrap(), head);
}

#[test]
fn what_a_line_says_it_destroys_is_backed_up_beyond_the_bounds() {
    let project = Project::new(&[(".gitignore", "data/\n.relaycode/\n"), ("a.txt", "one\n")]);
    run(&mut command(&project, &[], "git init -q; git add -A"));
    // More than is kept of one file else; the first is ignored, the second unknown to git.
    for path in ["data/large", "new"] {
        project.put(path, b"begin");
        let file = fs::File::options().write(true).open(project.path(path)).unwrap();
        file.set_len((64 << 20) + 1).unwrap();
    }
    let there = |path: &str| {
        let mut beginning = [0; 5];
        fs::File::open(project.path(path)).unwrap().read_exact(&mut beginning).unwrap();
        assert_eq!((&beginning, fs::metadata(project.path(path)).unwrap().len()), (b"begin", (64 << 20) + 1));
    };
    let ran = record(&project, "true");
    assert_eq!(ran.err.matches("not backed up").count(), 2, "{ran:?}");
    for words in [
        &["rm", "-r", "data", "new"][..],
        &["git", "clean", "-fdxq"],
        &["sh", "-c", "cd data && rm l*; rm ../new"],
    ] {
        let words: Vec<&str> = ["record", "--"].iter().chain(words).copied().collect();
        let ran = run(project.command(&words).env("PATH", std::env::var_os("PATH").unwrap()));
        assert!(ran.code == 0 && !ran.err.contains("not backed up"), "{ran:?}");
        assert!(!project.path("data/large").exists() && !project.path("new").exists(), "{words:?}");
        project.done(&["undo", "-y"]);
        there("data/large");
        there("new");
    }
}

#[test]
fn a_second_recording_in_the_same_project_is_refused() {
    let project = project();
    let inner = format!("{} record -- true; echo \"inner $?\"", env!("CARGO_BIN_EXE_relay"));
    relay_snapshot!(record(&project, &inner), @r#"
    exit 0
    ----- stdout -----
    inner 3
    ----- stderr -----
    backed up 5 files, 31 bytes in <duration>
    ✗ `relay record` is already running in this project (process <pid>: sh -c '<relay> record -- true; echo "inner $?"'); nothing was changed
      two at once would mix up their changes: try again when it is done
    ✓ nothing changed while `sh -c '<relay> record -- true; echo "inner $?"'` ran: nothing to record
    "#);
}

/// Waits until the file is there and holds something.
fn appears(project: &Project, path: &str) {
    let holds = || fs::read(project.path(path)).is_ok_and(|bytes| bytes.ends_with(b"\n"));
    assert!(poll_until(GENEROUS_TIMEOUT, || holds().then_some(())).is_some(), "{path} does not appear");
}

#[test]
fn a_relay_that_is_killed_leaves_what_changed_to_the_next_one() {
    let project = project();
    let was = project.tree();
    let line = "rm -r sub; echo x >> a.txt; trap '' TERM; echo > there; while :; do sleep 0.05; done";
    let mut command = command(&project, &[], line);
    let mut relay = ChildGuard::start(command.stdout(Stdio::null()).stderr(Stdio::null())).unwrap();
    appears(&project, "there");
    let home = format!("RELAY_HOME={}", project.home().display());
    let shell = [missing::find("sh").unwrap().as_os_str().as_bytes(), b"\0-c\0"].concat();
    let lives =
        || !find_processes(|given| given.has_env(&home) && given.arguments.starts_with(&shell)).is_empty();
    assert!(lives());
    relay.signal(Signal::KILL);
    assert!(relay.wait_exit(GENEROUS_TIMEOUT).is_some());
    // The keeper ends the command; until it has, nobody takes the recording for dead.
    let ran = project.relay(&["recover"]);
    if ran.out.contains("nothing to recover") {
        assert!(poll_until(GENEROUS_TIMEOUT, || (!lives()).then_some(())).is_some(), "it lives");
    }
    let found = poll_until(GENEROUS_TIMEOUT, || {
        Some(project.log()).filter(|log| !log.is_empty()).or_else(|| {
            project.relay(&["recover"]);
            None
        })
    });
    assert_eq!(found.unwrap()[0]["interrupted"], true);
    assert!(!lives(), "the command is over when its recording is adopted");
    relay_snapshot!(project.relay(&["recover"]), @"
    exit 0
    ----- stdout -----
    ✓ nothing to recover: no run stopped in the middle
    ");
    project.done(&["revert"]);
    assert_eq!(project.tree(), was);
}

#[test]
fn a_relay_that_is_told_to_end_ends_the_command_and_records() {
    let project = project();
    let was = project.tree();
    let line = "echo x >> a.txt; echo > there; exec sleep 1000";
    let mut relay = ChildGuard::start(command(&project, &[], line).stderr(Stdio::null())).unwrap();
    appears(&project, "there");
    relay.signal(Signal::TERM);
    assert_eq!(relay.wait_exit(GENEROUS_TIMEOUT).and_then(|status| status.code()), Some(130));
    assert_eq!(project.log().len(), 1);
    project.done(&["revert"]);
    assert_eq!(project.tree(), was);
}

fn at_a_terminal(project: &Project, script: &str) -> Session {
    Session::start_program(
        project,
        "/bin/bash",
        &["--norc", "-i", "-c", script],
        "",
        &|command: &mut Command| {
            command.env("PATH", std::env::var_os("PATH").unwrap()).env("R", env!("CARGO_BIN_EXE_relay"));
        },
    )
}

#[test]
fn ctrl_c_is_the_commands_and_relay_outlives_it_as_often_as_it_is_typed() {
    let project = project();
    let script = "\"$R\" record -- sh -c 'echo x >> a.txt; trap \"echo caught; n=\\$((n+1))\" INT; n=0; \
                  test -t 0 && test -t 1 && test -t 2 && echo ready; \
                  while [ $n -lt 2 ]; do sleep 0.05; done; exit 5'";
    let mut session =
        Session::start_program(&project, "/bin/sh", &["-c", script], "", &|command: &mut Command| {
            command.env("PATH", std::env::var_os("PATH").unwrap()).env("R", env!("CARGO_BIN_EXE_relay"));
        });
    session.wait_for("ready");
    session.type_in("\x03");
    session.wait_for("caught");
    session.type_in("\x03");
    session.wait_for("caught");
    session.wait_for("recorded");
    let (_, seen) = session.end();
    assert_eq!(project.log().len(), 1, "{seen}");
}

#[test]
fn a_command_that_stops_gives_the_terminal_back_and_goes_on_when_it_is_wanted_again() {
    let project = project();
    // The program stops itself alone, as some full-screen programs do; the shell must get its terminal back all the same.
    let line = "echo before; kill -STOP $$; echo x >> a.txt; echo after";
    let script = format!("set -m; \"$R\" record -- sh -c '{line}'; echo \"back $?\"; fg; echo \"end $?\"");
    let mut session = at_a_terminal(&project, &script);
    session.wait_for("before");
    session.wait_for("back 1");
    session.wait_for("after");
    session.wait_for("recorded");
    session.wait_for("end 0");
    session.end();
    assert_eq!(project.log().len(), 1);
}

#[test]
fn a_hundred_megabytes_are_secured_and_compared_quickly() {
    let project = Project::new(&[]);
    let piece: Vec<u8> = (0..100_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for n in 0..1_000 {
        project.put(&format!("d{}/f{n}", n % 50), &piece);
    }
    let began = Instant::now();
    let ran = record(&project, "true");
    let took = began.elapsed();
    println!("100 MB in 1000 files, secured and compared: {took:?}\n{}", ran.err);
    relay_snapshot!(ran, @"
    exit 0
    ----- stderr -----
    backed up 1000 files, 100.0 MB in <duration>
    ✓ nothing changed while `sh -c true` ran: nothing to record
    ");
    assert!(took < GENEROUS_TIMEOUT, "{took:?}");
}

#[test]
fn the_end_of_another_repository_within_the_project_is_said() {
    let project = project();
    std::fs::create_dir_all(project.path("vendored/.git")).unwrap();
    std::fs::write(project.path("vendored/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(project.path("vendored/f"), "1\n").unwrap();
    let ran = record(&project, "rm -r vendored");
    let said = "vendored/.git was removed: it was another repository's `.git`, which relay does not back up";
    assert!(ran.err.contains(said), "{ran:?}");
    assert_eq!(project.relay(&["revert", "-y"]).code, 6);
    assert!(project.path("vendored/f").exists());
    // As long as it stays nobody is told about it.
    std::fs::create_dir_all(project.path("vendored/.git")).unwrap();
    let ran = record(&project, "echo 2 > vendored/f");
    assert!(!ran.err.contains(".git"), "{ran:?}");
}
