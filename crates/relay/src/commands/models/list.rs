//! `relay models [FILTER]`.

use relaycode_llm::models::{ModelRole, RegistryModel};
use serde_json::json;

use crate::report::render::models::ModelRow;
use crate::{CommandContext, CommandResult, Exit, Providers, render};

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ModelsListArgs {
    /// Only models that this fits: a name, a pattern such as `anthropic/*`, a role, or words
    filter: Vec<String>,

    /// Also models without a key
    #[arg(short, long)]
    all: bool,

    /// Do not ask the model servers on this machine (ollama, llama.cpp, LM Studio)
    #[arg(long)]
    no_discover: bool,
}

impl ModelsListArgs {
    pub(super) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let mut providers = Providers::open(ctx)?;
        let servers = if self.no_discover { Vec::new() } else { providers.discover(ctx)? };
        let keyed = providers.keys_by_provider();
        let has_key = |provider: &str| keyed.get(provider).copied().unwrap_or(false);
        let registry = &providers.registry;
        let filter = self.filter.join(" ");
        let found: Vec<&RegistryModel> = match filter.trim() {
            "" => registry.models.iter().filter(|known| registry.is_enabled(known)).collect(),
            filter => registry.matching(filter, &has_key),
        };
        let (shown, hidden): (Vec<&RegistryModel>, Vec<&RegistryModel>) =
            found.iter().copied().partition(|known| self.all || has_key(&known.model.provider));
        let keyring = providers.keyring(None);
        let key = |known: &RegistryModel| {
            let provider = registry.provider(&known.model.provider)?;
            keyring.source(provider).ok().flatten()
        };
        let lines: Vec<ModelRow<'_>> =
            shown.iter().map(|known| ModelRow { known, key: key(known) }).collect();
        let meaning = |selector: &str| Some(registry.select(selector, &has_key).ok()?.entry.model.selector());
        let roles = registry.file.roles.iter();
        let roles: Vec<(ModelRole, &str, Option<String>)> = roles
            .map(|(role, selector)| (*role, selector.value.as_str(), meaning(&selector.value)))
            .collect();
        let found = json!({
            "models": lines.iter().map(ModelRow::to_json).collect::<Vec<_>>(),
            "withoutKey": hidden.len(),
            "roles": roles.iter().map(|(role, selector, means)| {
                json!({"role": role.name(), "selector": selector, "model": means})
            }).collect::<Vec<_>>(),
            "servers": servers.iter().map(render::models::server_json).collect::<Vec<_>>(),
            "trouble": registry.file_error.as_ref().map(render::models::models_error_json),
            "ignored": providers.ignored.iter().map(render::models::ignored_json).collect::<Vec<_>>(),
        });
        let quiet = ctx.is_quiet();
        let exit = ctx.print_either(Exit::Done, found, |look| {
            let hidden = render::models::hidden_models_note(shown.len(), hidden.len(), &filter, look);
            let text = render::models::models_table(&lines, look) + &render::models::roles_text(&roles, look);
            if quiet { text } else { text + &hidden }
        });
        providers.eprint_remarks(ctx);
        Ok(exit)
    }
}
