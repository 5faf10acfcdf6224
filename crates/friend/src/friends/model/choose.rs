//! Which of a server's models is asked: the one that was named, the user's own choice for this provider, or the first that
//! the server has. What was chosen for the user is said.

use relaycode_llm::Model;
use relaycode_llm::models::discover::Kind;
use relaycode_llm::models::{How, Known, Registered, Registry, Role, split_level};
use relaycode_llm::request::Level;
use relaycode_text::width::shown;

use super::clock::during;
use super::{ModelServer, reach};
use crate::clock::Clock;
use crate::failure::Failure;
use crate::world::World;

/// Cells of a model's name in a message.
const SHOWN: usize = 80;
/// Models that a message lists.
const LISTED: usize = 8;

/// The model that is asked.
pub(super) struct Pick {
    pub(super) model: Model,
    /// How much it thinks.
    pub(super) level: Level,
    /// What a person should know of the choice.
    pub(super) remark: Option<String>,
    /// What the server says it has, where it was asked.
    pub(super) has: Option<Vec<String>>,
}

/// The model that is asked, by the name that was given, if any.
///
/// # Errors
/// If the server is not there, or has none.
pub(super) async fn pick(
    server: &ModelServer,
    provider: &Registered,
    wanted: Option<&str>,
    (clock, world): (&Clock<'_>, &World<'_>),
) -> Result<Pick, Failure> {
    let mut registry = server.servers.registry.clone();
    let wanted =
        wanted.map(|name| without_provider(name.trim(), &provider.id)).filter(|name| !name.is_empty());
    let written = wanted.is_some_and(|name| exact(&registry, provider, name).is_some());
    let mut has = None;
    // Also for one that was named: how much it can read is not to be guessed, since Ollama makes room for all of it.
    if provider.discovery.is_some() && !written {
        match during(clock, world, reach::models(provider)).await? {
            Some(found) => {
                has = Some(found.iter().map(|found| found.id.clone()).collect::<Vec<_>>());
                registry.discovered(&provider.id, found);
            }
            None if reach::nobody_listens(&provider.base_url) => {
                let said = format!("nobody listens at {}. Is its server running?", provider.base_url);
                return Err(Failure::Unreachable { friend: provider.id.clone(), said });
            }
            None => {}
        }
    }
    let (known, level, remark) = match wanted {
        Some(name) => named(&registry, provider, name),
        None => usual(&registry, provider).ok_or_else(|| server.failed(no_model(provider, has.is_some())))?,
    };
    let thinks = if known.model.reasoning { Level::Medium } else { Level::Off };
    Ok(Pick { model: known.model, level: level.unwrap_or(thinks), remark, has })
}

type Found = (Known, Option<Level>, Option<String>);

fn named(registry: &Registry, provider: &Registered, name: &str) -> Found {
    if let Some((known, level)) = exact(registry, provider, name) {
        return (known.clone(), level, None);
    }
    // What runs on this machine is called by its name; of others relay knows what is meant.
    let selector = format!("{}/{name}", provider.id);
    if provider.discovery.is_none()
        && let Ok(chosen) = registry.select(&selector, &|_| true)
        && chosen.known.model.provider == provider.id
        && chosen.how != How::Assumed
    {
        let remark = format!("took {} for `{}`", chosen.known.model.id, shown(name, SHOWN));
        return (chosen.known, chosen.level, Some(remark));
    }
    let (base, level) = split_level(name);
    (registry.assumed(provider, base), level, None)
}

/// The model of exactly this name, with a level behind it or not.
fn exact<'r>(
    registry: &'r Registry,
    provider: &'r Registered,
    name: &str,
) -> Option<(&'r Known, Option<Level>)> {
    let (base, level) = split_level(name);
    let of = |name: &str| {
        let latest = format!("{name}:latest");
        let tagged = provider.discovery == Some(Kind::Ollama);
        let same = move |id: &str| id == name || (tagged && id == latest);
        registry.models_of(&provider.id).find(|known| same(&known.model.id))
    };
    of(name).map(|known| (known, None)).or_else(|| of(base).map(|known| (known, level)))
}

/// The user's own choice for this provider, or the first model of it.
fn usual(registry: &Registry, provider: &Registered) -> Option<Found> {
    let roles = Role::ALL.into_iter().filter(|role| registry.file.roles.contains_key(role));
    for role in roles {
        if let Ok(chosen) = registry.role(role, &|_| true)
            && chosen.known.model.provider == provider.id
        {
            return Some((chosen.known, chosen.level, None));
        }
    }
    let mut models = registry.models_of(&provider.id).filter(|known| registry.is_enabled(known));
    let first = models.next()?.clone();
    let others = models.count();
    let only = if others == 0 {
        "the only one there is".to_string()
    } else {
        format!("the first of {}", others + 1)
    };
    let remark = format!("no model was named: took {}, {only}", shown(&first.model.id, SHOWN));
    Some((first, None, Some(remark)))
}

fn without_provider<'n>(name: &'n str, provider: &str) -> &'n str {
    name.strip_prefix(provider).and_then(|rest| rest.strip_prefix('/')).unwrap_or(name)
}

fn no_model(provider: &Registered, asked: bool) -> String {
    match (asked, provider.discovery) {
        (true, Some(Kind::Ollama)) => "it has no model; `ollama pull NAME` gets one".to_string(),
        (true, _) => "it has no model".to_string(),
        (false, _) => {
            format!("nothing says which models it has; name one, as in `--to {}/NAME`", provider.id)
        }
    }
}

/// What a server has, as the end of a sentence; nothing if nobody asked it.
pub(super) fn instead(has: Option<&[String]>) -> String {
    match has {
        None => String::new(),
        Some([]) => "; it has no model".to_string(),
        Some(names) => {
            let more = if names.len() > LISTED {
                format!(" and {} more", names.len() - LISTED)
            } else {
                String::new()
            };
            let listed: Vec<String> = names.iter().take(LISTED).map(|name| shown(name, SHOWN)).collect();
            format!("; it has {}{more}", listed.join(", "))
        }
    }
}
