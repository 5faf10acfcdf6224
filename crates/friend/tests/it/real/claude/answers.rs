//! What claude answers: plainly, piece by piece, by a schema, to a large prompt; and whether it is there.

use relaycode_friend::AnswerFormat;
use relaycode_friend::friend::event::FriendEvent;
use relaycode_testkit::model;
use serde_json::json;

use super::fixture::stage;
use crate::fake_friends::since;

#[test]
fn it_is_there_and_signed_in_or_not() {
    let stage = stage!([]);
    let presence = stage.look();
    assert_eq!((presence.version.as_deref(), presence.signed_in), (Some("2.1.325"), Some(true)));
    assert_eq!(presence.trouble, None);
    stage.switch("no-key");
    let presence = stage.look();
    assert_eq!(presence.signed_in, Some(false));
    assert!(presence.trouble.unwrap().contains("claude auth login"));
    assert_eq!(stage.server.requests(), []);
}

#[test]
fn an_ask_is_answered_and_streamed_piece_by_piece() {
    let stage = stage!([model::ScriptedTurn::pieces(["One ", "two ", "three."]).reasoning("Let me count.")]);
    let came = stage.go(&stage.turn("Count."));
    let answer = came.answer();
    assert_eq!((answer.text.as_str(), answer.transport), ("One two three.", "stdio"));
    assert_eq!(answer.session, None);
    assert_eq!(answer.usage.map(|usage| (usage.input, usage.output)), Some((10, 5)));
    assert!(answer.model.as_deref().is_some_and(|model| model.contains("claude")));
    let texts: Vec<&FriendEvent> =
        came.events.iter().filter(|event| matches!(event, FriendEvent::Text(_))).collect();
    assert_eq!(texts.len(), 3, "{:?}", came.events);
    let thoughts = came.events.iter().filter_map(|event| match event {
        FriendEvent::Thinking(text) => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(thoughts.collect::<String>(), "Let me count.");
    assert_eq!(came.shown(), answer.text);
    assert_eq!(
        came.events.iter().filter(|event| matches!(event, FriendEvent::Ready { transport: "stdio" })).count(),
        1
    );
    // The prompt that relay knocks with never gets to the model.
    assert_eq!(stage.server.turns().len(), 1);
    assert!(!stage.server.turns()[0].body.to_string().contains("relay asks"));
}

#[test]
fn what_is_said_between_two_tools_is_not_the_answer() {
    let stage = stage!([
        model::ScriptedTurn::text("Let me look.").tool("Read", json!({"file_path": "main.rs"})),
        model::ScriptedTurn::text("It does nothing."),
    ]);
    let came = stage.go(&stage.turn("What does it do?"));
    assert_eq!(came.answer().text, "It does nothing.");
    assert_eq!(came.shown(), "It does nothing.");
    assert!(came.events.contains(&FriendEvent::AnswerRestarted), "{:?}", came.events);
    assert!(
        came.events
            .iter()
            .any(|event| matches!(event, FriendEvent::Action(what) if what.contains("main.rs")))
    );
    assert_eq!(came.answer().declined, []);
    assert!(stage.server.turns()[1].body.to_string().contains("fn main()"));
}

#[test]
fn a_prompt_larger_than_an_argument_gets_there_whole() {
    let line = "All of this is to be read, down to the last word.\n";
    let prompt = format!("{}The last word is heron.", line.repeat(180_000 / line.len()));
    let stage = stage!([model::ScriptedTurn::text("It is heron.")]);
    let came = stage.go(&stage.turn(&prompt));
    assert_eq!((came.answer().text.as_str(), came.answer().transport), ("It is heron.", "stdio"));
    let body = stage.server.turns()[0].body.to_string();
    assert_eq!(body.matches("down to the last word.").count(), 180_000 / line.len());
    assert!(body.contains("The last word is heron."));
}

#[test]
fn a_prompt_is_words_whatever_it_begins_with() {
    for prompt in ["/init this", "--help", "!touch x", "#remember", "see @main.rs and @/etc/hostname"] {
        let stage = stage!([model::ScriptedTurn::text("Words.")]);
        assert_eq!(stage.go(&stage.turn(prompt)).answer().text, "Words.", "{prompt}");
        let body = stage.server.turns()[0].body.to_string();
        assert!(body.contains(prompt), "{prompt}");
        assert!(!body.contains("fn main()") && !body.contains("calling the Read tool"), "{prompt}");
    }
}

#[test]
fn a_schema_is_followed_and_the_answer_is_read() {
    let schema = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"],
        "additionalProperties": false});
    let stage = stage!([
        model::ScriptedTurn::text("Let me look.").tool("Read", json!({"file_path": "main.rs"})),
        model::ScriptedTurn::text("I hand it in.").tool("StructuredOutput", json!({"ok": true})),
    ]);
    let mut turn = stage.turn("Is it ok?");
    turn.format = AnswerFormat::Json(schema.clone());
    let came = stage.go(&turn);
    assert_eq!(
        (came.answer().value.as_ref(), came.answer().transport),
        (Some(&json!({"ok": true})), "stdio")
    );
    assert_eq!(came.shown(), "{\"ok\":true}");
    assert_eq!(came.answer().declined, []);
}

#[test]
fn the_model_is_chosen_by_name() {
    let stage = stage!([model::ScriptedTurn::text("I am.")]);
    let mut turn = stage.turn("Who?");
    turn.model = Some("claude-sonnet-4-5".to_string());
    assert_eq!(stage.go(&turn).answer().model.as_deref(), Some("claude-sonnet-4-5"));
    assert_eq!(stage.server.turns()[0].body["model"], "claude-sonnet-4-5");
}

#[test]
fn it_has_no_review_of_its_own() {
    let stage = stage!([]);
    let mut turn = stage.turn("");
    turn.diff = since("main");
    assert!(stage.go(&turn).failure().to_string().contains("review"));
    assert_eq!(stage.calls(), 0);
}
