//! Going back to a mark: files and conversation together, the user's words kept; and what tools had goes on with the session.

use relaycode_agent::{AgentEvent, EndReason, UserPrompt};
use relaycode_testkit::model::ScriptedTurn;
use relaycode_tools::registry;
use serde_json::json;

use crate::fixture::{Scene, WIRES};

fn scene(turns: impl IntoIterator<Item = ScriptedTurn>) -> Scene {
    let mut scene = Scene::new(turns);
    scene.tools = registry::all().to_vec();
    scene
}

#[test]
fn what_came_after_the_mark_is_gone_from_files_and_conversation_on_every_wire() {
    for wire in WIRES {
        let scene = scene([
            ScriptedTurn::call("checkpoint", json!({"goal": "Try three"}))
                .tool("find", json!({"paths": ["*.txt"]})),
            ScriptedTurn::text("LONG SEARCH").tool("write", json!({"path": "a.txt", "content": "three\n"})),
            ScriptedTurn::call("rewind", json!({"report": "Three does not work."}))
                .tool("write", json!({"path": "b.txt", "content": "never\n"})),
            ScriptedTurn::text("So it stays one."),
            ScriptedTurn::text("As I said."),
        ]);
        let scene = Scene { wire, ..scene };
        std::fs::write(scene.root().join("a.txt"), "one\n").unwrap();
        let mut agent = scene.agent();
        let handle = agent.handle();
        agent.workspace().set_group(Some("prompt-1".into()), Some("Go".into()));
        let outcome = agent.prompt(&UserPrompt::text("Go"));
        assert_eq!(
            (outcome.reason, outcome.answer.as_str()),
            (EndReason::Done, "So it stays one."),
            "{wire:?}"
        );
        drop(agent);
        let mut reader = handle.read_events(0);
        let rewound = std::iter::from_fn(|| reader.next_event())
            .any(|event| matches!(&event.event, AgentEvent::ConversationRewound { report, .. } if report == "Three does not work."));
        assert!(rewound);
        drop((reader, handle));
        assert_eq!(std::fs::read_to_string(scene.root().join("a.txt")).unwrap(), "one\n");
        assert!(!scene.root().join("b.txt").exists(), "calls behind a rewind are not carried out");
        let sent = scene.sent(3);
        assert!(sent.contains("Three does not work.") && sent.contains("Checkpoint created"), "{sent}");
        assert!(
            !sent.contains("LONG SEARCH") && sent.contains("taken back") | sent.contains("Taken back"),
            "{sent}"
        );
        // As the session has it.
        assert_eq!(scene.messages().len(), 6, "{:#?}", scene.messages());
        assert_eq!(scene.run("And now?").0.reason, EndReason::Done);
        let again = scene.sent(4);
        assert!(again.contains("Three does not work.") && !again.contains("LONG SEARCH"), "{again}");
    }
}

#[test]
fn what_the_user_said_meanwhile_is_kept() {
    let scene = scene([
        ScriptedTurn::call("checkpoint", json!({"goal": "Look"})),
        ScriptedTurn::call("find", json!({"paths": ["*"]})),
        ScriptedTurn::call("rewind", json!({"report": "Seen."})),
        ScriptedTurn::text("ok"),
    ]);
    let mut agent = scene.agent();
    let handle = agent.handle();
    std::thread::scope(|scope| {
        let steers = scope.spawn(|| {
            let mut reader = handle.read_events(0);
            let is_set = |event: &AgentEvent| {
                matches!(event, AgentEvent::ToolExecutionEnd { tool_name, .. } if tool_name == "checkpoint")
            };
            while reader.next_event().is_some_and(|event| !is_set(&event.event)) {}
            handle.steer(UserPrompt::text("Mind the gap")).unwrap();
        });
        agent.prompt(&UserPrompt::text("Go"));
        steers.join().unwrap();
    });
    drop((agent, handle));
    let last = scene.server.requests().len() - 1;
    assert!(scene.sent(last).contains("Mind the gap"), "{}", scene.sent(last));
}

#[test]
fn a_model_that_ends_with_a_mark_is_told_once() {
    let scene = scene([
        ScriptedTurn::call("checkpoint", json!({"goal": "Look"})),
        ScriptedTurn::text("Done, I think."),
        ScriptedTurn::text("Really."),
    ]);
    let (outcome, _) = scene.run("Go");
    assert_eq!((outcome.reason, outcome.answer.as_str()), (EndReason::Done, "Really."));
    assert!(scene.sent(2).contains("you are in an active checkpoint"));
}

#[test]
fn a_list_of_tasks_goes_on_with_the_session() {
    let list = json!({"ops": [{"op": "init", "list": [{"phase": "P", "items": ["first", "second"]}]}]});
    let scene = scene([
        ScriptedTurn::call("todo_write", list),
        ScriptedTurn::text("ok"),
        ScriptedTurn::call("todo_write", json!({"ops": [{"op": "done", "task": "first"}]})),
        ScriptedTurn::text("ok"),
    ]);
    scene.run("One");
    scene.run("Two");
    assert!(scene.sent(3).contains("Remaining items (1)"), "{}", scene.sent(3));
}
