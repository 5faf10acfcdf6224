use serde_json::{Value, json};

use super::AnthropicWire;
use crate::failure::FailureClass;
use crate::message::{
    AssistantContent, AssistantMessage, ImageContent, Message, StopReason, TextContent, ThinkingContent,
    ToolCall, ToolResultMessage, UserContent, UserMessage,
};
use crate::models::model::Model;
use crate::request::{Auth, CacheRetention, ChatRequest, ThinkingLevel, Tool, ToolChoice, WireCall};
use crate::wire::{Wire, WireHttpRequest};

fn model() -> Model {
    Model {
        id: "claude-sonnet-4-5".into(),
        provider: "anthropic".into(),
        base_url: "https://api.anthropic.com".into(),
        max_tokens: 64_000,
        ..crate::models::model::tests::model()
    }
}

fn post(model: &Model, request: &ChatRequest) -> WireHttpRequest {
    let auth = Auth::Key("sk-1".into());
    AnthropicWire.request(&WireCall { model, auth: &auth, request }).unwrap()
}

fn body(model: &Model, request: &ChatRequest) -> Value {
    serde_json::from_slice(&post(model, request).body).unwrap()
}

fn user(text: &str) -> Message {
    Message::User(UserMessage::text(text, 0))
}

fn text(text: &str) -> AssistantContent {
    AssistantContent::Text(TextContent { text: text.into(), text_signature: None })
}

fn thinking(thinking: &str, signature: Option<&str>, redacted: bool) -> AssistantContent {
    let thinking_signature = signature.map(str::to_owned);
    AssistantContent::Thinking(ThinkingContent { thinking: thinking.into(), thinking_signature, redacted })
}

fn call(id: &str, name: &str, arguments: &Value) -> AssistantContent {
    let arguments = arguments.as_object().unwrap().clone();
    AssistantContent::ToolCall(ToolCall {
        id: id.into(),
        name: name.into(),
        arguments,
        thought_signature: None,
    })
}

fn answer(content: Vec<AssistantContent>, stop_reason: StopReason) -> AssistantMessage {
    let model = model();
    AssistantMessage {
        content,
        api: model.api,
        provider: model.provider,
        model: model.id,
        response_id: None,
        usage: crate::message::TokenUsage::default(),
        stop_reason,
        error_message: None,
        timestamp: 0,
    }
}

fn result(id: &str, content: Vec<UserContent>, is_error: bool) -> Message {
    Message::ToolResult(ToolResultMessage {
        tool_call_id: id.into(),
        tool_name: "read".into(),
        content,
        details: Some(json!({"secret": "for the user interface"})),
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
        parameters: json!({"$schema": "x", "type": "object", "properties": {"path": {"type": "string"}}}),
    }
}

#[test]
fn a_first_question_is_asked_with_its_cache_marked() {
    let request = ChatRequest {
        system: Some("Be brief.".into()),
        messages: vec![user("Hello"), Message::Developer(UserMessage::text("It is Monday.", 0))],
        tools: vec![Tool { name: "list".into(), ..read() }, read()],
        temperature: Some(0.5),
        session_id: Some("s1".into()),
        ..ChatRequest::default()
    };
    let post = post(&model(), &request);
    assert_eq!(post.url, "https://api.anthropic.com/v1/messages");
    let headers = [("x-api-key", "sk-1"), ("anthropic-version", "2023-06-01")];
    assert_eq!(post.headers, headers.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let mark = json!({"type": "ephemeral"});
    assert_eq!(
        serde_json::from_slice::<Value>(&post.body).unwrap(),
        json!({
            "model": "claude-sonnet-4-5",
            "max_tokens": 64_000,
            "system": [{"type": "text", "text": "Be brief.", "cache_control": mark}],
            "messages": [{"role": "user", "content": [
                {"type": "text", "text": "Hello"},
                {"type": "text", "text": "It is Monday.", "cache_control": mark}
            ]}],
            "tools": [
                {"name": "list", "description": "Reads a file.", "input_schema": schema},
                {"name": "read", "description": "Reads a file.", "input_schema": schema, "cache_control": mark}
            ],
            "tool_choice": {"type": "auto"},
            "temperature": 0.5,
            "metadata": {"user_id": "s1"},
            "stream": true
        })
    );
}

#[test]
fn thinking_goes_back_as_it_came_and_parallel_results_in_one_message() {
    let request = ChatRequest {
        messages: vec![
            user("Read both"),
            Message::Assistant(answer(
                vec![
                    thinking("Two files.", Some("Sig1"), false),
                    thinking("", Some("Data1"), true),
                    thinking("unsigned", None, false),
                    text(""),
                    text("Reading."),
                    call("toolu_1", "read", &json!({"path": "a"})),
                    call("call.2|fc:2", "read", &json!({"path": "b"})),
                ],
                StopReason::ToolUse,
            )),
            result("call.2|fc:2", vec![UserContent::text("no such file"), picture()], true),
            result("toolu_1", vec![UserContent::text("A"), picture()], false),
        ],
        tools: vec![read()],
        thinking: ThinkingLevel::Low,
        temperature: Some(0.5),
        cache: CacheRetention::None,
        max_tokens: Some(8000),
        ..ChatRequest::default()
    };
    let post = post(&model(), &request);
    assert!(post.headers.contains(&("anthropic-beta".into(), "interleaved-thinking-2025-05-14".into())));
    let body: Value = serde_json::from_slice(&post.body).unwrap();
    let second = body["messages"][1]["content"][4]["id"].as_str().unwrap().to_owned();
    assert!(second.starts_with("toolu_") && second.len() <= 64);
    let picture =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}});
    assert_eq!(
        body,
        json!({
            "model": "claude-sonnet-4-5",
            "max_tokens": 12_096,
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Read both"}]},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "Two files.", "signature": "Sig1"},
                    {"type": "redacted_thinking", "data": "Data1"},
                    {"type": "text", "text": "Reading."},
                    {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a"}},
                    {"type": "tool_use", "id": second, "name": "read", "input": {"path": "b"}}
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": [
                        {"type": "text", "text": "A"}, picture
                    ]},
                    {"type": "tool_result", "tool_use_id": second, "is_error": true, "content": [
                        {"type": "text", "text": "no such file"}
                    ]}
                ]}
            ],
            "tools": [{
                "name": "read", "description": "Reads a file.",
                "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}
            }],
            "tool_choice": {"type": "auto"},
            "thinking": {"type": "enabled", "budget_tokens": 4096},
            "stream": true
        })
    );
}

#[test]
fn thoughts_of_another_model_stay_out() {
    let mut other = answer(vec![thinking("Mine.", Some("Sig1"), false), text("Yes.")], StopReason::Stop);
    other.model = "claude-opus-4-1".into();
    let request = ChatRequest {
        messages: vec![user("?"), Message::Assistant(other), user("!")],
        ..ChatRequest::default()
    };
    assert_eq!(
        body(&model(), &request)["messages"][1],
        json!({"role": "assistant", "content": [{"type": "text", "text": "Yes."}]})
    );
}

#[test]
fn thoughts_without_signature_go_back_only_where_none_is_checked() {
    let said = || answer(vec![thinking("Hm.", None, false), text("Yes.")], StopReason::Stop);
    let request = ChatRequest {
        messages: vec![user("?"), Message::Assistant(said()), user("!")],
        ..ChatRequest::default()
    };
    let elsewhere = Model { base_url: "https://a.example/anthropic".into(), ..model() };
    let thought = json!({"type": "thinking", "thinking": "Hm.", "signature": ""});
    assert_eq!(body(&elsewhere, &request)["messages"][1]["content"][0], thought);
    assert_eq!(body(&model(), &request)["messages"][1]["content"][0]["type"], "text");
}

#[test]
fn an_interrupted_run_is_a_valid_conversation() {
    let request = ChatRequest {
        messages: vec![
            Message::Assistant(answer(vec![text("From before.")], StopReason::Stop)),
            user("Go"),
            Message::Assistant(answer(vec![call("t1", "read", &json!({}))], StopReason::ToolUse)),
            user("Never mind"),
            result("of-nobody", vec![UserContent::text("orphan")], false),
            Message::Assistant(answer(vec![], StopReason::Error)),
            Message::Assistant(answer(vec![call("t2", "read", &json!({}))], StopReason::Aborted)),
            user("  "),
            Message::Assistant(answer(vec![text("Half an ans")], StopReason::Aborted)),
        ],
        cache: CacheRetention::Long,
        ..ChatRequest::default()
    };
    let body = body(&model(), &request);
    let missing = crate::wire::history::NO_RESULT;
    let mark = json!({"type": "ephemeral", "ttl": "1h"});
    assert_eq!(
        body,
        json!({
            "model": "claude-sonnet-4-5",
            "max_tokens": 64_000,
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "(go on)"}]},
                {"role": "assistant", "content": [{"type": "text", "text": "From before."}]},
                {"role": "user", "content": [{"type": "text", "text": "Go"}]},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "read", "input": {}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": [
                        {"type": "text", "text": missing}
                    ]},
                    {"type": "text", "text": "Never mind"},
                    {"type": "text", "text": "(what the tool `read` gave back earlier)"},
                    {"type": "text", "text": "orphan"}
                ]},
                {"role": "assistant", "content": [{"type": "text", "text": "Half an ans"}]},
                {"role": "user", "content": [{"type": "text", "text": "(go on)", "cache_control": mark}]}
            ],
            "tools": [{
                "name": "read", "description": "Not available any more.",
                "input_schema": {"type": "object", "properties": {}}, "cache_control": mark
            }],
            "tool_choice": {"type": "none"},
            "stream": true
        })
    );
}

#[test]
fn images_go_along_where_they_can_be_read() {
    let odd = UserContent::Image(ImageContent { data: "aGk=".into(), mime_type: "image/tiff".into() });
    let content = vec![UserContent::text("Look"), picture(), odd];
    let request = ChatRequest {
        messages: vec![Message::User(UserMessage { content, timestamp: 0 })],
        cache: CacheRetention::None,
        ..ChatRequest::default()
    };
    assert_eq!(
        body(&model(), &request)["messages"],
        json!([{"role": "user", "content": [
            {"type": "text", "text": "Look"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
            {"type": "text", "text": "(a picture of the kind image/tiff was here, which this model cannot read)"}
        ]}])
    );
    let blind = body(&Model { images: false, ..model() }, &request);
    assert!(!blind.to_string().contains("base64"));
}

#[test]
fn among_many_pictures_a_large_one_is_a_note() {
    let large = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x0b\xb8\0\0\0\x01";
    let data = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, large);
    let mut content = vec![UserContent::Image(ImageContent { data, mime_type: "image/png".into() })];
    let notes = |content: &[UserContent]| {
        let said = Message::User(UserMessage { content: content.to_vec(), timestamp: 0 });
        let asked = body(&model(), &ChatRequest { messages: vec![said], ..ChatRequest::default() });
        asked.to_string().matches("2000 pixels").count()
    };
    assert_eq!(notes(&content), 0);
    content.extend(std::iter::repeat_n(picture(), 20));
    assert_eq!(notes(&content), 1);
}

#[test]
fn a_result_that_lost_its_call_is_told_beside_the_conversation() {
    let request = ChatRequest {
        messages: vec![user("Go on"), result("gone", vec![UserContent::text("found")], false)],
        ..ChatRequest::default()
    };
    let said = body(&model(), &request)["messages"].to_string();
    assert!(said.contains("gave back earlier") && said.contains("found"), "{said}");
}

#[test]
fn at_most_four_blocks_are_marked_for_the_cache() {
    let many = (0..9)
        .flat_map(|n| [user(&n.to_string()), Message::Assistant(answer(vec![text("a")], StopReason::Stop))]);
    let request = ChatRequest {
        system: Some("s".into()),
        messages: many.collect(),
        tools: vec![read(), read()],
        ..ChatRequest::default()
    };
    assert_eq!(body(&model(), &request).to_string().matches("cache_control").count(), 3);
}

#[test]
fn a_forced_tool_is_not_thought_about() {
    let asked = |id: &str, tool_choice: ToolChoice| {
        let request = ChatRequest {
            messages: vec![user("Go")],
            tools: vec![read()],
            tool_choice,
            thinking: ThinkingLevel::High,
            ..ChatRequest::default()
        };
        let body = body(&Model { id: id.into(), ..model() }, &request);
        (
            body["tool_choice"].clone(),
            body["thinking"]["type"].clone(),
            body["output_config"]["effort"].clone(),
        )
    };
    let named = || ToolChoice::Named("read".into());
    assert_eq!(
        asked("claude-sonnet-4-5", named()),
        (json!({"type": "tool", "name": "read"}), Value::Null, Value::Null)
    );
    assert_eq!(
        asked("claude-opus-4-6", ToolChoice::Required),
        (json!({"type": "any"}), Value::Null, Value::Null)
    );
    assert_eq!(
        asked("claude-opus-4-6", ToolChoice::None),
        (json!({"type": "none"}), json!("adaptive"), json!("high"))
    );
    // It always thinks, so it cannot be forced.
    assert_eq!(asked("claude-fable-5", named()), (json!({"type": "auto"}), Value::Null, json!("low")));
}

#[test]
fn the_base_may_be_written_with_or_without_the_version() {
    for (base, expected) in [
        ("", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/v1", "https://api.anthropic.com/v1/messages"),
        ("http://127.0.0.1:8080/anthropic/v1/", "http://127.0.0.1:8080/anthropic/v1/messages"),
        ("https://a.example/v1/messages", "https://a.example/v1/messages"),
        ("https://a.example/anthropic?tenant=x", "https://a.example/anthropic/v1/messages?tenant=x"),
    ] {
        let model = Model { base_url: base.into(), ..model() };
        assert_eq!(post(&model, &ChatRequest::default()).url, expected, "{base}");
    }
}

#[test]
fn the_key_stands_in_headers_alone() {
    let names = |base: &str, auth_header: Option<bool>| {
        let mut model = Model { base_url: base.into(), ..model() };
        model.compat.auth_header = auth_header;
        let post = post(&model, &ChatRequest::default());
        assert!(!post.url.contains("sk-1") && !String::from_utf8(post.body).unwrap().contains("sk-1"));
        let with_key = post.headers.into_iter().filter(|(_, value)| value.contains("sk-1"));
        with_key.map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(names("https://api.anthropic.com", None), ["x-api-key"]);
    assert_eq!(names("https://api.anthropic.com", Some(true)), ["authorization"]);
    assert_eq!(names("https://a.example", None), ["x-api-key", "authorization"]);
    assert_eq!(names("https://a.example", Some(false)), ["x-api-key"]);
    let auth = Auth::Key("two\nlines".into());
    let failure =
        AnthropicWire.request(&WireCall { model: &model(), auth: &auth, request: &ChatRequest::default() });
    assert_eq!(failure.unwrap_err().class, FailureClass::Config);
}

#[test]
fn what_the_settings_add_comes_last() {
    let mut model = model();
    model.compat.extra_body = json!({"max_tokens": 7, "x": {"y": 1}, "stream": false}).as_object().cloned();
    let body = body(&model, &ChatRequest { messages: vec![user("Hi")], ..ChatRequest::default() });
    assert_eq!((&body["max_tokens"], &body["x"]), (&json!(7), &json!({"y": 1})));
}
