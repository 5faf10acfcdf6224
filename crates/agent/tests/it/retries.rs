//! Answers that fail: what is tried again, what is said of it, and who goes on.

use std::time::Duration;

use relaycode_agent::{AgentEvent, EndReason, UserPrompt};
use relaycode_testkit::model::ScriptedTurn;

use crate::fixture::{Scene, looks};

fn retry_events(events: &[AgentEvent]) -> Vec<String> {
    let line = |event: &AgentEvent| match event {
        AgentEvent::AutoRetryStart { attempt, max_attempts, delay_ms, .. } => {
            Some(format!("start {attempt}/{max_attempts} {delay_ms} ms"))
        }
        AgentEvent::AutoRetryEnd { success, attempt, .. } => Some(format!("end {success} {attempt}")),
        AgentEvent::RetryFallbackApplied { from, to, .. } => Some(format!("{from} -> {to}")),
        AgentEvent::RetryFallbackSucceeded { model, .. } => Some(format!("{model} answers")),
        _ => None,
    };
    events.iter().filter_map(line).collect()
}

fn broken() -> ScriptedTurn {
    ScriptedTurn::text("half an answer").with(|turn| turn.truncate = true)
}

#[test]
fn a_broken_answer_is_asked_for_again_and_the_model_does_not_see_it() {
    let scene = Scene::new([looks(&["a"]), broken(), broken(), ScriptedTurn::text("Whole.")]);
    let (outcome, events) = scene.run("Go");
    assert_eq!((outcome.reason, outcome.answer.as_str()), (EndReason::Done, "Whole."));
    assert_eq!(retry_events(&events), ["start 1/3 1 ms", "start 2/3 2 ms", "end true 2"]);
    assert!(!scene.sent(3).contains("half an answer"));
    let entries: Vec<String> =
        scene.read_session().entries().map(|entry| entry.unwrap().to_object().to_string()).collect();
    assert_eq!(
        entries.iter().filter(|entry| entry.contains("half an answer")).count(),
        2,
        "the session keeps them"
    );
}

#[test]
fn retries_end_and_the_next_prompt_begins_anew() {
    let scene = Scene::new([broken().repeat(4), broken(), ScriptedTurn::text("Better.")]);
    let (outcome, events) = scene.run("Go");
    assert_eq!(outcome.reason, EndReason::ModelFailed, "{outcome:?}");
    let expected = ["start 1/3 1 ms", "start 2/3 2 ms", "start 3/3 4 ms", "end false 3"];
    assert_eq!(retry_events(&events), expected);
    let (outcome, events) = scene.run("Again");
    assert_eq!(outcome.answer, "Better.");
    assert_eq!(retry_events(&events), ["start 1/3 1 ms", "end true 1"]);
}

#[test]
fn what_cannot_get_better_is_not_tried_again() {
    for status in [401, 400, 404] {
        let scene = Scene::new([ScriptedTurn::status(status)]);
        let (outcome, events) = scene.run("Go");
        assert_eq!(outcome.reason, EndReason::ModelFailed, "{status}");
        assert!(retry_events(&events).is_empty() && scene.server.requests().len() == 1, "{status}");
    }
}

#[test]
fn another_model_goes_on_where_the_first_fails() {
    let mut scene = Scene::new([ScriptedTurn::status(503), looks(&["a"]), ScriptedTurn::text("I did it.")]);
    scene.fallbacks = vec!["second".into()];
    let (outcome, events) = scene.run("Go");
    assert_eq!(outcome.answer, "I did it.");
    let expected =
        ["scripted/first -> scripted/second", "start 1/3 0 ms", "scripted/second answers", "end true 1"];
    assert_eq!(retry_events(&events), expected);
    assert!(scene.sent(2).contains("second"));
}

#[test]
fn the_wait_for_a_retry_can_be_ended() {
    for abort_all in [false, true] {
        let mut scene = Scene::new([broken(), ScriptedTurn::text("never")]);
        scene.settings.retry.base_delay = Duration::from_secs(600);
        scene.settings.retry.max_delay = Duration::from_secs(600);
        let mut agent = scene.agent();
        let handle = agent.handle();
        let seen = handle.last_seq();
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut reader = handle.read_events(seen);
                let waits = |event: &AgentEvent| matches!(event, AgentEvent::AutoRetryStart { .. });
                while reader.next_event().is_some_and(|event| !waits(&event.event)) {}
                while !(if abort_all { handle.abort() } else { handle.abort_retry() }) {}
            });
            agent.prompt(&UserPrompt::text("Go"))
        });
        let expected = if abort_all { EndReason::Aborted } else { EndReason::ModelFailed };
        assert_eq!(outcome.reason, expected, "{outcome:?}");
    }
}
