//! Sessions that were left in the middle go on; and what the user did meanwhile is told.

use relaycode_agent::EndReason;
use relaycode_agent::UserPrompt;
use relaycode_llm::Message;
use relaycode_llm::StopReason;
use relaycode_llm::message::{AssistantContent, AssistantMessage, ToolCall, UserMessage};
use relaycode_testkit::model::ScriptedTurn;

use crate::fixture::{Scene, WIRES, looks, result_text};

fn call(id: &str) -> AssistantContent {
    AssistantContent::ToolCall(ToolCall { id: id.into(), name: "look".into(), ..ToolCall::default() })
}

#[test]
fn calls_that_had_no_result_are_answered_and_the_conversation_goes_on() {
    for wire in WIRES {
        let scene = Scene { wire, ..Scene::new([ScriptedTurn::text("Where was I?")]) };
        let mut session = scene.session();
        session.append_message(&Message::User(UserMessage::text("Go", 1))).unwrap();
        let answer = AssistantMessage {
            content: vec![call("call_a"), call("call_b")],
            stop_reason: StopReason::ToolUse,
            ..AssistantMessage::default()
        };
        session.append_message(&Message::Assistant(answer)).unwrap();
        drop(session);
        let (outcome, _) = scene.run("Go on");
        assert_eq!((outcome.reason, outcome.answer.as_str()), (EndReason::Done, "Where was I?"), "{wire:?}");
        let results = scene.results();
        assert_eq!(results.len(), 2);
        assert!(result_text(&results[1]).contains("Interrupted: relay ended before"), "{results:?}");
        assert!(scene.sent(0).contains("Interrupted: relay ended before"), "{wire:?}");
    }
}

#[test]
fn a_resumed_conversation_is_sent_as_it_was() {
    let scene = Scene::new([looks(&["a"]), ScriptedTurn::text("First."), ScriptedTurn::text("Second.")]);
    scene.run("One");
    scene.run("Two");
    let messages = |at: usize| {
        let body = scene.server.requests()[at].body["messages"].to_string();
        body.replace(r#","cache_control":{"type":"ephemeral"}"#, "")
    };
    let (before, after) = (messages(1), messages(2));
    assert!(after.starts_with(before.trim_end_matches(']')), "{before}\n{after}");
}

#[test]
fn what_was_undone_is_told_before_the_next_prompt() {
    let scene = Scene::new([ScriptedTurn::text("First."), ScriptedTurn::text("Second.")]);
    scene.run("One");
    let mut agent = scene.agent();
    agent.tell("undone", "The user took back your change of a.rs.").unwrap();
    agent.prompt(&UserPrompt::text("Two"));
    drop(agent);
    let sent = scene.sent(1);
    assert!(sent.find("took back").unwrap() < sent.find("Two").unwrap(), "{sent}");
    assert!(scene.messages().len() == 5);
}
