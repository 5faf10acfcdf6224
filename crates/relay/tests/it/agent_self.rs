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
