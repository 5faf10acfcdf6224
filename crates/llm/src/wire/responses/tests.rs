//! The request as a whole.

use serde_json::{Value, json};

use super::ResponsesWire;
use crate::message::{
    AssistantContent, ImageContent, Message, TextContent, ThinkingContent, ToolCall, ToolResultMessage,
    UserContent, UserMessage,
};
use crate::models::model::{Model, ServerCompat, StrictMode};
use crate::request::{Auth, CacheRetention, ChatRequest, ThinkingLevel, Tool, ToolChoice, WireCall};
use crate::wire::Wire;

const THOUGHT: &str = r#"{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAA"}"#;

fn model() -> Model {
    Model {
        id: "gpt-5".into(),
        base_url: "https://api.openai.com/v1".into(),
        api: "openai-responses".into(),
        ..crate::models::model::tests::model()
    }
}

fn body(model: &Model, request: &ChatRequest) -> Value {
    let call = WireCall { model, auth: &Auth::None, request };
    serde_json::from_slice(&ResponsesWire.request(&call).unwrap().body).unwrap()
}

fn input(model: &Model, messages: Vec<Message>) -> Value {
    body(model, &ChatRequest { messages, ..ChatRequest::default() })["input"].clone()
}

fn picture() -> UserContent {
    UserContent::Image(ImageContent { data: "aGk=".into(), mime_type: "image/png".into() })
}

fn answer(model: &Model, content: Vec<AssistantContent>) -> Message {
    let mut message = crate::Assembly::new(model, 0).message().clone();
    message.content = content;
    Message::Assistant(message)
}

fn text(text: &str, signature: Option<&str>) -> AssistantContent {
    AssistantContent::Text(TextContent { text: text.into(), text_signature: signature.map(str::to_owned) })
}

fn thinking(signature: &str) -> AssistantContent {
    AssistantContent::Thinking(ThinkingContent {
        thinking: "hm".into(),
        thinking_signature: Some(signature.into()),
        redacted: false,
    })
}

fn call(id: &str) -> AssistantContent {
    let Value::Object(arguments) = json!({"path": "a"}) else { panic!("no object") };
    AssistantContent::ToolCall(ToolCall {
        id: id.into(),
        name: "read".into(),
        arguments,
        thought_signature: None,
    })
}

fn result(id: &str, content: Vec<UserContent>) -> Message {
    Message::ToolResult(ToolResultMessage {
        tool_call_id: id.into(),
        tool_name: "read".into(),
        content,
        details: None,
        is_error: false,
        timestamp: 0,
    })
}

fn tool() -> Tool {
    Tool {
        name: "read".into(),
        description: "Reads a file.".into(),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"],
            "additionalProperties": false}),
    }
}

#[test]
fn a_conversation_goes_out_whole_with_everything_that_the_model_gave() {
    let model = model();
    let phased = r#"{"id":"msg_2","phase":"commentary"}"#;
    let request = ChatRequest {
        system: Some("Be brief.".into()),
        messages: vec![
            Message::User(UserMessage { content: vec![UserContent::text("look"), picture()], timestamp: 0 }),
            answer(
                &model,
                vec![
                    thinking(THOUGHT),
                    text("Let me see.", Some("msg_1")),
                    text("And more.", Some(phased)),
                    call("call_a|fc_1"),
                    call("call_b|other"),
                ],
            ),
            result("call_a|fc_1", vec![UserContent::text("a file"), picture()]),
            Message::Developer(UserMessage::text("The file changed.", 0)),
        ],
        tools: vec![tool()],
        tool_choice: ToolChoice::Named("read".into()),
        thinking: ThinkingLevel::Low,
        max_tokens: Some(3),
        temperature: Some(0.5),
        cache: CacheRetention::Long,
        session_id: Some("s1".into()),
        service_tier: Some("priority".into()),
        ..ChatRequest::default()
    };
    let said = |text: &str| json!([{"type": "output_text", "text": text, "annotations": []}]);
    assert_eq!(
        body(&model, &request),
        json!({
            "model": "gpt-5",
            "instructions": "Be brief.",
            "input": [
                {"role": "user", "content": [
                    {"type": "input_text", "text": "look"},
                    {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,aGk="},
                ]},
                {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAA"},
                {"type": "message", "role": "assistant", "content": said("Let me see."), "status": "completed",
                    "id": "msg_1"},
                {"type": "message", "role": "assistant", "content": said("And more."), "status": "completed",
                    "id": "msg_2", "phase": "commentary"},
                {"type": "function_call", "call_id": "call_a", "name": "read", "arguments": "{\"path\":\"a\"}",
                    "id": "fc_1"},
                {"type": "function_call", "call_id": "call_b", "name": "read", "arguments": "{\"path\":\"a\"}"},
                {"type": "function_call_output", "call_id": "call_a", "output": [
                    {"type": "input_text", "text": "a file"},
                    {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,aGk="},
                ]},
                {"type": "function_call_output", "call_id": "call_b",
                    "output": "(no result: the call was not carried out)"},
                {"role": "developer", "content": [{"type": "input_text", "text": "The file changed."}]},
            ],
            "stream": true,
            "store": false,
            "tools": [{
                "type": "function", "name": "read", "description": "Reads a file.", "strict": true,
                "parameters": {"type": "object", "properties": {"path": {"type": "string"}},
                    "required": ["path"], "additionalProperties": false},
            }],
            "tool_choice": {"type": "function", "name": "read"},
            "parallel_tool_calls": true,
            "reasoning": {"effort": "low", "summary": "auto"},
            "include": ["reasoning.encrypted_content"],
            "max_output_tokens": 16,
            "prompt_cache_key": "s1",
            "prompt_cache_retention": "24h",
            "service_tier": "priority",
        })
    );
}

#[test]
fn a_model_that_does_not_think_is_asked_for_nothing_of_it() {
    let model = Model { id: "gpt-4.1".into(), reasoning: false, ..model() };
    let request = ChatRequest {
        messages: vec![Message::User(UserMessage::text("hi", 0))],
        temperature: Some(0.5),
        thinking: ThinkingLevel::High,
        cache: CacheRetention::None,
        session_id: Some("s1".into()),
        ..ChatRequest::default()
    };
    assert_eq!(
        body(&model, &request),
        json!({
            "model": "gpt-4.1",
            "input": [{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
            "stream": true,
            "store": false,
            "temperature": 0.5,
        })
    );
}

#[test]
fn what_another_model_thought_stays_behind_together_with_its_ids() {
    let (asked, other) = (model(), Model { id: "o3".into(), ..model() });
    let said = |model: &Model, thought: &str| {
        let content = vec![thinking(thought), text("Hi.", Some("msg_1")), call("call_a|fc_1")];
        input(&asked, vec![answer(model, content), result("call_a|fc_1", vec![UserContent::text("ok")])])
    };
    let bare = json!([
        {"type": "message", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": "Hi.", "annotations": []}]},
        {"type": "function_call", "call_id": "call_a", "name": "read", "arguments": "{\"path\":\"a\"}"},
        {"type": "function_call_output", "call_id": "call_a", "output": "ok"},
    ]);
    assert_eq!(said(&other, THOUGHT), bare);
    // Thinking that the server hid cannot be sent, and then neither can the ids of what followed it.
    assert_eq!(said(&asked, r#"{"id":"rs_1","type":"reasoning","summary":[]}"#), bare);
    assert_eq!(said(&asked, "not an item"), bare);
}

#[test]
fn ids_that_are_too_long_or_strange_are_made_anew_on_both_sides() {
    let asked = model();
    let other = Model { provider: "elsewhere".into(), ..model() };
    let long = format!("functions.read:0{}", "x".repeat(80));
    let sent =
        input(&asked, vec![answer(&other, vec![call(&long)]), result(&long, vec![UserContent::text("ok")])]);
    let id = sent[0]["call_id"].as_str().unwrap();
    assert!(id.len() <= 64 && id.starts_with("call_"));
    assert_eq!(sent[1]["call_id"], id);
    let stray = input(&asked, vec![result("gone", vec![UserContent::text("ok")])]);
    assert_eq!(
        stray,
        json!([{"role": "user", "content": [
            {"type": "input_text", "text": "(what the tool `read` gave back earlier)"},
            {"type": "input_text", "text": "ok"},
        ]}])
    );
}

#[test]
fn a_server_that_only_speaks_the_wire_gets_no_favours_of_the_provider() {
    let mut model = Model { base_url: "http://127.0.0.1:1234/v1".into(), id: "open".into(), ..model() };
    model.compat = ServerCompat {
        supports_store: Some(false),
        supports_developer_role: Some(false),
        supports_tool_choice: Some(false),
        supports_parallel_tool_calls: Some(false),
        ..ServerCompat::default()
    };
    let mut request = ChatRequest {
        messages: vec![Message::Developer(UserMessage::text("note", 0))],
        tools: vec![tool()],
        cache: CacheRetention::Long,
        ..ChatRequest::default()
    };
    let expected = |strict: bool| {
        json!({
            "model": "open",
            "input": [{"role": "user", "content": [{"type": "input_text", "text": "note"}]}],
            "stream": true,
            "tools": [{
                "type": "function", "name": "read", "description": "Reads a file.", "strict": strict,
                "parameters": {"type": "object", "properties": {"path": {"type": "string"}},
                    "required": ["path"], "additionalProperties": false},
            }],
            "include": ["reasoning.encrypted_content"],
        })
    };
    assert_eq!(body(&model, &request), expected(false));
    model.compat.tool_strict_mode = Some(StrictMode::AllStrict);
    assert_eq!(body(&model, &request), expected(true));
    request.tools.clear();
    assert!(body(&model, &request).get("tools").is_none());
}

#[test]
fn azure_differs_by_its_address_and_the_header_of_its_key() {
    let model =
        Model { base_url: "https://mine.openai.azure.com/openai/v1?api-version=preview".into(), ..model() };
    let request = ChatRequest::default();
    let call = WireCall { model: &model, auth: &Auth::Key("k".into()), request: &request };
    let post = ResponsesWire.request(&call).unwrap();
    assert_eq!(post.url, "https://mine.openai.azure.com/openai/v1/responses?api-version=preview");
    assert_eq!(post.headers, [("api-key".to_owned(), "k".to_owned())]);
}

#[test]
fn tokens_put_into_the_cache_are_counted_as_that() {
    let stream = r#"data: {"type":"response.completed","response":{"id":"r","status":"completed","output":[],"usage":
data: {"input_tokens":100,"input_tokens_details":{"cached_tokens":30,"cache_write_tokens":50},"output_tokens":7}}}

"#;
    let (model, auth, request) = (model(), Auth::None, ChatRequest::default());
    let call = WireCall { model: &model, auth: &auth, request: &request };
    let usage =
        crate::stream::decoder::decode_answer(&ResponsesWire, &call, 0, [stream.as_bytes()]).message.usage;
    assert_eq!((usage.input, usage.cache_read, usage.cache_write, usage.output), (20, 30, 50, 7));
}
