//! What providers answer without a model: lists of models, token counts, versions, each in its provider's
//! form.

use serde_json::{Value, json};

use super::http::IncomingRequest;

/// Context size of every model in the lists.
const CONTEXT: u64 = 32_768;

/// Their most output tokens.
const OUTPUT: u64 = 8_192;

/// Creation time of everything here: constant, so that answers are.
pub(super) const MADE: &str = "2026-01-01T00:00:00Z";

/// The same moment in seconds.
pub(super) const MADE_SECONDS: u64 = 1_767_225_600;

const JSON: &str = "application/json";

/// What a list may use.
pub(super) struct ListContext<'a> {
    pub(super) models: &'a [String],
    pub(super) path: &'a str,
    pub(super) asked: &'a IncomingRequest,
    pub(super) body: &'a Value,
}

/// Returns the content type and the body.
pub(super) type ListHandler = fn(&ListContext<'_>) -> (&'static str, String);

fn shown(value: &Value) -> (&'static str, String) {
    (JSON, value.to_string())
}

/// `*/models`, in the form of the provider whose headers or path the request has.
pub(super) fn models(context: &ListContext<'_>) -> (&'static str, String) {
    let asked = context.asked;
    let google = context.path.contains("/v1beta/")
        || !asked.header("x-goog-api-key").is_empty()
        || asked.query().contains("key=");
    let anthropic = !asked.header("anthropic-version").is_empty() || !asked.header("x-api-key").is_empty();
    if google {
        shown(&google_models(context.models))
    } else if anthropic {
        shown(&anthropic_models(context.models))
    } else {
        shown(&openai_models(context.models))
    }
}

fn google_models(names: &[String]) -> Value {
    let model = |name: &String| {
        json!({
            "name": format!("models/{name}"), "baseModelId": name, "version": "001", "displayName": name,
            "description": "scripted", "inputTokenLimit": CONTEXT, "outputTokenLimit": OUTPUT,
            "supportedGenerationMethods": ["generateContent", "countTokens"], "temperature": 1, "topP": 0.95, "topK": 64,
        })
    };
    json!({"models": names.iter().map(model).collect::<Vec<_>>()})
}

fn anthropic_models(names: &[String]) -> Value {
    let model =
        |name: &String| json!({"type": "model", "id": name, "display_name": name, "created_at": MADE});
    json!({
        "data": names.iter().map(model).collect::<Vec<_>>(), "has_more": false,
        "first_id": names.first(), "last_id": names.last(),
    })
}

/// With `meta`, which llama.cpp has there.
fn openai_models(names: &[String]) -> Value {
    let model = |name: &String| {
        json!({
            "id": name, "object": "model", "created": MADE_SECONDS, "owned_by": "scripted",
            "meta": {"n_ctx_train": CONTEXT},
        })
    };
    // codex reads `models`; there are none of its kind here.
    json!({"object": "list", "data": names.iter().map(model).collect::<Vec<_>>(), "models": []})
}

pub(super) fn lm_studio(context: &ListContext<'_>) -> (&'static str, String) {
    let model = |name: &String| {
        json!({
            "id": name, "object": "model", "type": "llm", "publisher": "scripted", "arch": "scripted",
            "compatibility_type": "gguf", "quantization": "Q4_K_M", "state": "loaded", "max_context_length": CONTEXT,
            "loaded_context_length": CONTEXT, "capabilities": ["tool_use"],
        })
    };
    shown(&json!({"object": "list", "data": context.models.iter().map(model).collect::<Vec<_>>()}))
}

pub(super) fn llama_props(context: &ListContext<'_>) -> (&'static str, String) {
    let name = context.models.first().map_or("scripted-model", String::as_str);
    shown(&json!({
        "default_generation_settings": {"id": 0, "n_ctx": CONTEXT, "params": {"n_predict": -1}}, "total_slots": 1,
        "model_alias": name, "model_path": format!("/models/{name}.gguf"), "chat_template": "",
        "modalities": {"vision": false, "audio": false}, "build_info": "scripted",
    }))
}

pub(super) fn llama_health(_: &ListContext<'_>) -> (&'static str, String) {
    shown(&json!({"status": "ok"}))
}

pub(super) fn anthropic_count(context: &ListContext<'_>) -> (&'static str, String) {
    shown(&json!({"input_tokens": tokens(context)}))
}

pub(super) fn google_count(context: &ListContext<'_>) -> (&'static str, String) {
    shown(&json!({"totalTokens": tokens(context)}))
}

/// A token is about four bytes.
fn tokens(context: &ListContext<'_>) -> usize {
    (context.asked.body.len() / 4).max(1)
}

pub(super) fn ollama_root(_: &ListContext<'_>) -> (&'static str, String) {
    ("text/plain; charset=utf-8", "Ollama is running".to_owned())
}

pub(super) fn ollama_version(_: &ListContext<'_>) -> (&'static str, String) {
    shown(&json!({"version": "0.12.6"}))
}

pub(super) fn ollama_pull(_: &ListContext<'_>) -> (&'static str, String) {
    ("application/x-ndjson", format!("{}\n", json!({"status": "success"})))
}

pub(super) fn ollama_tags(context: &ListContext<'_>) -> (&'static str, String) {
    let model = |name: &String| {
        json!({
            "name": tagged(name), "model": tagged(name), "modified_at": MADE, "size": 1_000_000_000_u64,
            "digest": "0".repeat(64), "details": details(),
        })
    };
    shown(&json!({"models": context.models.iter().map(model).collect::<Vec<_>>()}))
}

pub(super) fn ollama_running(context: &ListContext<'_>) -> (&'static str, String) {
    let model = |name: &String| {
        json!({
            "name": tagged(name), "model": tagged(name), "size": 1_000_000_000_u64, "digest": "0".repeat(64),
            "details": details(), "expires_at": MADE, "size_vram": 0, "context_length": CONTEXT,
        })
    };
    shown(&json!({"models": context.models.iter().map(model).collect::<Vec<_>>()}))
}

pub(super) fn ollama_show(context: &ListContext<'_>) -> (&'static str, String) {
    let name = context
        .body
        .get("model")
        .or_else(|| context.body.get("name"))
        .and_then(Value::as_str)
        .unwrap_or_default();
    shown(&json!({
        "modelfile": format!("FROM {name}\n"), "parameters": "", "template": "{{ .Prompt }}", "details": details(),
        "model_info": {
            "general.architecture": "scripted", "general.parameter_count": 1_000_000, "scripted.context_length": CONTEXT,
        },
        "capabilities": ["completion", "tools", "thinking"], "modified_at": MADE,
    }))
}

fn details() -> Value {
    json!({
        "parent_model": "", "format": "gguf", "family": "scripted", "families": ["scripted"], "parameter_size": "1M",
        "quantization_level": "Q4_K_M",
    })
}

/// Ollama's names have a tag.
fn tagged(name: &str) -> String {
    if name.contains(':') { name.to_owned() } else { format!("{name}:latest") }
}

/// Percent-decoded: clients also write `models/M%3AstreamGenerateContent`.
pub(super) fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match hex.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) if first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
