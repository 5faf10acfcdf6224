//! A model whose protocol leaks into its answers: what it wrote is not carried out, not read again by it, and kept for people.

use relaycode_agent::{AgentEvent, EndReason};
use relaycode_session::EntryBody;
use relaycode_testkit::model::ScriptedTurn;
use relaycode_tools::registry;
use serde_json::{Value, json};

use crate::fixture::{Scene, WIRES, looks};

const LEAKED: &str =
    "fn main() {}\n】【analysis to=functions.write code above เงินฟรี user to=functions.write code";
const CLEAN: &str = "fn main() {}\n";

fn scene(turns: impl IntoIterator<Item = ScriptedTurn>) -> Scene {
    let mut scene = Scene::new(turns);
    scene.tools = registry::all().to_vec();
    scene.model_id = "gpt-5.4";
    scene
}

fn write(content: &str) -> ScriptedTurn {
    ScriptedTurn::call("write", json!({"path": "main.rs", "content": content}))
}

fn notices(events: &[AgentEvent]) -> Vec<&str> {
    let notices = events.iter().filter_map(|event| match event {
        AgentEvent::Notice { text, .. } => Some(text.as_str()),
        _ => None,
    });
    notices.collect()
}

fn kept_leaks(scene: &Scene) -> Vec<Value> {
    let session = scene.read_session();
    let entries = session.entries().filter_map(|entry| match entry.unwrap().body {
        EntryBody::Custom { custom_type, data } if custom_type == "harmony-leak" => data,
        _ => None,
    });
    entries.collect()
}

#[test]
fn a_leaked_edit_is_not_written_and_asked_for_again_on_every_wire() {
    for wire in WIRES {
        let scene = Scene { wire, ..scene([write(LEAKED), write(CLEAN), ScriptedTurn::text("Done.")]) };
        let (outcome, events) = scene.run("Go");
        assert_eq!((outcome.reason, outcome.answer.as_str()), (EndReason::Done, "Done."), "{wire:?}");
        let written = std::fs::read_to_string(scene.root().join("main.rs")).unwrap();
        assert_eq!(written, CLEAN, "{wire:?}");
        assert_eq!(notices(&events), ["the model's protocol leaked into write: the call is not carried out"]);
        let sent = scene.sent(1);
        assert!(sent.contains("Send the whole call again") && !sent.contains("to=functions"), "{sent}");
        let kept = kept_leaks(&scene);
        assert_eq!(
            (kept.len(), &kept[0]["model"], &kept[0]["in"]),
            (1, &json!("scripted/gpt-5.4"), &json!("write"))
        );
        assert!(kept[0]["cut"][0].as_str().unwrap().contains("】【analysis to=functions.write code"));
    }
}

#[test]
fn the_other_calls_of_the_answer_are_carried_out_and_the_text_is_cut() {
    let leaked_text = "I look. commentary to=functions.look code first";
    let turn = looks(&["a", "b} to=functions.look code x"])
        .with(|turn| turn.text = ScriptedTurn::text(leaked_text).text);
    let mut scene = scene([turn, ScriptedTurn::text("Done.")]);
    scene.tools = Scene::new([]).tools;
    let (outcome, events) = scene.run("Go");
    assert_eq!(outcome.reason, EndReason::Done);
    let texts: Vec<String> = scene.results().iter().map(crate::fixture::result_text).collect();
    assert!(texts.iter().any(|text| text.contains("saw a")), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("Send the whole call again")), "{texts:?}");
    assert_eq!(
        notices(&events),
        [
            "the model's protocol leaked into its answer: the rest of it was cut",
            "the model's protocol leaked into look: the call is not carried out",
        ]
    );
    assert!(!scene.sent(1).contains("to=functions"));
}

#[test]
fn an_answer_without_calls_is_asked_for_again_twice_and_then_cut() {
    let leaked = "The answer is 4. analysis to=functions.done code 天天彩票";
    let first = scene([ScriptedTurn::text(leaked), ScriptedTurn::text("The answer is 4.")]);
    let (outcome, events) = first.run("Go");
    assert_eq!(outcome.answer, "The answer is 4.");
    assert_eq!(notices(&events), ["the model's protocol leaked into its answer: it is asked again"]);
    assert!(!first.sent(1).contains("天天"));
    let stubborn = scene([ScriptedTurn::text(leaked).repeat(9)]);
    let (outcome, _) = stubborn.run("Go");
    assert_eq!((outcome.reason, outcome.answer.as_str()), (EndReason::Done, "The answer is 4. "));
    assert_eq!(stubborn.server.requests().len(), 3);
}

#[test]
fn a_model_that_leaks_for_ever_ends_by_the_limit_of_repetitions() {
    let scene = scene([write(LEAKED).repeat(50)]);
    let (outcome, _) = scene.run("Go");
    assert_eq!(outcome.reason, EndReason::Repetition);
    assert!(!scene.root().join("main.rs").exists());
}

#[test]
fn other_models_and_texts_about_the_protocol_are_left_alone() {
    let about = "The header `analysis to=functions.write code` is a leak.\n";
    let scene = scene([write(about), ScriptedTurn::text("Done.")]);
    assert_eq!(notices(&scene.run("Go").1), [""; 0]);
    assert_eq!(std::fs::read_to_string(scene.root().join("main.rs")).unwrap(), about);
    let other = Scene { model_id: "claude", ..self::scene([write(LEAKED), ScriptedTurn::text("Done.")]) };
    assert_eq!(notices(&other.run("Go").1), [""; 0]);
    assert_eq!(std::fs::read_to_string(other.root().join("main.rs")).unwrap(), LEAKED);
}
