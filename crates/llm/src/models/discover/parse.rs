//! The answers of these servers. Field names are those of their documentation: Ollama `docs/api.md` (list,
//! show), llama.cpp `tools/server/README.md` (`/props`, `/v1/models`), LM Studio's REST API v0
//! (`/api/v0/models`).

use serde_json::Value;

use super::DiscoveredModel;

/// Most models of one server.
pub(super) const MAX_MODELS: usize = 500;
/// Longest name, in bytes.
const NAME: usize = 256;
/// Window of an Ollama model unless its settings or `models.yml` say otherwise. The server allocates all of
/// it at once, and what a model was trained with rarely fits; its documentation recommends this much for
/// agents.
const OLLAMA_WINDOW: u64 = 64_000;
/// Larger windows are ignored.
const WINDOW: u64 = 1 << 32;

/// Ollama's `/api/tags`: the names.
pub(super) fn ollama_tags(answer: &[u8]) -> Option<Vec<String>> {
    let models = array(answer, "models")?;
    Some(models.iter().filter_map(|model| name(model.get("model").or_else(|| model.get("name"))?)).collect())
}

/// Ollama's `/api/show`; `None` for a model that does not generate text.
pub(super) fn ollama_show(id: &str, answer: &[u8]) -> Option<DiscoveredModel> {
    let value: Value = serde_json::from_slice(answer).ok()?;
    let info = value.get("model_info").and_then(Value::as_object);
    let trained = info.and_then(|info| {
        let length = info.iter().find(|(name, _)| name.ends_with(".context_length"));
        length.and_then(|(_, length)| window(length))
    });
    // A remote model needs no memory here.
    let remote = value.get("remote_host").and_then(Value::as_str).is_some_and(|host| !host.is_empty());
    let usual = if remote { trained } else { trained.map(|trained| trained.min(OLLAMA_WINDOW)) };
    let set = value.get("parameters").and_then(Value::as_str).and_then(num_ctx);
    let able = value.get("capabilities").and_then(Value::as_array);
    let able = able.map(|able| able.iter().filter_map(Value::as_str).collect::<Vec<_>>());
    if able.as_ref().is_some_and(|able| !able.contains(&"completion")) {
        return None;
    }
    Some(DiscoveredModel {
        id: id.to_string(),
        name: None,
        reasoning: able.as_ref().map(|able| able.contains(&"thinking")),
        images: able.as_ref().map(|able| able.contains(&"vision")),
        context_window: set.or(usual),
    })
}

/// `num_ctx` in a model's settings.
fn num_ctx(settings: &str) -> Option<u64> {
    let named = |line: &str| line.trim().strip_prefix("num_ctx")?.trim().parse::<u64>().ok();
    settings.lines().find_map(named).filter(|window| (1..=WINDOW).contains(window))
}

/// `/v1/models`, as llama.cpp and LM Studio have it.
pub(super) fn openai_models(answer: &[u8]) -> Option<Vec<DiscoveredModel>> {
    let found = |model: &Value| {
        let trained = model.get("meta").and_then(|meta| meta.get("n_ctx_train")).and_then(window);
        let id = name(model.get("id")?)?;
        Some(DiscoveredModel { id, context_window: trained, ..DiscoveredModel::default() })
    };
    Some(array(answer, "data")?.iter().filter_map(found).collect())
}

/// llama.cpp's `/props`: its window, and whether it reads images.
pub(super) fn llama_props(answer: &[u8], found: &mut [DiscoveredModel]) {
    let Ok(value) = serde_json::from_slice::<Value>(answer) else { return };
    let settings = value.get("default_generation_settings");
    let context = settings.and_then(|settings| settings.get("n_ctx")).and_then(window);
    let images = value.get("modalities").and_then(|able| able.get("vision")).and_then(Value::as_bool);
    for found in found {
        found.context_window = context.or(found.context_window);
        found.images = images.or(found.images);
    }
}

/// LM Studio's `/api/v0/models`.
pub(super) fn lm_studio(answer: &[u8]) -> Option<Vec<DiscoveredModel>> {
    let found = |model: &Value| {
        let kind = model.get("type").and_then(Value::as_str);
        if kind.is_some_and(|kind| kind != "llm" && kind != "vlm") {
            return None;
        }
        // The loaded window counts.
        let loaded = model.get("loaded_context_length").and_then(window);
        let (id, images) = (name(model.get("id")?)?, kind.map(|kind| kind == "vlm"));
        let context_window = loaded.or_else(|| model.get("max_context_length").and_then(window));
        Some(DiscoveredModel { id, images, context_window, ..DiscoveredModel::default() })
    };
    Some(array(answer, "data")?.iter().filter_map(found).collect())
}

fn array(answer: &[u8], field: &str) -> Option<Vec<Value>> {
    let mut value: Value = serde_json::from_slice(answer).ok()?;
    let Value::Array(mut items) = value.get_mut(field)?.take() else { return None };
    items.truncate(MAX_MODELS);
    Some(items)
}

/// Without control characters.
fn name(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    let plain =
        !text.is_empty() && text.len() <= NAME && !text.chars().any(|c| c.is_control() || c.is_whitespace());
    plain.then(|| text.to_string())
}

fn window(value: &Value) -> Option<u64> {
    value.as_u64().filter(|window| (1..=WINDOW).contains(window))
}
