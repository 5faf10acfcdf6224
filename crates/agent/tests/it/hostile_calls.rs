//! Models that call what is not there, half calls, a thousand calls; tools that refuse, panic and give up.

use relaycode_agent::{EndReason, MAX_CALLS};
use relaycode_testkit::model::ScriptedTurn;
use serde_json::json;

use crate::fixture::{Scene, WIRES, looks, result_text};

#[test]
fn an_unknown_tool_is_answered_with_the_names_that_there_are() {
    let scene = Scene::new([ScriptedTurn::call("lok", json!({})), ScriptedTurn::text("I see.")]);
    let (outcome, _) = scene.run("Go");
    assert_eq!(outcome.reason, EndReason::Done);
    let text = result_text(&scene.results()[0]);
    assert!(text.contains("there is no tool `lok`; did you mean `look`?"), "{text}");
    assert!(text.contains("The tools are: look, change,"), "{text}");
}

#[test]
fn half_arguments_are_not_run() {
    let scene = Scene::new([
        ScriptedTurn::call("look", json!("{\"at\": \"a")),
        ScriptedTurn::call("look", json!({"at": "b"})),
        ScriptedTurn::text("ok"),
    ]);
    scene.run("Go");
    let results = scene.results();
    assert!(results[0].is_error && result_text(&results[0]).contains("no whole JSON object"), "{results:?}");
    assert!(result_text(&results[1]).contains("saw b"));
}

#[test]
fn of_a_thousand_calls_the_first_are_carried_out_and_all_are_answered() {
    let words: Vec<String> = (0..1000).map(|at| format!("w{at}")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let scene = Scene::new([looks(&words), ScriptedTurn::text("ok")]);
    let (outcome, _) = scene.run("Go");
    assert_eq!(outcome.reason, EndReason::Done);
    let results = scene.results();
    assert_eq!(results.len(), 1000);
    assert_eq!(results.iter().filter(|result| !result.is_error).count(), MAX_CALLS);
    let refused = results.iter().find(|result| result.is_error).unwrap();
    assert!(result_text(refused).contains("Send the others again, fewer at a time"), "{refused:?}");
}

#[test]
fn a_tool_that_panics_or_refuses_is_an_error_result_and_the_loop_goes_on() {
    let scene = Scene::new([
        ScriptedTurn::call("panic", json!({})).tool("refuse", json!({})).tool("look", json!({"at": "x"})),
        ScriptedTurn::text("ok"),
    ]);
    let (outcome, _) = scene.run("Go");
    assert_eq!(outcome.reason, EndReason::Done);
    let results = scene.results();
    let text = |name: &str| result_text(results.iter().find(|result| result.tool_name == name).unwrap());
    assert!(text("panic").contains("a bug of relay's: the test wants this"), "{}", text("panic"));
    assert!(text("refuse").contains("Nearest: a.rs"));
    assert!(text("look").contains("saw x"));
}

#[test]
fn a_tool_that_gives_up_ends_the_run_and_the_session_stays_valid() {
    let scene = Scene::new([ScriptedTurn::call("fatal", json!({})).tool("look", json!({"at": "never"}))]);
    let (outcome, _) = scene.run("Go");
    assert_eq!(outcome.reason, EndReason::ToolFailed);
    assert_eq!(outcome.message.as_deref(), Some("the project is gone"));
    assert_eq!(scene.results().len(), 2);
}

#[test]
fn a_model_that_repeats_itself_is_told_and_then_stopped() {
    let mut scene = Scene::new([looks(&["same"]).repeat(100)]);
    scene.settings.repeat_limit = 3;
    let (outcome, _) = scene.run("Go");
    assert_eq!(outcome.reason, EndReason::Repetition, "{outcome:?}");
    assert_eq!(scene.server.requests().len(), 6);
    assert!(scene.sent(3).contains("you made the same calls 3 times in a row"));
    assert!(!scene.sent(2).contains("in a row"));
}

#[test]
fn calls_that_a_provider_gave_one_id_have_ids_of_their_own() {
    let same = || {
        looks(&["a", "b"])
            .with(|turn| turn.tool_calls.iter_mut().for_each(|call| call.id = Some("same".to_string())))
    };
    for wire in WIRES {
        let mut scene = Scene::new([same(), same(), ScriptedTurn::text("Done.")]);
        scene.wire = wire;
        let (outcome, _) = scene.run("Go");
        assert_eq!(outcome.answer, "Done.", "{wire:?}");
        let mut ids: Vec<String> = scene.results().into_iter().map(|result| result.tool_call_id).collect();
        assert_eq!(ids.len(), 4, "{wire:?}");
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 4, "{wire:?} {ids:?}");
    }
}
