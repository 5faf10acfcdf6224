//! Several clients on one run: each gets every event in order, whenever it comes; one that goes away is no matter.

use std::time::Duration;

use relaycode_agent::{AgentEvent, EventRead, SequencedEvent, UserPrompt};
use relaycode_testkit::model::ScriptedTurn;
use serde_json::json;

use crate::fixture::{Scene, looks};

#[test]
fn two_clients_follow_one_run_and_one_of_them_leaves_in_the_middle() {
    let scene = Scene::new([
        looks(&["a", "b"]),
        ScriptedTurn::call("ask", json!({})),
        looks(&["c"]),
        ScriptedTurn::pieces(["one ", "two ", "three"]),
    ]);
    let mut agent = scene.agent();
    let handle = agent.handle();
    handle.set_attended(true);
    let (mut staying, mut leaving) = (handle.read_events(0), handle.read_events(0));
    let (all, some) = std::thread::scope(|scope| {
        let stays = scope.spawn(move || {
            let mut events = Vec::new();
            while let Some(event) = staying.next_event() {
                let is_over = matches!(event.event, AgentEvent::AgentEnd { .. });
                events.push(event);
                if is_over {
                    break;
                }
            }
            events
        });
        let leaves = scope.spawn({
            let handle = handle.clone();
            move || {
                let mut events = Vec::new();
                while let Some(event) = leaving.next_event() {
                    let question = match &event.event {
                        AgentEvent::QuestionAsked { question } => Some(question.id.clone()),
                        _ => None,
                    };
                    events.push(event);
                    if let Some(id) = question {
                        handle.answer(&id, relaycode_tools::HostAnswer::Options { chosen: vec![1] });
                        // It never reads again.
                        break;
                    }
                }
                events
            }
        });
        agent.prompt(&UserPrompt::text("Go"));
        (stays.join().unwrap(), leaves.join().unwrap())
    });
    let numbers: Vec<u64> = all.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (1..=all.len() as u64).collect::<Vec<_>>());
    assert_eq!(all[..some.len()], some[..], "both saw the same");
    // A third comes late and goes on where the second left.
    let mut late = handle.read_events(some.last().unwrap().seq);
    for expected in &all[some.len()..] {
        let EventRead::Event(event) = late.next_within(Duration::ZERO) else { panic!("events are missing") };
        assert_eq!(&event, expected);
    }
    assert_eq!(late.next_within(Duration::ZERO), EventRead::Pending);
    drop(agent);
    assert_eq!(late.next_within(Duration::ZERO), EventRead::Closed);
}

#[test]
fn an_event_comes_back_from_its_json() {
    let scene = Scene::new([looks(&["a"]), ScriptedTurn::text("Done.").reasoning("hm")]);
    let mut agent = scene.agent();
    let handle = agent.handle();
    agent.prompt(&UserPrompt::text("Go"));
    drop(agent);
    let mut reader = handle.read_events(0);
    let mut kinds = Vec::new();
    while let Some(event) = reader.next_event() {
        let text = serde_json::to_string(&*event).unwrap();
        let read: SequencedEvent = serde_json::from_str(&text).unwrap();
        assert_eq!(read, *event, "{text}");
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let kind = value["type"].as_str().unwrap().to_string();
        if kinds.last() != Some(&kind) {
            kinds.push(kind);
        }
    }
    let expected = [
        "agent_start",
        "message_end",
        "turn_start",
        "message_start",
        "message_update",
        "message_end",
        "tool_execution_start",
        "tool_execution_end",
        "message_end",
        "session_titled",
        "turn_end",
        "turn_start",
        "message_start",
        "message_update",
        "message_end",
        "turn_end",
        "agent_end",
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn whoever_joins_a_resumed_session_gets_its_messages_first() {
    let scene = Scene::new([looks(&["a"]), ScriptedTurn::text("First."), ScriptedTurn::text("Second.")]);
    scene.run("One");
    let mut agent = scene.agent();
    let handle = agent.handle();
    agent.prompt(&UserPrompt::text("Two"));
    drop(agent);
    let mut reader = handle.read_events(0);
    let events: Vec<_> = std::iter::from_fn(|| reader.next_event()).collect();
    let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    let earlier =
        events.iter().take_while(|event| matches!(event.event, AgentEvent::MessageEnd { .. })).count();
    assert_eq!(earlier, 4, "prompt, call, result, answer");
}
