//! `ask`, `review` and `do` with relay's own agent as the friend.

use relaycode_testkit::model::ScriptedTurn;
use serde_json::json;

use crate::agent_run::{WIRES, serving};

#[test]
fn ask_looks_and_changes_nothing() {
    let (server, project) = serving(
        WIRES[0],
        [
            ScriptedTurn::text("Let me look.")
                .tool("read", json!({"path": "a.txt"}))
                .tool("write", json!({"path": "a.txt", "content": "x"})),
            ScriptedTurn::text("It says one and two."),
        ],
    );
    let ran = project.relay(&["ask", "--to", "self", "What does a.txt say?"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("It says one and two.") && !ran.out.contains("Let me look"), "{ran:?}");
    assert!(ran.err.contains("self was not allowed to write"), "{ran:?}");
    assert_eq!(project.text("a.txt"), "one\ntwo\n");
    let sent = server.requests()[1].body.to_string();
    assert!(sent.contains("its access is read-only") && sent.contains("What does a.txt say?"), "{sent}");
    assert!(project.log().is_empty());
}

#[test]
fn a_conversation_by_name_goes_on() {
    let (server, project) =
        serving(WIRES[1], [ScriptedTurn::text("Ada."), ScriptedTurn::text("Ada, as I said.")]);
    for prompt in ["Who wrote it?", "Again?"] {
        let ran = project.relay(&["ask", "--to", "self", "--session", "talk", prompt]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let sent = server.requests()[1].body.to_string();
    assert!(sent.contains("Who wrote it?") && sent.contains("Ada."), "{sent}");
}

#[test]
fn review_gives_a_verdict() {
    let verdict = json!({"verdict": "pass", "summary": "Fine.", "findings": []}).to_string();
    let (_server, project) =
        serving(WIRES[0], [ScriptedTurn::text("Fine as it is."), ScriptedTurn::text(verdict)]);
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(args);
        project.surround(&mut command);
        command.env("PATH", "/usr/bin:/bin");
        assert!(command.output().unwrap().status.success(), "{args:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "a.txt"]);
    git(&["commit", "-q", "-m", "first"]);
    project.put("a.txt", b"one\nthree\n");
    let ran = project.relay(&["review", "--to", "self", "--uncommitted"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("Fine as it is."), "{ran:?}");
}

#[test]
fn do_works_in_a_copy_and_what_differs_comes_in() {
    let (_server, project) = serving(
        WIRES[0],
        [
            ScriptedTurn::call("write", json!({"path": "a.txt", "content": "one\nthree\n"})),
            ScriptedTurn::text("It says three now."),
        ],
    );
    let ran = project.relay(&["do", "--to", "self", "-y", "Say three"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(project.text("a.txt"), "one\nthree\n", "{ran:?}");
    assert_eq!(project.log().len(), 1);
    project.done(&["undo"]);
    assert_eq!(project.text("a.txt"), "one\ntwo\n");
}

#[test]
fn no_model_is_said_with_what_to_do() {
    let project = crate::fixture::scratch_project::Project::new(&[("a.txt", "x")]);
    let ran = project.relay(&["ask", "--to", "self", "Hello?"]);
    assert_eq!(ran.code, 10, "{ran:?}");
    assert!(
        ran.err.contains("there is no model yet") && ran.err.contains("relay keys set anthropic"),
        "{ran:?}"
    );
}

#[test]
fn what_a_friend_was_asked_is_no_session_to_continue_and_is_called_after_the_question() {
    let say = ScriptedTurn::text;
    let (server, project) = serving(WIRES[1], [say("Mine."), say("A friend's."), say("Mine again.")]);
    assert_eq!(project.relay(&["run", "What I do"]).code, 0);
    assert_eq!(project.relay(&["ask", "--to", "self", "Why round twice?"]).code, 0);
    let ran = project.relay(&["run", "--continue", "Go on"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Mine again.\n"), "{ran:?}");
    let sent = server.requests()[2].body.to_string();
    assert!(sent.contains("What I do") && !sent.contains("round twice"), "{sent}");
    let listed = project.relay(&["sessions"]);
    assert!(listed.out.contains("Why round twice?"), "{listed:?}");
    assert!(!listed.out.contains("You are helping"), "{listed:?}");
}

#[test]
fn do_runs_commands_that_write_in_its_copy() {
    let (server, project) = serving(
        WIRES[0],
        [ScriptedTurn::call("bash", json!({"command": "echo hi > m.txt"})), ScriptedTurn::text("Made.")],
    );
    let ran = project.relay(&["do", "--to", "self", "-y", "Make m.txt"]);
    let told = server.requests()[1].body.to_string();
    assert_eq!(ran.code, 0, "{ran:?} {told}");
    assert!(project.path("m.txt").exists(), "{ran:?} {told}");
    assert_eq!(project.text("m.txt"), "hi\n");
}
