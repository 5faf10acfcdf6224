//! Which path leads where. Clients put prefixes before a wire's path, so most are recognised by their end.

use super::lists::{self, ListHandler};
use super::wire::{self, ScriptedWire};

pub(super) enum Route {
    /// The script, in the format of a wire.
    Turn(&'static dyn ScriptedWire),
    /// A constant answer.
    List(ListHandler),
    /// The server's own counters.
    State,
    /// The requests so far.
    Requests,
    /// Loads a new script.
    Reset,
    /// A protocol that is not spoken here.
    Upgrade,
    /// No such path.
    Nothing,
}

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
