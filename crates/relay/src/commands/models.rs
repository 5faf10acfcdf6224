//! `relay models`: which models there are, what is known of one, and whether it answers.

mod list;
mod one;
mod test;

pub(crate) use test::Outcome;

use clap::Subcommand;
use relaycode_llm::models::{Chosen, How, Role};

use crate::context::{Act, Context};
use crate::failure::{Exit, Failure};
use crate::providers::Providers;

/// List models, show one, or test one with a tiny request
///
/// A model is meant by `provider/id`, by its id, by a role of models.yml (default, smol and so on), by a pattern, or by
/// words that fit; `:off`, `:minimal`, `:low`, `:medium`, `:high`, `:xhigh` or `:max` behind it says how much it
/// thinks. Addresses and keys come only from your own models.yml, `relay keys` and your environment, never from a
/// project.
#[derive(Debug, Clone, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: Option<What>,

    #[command(flatten)]
    list: list::List,
}

#[derive(Debug, Clone, Subcommand)]
enum What {
    /// The models that can be used (the default)
    List(list::List),
    /// Everything that is known of a model, and where it comes from
    Show(one::Show),
    /// Ask a model for a few words, and say how long that took and what it cost
    Test(test::Test),
}

impl Act for Args {
    fn name(&self) -> &'static str {
        "models"
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        match &self.what {
            None => self.list.run(context),
            Some(What::List(args)) => args.run(context),
            Some(What::Show(args)) => args.run(context),
            Some(What::Test(args)) => args.run(context),
        }
    }
}

/// The model that is meant; of none, the role `default`. Servers on this machine are asked only if it is not found
/// without them.
fn choose(
    selector: Option<&str>,
    discover: bool,
    providers: &mut Providers,
    context: &Context<'_>,
) -> Result<Chosen, Failure> {
    providers.usable()?;
    let select = |providers: &Providers| {
        let keyed = providers.keyed();
        let has_key = |provider: &str| keyed.get(provider).copied().unwrap_or(false);
        match selector {
            Some(selector) => providers.registry.select(selector, &has_key),
            None => providers.registry.role(Role::Default, &has_key),
        }
    };
    let mut chosen = select(providers);
    let sure = matches!(&chosen, Ok(chosen) if !matches!(chosen.how, How::Fuzzy | How::Assumed));
    if !sure && discover {
        providers.discover(context)?;
        chosen = select(providers);
    }
    chosen.map_err(|error| Failure::usage(error).hint("`relay models --all` lists every model"))
}
