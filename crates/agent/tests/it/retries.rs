//! Answers that fail: what is tried again, what is said of it, and who goes on.

use std::time::Duration;

use relaycode_agent::{AgentEvent, EndReason, UserPrompt};
use relaycode_testkit::model::ScriptedTurn;
use serde_json::json;

use crate::fixture::{Scene, WIRES, looks};

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

#[test]
fn a_key_that_is_refused_or_used_up_gives_way_to_the_next_at_once() {
    for (status, wait) in [(401, None), (429, Some("600")), (402, None)] {
        for wire in WIRES {
            let refused = ScriptedTurn::status(status).with(|turn| {
                turn.headers.extend(wait.map(|wait| ("retry-after".to_string(), wait.to_string())));
            });
            let mut scene = Scene {
                wire,
                ..Scene::new([refused, ScriptedTurn::text("Here."), ScriptedTurn::text("Still.")])
            };
            scene.other_keys = vec!["sk-two", "sk-three"];
            let (outcome, events) = scene.run("Go");
            assert_eq!(
                (outcome.reason, outcome.answer.as_str()),
                (EndReason::Done, "Here."),
                "{status} {wire:?}"
            );
            let switched: Vec<(usize, usize)> = events
                .iter()
                .filter_map(|event| match event {
                    AgentEvent::CredentialSwitched { key, of, .. } => Some((*key, *of)),
                    _ => None,
                })
                .collect();
            assert!(switched.len() == 1 && switched[0].1 == 3, "{switched:?}");
            assert!(!events.iter().any(|event| matches!(
                event,
                AgentEvent::AutoRetryStart { .. } | AgentEvent::RequestRetry { .. }
            )));
            let written = std::fs::read_to_string(scene.root().join(crate::fixture::NAME)).unwrap();
            assert!(
                !format!("{events:?}{written}").contains("sk-t"),
                "keys are in no event and in no session"
            );
        }
    }
}

#[test]
fn when_every_key_is_refused_the_run_ends_and_each_was_asked_once() {
    let mut scene = Scene::new([ScriptedTurn::status(401).repeat(9)]);
    scene.other_keys = vec!["sk-two", "sk-three"];
    let (outcome, events) = scene.run("Go");
    assert_eq!(outcome.reason, EndReason::ModelFailed);
    assert_eq!(
        events.iter().filter(|event| matches!(event, AgentEvent::CredentialSwitched { .. })).count(),
        2
    );
    assert_eq!(scene.server.requests().len(), 3);
}

#[test]
fn switched_off_nothing_is_tried_again() {
    let mut scene = Scene::new([broken(), ScriptedTurn::text("never")]);
    scene.settings.retry.enabled = false;
    let (outcome, events) = scene.run("Go");
    assert_eq!(outcome.reason, EndReason::ModelFailed);
    assert!(retry_events(&events).is_empty() && scene.server.requests().len() == 1);
}

#[test]
fn a_conversation_that_is_too_long_is_not_tried_again() {
    let error = json!({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"}});
    let mut scene = Scene::new([ScriptedTurn::status(400).body(error), ScriptedTurn::text("never")]);
    scene.fallbacks = vec!["second".into()];
    let (outcome, events) = scene.run("Go");
    assert_eq!(outcome.reason, EndReason::ContextOverflow, "{outcome:?}");
    assert!(retry_events(&events).is_empty() && scene.server.requests().len() == 1);
}

#[test]
fn a_wait_that_a_provider_asks_for_counts_if_it_is_not_too_long() {
    let busy = |wait: &str| ScriptedTurn::status(429).header("retry-after-ms", wait);
    let scene = Scene::new([busy("40"), ScriptedTurn::text("Done.")]);
    let (outcome, events) = scene.run("Go");
    assert_eq!(outcome.answer, "Done.");
    assert_eq!(retry_events(&events), ["start 1/3 40 ms", "end true 1"]);
    let scene = Scene::new([busy("300001"), ScriptedTurn::text("never")]);
    let (outcome, events) = scene.run("Go");
    assert_eq!((outcome.reason, scene.server.requests().len()), (EndReason::ModelFailed, 1));
    assert!(!retry_events(&events).iter().any(|line| line.starts_with("start")), "{events:?}");
}

#[test]
fn the_first_model_answers_again_once_it_may_be_asked_unless_the_user_wants_the_other() {
    for reverts in [true, false] {
        let failed = ScriptedTurn::status(503).header("retry-after-ms", "1");
        let mut scene =
            Scene::new([failed, ScriptedTurn::text("I did it."), ScriptedTurn::text("And this.")]);
        scene.fallbacks = vec!["second".into()];
        scene.settings.retry.revert_fallback = reverts;
        let mut agent = scene.agent();
        agent.prompt(&UserPrompt::text("Go"));
        agent.prompt(&UserPrompt::text("And this"));
        let asked: Vec<String> = scene
            .server
            .requests()
            .iter()
            .map(|request| request.body["model"].as_str().unwrap_or_default().to_string())
            .collect();
        assert_eq!(asked, ["first", "second", if reverts { "first" } else { "second" }]);
    }
}
