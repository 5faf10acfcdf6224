//! `relay models [FILTER]`.

use relaycode_llm::models::{Known, Role};
use serde_json::json;

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::providers::Providers;
use crate::show;
use crate::show::models::Line;

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct List {
    /// Only models that this fits: a name, a pattern such as `anthropic/*`, a role, or words
    #[arg(value_name = "FILTER")]
    filter: Vec<String>,

    /// Also models without a key
    #[arg(short, long)]
    all: bool,

    /// Do not ask the model servers on this machine (ollama, llama.cpp, LM Studio)
    #[arg(long)]
    no_discover: bool,
}

impl List {
    pub(super) fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let mut providers = Providers::open(context)?;
        let servers = if self.no_discover { Vec::new() } else { providers.discover(context)? };
        let keyed = providers.keyed();
        let has_key = |provider: &str| keyed.get(provider).copied().unwrap_or(false);
        let registry = &providers.registry;
        let filter = self.filter.join(" ");
        let found: Vec<&Known> = match filter.trim() {
            "" => registry.models.iter().filter(|known| registry.is_enabled(known)).collect(),
            filter => registry.matching(filter, &has_key),
        };
        let (shown, hidden): (Vec<&Known>, Vec<&Known>) =
            found.iter().copied().partition(|known| self.all || has_key(&known.model.provider));
        let keyring = providers.keyring(None);
        let key = |known: &Known| {
            let provider = registry.provider(&known.model.provider)?;
            keyring.source(provider).ok().flatten()
        };
        let lines: Vec<Line<'_>> = shown.iter().map(|known| Line { known, key: key(known) }).collect();
        let roles: Vec<(Role, &str, Option<String>)> = registry
            .file
            .roles
            .iter()
            .map(|(role, selector)| {
                let means = registry.select(&selector.value, &has_key).ok();
                (*role, selector.value.as_str(), means.map(|chosen| chosen.known.model.selector()))
            })
            .collect();
        context.object(&json!({
            "ok": true, "code": Exit::Done as u8, "command": "models",
            "models": lines.iter().map(Line::object).collect::<Vec<_>>(),
            "withoutKey": hidden.len(),
            "roles": roles.iter().map(|(role, selector, means)| {
                json!({"role": role.name(), "selector": selector, "model": means})
            }).collect::<Vec<_>>(),
            "servers": servers.iter().map(show::models::server_object).collect::<Vec<_>>(),
            "trouble": registry.trouble.as_ref().map(show::models::trouble_object),
            "ignored": providers.ignored.iter().map(show::models::ignored_object).collect::<Vec<_>>(),
        }));
        if !context.json() {
            let look = context.console.out_look();
            let mut text = show::models::table(&lines, &look);
            text += &show::models::roles(&roles, &look);
            if !context.quiet() {
                text += &show::models::rest(shown.len(), hidden.len(), &filter, &look);
            }
            context.console.out(&text);
        }
        providers.remark(context);
        Ok(Exit::Done)
    }
}
