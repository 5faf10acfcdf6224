//! Planning: nothing but the plan changes, whatever is tried; how a plan is approved, changed, rejected; that a session goes on in
//! the mode it was left in.

use std::fs;
use std::path::{Path, PathBuf};

use relaycode_testkit::model::{ScriptedServer, ScriptedTurn};
use serde_json::{Value, json};

use crate::agent_run::{WIRES, lines, serving};
use crate::fixture::scratch_project::{Project, Ran};
use crate::terminal_questions::Session;

fn write_plan(text: &str) -> ScriptedTurn {
    ScriptedTurn::call("write", json!({"path": "plan://", "content": text}))
}

fn exit_plan() -> ScriptedTurn {
    ScriptedTurn::call("exit_plan", json!({"title": "change-a"}))
}

fn write_a() -> ScriptedTurn {
    ScriptedTurn::call("write", json!({"path": "a.txt", "content": "three\n"}))
}

/// The plan of the only session.
fn plan_file(project: &Project) -> PathBuf {
    let sessions = project.home().join("sessions");
    let found = find(&sessions).unwrap_or_else(|| panic!("no plan beneath {}", sessions.display()));
    assert!(found.starts_with(project.home()));
    found
}

fn find(directory: &Path) -> Option<PathBuf> {
    let entries: Vec<PathBuf> = fs::read_dir(directory).ok()?.flatten().map(|entry| entry.path()).collect();
    let is_plan = |path: &&PathBuf| path.file_name().is_some_and(|name| name == "plan.md");
    entries.iter().find(is_plan).cloned().or_else(|| entries.iter().find_map(|path| find(path)))
}

fn session_id(ran: &Ran) -> String {
    lines(&ran.out).last().unwrap()["session"].as_str().unwrap().to_string()
}

/// What the model got as results of calls, in order, with whether each was an error.
fn results(server: &ScriptedServer) -> Vec<(bool, String)> {
    let requests = server.requests();
    let messages = requests.last().unwrap().body["messages"].as_array().unwrap().clone();
    let pieces = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    let results = pieces.filter(|piece| piece["type"] == "tool_result");
    results.map(|result| (result["is_error"] == json!(true), result["content"].to_string())).collect()
}

/// Ways to change something that is not the plan.
fn attempts(outside: &str) -> Vec<(&'static str, Value)> {
    let write = |path: &str| ("write", json!({"path": path, "content": "changed\n"}));
    let bash = |command: &str| ("bash", json!({"command": command}));
    let patch = |body: &str| ("edit", json!({"input": format!("*** Begin Patch\n{body}\n*** End Patch\n")}));
    let mut all = vec![
        write("a.txt"),
        write("new.txt"),
        write("./src/../new.txt"),
        write("plan.md"),
        write("plan://../../a.txt"),
        write("plan://a.txt"),
        write("plan:/a.txt"),
        write(".relaycode/plan.md"),
        write(".relaycode/agent/plans/plan.md"),
        write(".envrc"),
        write("link.txt"),
        write("link-dir/b.txt"),
        write(&format!("{outside}/kept")),
        write(&format!("file://{outside}/kept")),
        patch("*** Update File: a.txt\n@@\n-one\n+changed"),
        patch("*** Update File: a.txt\n*** Move to: b.txt\n@@\n-one\n+changed"),
        patch("*** Add File: new.txt\n+changed"),
        patch("*** Delete File: a.txt"),
        patch("*** Update File: link.txt\n@@\n-one\n+changed"),
        ("rewind", json!({"report": "Nothing."})),
        ("bash", json!({"command": "echo changed > a.txt", "async": true})),
        ("bash", json!({"command": "sleep 0.2; sh -c 'echo changed >> a.txt'", "async": true})),
        ("bash", json!({"command": "echo changed > a.txt", "pty": true})),
        ("bash", json!({"command": "touch $FILE", "env": {"FILE": "a.txt"}})),
        ("bash", json!({"command": "echo changed > $HERE/new.txt", "env": {"HERE": "."}})),
    ];
    let outside_lines = [
        format!("echo changed > {outside}/kept"),
        format!("(cd {outside} && echo changed > kept)"),
        format!("ln -sf a.txt {outside}/kept"),
        format!("python3 -c \"open('{outside}/kept', 'w').write('changed')\""),
    ];
    all.extend(outside_lines.iter().map(|line| bash(line)));
    let lines = [
        "echo changed > a.txt",
        "echo changed >> a.txt",
        "printf changed | tee a.txt",
        "cat <<< changed > a.txt",
        "cat > new.txt <<'END'\nchanged\nEND",
        "cp src/b.txt a.txt",
        "mv a.txt b.txt",
        "rm a.txt",
        "rm -rf src",
        "ln -s a.txt c.txt",
        "ln a.txt c.txt",
        "mkdir made",
        "rmdir empty",
        "chmod 600 a.txt",
        "touch a.txt",
        "truncate -s 0 a.txt",
        "sed -i s/one/changed/ a.txt",
        "dd if=/dev/zero of=a.txt count=1",
        "sh -c 'echo changed > a.txt'",
        "bash -c \"bash -c 'rm a.txt'\"",
        "(echo changed > a.txt) &\nwait",
        "nohup sh -c 'sleep 0.1; echo changed > a.txt' & sleep 0.3",
        "exec 3> a.txt; echo changed >&3",
        "(cd src && echo changed > ../a.txt)",
        "(cd / && cd - && echo changed > new.txt)",
        "find . -name a.txt -delete",
        "find . -name '*.txt' -exec rm {} +",
        "echo a.txt | xargs rm",
        "eval 'echo changed > a.txt'",
        "python3 -c \"open('a.txt', 'w').write('changed')\"",
        "perl -e 'unlink \"a.txt\"'",
        "git init made",
        "tar cf made.tar a.txt",
        "./run.sh",
        "env sh run.sh",
        "set -o noclobber; echo changed >| a.txt",
        "f() { echo changed > a.txt; }; f",
        "trap 'echo changed > a.txt' EXIT; true",
        "unshare -r sh -c 'mount -t tmpfs none . ; echo changed > a.txt'",
        "echo changed > /proc/self/cwd/a.txt",
        "mkfifo pipe",
        "cd src && echo changed > ../a.txt",
    ];
    all.extend(lines.into_iter().map(bash));
    all.push(("bash", json!({"command": "echo changed > b.txt", "cwd": "src"})));
    all
}

#[test]
fn nothing_but_the_plan_changes_whatever_is_tried() {
    let outside = tempfile::TempDir::new_in("/var/tmp").unwrap();
    let kept = outside.path().join("kept");
    fs::write(&kept, "mine").unwrap();
    let attempts = attempts(&outside.path().display().to_string());
    assert_eq!(attempts.len(), 72);
    let begin = ScriptedTurn::call("checkpoint", json!({"goal": "Try"}));
    let turns = attempts.iter().map(|(tool, arguments)| ScriptedTurn::call(tool, arguments.clone()));
    let jobs = ScriptedTurn::call("job", json!({}));
    let turns = [begin].into_iter().chain(turns).chain([jobs, write_plan("1. change a.txt\n"), exit_plan()]);
    let (server, project) = serving(WIRES[0], turns);
    project.put("src/b.txt", b"b\n");
    project.put("run.sh", b"#!/bin/sh\necho changed > a.txt\nrm -rf src\n");
    fs::set_permissions(project.path("run.sh"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    fs::create_dir(project.path("empty")).unwrap();
    std::os::unix::fs::symlink("a.txt", project.path("link.txt")).unwrap();
    std::os::unix::fs::symlink("src", project.path("link-dir")).unwrap();
    // The most that a user can give.
    let config = "agent: {checkpoint: true}\nedit: {mode: apply_patch}\npermissions:\n  allow: [\"edit **\", \"bash * [outside the fence]\", \
                  \"sh * [outside the fence]\", \"touch * [outside the fence]\", \"rm *\", \"tool write\", \"tool bash\"]\n";
    fs::write(project.home().join("config.yml"), config).unwrap();
    let before = (project.tree(), fs::read_dir(outside.path()).unwrap().count());
    let ran = project.relay(&["run", "Change a.txt", "--plan", "--access", "full", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(project.tree(), before.0, "{:#?}", results(&server));
    assert_eq!(fs::read_to_string(&kept).unwrap(), "mine");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), before.1);
    let results = results(&server);
    // All but the mark, the jobs and the plan, of which the last result is in no request.
    assert_eq!(results.len(), attempts.len() + 3, "{results:#?}");
    assert!(project.log().is_empty());
    assert_eq!(fs::read_to_string(plan_file(&project)).unwrap(), "1. change a.txt\n");
}

#[test]
fn with_nobody_to_ask_the_plan_is_printed_and_approved_later() {
    for wire in WIRES {
        let (server, project) = serving(
            wire,
            [
                write_plan("1. a.txt says three\n"),
                exit_plan(),
                write_a(),
                ScriptedTurn::text("It says three."),
            ],
        );
        let ran = project.relay(&["run", "--plan", "Let a.txt say three"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "1. a.txt says three\n"), "{wire:?} {ran:?}");
        assert!(ran.err.contains("--approve-plan` carries it out"), "{ran:?}");
        assert_eq!(project.text("a.txt"), "one\ntwo\n");
        let ran = project.relay(&["run", "--continue", "--approve-plan"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "It says three.\n"), "{wire:?} {ran:?}");
        assert_eq!(project.text("a.txt"), "three\n");
        let body = server.requests()[2].body.to_string();
        assert!(
            body.contains("the user approved this plan") && body.contains("Carry out the plan."),
            "{body}"
        );
        let again = project.relay(&["run", "--continue", "--approve-plan"]);
        assert_eq!(again.code, 2, "{again:?}");
        assert!(again.err.contains("this session is not planning"), "{again:?}");
    }
}

#[test]
fn a_session_goes_on_planning_and_its_requests_begin_alike() {
    let (server, project) = serving(
        WIRES[0],
        [
            write_plan("1. three\n"),
            ScriptedTurn::text("Look at it."),
            write_a(),
            ScriptedTurn::text("I cannot."),
        ],
    );
    let first = project.relay(&["run", "--plan", "--json", "Let a.txt say three"]);
    let ran = project.relay(&["run", "--resume", &session_id(&first), "--access", "full", "--json", "Do it"]);
    assert_eq!((ran.code, project.text("a.txt").as_str()), (0, "one\ntwo\n"), "{ran:?}");
    let events = lines(&ran.out);
    assert_eq!(
        (&events[1]["type"], &events[1]["mode"]),
        (&json!("mode_changed"), &json!("plan")),
        "{events:#?}"
    );
    assert_eq!(events[1]["data"]["planFile"], json!(plan_file(&project)));
    let (is_error, said) = &results(&server)[1];
    assert!(*is_error && said.contains("while you plan, nothing changes but the plan"), "{said}");
    let requests = server.requests();
    for request in &requests[1..] {
        assert_eq!(request.body["tools"], requests[0].body["tools"]);
    }
    assert_eq!(requests[0].body["system"], requests[1].body["system"]);
    let names = requests[0].body["tools"].to_string();
    assert!(names.contains("exit_plan"), "{names}");
    let usual = serving(WIRES[0], [ScriptedTurn::text("ok")]);
    usual.1.relay(&["run", "Go"]);
    assert!(!usual.0.requests()[0].body["tools"].to_string().contains("exit_plan"));
}

#[test]
fn a_plan_that_was_moved_is_told_and_one_that_cannot_be_is_refused() {
    let (_server, project) = serving(
        WIRES[0],
        [
            write_plan("1. three\n"),
            ScriptedTurn::text("Look."),
            exit_plan(),
            ScriptedTurn::text("It is gone."),
        ],
    );
    let first = project.relay(&["run", "--plan", "--json", "Plan"]);
    let plan = plan_file(&project);
    fs::rename(&plan, plan.with_extension("moved")).unwrap();
    let ran = project.relay(&["run", "--continue", "--approve-plan"]);
    assert!(ran.code == 2 && ran.err.contains("this session has no plan yet"), "{ran:?}");
    let ran = project.relay(&["run", "--continue", "Finish"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "It is gone.\n"), "{ran:?}");
    let session = project.home().join("sessions");
    std::os::unix::fs::symlink(project.path("a.txt"), &plan).unwrap();
    let ran = project.relay(&["run", "--resume", &session_id(&first), "--approve-plan"]);
    assert!(ran.code == 2 && ran.err.contains("is not a regular text file"), "{ran:?} {session:?}");
    let ran = project.relay(&["run", "--plan", "--tools", "read", "Plan"]);
    assert!(ran.code == 2 && ran.err.contains("a plan needs the tool `write`"), "{ran:?}");
}

#[test]
fn a_plan_is_changed_by_words_and_then_carried_out_with_a_conversation_of_its_own() {
    let (server, project) = serving(
        WIRES[0],
        [
            ScriptedTurn::text("LONG SEARCH").tool("read", json!({"path": "a.txt"})),
            write_plan("1. three\n"),
            exit_plan(),
            write_plan("1. three\n2. test\n"),
            exit_plan(),
            write_a(),
            ScriptedTurn::text("Done as planned."),
            ScriptedTurn::text("Yes."),
        ],
    );
    let mut session = Session::start(&project, &[], "");
    session.wait_for("› ");
    session.type_in("/plan Let a.txt say three\r");
    session.wait_for("planning: nothing changes but the plan");
    session.wait_for("1. three");
    session.wait_for("Carry out the plan \"change-a\"?");
    session.wait_for("number> ");
    session.type_in("3\r");
    session.wait_for("What should be different?");
    session.wait_for("> ");
    session.type_in("With a test\r");
    session.wait_for("2. test");
    session.wait_for("number> ");
    session.type_in("2\r");
    session.wait_for("the plan is carried out, with a conversation of its own");
    session.wait_for("Done as planned.");
    session.wait_for("› ");
    assert_eq!(project.text("a.txt"), "three\n");
    session.type_in("And?\r");
    session.wait_for("Yes.");
    session.wait_for("› ");
    session.type_in("/quit\r");
    assert_eq!(session.end().0, Some(0));
    let requests = server.requests();
    let said = requests[3].body.to_string();
    assert!(said.contains("before they approve it: With a test"), "{said}");
    for at in [5, 7] {
        let body = requests[at].body["messages"].to_string();
        assert!(body.contains("2. test") && !body.contains("LONG SEARCH"), "{body}");
    }
    let listed = project.done(&["sessions"]);
    assert!(listed.contains("Change a"), "{listed}");
}

#[test]
fn a_rejected_plan_ends_the_run_and_a_job_of_before_is_ended() {
    let job = "while [ ! -e go ]; do sleep 0.05; done; echo changed > a.txt";
    let (_server, project) = serving(
        WIRES[0],
        [
            ScriptedTurn::call("bash", json!({"command": job, "async": true})),
            ScriptedTurn::text("It waits."),
            write_plan("1. three\n"),
            exit_plan(),
            write_a(),
            ScriptedTurn::text("Now it says three."),
        ],
    );
    let mut session = Session::start(&project, &[], "");
    session.wait_for("› ");
    session.type_in("Begin\r");
    session.wait_for("It waits.");
    session.wait_for("› ");
    session.type_in("/plan\r");
    session.wait_for("planning: nothing changes but the plan");
    session.wait_for("› ");
    project.put("go", b"");
    session.type_in("Plan it\r");
    session.wait_for("ended, since it could change something while the agent plans: while");
    session.wait_for("number> ");
    session.type_in("4\r");
    session.wait_for("the agent no longer plans");
    session.wait_for("› ");
    assert_eq!(project.text("a.txt"), "one\ntwo\n");
    session.type_in("/plan\r");
    session.wait_for("planning: nothing changes but the plan");
    session.wait_for("› ");
    session.type_in("/plan off\r");
    session.wait_for("no longer planning");
    session.wait_for("› ");
    session.type_in("Do it\r");
    session.wait_for("Now it says three.");
    session.wait_for("› ");
    session.type_in("/quit\r");
    assert_eq!(session.end().0, Some(0));
    assert_eq!(project.text("a.txt"), "three\n");
}
