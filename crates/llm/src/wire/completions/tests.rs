//! The request as a whole: a conversation, and every switch by itself.

use serde_json::{Value, json};

use super::CompletionsWire;
use crate::message::{
    AssistantContent, ImageContent, Message, TextContent, ThinkingContent, ToolCall, ToolResultMessage,
    UserContent, UserMessage,
};
use crate::models::model::{MaxTokensField, Model, ServerCompat, StrictMode, ThinkingFormat};
use crate::request::{Auth, CacheRetention, ChatRequest, ThinkingLevel, Tool, ToolChoice, WireCall};
use crate::wire::Wire;

fn model(base_url: &str) -> Model {
    Model {
        base_url: base_url.into(),
        api: "openai-completions".into(),
        ..crate::models::model::tests::model()
    }
}

fn body(model: &Model, request: &ChatRequest) -> Value {
    let call = WireCall { model, auth: &Auth::None, request };
    serde_json::from_slice(&CompletionsWire.request(&call).unwrap().body).unwrap()
}

fn user(text: &str) -> Message {
    Message::User(UserMessage::text(text, 0))
}

fn picture() -> UserContent {
    UserContent::Image(ImageContent { data: "aGk=".into(), mime_type: "image/png".into() })
}

/// An answer of the model that is asked.
fn answer(model: &Model, content: Vec<AssistantContent>) -> Message {
    let mut message = crate::Assembly::new(model, 0).message().clone();
    message.content = content;
    Message::Assistant(message)
}

fn text(text: &str) -> AssistantContent {
    AssistantContent::Text(TextContent { text: text.into(), text_signature: None })
}

fn thinking(text: &str, signature: &str) -> AssistantContent {
    AssistantContent::Thinking(ThinkingContent {
        thinking: text.into(),
        thinking_signature: Some(signature.into()),
        redacted: false,
    })
}

fn call(id: &str, name: &str) -> AssistantContent {
    let Value::Object(arguments) = json!({"path": "a"}) else { panic!("no object") };
    AssistantContent::ToolCall(ToolCall {
        id: id.into(),
        name: name.into(),
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
fn a_conversation_goes_out_whole_to_the_provider_itself() {
    let model = model("https://api.openai.com/v1");
    let request = ChatRequest {
        system: Some("Be brief.".into()),
        messages: vec![
            Message::User(UserMessage { content: vec![UserContent::text("look"), picture()], timestamp: 0 }),
            answer(&model, vec![thinking("hm", "reasoning"), text("Let me see."), call("call_a", "read")]),
            result("call_a", vec![UserContent::text("a file"), picture()]),
            Message::Developer(UserMessage::text("The file changed.", 0)),
            user("go on"),
        ],
        tools: vec![tool()],
        tool_choice: ToolChoice::Named("read".into()),
        thinking: ThinkingLevel::High,
        max_tokens: Some(1000),
        temperature: Some(0.5),
        cache: CacheRetention::Long,
        session_id: Some("s1".into()),
        service_tier: Some("flex".into()),
        ..ChatRequest::default()
    };
    assert_eq!(
        body(&model, &request),
        json!({
            "model": "m1",
            "messages": [
                {"role": "developer", "content": "Be brief."},
                {"role": "user", "content": [
                    {"type": "text", "text": "look"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
                ]},
                {"role": "assistant", "content": "Let me see.", "tool_calls": [{"id": "call_a", "type": "function",
                    "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}}]},
                {"role": "tool", "tool_call_id": "call_a", "content": "a file"},
                {"role": "user", "content": [
                    {"type": "text", "text": "(the images that the tools gave back)"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
                ]},
                {"role": "developer", "content": "The file changed."},
                {"role": "user", "content": "go on"},
            ],
            "stream": true,
            "stream_options": {"include_usage": true},
            "store": false,
            "max_completion_tokens": 1000,
            "tools": [{"type": "function", "function": {
                "name": "read", "description": "Reads a file.", "strict": true,
                "parameters": {"type": "object", "properties": {"path": {"type": "string"}},
                    "required": ["path"], "additionalProperties": false},
            }}],
            "tool_choice": {"type": "function", "function": {"name": "read"}},
            "parallel_tool_calls": true,
            "reasoning_effort": "high",
            "prompt_cache_key": "s1",
            "prompt_cache_retention": "24h",
            "service_tier": "flex",
        })
    );
}

#[test]
fn an_unknown_server_is_asked_in_the_plainest_way() {
    let model = model("https://models.example.com/v1");
    let request = ChatRequest {
        system: Some("Be brief.".into()),
        messages: vec![Message::Developer(UserMessage::text("note", 0)), user("hi")],
        session_id: Some("s1".into()),
        max_tokens: Some(9),
        temperature: Some(0.5),
        ..ChatRequest::default()
    };
    assert_eq!(
        body(&model, &request),
        json!({
            "model": "m1",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "note"},
                {"role": "user", "content": "hi"},
            ],
            "stream": true,
            "stream_options": {"include_usage": true},
            "max_tokens": 9,
            "temperature": 0.5,
        })
    );
}

/// The body of a small request with one switch set.
fn with(compat: ServerCompat, thinking: ThinkingLevel) -> Value {
    let mut model = model("https://models.example.com/v1");
    model.compat = compat;
    let request = ChatRequest {
        system: Some("s".into()),
        messages: vec![user("hi")],
        tools: vec![tool()],
        tool_choice: ToolChoice::Required,
        max_tokens: Some(9),
        thinking,
        ..ChatRequest::default()
    };
    body(&model, &request)
}

/// The usual body of that request with some fields changed; `null` removes a field.
fn usual(changes: &Value) -> Value {
    let mut body = json!({
        "model": "m1",
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "hi"}],
        "stream": true,
        "stream_options": {"include_usage": true},
        "max_tokens": 9,
        "tools": [{"type": "function", "function": {
            "name": "read", "description": "Reads a file.",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}},
                "required": ["path"], "additionalProperties": false},
        }}],
        "tool_choice": "required",
        "reasoning_effort": "medium",
    });
    for (name, value) in changes.as_object().unwrap() {
        body[name] = value.clone();
        if value.is_null() {
            body.as_object_mut().unwrap().remove(name);
        }
    }
    body
}

#[test]
fn every_switch_changes_its_own_field_and_nothing_else() {
    let none = ServerCompat::default;
    let strict_tool = {
        let mut tools = usual(&json!({}))["tools"].clone();
        tools[0]["function"]["strict"] = json!(true);
        tools
    };
    let developer = json!([{"role": "developer", "content": "s"}, {"role": "user", "content": "hi"}]);
    let extra = json!({"top_k": 4, "model": "other", "messages": [], "stream": false, "max_tokens": 1});
    let Value::Object(extra) = extra else { panic!("no object") };
    for (compat, changes) in [
        (none(), json!({})),
        (ServerCompat { supports_store: Some(true), ..none() }, json!({"store": false})),
        (ServerCompat { supports_developer_role: Some(true), ..none() }, json!({"messages": developer})),
        (
            ServerCompat { supports_reasoning_effort: Some(false), ..none() },
            json!({"reasoning_effort": null}),
        ),
        (
            ServerCompat { supports_usage_in_streaming: Some(false), ..none() },
            json!({"stream_options": null}),
        ),
        (ServerCompat { supports_tool_choice: Some(false), ..none() }, json!({"tool_choice": null})),
        (
            ServerCompat { supports_parallel_tool_calls: Some(true), ..none() },
            json!({"parallel_tool_calls": true}),
        ),
        (
            ServerCompat { max_tokens_field: Some(MaxTokensField::MaxCompletionTokens), ..none() },
            json!({"max_tokens": null, "max_completion_tokens": 9}),
        ),
        (
            ServerCompat { tool_strict_mode: Some(StrictMode::AllStrict), ..none() },
            json!({"tools": strict_tool}),
        ),
        (ServerCompat { tool_strict_mode: Some(StrictMode::None), ..none() }, json!({})),
        (ServerCompat { extra_body: Some(extra), ..none() }, json!({"top_k": 4, "max_tokens": 1})),
        (
            ServerCompat { open_router_routing: Some(json!({"only": ["a"]})), ..none() },
            json!({"provider": {"only": ["a"]}}),
        ),
        (
            ServerCompat { vercel_gateway_routing: Some(json!({"order": ["a"]})), ..none() },
            json!({"providerOptions": {"gateway": {"order": ["a"]}}}),
        ),
    ] {
        assert_eq!(with(compat.clone(), ThinkingLevel::Medium), usual(&changes), "{compat:?}");
    }
}

#[test]
fn thinking_is_asked_for_in_the_form_that_the_server_knows() {
    let format = |format| ServerCompat { thinking_format: Some(format), ..ServerCompat::default() };
    for (form, on, off) in [
        (ThinkingFormat::Openai, json!({"reasoning_effort": "high"}), json!({"reasoning_effort": null})),
        (
            ThinkingFormat::Openrouter,
            json!({"reasoning_effort": null, "reasoning": {"effort": "high"}}),
            json!({"reasoning_effort": null, "reasoning": {"effort": "none"}}),
        ),
        (
            ThinkingFormat::Zai,
            json!({"reasoning_effort": null, "thinking": {"type": "enabled"}}),
            json!({"reasoning_effort": null, "thinking": {"type": "disabled"}}),
        ),
        (
            ThinkingFormat::Qwen,
            json!({"reasoning_effort": null, "enable_thinking": true}),
            json!({"reasoning_effort": null, "enable_thinking": false}),
        ),
        (
            ThinkingFormat::QwenChatTemplate,
            json!({"reasoning_effort": null, "chat_template_kwargs": {"enable_thinking": true}}),
            json!({"reasoning_effort": null, "chat_template_kwargs": {"enable_thinking": false}}),
        ),
    ] {
        assert_eq!(with(format(form), ThinkingLevel::High), usual(&on), "{form:?}");
        assert_eq!(with(format(form), ThinkingLevel::Off), usual(&off), "{form:?}");
    }
}

/// A conversation in which the model thought, called and was answered.
fn messages(base_url: &str, compat: ServerCompat, calls: Vec<AssistantContent>) -> Value {
    let mut model = model(base_url);
    model.compat = compat;
    let AssistantContent::ToolCall(first) = calls.last().unwrap() else { panic!("no call") };
    let id = first.id.clone();
    let messages = vec![answer(&model, calls), result(&id, vec![UserContent::text("a file")]), user("go on")];
    body(&model, &ChatRequest { messages, ..ChatRequest::default() })["messages"].clone()
}

fn called(id: &str) -> Value {
    json!([{"id": id, "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}}])
}

#[test]
fn every_switch_of_the_messages_changes_what_it_names() {
    let go_on = json!({"role": "user", "content": "go on"});
    let thought = || vec![thinking("hm", "reasoning_content"), call("call_a", "read")];
    let plain = "https://models.example.com/v1";
    let tool = json!({"role": "tool", "tool_call_id": "call_a", "content": "a file"});
    let said = |extra: Value| {
        let mut message = json!({"role": "assistant", "content": null, "tool_calls": called("call_a")});
        for (name, value) in extra.as_object().unwrap() {
            message[name] = value.clone();
        }
        message
    };
    assert_eq!(messages(plain, ServerCompat::default(), thought()), json!([said(json!({})), tool, go_on]));
    let field = ServerCompat { reasoning_content_field: Some("thought".into()), ..ServerCompat::default() };
    assert_eq!(messages(plain, field, thought()), json!([said(json!({"thought": "hm"})), tool, go_on]));
    let as_text = ServerCompat { requires_thinking_as_text: Some(true), ..ServerCompat::default() };
    assert_eq!(messages(plain, as_text, thought()), json!([said(json!({"content": "hm"})), tool, go_on]));
    let name = ServerCompat { requires_tool_result_name: Some(true), ..ServerCompat::default() };
    let named = json!({"role": "tool", "tool_call_id": "call_a", "content": "a file", "name": "read"});
    assert_eq!(messages(plain, name, thought()), json!([said(json!({})), named, go_on]));
    let between =
        ServerCompat { requires_assistant_after_tool_result: Some(true), ..ServerCompat::default() };
    let bridge = json!({"role": "assistant", "content": "I have read the results."});
    assert_eq!(messages(plain, between, thought()), json!([said(json!({})), tool, bridge, go_on]));
    let nine = ServerCompat { requires_mistral_tool_ids: Some(true), ..ServerCompat::default() };
    let short = messages(plain, nine, thought());
    let id = short[0]["tool_calls"][0]["id"].as_str().unwrap();
    assert!(id.len() == 9 && short[1]["tool_call_id"] == id, "{short}");
}

#[test]
fn details_go_back_to_openrouter_as_they_came_those_of_calls_behind_those_of_thoughts() {
    let mut of_call = call("call_a", "read");
    if let AssistantContent::ToolCall(call) = &mut of_call {
        call.thought_signature = Some(r#"{"type":"reasoning.encrypted","id":"call_a","data":"x"}"#.into());
    }
    let details = r#"[{"type":"reasoning.text","text":"hm","signature":"s"}]"#;
    let sent = messages(
        "https://openrouter.ai/api/v1",
        ServerCompat::default(),
        vec![thinking("hm", details), of_call.clone()],
    );
    assert_eq!(
        sent[0],
        json!({"role": "assistant", "content": null, "reasoning_details": [
            {"type": "reasoning.text", "text": "hm", "signature": "s"},
            {"type": "reasoning.encrypted", "id": "call_a", "data": "x"},
        ], "tool_calls": called("call_a")})
    );
    let elsewhere = messages("https://models.example.com", ServerCompat::default(), vec![of_call]);
    assert!(elsewhere[0].get("reasoning_details").is_none());
}

#[test]
fn the_answer_of_another_model_leaves_its_thoughts_and_odd_ids_behind() {
    let mut other = model("https://api.deepseek.com");
    other.id = "another".into();
    let asked = model("https://api.deepseek.com");
    let request = ChatRequest {
        messages: vec![
            answer(
                &other,
                vec![thinking("hm", "reasoning_content"), call("call_a|fc_1", "read"), call("f:0", "read")],
            ),
            result("call_a|fc_1", vec![]),
        ],
        ..ChatRequest::default()
    };
    let sent = body(&asked, &request)["messages"].clone();
    let ids: Vec<_> = sent[0]["tool_calls"].as_array().unwrap().iter().map(|call| &call["id"]).collect();
    assert!(sent[0].get("reasoning_content").is_none());
    assert_eq!(ids[0], "call_a");
    assert!(ids[1].as_str().unwrap().starts_with("call_"));
    assert_eq!(sent[1], json!({"role": "tool", "tool_call_id": "call_a", "content": "(no output)"}));
    assert_eq!(sent[2]["tool_call_id"], *ids[1]);
    assert_eq!(sent[2]["content"], "(no result: the call was not carried out)");
}

#[test]
fn an_empty_list_of_tools_is_sent_where_the_server_wants_one_beside_old_calls() {
    let mut model = model("https://models.example.com/v1");
    let messages = vec![answer(&model, vec![call("call_a", "read")]), user("hi")];
    let request = ChatRequest { messages, ..ChatRequest::default() };
    assert!(body(&model, &request).get("tools").is_none());
    model.compat.requires_empty_tools = Some(true);
    assert_eq!(body(&model, &request)["tools"], json!([]));
    assert!(
        body(&model, &ChatRequest { messages: vec![user("hi")], ..ChatRequest::default() })
            .get("tools")
            .is_none()
    );
}

#[test]
fn a_server_that_cuts_answers_short_is_told_how_long_they_may_be() {
    let request = ChatRequest { messages: vec![user("hi")], ..ChatRequest::default() };
    assert_eq!(body(&model("https://api.fireworks.ai/inference/v1"), &request)["max_tokens"], 8192);
    assert!(body(&model("https://api.together.xyz/v1"), &request).get("max_tokens").is_none());
}

#[test]
fn the_request_goes_to_the_path_of_the_wire_with_the_key_in_its_header() {
    let model = model("https://api.groq.com/openai/v1/");
    let request = ChatRequest::default();
    let post = CompletionsWire
        .request(&WireCall { model: &model, auth: &Auth::Key("k".into()), request: &request })
        .unwrap();
    assert_eq!(post.url, "https://api.groq.com/openai/v1/chat/completions");
    assert_eq!(post.headers, [("authorization".to_owned(), "Bearer k".to_owned())]);
    assert!(!String::from_utf8(post.body).unwrap().contains("Bearer"));
}
