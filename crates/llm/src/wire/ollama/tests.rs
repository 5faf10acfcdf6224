//! The request as a whole.

use serde_json::{Value, json};

use super::OllamaWire;
use crate::message::{
    AssistantContent, ImageContent, Message, TextContent, ThinkingContent, ToolCall, ToolResultMessage,
    UserContent, UserMessage,
};
use crate::models::model::Model;
use crate::request::{Auth, ChatRequest, ThinkingLevel, Tool, ToolChoice, WireCall};
use crate::stream::assembly::Assembly;
use crate::wire::{AnswerFrame, Wire};

fn model() -> Model {
    Model { base_url: String::new(), api: "ollama".into(), ..crate::models::model::tests::model() }
}

fn body(model: &Model, request: &ChatRequest) -> Value {
    let call = WireCall { model, auth: &Auth::None, request };
    serde_json::from_slice(&OllamaWire.request(&call).unwrap().body).unwrap()
}

fn conversation(model: &Model) -> Vec<Message> {
    let Value::Object(arguments) = json!({"path": "a"}) else { panic!("no object") };
    let picture = || UserContent::Image(ImageContent { data: "aGk=".into(), mime_type: "image/png".into() });
    let mut answer = Assembly::new(model, 0).message().clone();
    answer.content = vec![
        AssistantContent::Thinking(ThinkingContent { thinking: "hm".into(), ..ThinkingContent::default() }),
        AssistantContent::Text(TextContent { text: "Let me see.".into(), text_signature: None }),
        AssistantContent::ToolCall(ToolCall {
            id: "call_0_0".into(),
            name: "read".into(),
            arguments,
            thought_signature: None,
        }),
    ];
    let result = ToolResultMessage {
        tool_call_id: "call_0_0".into(),
        tool_name: "read".into(),
        content: vec![UserContent::text("a file"), picture()],
        details: None,
        is_error: false,
        timestamp: 0,
    };
    vec![
        Message::User(UserMessage { content: vec![UserContent::text("look"), picture()], timestamp: 0 }),
        Message::Assistant(answer),
        Message::ToolResult(result),
        Message::Developer(UserMessage::text("note", 0)),
    ]
}

#[test]
fn a_conversation_goes_out_whole() {
    let model = model();
    let request = ChatRequest {
        system: Some("Be brief.".into()),
        messages: conversation(&model),
        tools: vec![Tool {
            name: "read".into(),
            description: "Reads a file.".into(),
            parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
        }],
        thinking: ThinkingLevel::High,
        max_tokens: Some(100),
        temperature: Some(0.5),
        ..ChatRequest::default()
    };
    let expected = json!({
        "model": "m1",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "look", "images": ["aGk="]},
            {"role": "assistant", "content": "Let me see.", "thinking": "hm",
                "tool_calls": [{"function": {"name": "read", "arguments": {"path": "a"}}}]},
            {"role": "tool", "content": "a file", "images": ["aGk="], "tool_name": "read"},
            {"role": "user", "content": "note"},
        ],
        "tools": [{"type": "function", "function": {
            "name": "read", "description": "Reads a file.",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        }}],
        "stream": true,
        "think": true,
        "options": {"num_predict": 100, "temperature": 0.5, "num_ctx": 200_000},
    });
    assert_eq!(body(&model, &request), expected);
    let forbidden = ChatRequest { tool_choice: ToolChoice::None, ..request };
    assert!(body(&model, &forbidden).get("tools").is_none());
}

#[test]
fn thinking_is_yes_or_no_or_a_level_where_the_model_has_levels() {
    let think = |id: &str, reasoning: bool, level: ThinkingLevel| {
        let model = Model { id: id.into(), reasoning, context_window: 0, ..model() };
        body(&model, &ChatRequest { thinking: level, ..ChatRequest::default() })
    };
    let bare = json!({"model": "m1", "messages": [], "stream": true});
    assert_eq!(think("m1", false, ThinkingLevel::High), bare);
    assert_eq!(think("m1", true, ThinkingLevel::Minimal)["think"], true);
    assert_eq!(think("m1", true, ThinkingLevel::Off)["think"], false);
    assert_eq!(think("gpt-oss:20b", true, ThinkingLevel::Off)["think"], "low");
    assert_eq!(think("library/gpt-oss:20b", true, ThinkingLevel::Max)["think"], "high");
}

#[test]
fn a_key_is_sent_if_there_is_one() {
    let (model, request) = (model(), ChatRequest::default());
    let post =
        |auth: &Auth| OllamaWire.request(&WireCall { model: &model, auth, request: &request }).unwrap();
    assert_eq!(post(&Auth::None).url, "http://127.0.0.1:11434/api/chat");
    assert_eq!(post(&Auth::None).headers, []);
    assert_eq!(post(&Auth::Key("k".into())).headers, [("authorization".to_owned(), "Bearer k".to_owned())]);
}

#[test]
fn an_id_that_is_made_up_is_none_that_the_conversation_has() {
    let model = model();
    let request = ChatRequest { messages: conversation(&model), ..ChatRequest::default() };
    let mut reader = OllamaWire.reader(&WireCall { model: &model, auth: &Auth::None, request: &request });
    let mut assembly = Assembly::new(&model, 0);
    let data = r#"{"message":{"tool_calls":[{"function":{"name":"read","arguments":{}}}]},"done":true}"#;
    reader.read_frame(&AnswerFrame { name: "", data }, &mut assembly).unwrap();
    assert_eq!(assembly.message().tool_calls().next().unwrap().id, "call_0_1");
}
