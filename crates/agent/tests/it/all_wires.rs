//! The whole loop on every wire; and what makes prompt caches work: each request extends the one before it.

use relaycode_agent::EndReason;
use relaycode_testkit::model::ScriptedTurn;
use serde_json::{Value, json};

use crate::fixture::{Scene, WIRES, looks};

#[test]
fn tools_run_and_the_answer_comes_on_every_wire() {
    for wire in WIRES {
        let scene = Scene {
            wire,
            ..Scene::new([
                looks(&["a", "b"]).tool("change", json!({"at": "c"})),
                looks(&["d"]),
                ScriptedTurn::text("All done."),
            ])
        };
        let (outcome, _) = scene.run("Look around");
        assert_eq!(
            (outcome.reason, outcome.answer.as_str()),
            (EndReason::Done, "All done."),
            "{wire:?}: {outcome:?}"
        );
        assert_eq!(scene.results().len(), 4, "{wire:?}");
        assert!(scene.sent(2).contains("saw d") && scene.sent(1).contains("saw b"), "{wire:?}");
    }
}

/// Marks for the provider's cache move with the end of the conversation.
fn without_marks(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            fields.shift_remove("cache_control");
            for field in fields.values_mut() {
                *field = without_marks(field.take());
            }
        }
        Value::Array(items) => {
            for item in items {
                *item = without_marks(item.take());
            }
        }
        _ => {}
    }
    value
}

#[test]
fn each_of_50_requests_extends_the_one_before_byte_for_byte() {
    const MESSAGES: [&str; 3] = ["messages", "contents", "input"];
    for wire in WIRES {
        let turns = (0..50).map(|at| looks(&[&format!("place {at}"), "again"]));
        let scene = Scene { wire, ..Scene::new(turns.chain([ScriptedTurn::text("done")])) };
        let (outcome, _) = scene.run("Look 50 times");
        assert_eq!(outcome.reason, EndReason::Done, "{outcome:?}");
        let bodies: Vec<Value> =
            scene.server.requests().iter().map(|request| without_marks(request.body.clone())).collect();
        assert_eq!(bodies.len(), 51);
        for pair in bodies.windows(2) {
            let [before, after] = pair else { unreachable!() };
            let name = MESSAGES.iter().find(|name| before.get(**name).is_some()).unwrap();
            let split = |body: &Value| {
                let mut rest = body.clone();
                let messages = rest.as_object_mut().unwrap().shift_remove(*name).unwrap();
                (rest.to_string(), messages.to_string())
            };
            let ((rest, said), (later_rest, later_said)) = (split(before), split(after));
            assert_eq!(rest, later_rest, "{wire:?}: everything but the conversation stays");
            assert!(later_said.starts_with(said.trim_end_matches(']')), "{wire:?}:\n{said}\n{later_said}");
        }
    }
}
