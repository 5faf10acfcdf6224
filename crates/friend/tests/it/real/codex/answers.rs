//! What codex answers, and in which form.

use relaycode_friend::AnswerFormat;
use relaycode_friend::friend::event::FriendEvent;
use relaycode_friend::{FriendFailure, TurnMemory};
use relaycode_testkit::model;
use serde_json::json;

use super::fixture::{shell, stage};
use crate::fake_friends::since;

#[test]
fn an_ask_is_answered_and_leaves_nothing_behind() {
    let stage = stage!([model::ScriptedTurn::text("It is fine.").reasoning("Let me think.")]);
    let before = stage.tree();
    let came = stage.go(&stage.turn("-- is it fine?"));
    let answer = came.answer();
    assert_eq!(
        (answer.text.as_str(), answer.transport, answer.session.as_deref()),
        ("It is fine.", "app-server", None)
    );
    assert_eq!(answer.model.as_deref(), Some("gpt-5.5"));
    assert_eq!(answer.usage.map(|usage| (usage.input, usage.output)), Some((10, 5)));
    assert_eq!(came.events.first(), Some(&FriendEvent::Ready { transport: "app-server" }));
    assert!(came.events.iter().any(|event| matches!(event, FriendEvent::Thinking(_))), "{:?}", came.events);
    let request = &stage.server.turns()[0];
    assert!(request.body["input"].to_string().contains("-- is it fine?"));
    assert!(request.header("x-codex-turn-metadata").unwrap().contains("\"sandbox_mode\":\"read-only\""));
    assert_eq!(stage.tree(), before);
    assert_eq!(stage.left(), []);
}

#[test]
fn an_answer_is_streamed_and_a_remark_before_a_tool_is_not_the_answer() {
    let stage = stage!([
        shell("cat main.rs"),
        model::ScriptedTurn::pieces(["One ", "two ", "three."]).with(|turn| turn.chunk_delay_ms = 20)
    ]);
    let came = stage.go(&stage.turn("Stream, please."));
    assert_eq!(came.answer().text, "One two three.");
    let begins_anew = came.events.iter().position(|event| *event == FriendEvent::AnswerRestarted).unwrap();
    let after = &came.events[begins_anew..];
    assert_eq!(
        after.iter().filter(|event| matches!(event, FriendEvent::Text(_))).count(),
        3,
        "{:?}",
        came.events
    );
    assert!(came.texts().ends_with(&["One ", "two ", "three."]));
    assert!(
        came.events
            .iter()
            .any(|event| matches!(event, FriendEvent::Action(what) if what.contains("cat main.rs")))
    );
    assert!(stage.server.turns()[1].body.to_string().contains("run()"), "it read the file");
}

#[test]
fn a_prompt_of_180_kb_arrives_whole() {
    let stage = stage!([model::ScriptedTurn::text("Read.")]);
    let prompt: String =
        (0..).map(|n| format!("line {n} of a long prompt, Größe 大\n")).take(5_000).collect();
    assert!(prompt.len() > 180_000, "{}", prompt.len());
    assert_eq!(stage.go(&stage.turn(&prompt)).answer().text, "Read.");
    let input = stage.server.turns()[0].body["input"].clone();
    let texts: Vec<&str> =
        input.as_array().unwrap().iter().filter_map(|item| item["content"][0]["text"].as_str()).collect();
    assert!(texts.contains(&prompt.as_str()));
}

#[test]
fn a_session_that_codex_does_not_know_is_none() {
    let stage = stage!([model::ScriptedTurn::text("Never said.")]);
    for id in ["01a1de01-0000-7000-8000-000000000000", "a name", "-o"] {
        let mut turn = stage.turn("Hello?");
        turn.memory = TurnMemory::Resume(id.to_string());
        let came = stage.go(&turn);
        assert!(
            matches!(came.failure(), FriendFailure::UnknownSession { id: of, .. } if of == id),
            "{:?}",
            came.failure()
        );
    }
    assert_eq!(stage.server.turns().len(), 0);
}

#[test]
fn a_review_without_words_is_no_answer_and_one_against_a_commit_is_left_to_others() {
    let stage = stage!([model::ScriptedTurn::default()]);
    let mut turn = stage.turn("");
    turn.diff = since("main");
    let came = stage.go(&turn);
    assert!(matches!(came.failure(), FriendFailure::NoAnswer { .. }), "{:?}", came.result);
    for base in ["HEAD~1", "0123abc", "-o/x", "main..feature"] {
        turn.diff = since(base);
        assert!(matches!(stage.go(&turn).failure(), FriendFailure::Unsupported { .. }), "{base}");
    }
}

#[test]
fn a_schema_is_handed_on_and_the_answer_is_read() {
    let schema = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"],
        "additionalProperties": false});
    let stage = stage!([model::ScriptedTurn::text("{\"ok\":true}"), model::ScriptedTurn::text("no JSON")]);
    let mut turn = stage.turn("Is it ok?");
    turn.format = AnswerFormat::Json(schema.clone());
    assert_eq!(stage.go(&turn).answer().value, Some(json!({"ok": true})));
    assert_eq!(stage.server.turns()[0].body["text"]["format"]["schema"], schema);
    assert!(matches!(stage.go(&turn).failure(), FriendFailure::SchemaMismatch { .. }));
}

#[test]
fn a_remark_before_a_tool_is_no_answer_when_nothing_follows() {
    let stage = stage!([shell("cat main.rs"), model::ScriptedTurn::default()]);
    let came = stage.go(&stage.turn("Well?"));
    assert!(matches!(came.failure(), FriendFailure::NoAnswer { .. }), "{:?}", came.result);
}
