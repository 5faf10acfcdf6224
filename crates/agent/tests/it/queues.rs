//! What people say while the agent works.

use relaycode_agent::{AgentEvent, EndReason, InterruptMode, UserPrompt};
use relaycode_testkit::model::ScriptedTurn;
use serde_json::json;

use crate::fixture::{Scene, result_text};

/// Runs a prompt; says something as soon as the first tool has begun.
fn run_and_steer(scene: &Scene) -> EndReason {
    let mut agent = scene.agent();
    let handle = agent.handle();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut reader = handle.read_events(0);
            let asked = |event: &AgentEvent| match event {
                AgentEvent::QuestionAsked { question } => Some(question.id.clone()),
                _ => None,
            };
            let id =
                std::iter::from_fn(|| reader.next_event()).find_map(|event| asked(&event.event)).unwrap();
            handle.steer(UserPrompt::text("Take the other road")).unwrap();
            handle.follow_up(UserPrompt::text("And then rest")).unwrap();
            handle.answer(&id, relaycode_tools::HostAnswer::Options { chosen: vec![1] });
        });
        handle.set_attended(true);
        agent.prompt(&UserPrompt::text("Go")).reason
    })
}

fn script() -> [ScriptedTurn; 3] {
    [
        ScriptedTurn::call("ask", json!({})).tool("change", json!({"at": "x"})),
        ScriptedTurn::text("I take the other road."),
        ScriptedTurn::text("I rest."),
    ]
}

#[test]
fn steering_skips_the_calls_that_have_not_begun() {
    let scene = Scene::new(script());
    assert_eq!(run_and_steer(&scene), EndReason::Done);
    let results = scene.results();
    assert!(result_text(&results[0]).contains("chosen: [1]"), "{results:?}");
    assert!(result_text(&results[1]).contains("the user said something new"), "{results:?}");
    assert!(scene.sent(1).contains("Take the other road") && !scene.sent(1).contains("And then rest"));
    assert!(scene.sent(2).contains("And then rest"));
}

#[test]
fn steering_that_waits_lets_all_calls_run() {
    let mut scene = Scene::new(script());
    scene.settings.interrupt_mode = InterruptMode::Wait;
    assert_eq!(run_and_steer(&scene), EndReason::Done);
    assert!(result_text(&scene.results()[1]).contains("changed"));
    assert!(scene.sent(1).contains("Take the other road"));
}
