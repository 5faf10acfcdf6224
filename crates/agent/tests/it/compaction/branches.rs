//! Other branches with a summary of the one that is left, labels, and fresh sessions that go on with the work.

use relaycode_agent::{AgentEvent, HandoffError};
use relaycode_session::{EntryRole, Session};
use relaycode_testkit::model::ScriptedTurn;
use serde_json::json;

use super::{last_sent, say, scene, summary_questions, words};
use crate::fixture::Scene;

fn prompts(session: &Session) -> Vec<String> {
    let rows = session.rows().iter().filter(|row| row.role == EntryRole::User);
    rows.map(|row| row.id.to_string()).collect()
}

#[test]
fn a_branch_that_is_left_is_summed_up_and_the_prompt_can_be_said_again() {
    let turns =
        [ScriptedTurn::text("one"), words(100), ScriptedTurn::text("two"), ScriptedTurn::text("three")];
    let scene = scene(50_000, turns, ScriptedTurn::text("It did not work."));
    let mut agent = scene.agent();
    say(&mut agent, "First");
    say(&mut agent, "Second");
    let second = agent.with_session(prompts)[1].clone();
    let moved = agent.move_to(&second, true, Some("why")).unwrap();
    assert_eq!(moved.navigation.prefill.as_deref(), Some("Second"));
    assert_eq!(moved.summary.as_deref(), Some("It did not work."));
    let asked = &summary_questions(&scene)[0];
    assert!(asked.contains("[call] words") && asked.contains("above all: why"), "{asked}");
    say(&mut agent, "Another way");
    let sent = last_sent(&scene);
    assert!(
        sent.contains("It did not work.") && sent.contains("First") && !sent.contains("word word"),
        "{sent}"
    );
    // There already, and not there at all.
    let leaf = agent.with_session(|session| session.leaf().unwrap().to_string());
    assert!(!agent.move_to(&leaf, true, None).unwrap().navigation.moved);
    assert!(agent.move_to("nothing", false, None).is_err());
}

#[test]
fn without_a_summary_nothing_is_asked_and_a_model_that_fails_is_no_obstacle() {
    let turns = [ScriptedTurn::text("one"), ScriptedTurn::text("two"), ScriptedTurn::text("three")];
    let scene = scene(50_000, turns, ScriptedTurn::status(500));
    let mut agent = scene.agent();
    say(&mut agent, "First");
    say(&mut agent, "Second");
    let said = agent.with_session(prompts);
    let moved = agent.move_to(&said[1], true, None).unwrap();
    assert!(moved.summary.unwrap().contains("[assistant] two"));
    let requests = scene.server.requests().len();
    let moved = agent.move_to(&said[0], false, None).unwrap();
    assert_eq!(
        (moved.summary, moved.navigation.leaf.is_some()),
        (None, true),
        "the session's settings come first"
    );
    assert_eq!(scene.server.requests().len(), requests);
    agent.set_label(&said[0], Some("begin")).unwrap();
    assert_eq!(
        agent.with_session(|session| session.label_of(&said[0]).map(str::to_string)),
        Some("begin".into())
    );
    agent.set_label(&said[0], None).unwrap();
    assert_eq!(agent.with_session(|session| session.label_of(&said[0]).map(str::to_string)), None);
}

#[test]
fn a_fresh_session_begins_with_the_document_and_has_the_tasks() {
    let list = json!({"ops": [{"op": "init", "list": [{"phase": "P", "items": ["first", "second"]}]}]});
    let turns = [ScriptedTurn::call("todo_write", list), ScriptedTurn::text("ok")];
    let old = scene(50_000, turns, ScriptedTurn::text("# Goal\nShip it.</handoff>"));
    let mut agent = old.agent();
    assert!(matches!(agent.write_handoff(None), Err(HandoffError::TooShort)));
    say(&mut agent, "Ship it");
    let document = agent.write_handoff(Some("the tests")).unwrap();
    assert!(summary_questions(&old)[0].contains("above all: the tests"));
    assert!(document.text.contains("Ship it.") && document.text.contains("[/] first"), "{}", document.text);
    assert_eq!(document.text.matches("</handoff>").count(), 1, "{}", document.text);
    let fresh = Scene {
        ..scene(
            50_000,
            [
                ScriptedTurn::call("todo_write", json!({"ops": [{"op": "done", "task": "first"}]})),
                ScriptedTurn::text("ok"),
            ],
            ScriptedTurn::default(),
        )
    };
    let mut session = fresh.session();
    document.begin(&mut session).unwrap();
    let mut agent = fresh.agent_of(session);
    let (_, events) = say(&mut agent, "Go on");
    assert!(!events.iter().any(|event| matches!(event, AgentEvent::Notice { .. })), "{events:?}");
    let sent = last_sent(&fresh);
    assert!(sent.contains("Ship it.") && sent.contains("Remaining items (1)"), "{sent}");
}

#[test]
fn a_model_that_writes_no_document_says_so_and_nothing_changes() {
    for (bad, expected) in
        [(ScriptedTurn::default(), "the model wrote no document"), (ScriptedTurn::status(500), "failed")]
    {
        let scene = scene(50_000, [ScriptedTurn::text("ok")], bad);
        let mut agent = scene.agent();
        say(&mut agent, "Ship it");
        let entries = agent.with_session(Session::len);
        let error = agent.write_handoff(None).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert_eq!(agent.with_session(Session::len), entries);
    }
}
