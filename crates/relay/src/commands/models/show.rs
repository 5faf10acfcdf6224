//! `relay models show SELECTOR`.

use serde_json::json;

use super::choose_model;
use crate::report::render::models::ModelRow;
use crate::{CommandContext, CommandResult, Exit, Providers, render};

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ModelsShowArgs {
    /// Which model
    #[arg(value_name = "MODEL")]
    selector: String,

    /// Do not ask the model servers on this machine
    #[arg(long)]
    no_discover: bool,
}

impl ModelsShowArgs {
    pub(super) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let mut providers = Providers::open(ctx)?;
        let chosen = choose_model(Some(&self.selector), !self.no_discover, &mut providers, ctx)?;
        let known = &chosen.entry;
        let provider = providers.registry.provider(&known.model.provider);
        let key = provider.map(|provider| providers.keyring(None).source(provider));
        let (key, trouble) = match key {
            Some(Ok(key)) => (key, None),
            Some(Err(error)) => (None, Some(error.to_string())),
            None => (None, None),
        };
        let line = ModelRow { known, key };
        let mut object = line.to_json();
        object["level"] = json!(chosen.level.map(|level| level.name()));
        object["how"] = json!(render::models::selection_name(chosen.matched_by));
        object["keyTrouble"] = json!(trouble);
        object["keyAddress"] = json!(provider.map(|provider| provider.docs).filter(|docs| !docs.is_empty()));
        let found = json!({"model": object, "others": chosen.alternatives});
        let docs = provider.map(|provider| provider.docs).unwrap_or_default();
        let exit = ctx.print_either(Exit::Done, found, |look| {
            render::models::model_details(&chosen, &line, trouble.as_deref(), docs, look)
        });
        providers.eprint_remarks(ctx);
        Ok(exit)
    }
}
