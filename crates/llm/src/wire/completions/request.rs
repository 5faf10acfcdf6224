//! The body of a request, as far as the server accepts it.

use serde_json::{Map, Value, json};

use super::compat::{CompletionsCompat, completions_compat};
use super::messages::messages;
use crate::message::Message;
use crate::models::model::{MaxTokensField, Model, ThinkingFormat};
use crate::request::schema::{SchemaDialect, normalise};
use crate::request::{CacheRetention, ChatRequest, ThinkingLevel, ToolChoice, WireCall};
use crate::wire::address::MAX_OPENAI_ID;
use crate::wire::effort::reasoning_effort;
use crate::wire::ids;

/// Not changeable by `extraBody`: the model, the messages, and how the answer comes.
const FIXED: [&str; 3] = ["model", "messages", "stream"];

pub(super) fn body(call: &WireCall<'_>) -> Value {
    let (model, request) = (call.model, call.request);
    let switches = completions_compat(model);
    let mut body = Map::new();
    body.insert("model".into(), json!(model.id));
    body.insert("messages".into(), json!(messages(model, request, &switches)));
    body.insert("stream".into(), json!(true));
    if switches.usage_in_streaming {
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
    if switches.store {
        body.insert("store".into(), json!(false));
    }
    length(model, request, &switches, &mut body);
    let fixed = model.reasoning && switches.thinking_fixes_temperature;
    if let Some(temperature) = request.temperature.filter(|_| !fixed) {
        body.insert("temperature".into(), json!(temperature));
    }
    tools(request, &switches, &mut body);
    if model.reasoning {
        thinking(model, request.thinking, &switches, &mut body);
    }
    if switches.cache_key && request.cache != CacheRetention::None {
        if let Some(session) = &request.session_id {
            body.insert("prompt_cache_key".into(), json!(ids::fit_id(session, MAX_OPENAI_ID, "cache_")));
        }
        if request.cache == CacheRetention::Long {
            body.insert("prompt_cache_retention".into(), json!("24h"));
        }
    }
    if let Some(tier) = &request.service_tier {
        body.insert("service_tier".into(), json!(tier));
    }
    if let Some(routing) = &model.compat.open_router_routing {
        body.insert("provider".into(), routing.clone());
    }
    if let Some(routing) = &model.compat.vercel_gateway_routing {
        body.insert("providerOptions".into(), json!({"gateway": routing}));
    }
    for (name, value) in model.compat.extra_body.iter().flatten() {
        if !FIXED.contains(&name.as_str()) {
            body.insert(name.clone(), value.clone());
        }
    }
    Value::Object(body)
}

fn length(
    model: &Model,
    request: &ChatRequest,
    switches: &CompletionsCompat<'_>,
    body: &mut Map<String, Value>,
) {
    let usual = Some(model.max_tokens).filter(|most| switches.cuts_short && *most > 0);
    let Some(most) = request.max_tokens.or(usual) else { return };
    let name = match switches.max_tokens_field {
        MaxTokensField::MaxCompletionTokens => "max_completion_tokens",
        MaxTokensField::MaxTokens => "max_tokens",
    };
    body.insert(name.into(), json!(most));
}

fn tools(request: &ChatRequest, switches: &CompletionsCompat<'_>, body: &mut Map<String, Value>) {
    if request.tools.is_empty() {
        let calls = request.messages.iter().any(|message| match message {
            Message::Assistant(answer) => answer.tool_calls().next().is_some(),
            Message::ToolResult(_) => true,
            Message::User(_) | Message::Developer(_) => false,
        });
        if calls && switches.empty_tools {
            body.insert("tools".into(), json!([]));
        }
        return;
    }
    let dialect = if switches.strict { SchemaDialect::Strict } else { SchemaDialect::Completions };
    let tool = |tool: &crate::request::Tool| {
        let parameters = normalise(&tool.parameters, dialect);
        let mut function = json!({
            "name": tool.name,
            "description": tool.description,
            "parameters": parameters.schema,
        });
        // The default is false here, and some servers do not know the field.
        if parameters.strict {
            function["strict"] = json!(true);
        }
        json!({"type": "function", "function": function})
    };
    body.insert("tools".into(), request.tools.iter().map(tool).collect());
    let choice = match &request.tool_choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!("none")),
        ToolChoice::Required => Some(json!("required")),
        ToolChoice::Named(name) => Some(json!({"type": "function", "function": {"name": name}})),
    };
    if let Some(choice) = choice.filter(|_| switches.tool_choice) {
        body.insert("tool_choice".into(), choice);
    }
    if switches.parallel_tool_calls {
        body.insert("parallel_tool_calls".into(), json!(true));
    }
}

fn thinking(
    model: &Model,
    level: ThinkingLevel,
    switches: &CompletionsCompat<'_>,
    body: &mut Map<String, Value>,
) {
    let thinks = level != ThinkingLevel::Off;
    match switches.thinking_format {
        ThinkingFormat::Openai => {
            if let Some(effort) = reasoning_effort(&model.id, level).filter(|_| switches.reasoning_effort) {
                body.insert("reasoning_effort".into(), json!(effort));
            }
        }
        ThinkingFormat::Openrouter => {
            let effort = match level {
                ThinkingLevel::Off => "none",
                ThinkingLevel::Max => "xhigh",
                level => level.name(),
            };
            body.insert("reasoning".into(), json!({"effort": effort}));
        }
        ThinkingFormat::Zai => {
            let kind = if thinks { "enabled" } else { "disabled" };
            body.insert("thinking".into(), json!({"type": kind}));
        }
        ThinkingFormat::Qwen => {
            body.insert("enable_thinking".into(), json!(thinks));
        }
        ThinkingFormat::QwenChatTemplate => {
            body.insert("chat_template_kwargs".into(), json!({"enable_thinking": thinks}));
        }
    }
}
