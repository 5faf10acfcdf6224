//! Which of a server's models is asked: the one that was named, the user's own choice for this provider, or the first that
//! the server has. What was chosen for the user is said.

use relaycode_llm::Model;
use relaycode_llm::models::discover::LocalServerKind;
use relaycode_llm::models::{
    ModelMatchKind, ModelRegistry, ModelRole, RegisteredProvider, RegistryModel, split_level,
};
use relaycode_llm::request::ThinkingLevel;
use relaycode_text::width::clip_for_message;

use super::deadline::run_until_expired;
use super::{ModelServer, probe};
use crate::driver::TurnClock;
use crate::{FriendContext, FriendFailure, TurnResult};

/// Cells of a model's name in a message.
const SHOWN: usize = 80;
const LISTED: usize = 8;

pub(super) struct ServerModelPick {
    pub(super) model: Model,
    pub(super) level: ThinkingLevel,
    pub(super) remark: Option<String>,
    /// What the server says it has, where it was asked.
    pub(super) available: Option<Vec<String>>,
}

/// The model that is asked, by the name that was given, if any.
///
/// # Errors
/// If the server is not there, or has none.
pub(super) async fn choose_model(
    server: &ModelServer,
    provider: &RegisteredProvider,
    wanted: Option<&str>,
    (clock, world): (&TurnClock<'_>, &FriendContext<'_>),
) -> TurnResult<ServerModelPick> {
    let mut registry = server.config.registry.clone();
    let wanted = wanted.map(|name| without_provider(name.trim(), &provider.id));
    let wanted = wanted.filter(|name| !name.is_empty());
    let written = wanted.is_some_and(|name| find_exact(&registry, provider, name).is_some());
    let mut has = None;
    // Also for one that was named: how much it can read is not to be guessed, since Ollama makes room for all of it.
    if provider.discovery.is_some() && !written {
        match run_until_expired(clock, world, probe::list_models(provider)).await? {
            Some(found) => {
                has = Some(found.iter().map(|found| found.id.clone()).collect::<Vec<_>>());
                registry.add_discovered(&provider.id, found);
            }
            None if probe::nobody_listens(&provider.base_url) => {
                let said = format!("nobody listens at {}. Is its server running?", provider.base_url);
                return Err(FriendFailure::Unreachable { friend: provider.id.clone(), said });
            }
            None => {}
        }
    }
    let (known, level, remark) = match wanted {
        Some(name) => find_named(&registry, provider, name),
        None => default_model(&registry, provider)
            .ok_or_else(|| server.failed(no_model_message(provider, has.is_some())))?,
    };
    let thinks = if known.model.reasoning { ThinkingLevel::Medium } else { ThinkingLevel::Off };
    Ok(ServerModelPick { model: known.model, level: level.unwrap_or(thinks), remark, available: has })
}

type ServerModelMatch = (RegistryModel, Option<ThinkingLevel>, Option<String>);

fn find_named(registry: &ModelRegistry, provider: &RegisteredProvider, name: &str) -> ServerModelMatch {
    if let Some((known, level)) = find_exact(registry, provider, name) {
        return (known.clone(), level, None);
    }
    // What runs on this machine is called by its name; of others relay knows what is meant.
    let selector = format!("{}/{name}", provider.id);
    if provider.discovery.is_none()
        && let Ok(chosen) = registry.select(&selector, &|_| true)
        && chosen.entry.model.provider == provider.id
        && chosen.matched_by != ModelMatchKind::Assumed
    {
        let remark = format!("took {} for `{}`", chosen.entry.model.id, clip_for_message(name, SHOWN));
        return (chosen.entry, chosen.level, Some(remark));
    }
    let (base, level) = split_level(name);
    (registry.assumed_model(provider, base), level, None)
}

/// The model of exactly this name, with a level behind it or not.
fn find_exact<'r>(
    registry: &'r ModelRegistry,
    provider: &'r RegisteredProvider,
    name: &str,
) -> Option<(&'r RegistryModel, Option<ThinkingLevel>)> {
    let (base, level) = split_level(name);
    let of = |name: &str| {
        let latest = format!("{name}:latest");
        let tagged = provider.discovery == Some(LocalServerKind::Ollama);
        let same = move |id: &str| id == name || (tagged && id == latest);
        registry.models_of(&provider.id).find(|known| same(&known.model.id))
    };
    of(name).map(|known| (known, None)).or_else(|| of(base).map(|known| (known, level)))
}

/// The user's own choice for this provider, or the first model of it.
fn default_model(registry: &ModelRegistry, provider: &RegisteredProvider) -> Option<ServerModelMatch> {
    let roles = ModelRole::ALL.into_iter().filter(|role| registry.file.roles.contains_key(role));
    for role in roles {
        if let Ok(chosen) = registry.select_role(role, &|_| true)
            && chosen.entry.model.provider == provider.id
        {
            return Some((chosen.entry, chosen.level, None));
        }
    }
    let mut models = registry.models_of(&provider.id).filter(|known| registry.is_enabled(known));
    let first = models.next()?.clone();
    let others = models.count();
    let many = format!("the first of {}", others + 1);
    let only = if others == 0 { "the only one there is" } else { &many };
    let remark = format!("no model was named: took {}, {only}", clip_for_message(&first.model.id, SHOWN));
    Some((first, None, Some(remark)))
}

fn without_provider<'n>(name: &'n str, provider: &str) -> &'n str {
    name.strip_prefix(provider).and_then(|rest| rest.strip_prefix('/')).unwrap_or(name)
}

fn no_model_message(provider: &RegisteredProvider, asked: bool) -> String {
    match (asked, provider.discovery) {
        (true, Some(LocalServerKind::Ollama)) => "it has no model; `ollama pull NAME` gets one".to_string(),
        (true, _) => "it has no model".to_string(),
        (false, _) => {
            format!("nothing says which models it has; name one, as in `--to {}/NAME`", provider.id)
        }
    }
}

/// What a server has, as the end of a sentence.
pub(super) fn available_models_hint(names: &[String]) -> String {
    if names.is_empty() {
        return "; it has no model".to_string();
    }
    let more = match names.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let listed = names.iter().take(LISTED).map(|name| clip_for_message(name, SHOWN));
    format!("; it has {}{more}", listed.collect::<Vec<_>>().join(", "))
}
