//! Conversations that are sent again and again while they grow, are cut, begin anew and change their model.

use relaycode_testkit::random::Random;
use serde_json::json;

use super::*;
use crate::message::{
    AssistantMessage, ImageContent, StopReason, TextContent, ThinkingContent, ToolCall, ToolResultMessage,
    UserMessage,
};
use crate::request::{Auth, CacheRetention, Tool, WireCall};
use crate::wire::{ALL, Wire};

const CONVERSATIONS: u64 = 60;
const STEPS: usize = 40;
const SEED: u64 = 0x5eed_0019;
const TEXTS: [&str; 7] = ["", " ", "done", "é \"quoted\"\n\t\u{1}", "a\\b", "</s>", "line\nline\nline"];

#[test]
fn a_request_is_the_same_with_and_without_what_earlier_ones_made() {
    for wire in ALL {
        let mut reused = 0;
        for number in 0..CONVERSATIONS {
            let random = &mut Random::of_case(SEED, number);
            let models = models(*wire);
            let mut model = 0;
            let mut request = ChatRequest { system: Some("Be brief.".into()), ..ChatRequest::default() };
            let kept = KeptTurns::new();
            for step in 0..STEPS {
                change(&mut request, random);
                if random.below(12) == 0 {
                    model = random.below(models.len());
                }
                let fresh = body(*wire, &models[model], &request);
                let again = ChatRequest { kept: kept.clone(), ..request.clone() };
                reused += kept.0.as_ref().unwrap().lock().unwrap().pieces.len();
                let (first, second) =
                    (body(*wire, &models[model], &again), body(*wire, &models[model], &again));
                let told = || format!("{}: seed {SEED:#x}, conversation {number}, step {step}", wire.id());
                assert!(first == fresh && second == fresh, "{}", told());
                serde_json::from_slice::<Value>(&fresh).unwrap_or_else(|error| panic!("{}: {error}", told()));
            }
        }
        assert!(reused > 0, "{}", wire.id());
    }
}

#[test]
fn only_what_is_new_is_made() {
    for wire in ALL {
        let model = &models(*wire)[0];
        let kept = KeptTurns::new();
        let mut request = ChatRequest { kept: kept.clone(), ..ChatRequest::default() };
        request.messages.push(Message::User(UserMessage::text("Look", 0)));
        let pieces = || kept.0.as_ref().unwrap().lock().unwrap().pieces.clone();
        body(*wire, model, &request);
        let before = pieces();
        request.messages.push(Message::User(UserMessage::text("Look again", 0)));
        body(*wire, model, &request);
        let after = pieces();
        assert_eq!((before.len(), after.len()), (1, 2), "{}", wire.id());
        assert!(before.iter().all(|(key, pieces)| Arc::ptr_eq(pieces, &after[key])), "{}", wire.id());
    }
}

#[test]
fn what_would_take_too_much_memory_is_not_kept() {
    let wire = ALL[0];
    let model = &models(wire)[0];
    let kept = KeptTurns::new();
    let mut request = ChatRequest { kept: kept.clone(), ..ChatRequest::default() };
    for _ in 0..5 {
        request.messages.push(Message::User(UserMessage::text("x".repeat(MOST_KEPT / 4), 0)));
    }
    let fresh = ChatRequest { kept: KeptTurns::default(), ..request.clone() };
    assert!(body(wire, model, &request) == body(wire, model, &fresh));
    let kept = kept.0.as_ref().unwrap().lock().unwrap();
    assert_eq!((kept.messages.len(), kept.pieces.len()), (4, 4));
}

fn body(wire: &dyn Wire, model: &Model, request: &ChatRequest) -> Vec<u8> {
    wire.request(&WireCall { model, auth: &Auth::None, request }).unwrap().body
}

/// The same server's, another one's, one without images, and one with the habits of others.
fn models(wire: &dyn Wire) -> Vec<Model> {
    let mut own = crate::models::model::tests::model();
    wire.id().clone_into(&mut own.api);
    let other = Model { id: "gemini-3-pro".into(), ..own.clone() };
    let blind = Model { images: false, ..own.clone() };
    let mistral = Model { base_url: "https://api.mistral.ai/v1".into(), ..own.clone() };
    vec![own, other, blind, mistral]
}

fn change(request: &mut ChatRequest, random: &mut Random) {
    let messages = &mut request.messages;
    match random.below(24) {
        // A rewind, a compaction, a message that reads otherwise now.
        0 => messages.truncate(random.below(messages.len() + 1)),
        1 => {
            let cut = random.below(messages.len() + 1);
            messages.splice(..cut, [Message::User(UserMessage::text("What was before", 0))]);
        }
        2 if !messages.is_empty() => {
            let at = random.below(messages.len());
            messages[at] = message(random);
        }
        3 => request.tools.clear(),
        4 => {
            let (name, description) = ("read".to_string(), "Reads".to_string());
            request.tools = vec![Tool { name, description, parameters: json!({"type": "object"}) }];
        }
        5 => {
            request.cache =
                *random.pick(&[CacheRetention::None, CacheRetention::Short, CacheRetention::Long]);
        }
        6 => messages
            .extend((0..25).map(|_| Message::User(UserMessage { content: vec![image()], timestamp: 0 }))),
        _ => messages.extend((0..random.below(4)).map(|_| message(random))),
    }
}

fn message(random: &mut Random) -> Message {
    let said = |random: &mut Random| {
        let mut content = vec![UserContent::text(*random.pick(&TEXTS))];
        if random.below(6) == 0 {
            content.push(image());
        }
        content
    };
    match random.below(8) {
        0 => Message::User(UserMessage { content: said(random), timestamp: 0 }),
        1 => Message::Developer(UserMessage { content: said(random), timestamp: 0 }),
        2..5 => Message::Assistant(answer(random)),
        _ => Message::ToolResult(ToolResultMessage {
            tool_call_id: call_id(random),
            tool_name: "read".into(),
            content: said(random),
            details: (random.below(2) == 0).then(|| json!({"shown": random.below(9)})),
            is_error: random.below(4) == 0,
            timestamp: 0,
        }),
    }
}

fn answer(random: &mut Random) -> AssistantMessage {
    let model = crate::models::model::tests::model();
    let api = random.pick(ALL).id().to_string();
    let signature = |random: &mut Random| {
        let kept = ["sig", "[{\"type\":\"x\"}]", "{\"type\":\"reasoning\",\"encrypted_content\":\"e\"}"];
        (random.below(2) == 0).then(|| random.pick(&kept).to_string())
    };
    let content = (0..random.below(5)).map(|_| match random.below(4) {
        0 => AssistantContent::Text(TextContent {
            text: random.pick(&TEXTS).to_string(),
            text_signature: signature(random),
        }),
        1 => AssistantContent::Thinking(ThinkingContent {
            thinking: random.pick(&TEXTS).to_string(),
            thinking_signature: signature(random),
            redacted: random.below(5) == 0,
        }),
        _ => AssistantContent::ToolCall(ToolCall {
            id: call_id(random),
            name: random.pick(&["read", "bash"]).to_string(),
            arguments: json!({"path": random.pick(&TEXTS)}).as_object().unwrap().clone(),
            thought_signature: signature(random),
        }),
    });
    let content = content.collect();
    let stop_reason = *random.pick(&[StopReason::ToolUse, StopReason::Stop, StopReason::Aborted]);
    AssistantMessage {
        content,
        api,
        provider: model.provider,
        model: model.id,
        stop_reason,
        ..AssistantMessage::default()
    }
}

/// Few, so that they repeat.
fn call_id(random: &mut Random) -> String {
    random.pick(&["call_1", "call_2", "call_3|fc_3", "functions.read:0"]).to_string()
}

fn image() -> UserContent {
    UserContent::Image(ImageContent { data: "aGk=".into(), mime_type: "image/png".into() })
}
