//! Four faults that others had, each tried with the real programs: a resumed session that writes, a review that writes,
//! an opencode that writes, and a context that is too large for an argument.

use relaycode_testkit::model::ScriptedTurn;
use serde_json::{Value, json};

use super::fixture::{Stage, all, each, programs};

#[test]
fn fault_one_a_resumed_session_does_not_write() {
    each(programs(), |stage| {
        let name = stage.name;
        stage.says([ScriptedTurn::text("I keep the word.")]);
        let words = |prompt| ["ask", prompt, "--to", name, "--session", "bird", "--json"];
        let before = stage.tree();
        let first = stage.run(&words("The word is heron.")).ends(name, 0).json();
        let asked = stage.server.turns().len();
        stage.says(stage.tries_to_write());
        stage.says([ScriptedTurn::text("I could not.")]);
        let ran = stage.run(&words("Now write.")).ends(name, 0);
        assert_eq!(stage.tree(), before, "{name}: {ran:#?}");
        assert_eq!(stage.server.turns_left(), 0, "{name} tried all of it");
        let second = &ran.json()["answers"][0];
        assert_eq!(second["text"], "I could not.", "{name}: {ran:#?}");
        assert_ne!(second["session"], Value::Null, "{name}");
        assert_eq!(second["session"], first["answers"][0]["session"], "{name}");
        assert!(!second["declined"].as_array().unwrap().is_empty(), "{name}: {ran:#?}");
        let body = stage.server.turns()[asked].body.to_string();
        assert!(body.contains("The word is heron."), "{name} remembers: {body}");
    });
}

#[test]
fn fault_two_a_review_does_not_write() {
    each(all(), |stage| {
        let name = stage.name;
        stage.says(stage.tries_to_write());
        // The form of codex's own review.
        let review = match name {
            "codex" => json!({"findings": [], "overall_correctness": "patch is incorrect",
                "overall_explanation": "It loops for ever.", "overall_confidence_score": 0.8})
            .to_string(),
            _ => "It loops for ever.".to_string(),
        };
        stage.says([ScriptedTurn::text(review)]);
        let before = stage.tree();
        let ran = stage.run(&["review", "--to", name]).ends(name, 0);
        assert_eq!(stage.tree(), before, "{name}: {ran:#?}");
        assert!(ran.out.contains("It loops for ever."), "{name}: {ran:#?}");
        assert!(ran.err.contains("main"), "{name} says the base: {ran:#?}");
        assert_eq!(stage.server.turns_left(), 0, "{name} was asked for all of it");
    });
}

#[test]
fn fault_three_opencode_does_not_write_when_it_may_only_read() {
    let Some(stage) = Stage::of("opencode") else { return };
    // Not even where its user allows everything.
    let file = ".config/opencode/opencode.json";
    let settings = std::fs::read(stage.scratch.home().join(file)).unwrap();
    let mut settings: Value = serde_json::from_slice(&settings).unwrap();
    settings["permission"] = json!({"*": "allow", "edit": "allow", "bash": "allow"});
    stage.put_home(file, &settings.to_string());
    stage.says(stage.tries_to_write());
    stage.says([ScriptedTurn::text("I could not.")]);
    let before = stage.tree();
    let ran = stage.run(&["ask", "Change everything.", "--to", "opencode", "--json"]).ends("opencode", 0);
    assert_eq!(stage.tree(), before, "{ran:#?}");
    assert_eq!(ran.json()["answers"][0]["declined"].as_array().unwrap().len(), 3, "{ran:#?}");
}

#[test]
fn fault_four_a_context_of_180_kb_arrives_whole() {
    let line = "All of this is to be read, down to the last word.\n";
    let count = 180_000 / line.len();
    each(all(), |stage| {
        let name = stage.name;
        stage.put_home("context.txt", &format!("{}The last word is heron.", line.repeat(count)));
        stage.says([ScriptedTurn::text("It is heron.")]);
        let file = stage.scratch.home().join("context.txt");
        let words = ["ask", "Which is it?", "--to", name, "--context-file", file.to_str().unwrap()];
        let ran = stage.run(&words).ends(name, 0);
        assert_eq!(ran.out, "It is heron.\n", "{name}");
        let body = stage.server.turns()[0].body.to_string();
        assert_eq!(body.matches("down to the last word.").count(), count, "{name}");
        assert!(body.contains("The last word is heron."), "{name}");
    });
}
