//! `relay models`: which models there are, what is known of one, and whether it answers.

mod list;
mod show;
mod test;

pub(crate) use test::{ModelTestResult, model_failure};

use clap::Subcommand;
use relaycode_llm::models::{ModelMatchKind, ModelRole, ModelSelectError, SelectedModel};

use crate::{CommandContext, CommandFailure, CommandResult, Exit, Providers};

/// List models, show one, or test one with a tiny request
///
/// A model is meant by `provider/id`, by its id, by a role of models.yml (default, smol and so on), by a pattern, or by
/// words that fit; `:off`, `:minimal`, `:low`, `:medium`, `:high`, `:xhigh` or `:max` behind it says how much it
/// thinks. Addresses and keys come only from your own models.yml, `relay keys` and your environment, never from a
/// project.
#[derive(Debug, Clone, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ModelsArgs {
    #[command(subcommand)]
    command: Option<ModelsCommand>,

    #[command(flatten)]
    list: list::ModelsListArgs,
}

#[derive(Debug, Clone, Subcommand)]
enum ModelsCommand {
    /// The models that can be used (the default)
    List(list::ModelsListArgs),
    /// Everything that is known of a model, and where it comes from
    Show(show::ModelsShowArgs),
    /// Ask a model for a few words, and say how long that took and what it cost
    Test(test::ModelsTestArgs),
}

impl ModelsArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        match &self.command {
            None => self.list.run(ctx),
            Some(ModelsCommand::List(args)) => args.run(ctx),
            Some(ModelsCommand::Show(args)) => args.run(ctx),
            Some(ModelsCommand::Test(args)) => args.run(ctx),
        }
    }
}

/// The kind of a failure: there is no model to be asked.
pub(crate) const NO_KEY: &str = "noKey";

/// The model that is meant; of none, the role `default`. Servers on this machine are asked only if it is not found
/// without them.
pub(crate) fn choose_model(
    selector: Option<&str>,
    discover: bool,
    providers: &mut Providers,
    ctx: &CommandContext<'_>,
) -> CommandResult<SelectedModel> {
    providers.check_models_file()?;
    let select = |providers: &Providers| {
        let keyed = providers.keys_by_provider();
        let has_key = |provider: &str| keyed.get(provider).copied().unwrap_or(false);
        match selector {
            Some(selector) => providers.registry.select(selector, &has_key),
            None => providers.registry.select_role(ModelRole::Default, &has_key),
        }
    };
    let mut chosen = select(providers);
    let sure = matches!(&chosen, Ok(chosen) if !matches!(chosen.matched_by, ModelMatchKind::Fuzzy | ModelMatchKind::Assumed));
    if !sure && discover {
        providers.discover(ctx)?;
        chosen = select(providers);
    }
    chosen.map_err(|error| match error {
        // It says itself what to do.
        ModelSelectError::NoKey => CommandFailure::new(Exit::Usage, NO_KEY, error),
        error => CommandFailure::usage(error).hint("`relay models --all` lists every model"),
    })
}
