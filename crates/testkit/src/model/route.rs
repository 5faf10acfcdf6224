//! Which path leads where. Clients put their own prefixes before a wire's path, so most are known by their end.

use super::lists::{self, ListHandler};
use super::wire::{self, ScriptedWire};

/// Where a request goes.
pub(super) enum Route {
    /// To the script, in the words of a wire.
    Turn(&'static dyn ScriptedWire),
    /// To something that is always the same.
    List(ListHandler),
    /// To the server's own counters.
    State,
    /// To the requests so far.
    Requests,
    /// To a new script.
    Reset,
    /// To a protocol that is not spoken here.
    Upgrade,
    /// Nowhere.
    Nothing,
}

/// Where a request goes.
pub(super) fn route(method: &str, path: &str) -> Route {
    if method == "POST" { post(path) } else { get(path) }
}

fn post(path: &str) -> Route {
    if let Some(wire) = wire::ALL.iter().find(|wire| wire.hears(path)) {
        return Route::Turn(*wire);
    }
    match path {
        "/__relay/reset" => Route::Reset,
        "/api/show" => Route::List(lists::ollama_show),
        "/api/pull" => Route::List(lists::ollama_pull),
        _ if path.ends_with("/messages/count_tokens") => Route::List(lists::anthropic_count),
        _ if path.ends_with(":countTokens") => Route::List(lists::google_count),
        _ => Route::Nothing,
    }
}

fn get(path: &str) -> Route {
    match path {
        "/__relay/state" => Route::State,
        "/__relay/requests" => Route::Requests,
        "/" => Route::List(lists::ollama_root),
        "/api/tags" => Route::List(lists::ollama_tags),
        "/api/ps" => Route::List(lists::ollama_running),
        "/api/version" => Route::List(lists::ollama_version),
        "/props" => Route::List(lists::llama_props),
        "/health" => Route::List(lists::llama_health),
        "/api/v0/models" => Route::List(lists::lm_studio),
        _ if path.ends_with("/models") => Route::List(lists::models),
        _ => Route::Nothing,
    }
}
