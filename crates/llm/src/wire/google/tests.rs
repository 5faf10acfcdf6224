use serde_json::{Value, json};

use super::GoogleWire;
use crate::failure::FailureClass;
use crate::message::{
    AssistantContent, AssistantMessage, ImageContent, Message, StopReason, TextContent, ThinkingContent,
    ToolCall, ToolResultMessage, UserContent, UserMessage,
};
use crate::models::model::Model;
use crate::request::{Auth, ChatRequest, ThinkingLevel, Tool, ToolChoice, WireCall};
use crate::wire::{Wire, WireHttpRequest};

fn model(id: &str) -> Model {
    Model {
        id: id.into(),
        provider: "google".into(),
        api: "google-generative-ai".into(),
        base_url: String::new(),
        max_tokens: 65_536,
        ..crate::models::model::tests::model()
    }
}

fn post(model: &Model, request: &ChatRequest) -> WireHttpRequest {
    let auth = Auth::Key("AIza1".into());
    GoogleWire.request(&WireCall { model, auth: &auth, request }).unwrap()
}

fn body(model: &Model, request: &ChatRequest) -> Value {
    serde_json::from_slice(&post(model, request).body).unwrap()
}

fn user(text: &str) -> Message {
    Message::User(UserMessage::text(text, 0))
}

fn answer(model: &Model, content: Vec<AssistantContent>) -> Message {
    Message::Assistant(AssistantMessage {
        content,
        api: model.api.clone(),
        provider: model.provider.clone(),
        model: model.id.clone(),
        response_id: None,
        usage: crate::message::TokenUsage::default(),
        stop_reason: StopReason::ToolUse,
        error_message: None,
        timestamp: 0,
    })
}

fn text(text: &str, signature: Option<&str>) -> AssistantContent {
    AssistantContent::Text(TextContent { text: text.into(), text_signature: signature.map(str::to_owned) })
}

fn thinking(thinking: &str, signature: Option<&str>) -> AssistantContent {
    let thinking_signature = signature.map(str::to_owned);
    AssistantContent::Thinking(ThinkingContent {
        thinking: thinking.into(),
        thinking_signature,
        redacted: false,
    })
}

fn call(id: &str, path: &str, signature: Option<&str>) -> AssistantContent {
    AssistantContent::ToolCall(ToolCall {
        id: id.into(),
        name: "read".into(),
        arguments: json!({"path": path}).as_object().unwrap().clone(),
        thought_signature: signature.map(str::to_owned),
    })
}

fn result(id: &str, content: Vec<UserContent>, is_error: bool) -> Message {
    Message::ToolResult(ToolResultMessage {
        tool_call_id: id.into(),
        tool_name: "read".into(),
        content,
        details: None,
        is_error,
        timestamp: 0,
    })
}

fn picture() -> UserContent {
    UserContent::Image(ImageContent { data: "aGk=".into(), mime_type: "image/png".into() })
}

fn read() -> Tool {
    Tool {
        name: "read".into(),
        description: "Reads a file.".into(),
        parameters: json!({"$schema": "x", "type": "object", "properties": {"path": {"const": "a"}}}),
    }
}

#[test]
fn a_first_question_is_asked_without_the_key_in_the_address() {
    let content = vec![UserContent::text("Look"), picture()];
    let request = ChatRequest {
        system: Some("Be brief.".into()),
        messages: vec![
            Message::User(UserMessage { content, timestamp: 0 }),
            Message::Developer(UserMessage::text("It is Monday.", 0)),
        ],
        tools: vec![read()],
        tool_choice: ToolChoice::Named("read".into()),
        thinking: ThinkingLevel::Medium,
        temperature: Some(0.5),
        max_tokens: Some(1000),
        ..ChatRequest::default()
    };
    let post = post(&model("gemini-2.5-flash"), &request);
    assert_eq!(
        post.url,
        "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"
    );
    assert_eq!(post.headers, [("x-goog-api-key".into(), "AIza1".into())]);
    assert_eq!(
        serde_json::from_slice::<Value>(&post.body).unwrap(),
        json!({
            "contents": [{"role": "user", "parts": [
                {"text": "Look"},
                {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
                {"text": "It is Monday."}
            ]}],
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "tools": [{"functionDeclarations": [{
                "name": "read",
                "description": "Reads a file.",
                "parametersJsonSchema": {
                    "type": "object",
                    "properties": {"path": {"type": "string", "enum": ["a"]}}
                }
            }]}],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["read"]}},
            "generationConfig": {
                "maxOutputTokens": 1000,
                "temperature": 0.5,
                "thinkingConfig": {"includeThoughts": true, "thinkingBudget": 8192}
            }
        })
    );
}

#[test]
fn signatures_go_back_on_the_parts_they_came_on() {
    let model = model("gemini-3-pro-preview");
    let request = ChatRequest {
        messages: vec![
            user("Read both"),
            answer(
                &model,
                vec![
                    thinking("unsigned", None),
                    thinking("signed", Some("S0")),
                    text("Reading.", Some("S1")),
                    call("fc1", "a", Some("S2")),
                    call("relay-call-r1-1", "b", None),
                ],
            ),
            result("fc1", vec![UserContent::text("A"), picture()], false),
            result("relay-call-r1-1", vec![UserContent::text("no such file")], true),
        ],
        ..ChatRequest::default()
    };
    assert_eq!(
        body(&model, &request),
        json!({
            "contents": [
                {"role": "user", "parts": [{"text": "Read both"}]},
                {"role": "model", "parts": [
                    {"text": "signed", "thought": true, "thoughtSignature": "S0"},
                    {"text": "Reading.", "thoughtSignature": "S1"},
                    {"functionCall": {"id": "fc1", "name": "read", "args": {"path": "a"}}, "thoughtSignature": "S2"},
                    {"functionCall": {"name": "read", "args": {"path": "b"}}}
                ]},
                {"role": "user", "parts": [
                    {"functionResponse": {"id": "fc1", "name": "read", "response": {"output": "A"}, "parts": [
                        {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
                    ]}},
                    {"functionResponse": {"name": "read", "response": {"error": "no such file"}}}
                ]}
            ],
            "generationConfig": {
                "maxOutputTokens": 65_536,
                "thinkingConfig": {"includeThoughts": false, "thinkingLevel": "low"}
            }
        })
    );
}

#[test]
fn calls_of_another_model_are_marked_as_unsigned_where_signatures_are_checked() {
    let other = model("gemini-2.5-pro");
    let request = ChatRequest {
        messages: vec![
            user("Read both"),
            answer(
                &other,
                vec![thinking("mine", Some("S0")), call("fc1", "a", Some("S1")), call("fc2", "b", None)],
            ),
            result("fc1", vec![picture()], false),
        ],
        ..ChatRequest::default()
    };
    let missing = crate::wire::history::NO_RESULT;
    let said = |id: &str| body(&model(id), &request)["contents"].clone();
    let calls = |first: Value| json!({"role": "model", "parts": [first, {"functionCall": {"name": "read", "args": {"path": "b"}}}]});
    let function = json!({"name": "read", "args": {"path": "a"}});
    let contents = said("gemini-3-flash-preview");
    assert_eq!(
        contents[1],
        calls(json!({"functionCall": function, "thoughtSignature": "skip_thought_signature_validator"}))
    );
    let contents = said("gemini-2.5-flash");
    assert_eq!(contents[1], calls(json!({"functionCall": function})));
    assert_eq!(
        contents[2],
        json!({"role": "user", "parts": [
            {"functionResponse": {"name": "read", "response": {"output": "(see the picture)"}}},
            {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
            {"functionResponse": {"name": "read", "response": {"error": missing}}}
        ]})
    );
}

#[test]
fn a_call_of_its_own_that_was_never_signed_is_marked_too() {
    let own = model("gemini-3-flash-preview");
    let messages = vec![user("Read"), answer(&own, vec![call("fc1", "a", None), call("fc2", "b", None)])];
    let said =
        body(&own, &ChatRequest { messages, ..ChatRequest::default() })["contents"][1]["parts"].clone();
    assert_eq!(said[0]["thoughtSignature"], "skip_thought_signature_validator");
    assert_eq!(said[1]["thoughtSignature"], Value::Null);
}

#[test]
fn a_picture_that_is_not_taken_is_a_note_in_what_was_said_and_in_responses() {
    let gif = || UserContent::Image(ImageContent { data: "aGk=".into(), mime_type: "image/gif".into() });
    let own = model("gemini-3-flash-preview");
    let messages = vec![
        Message::User(UserMessage { content: vec![gif()], timestamp: 0 }),
        answer(&own, vec![call("fc1", "a", Some("S"))]),
        result("fc1", vec![gif()], false),
    ];
    let said = body(&own, &ChatRequest { messages, ..ChatRequest::default() })["contents"].to_string();
    assert!(!said.contains("inlineData"), "{said}");
    assert_eq!(said.matches("of the kind image/gif").count(), 2, "{said}");
}

#[test]
fn a_conversation_that_a_model_began_or_ended_is_still_a_question() {
    let model = model("gemini-2.0-flash");
    let model = Model { reasoning: false, max_tokens: 0, ..model };
    let request = ChatRequest {
        messages: vec![answer(&model, vec![text("One.", None)]), answer(&model, vec![text("Two.", None)])],
        ..ChatRequest::default()
    };
    assert_eq!(
        body(&model, &request),
        json!({"contents": [
            {"role": "user", "parts": [{"text": "(go on)"}]},
            {"role": "model", "parts": [{"text": "One."}, {"text": "Two."}]},
            {"role": "user", "parts": [{"text": "(go on)"}]}
        ]})
    );
}

#[test]
fn tools_may_be_left_to_the_model_demanded_or_forbidden() {
    let config = |tool_choice: ToolChoice, tools: Vec<Tool>| {
        let request =
            ChatRequest { messages: vec![user("Go")], tools, tool_choice, ..ChatRequest::default() };
        body(&model("gemini-2.5-pro"), &request)["toolConfig"]["functionCallingConfig"].clone()
    };
    assert_eq!(config(ToolChoice::Auto, vec![read()]), Value::Null);
    assert_eq!(config(ToolChoice::None, vec![read()]), json!({"mode": "NONE"}));
    assert_eq!(config(ToolChoice::Required, vec![read()]), json!({"mode": "ANY"}));
    assert_eq!(config(ToolChoice::Required, vec![]), Value::Null);
}

#[test]
fn a_model_cannot_lead_the_request_elsewhere() {
    let url = |id: &str, base: &str| {
        let model = Model { base_url: base.into(), ..model(id) };
        GoogleWire.request(&WireCall { model: &model, auth: &Auth::None, request: &ChatRequest::default() })
    };
    assert_eq!(
        url("models/gemini-2.5-pro", "http://127.0.0.1:9/v1beta/?x=y").unwrap().url,
        "http://127.0.0.1:9/v1beta/models/gemini-2.5-pro:streamGenerateContent?x=y&alt=sse"
    );
    for id in ["", "a b", "a?key=1", "a#b", "../x", "a:b", "a\nb"] {
        assert_eq!(url(id, "").unwrap_err().class, FailureClass::Config, "{id}");
    }
}
