//! The body of a request, as far as the server accepts it.

use serde_json::json;

use super::compat::{CompletionsCompat, completions_compat};
use super::messages::messages;
use crate::message::Message;
use crate::models::model::{MaxTokensField, Model, ThinkingFormat};
use crate::request::schema::{SchemaDialect, normalise};
use crate::request::{CacheRetention, ChatRequest, ThinkingLevel, ToolChoice, WireCall};
use crate::wire::{address::MAX_OPENAI_ID, effort::reasoning_effort, ids, request_body::RequestBody};

pub(super) fn body(call: &WireCall<'_>) -> Vec<u8> {
    let (model, request) = (call.model, call.request);
    let switches = completions_compat(model);
    let mut body = RequestBody::default();
    body.set("model", &model.id);
    body.set_conversation("messages", messages(model, request, &switches));
    body.set("stream", true);
    body.set_some("stream_options", switches.usage_in_streaming.then(|| json!({"include_usage": true})));
    body.set_some("store", switches.store.then_some(false));
    let usual = Some(model.max_tokens).filter(|most| switches.cuts_short && *most > 0);
    let length_field = match switches.max_tokens_field {
        MaxTokensField::MaxCompletionTokens => "max_completion_tokens",
        MaxTokensField::MaxTokens => "max_tokens",
    };
    body.set_some(length_field, request.max_tokens.or(usual));
    let fixed = model.reasoning && switches.thinking_fixes_temperature;
    body.set_some("temperature", request.temperature.filter(|_| !fixed));
    tools(request, &switches, &mut body);
    if model.reasoning {
        thinking(model, request.thinking, &switches, &mut body);
    }
    if switches.cache_key && request.cache != CacheRetention::None {
        let session = request.session_id.as_deref();
        body.set_some("prompt_cache_key", session.map(|id| ids::fit_id(id, MAX_OPENAI_ID, "cache_")));
        body.set_some("prompt_cache_retention", (request.cache == CacheRetention::Long).then_some("24h"));
    }
    body.set_some("service_tier", request.service_tier.as_ref());
    body.set_some("provider", model.compat.open_router_routing.as_ref());
    let routing = model.compat.vercel_gateway_routing.as_ref();
    body.set_some("providerOptions", routing.map(|routing| json!({"gateway": routing})));
    body.finish(model, &["model", "messages", "stream"])
}

fn tools(request: &ChatRequest, switches: &CompletionsCompat<'_>, body: &mut RequestBody) {
    if request.tools.is_empty() {
        let calls = request.messages.iter().any(|message| match message {
            Message::Assistant(answer) => answer.tool_calls().next().is_some(),
            Message::ToolResult(_) => true,
            Message::User(_) | Message::Developer(_) => false,
        });
        if calls && switches.empty_tools {
            body.set("tools", json!([]));
        }
        return;
    }
    let dialect = if switches.strict { SchemaDialect::Strict } else { SchemaDialect::Completions };
    let tool = |tool: &crate::request::Tool| {
        let parameters = normalise(&tool.parameters, dialect);
        let mut function =
            json!({"name": tool.name, "description": tool.description, "parameters": parameters.schema});
        // The default is false here, and some servers do not know the field.
        if parameters.strict {
            function["strict"] = json!(true);
        }
        json!({"type": "function", "function": function})
    };
    body.set("tools", request.tools.iter().map(tool).collect::<Vec<_>>());
    let choice = match &request.tool_choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!("none")),
        ToolChoice::Required => Some(json!("required")),
        ToolChoice::Named(name) => Some(json!({"type": "function", "function": {"name": name}})),
    };
    body.set_some("tool_choice", choice.filter(|_| switches.tool_choice));
    body.set_some("parallel_tool_calls", switches.parallel_tool_calls.then_some(true));
}

fn thinking(model: &Model, level: ThinkingLevel, switches: &CompletionsCompat<'_>, body: &mut RequestBody) {
    let thinks = level != ThinkingLevel::Off;
    match switches.thinking_format {
        ThinkingFormat::Openai => {
            let effort = reasoning_effort(&model.id, level);
            body.set_some("reasoning_effort", effort.filter(|_| switches.reasoning_effort));
        }
        ThinkingFormat::Openrouter => {
            let effort = match level {
                ThinkingLevel::Off => "none",
                ThinkingLevel::Max => "xhigh",
                level => level.name(),
            };
            body.set("reasoning", json!({"effort": effort}));
        }
        ThinkingFormat::Zai => {
            let kind = if thinks { "enabled" } else { "disabled" };
            body.set("thinking", json!({"type": kind}));
        }
        ThinkingFormat::Qwen => body.set("enable_thinking", thinks),
        ThinkingFormat::QwenChatTemplate => {
            body.set("chat_template_kwargs", json!({"enable_thinking": thinks}));
        }
    }
}
