//! `relay models show SELECTOR`.

use serde_json::json;

use super::choose;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::providers::Providers;
use crate::show;
use crate::show::models::Line;

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Show {
    /// Which model
    #[arg(value_name = "MODEL")]
    selector: String,

    /// Do not ask the model servers on this machine
    #[arg(long)]
    no_discover: bool,
}

impl Show {
    pub(super) fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let mut providers = Providers::open(context)?;
        let chosen = choose(Some(&self.selector), !self.no_discover, &mut providers, context)?;
        let known = &chosen.known;
        let provider = providers.registry.provider(&known.model.provider);
        let key = provider.map(|provider| providers.keyring(None).source(provider));
        let (key, trouble) = match key {
            Some(Ok(key)) => (key, None),
            Some(Err(error)) => (None, Some(error.to_string())),
            None => (None, None),
        };
        let line = Line { known, key };
        let mut object = line.object();
        object["level"] = json!(chosen.level.map(|level| level.name()));
        object["how"] = json!(show::models::how(chosen.how));
        object["keyTrouble"] = json!(trouble);
        object["keyAddress"] = json!(provider.map(|provider| provider.docs).filter(|docs| !docs.is_empty()));
        context.object(&json!({
            "ok": true, "code": Exit::Done as u8, "command": "models", "model": object,
            "others": chosen.others,
        }));
        if !context.json() {
            let look = context.console.out_look();
            let docs = provider.map(|provider| provider.docs).unwrap_or_default();
            let text = show::models::one(&chosen, &line, trouble.as_deref(), docs, &look);
            context.console.out(&text);
        }
        providers.remark(context);
        Ok(Exit::Done)
    }
}
