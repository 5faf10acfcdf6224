//! `relay friends`: who can be asked, whether they answer, and what was said to them by name.

mod list;
mod sessions;

use clap::Subcommand;

use crate::context::{Act, Context};
use crate::failure::{Exit, Failure};

/// Show which agents can be asked, and whether they answer
///
/// A friend is another agent that you have on this machine (codex, claude, gemini, opencode) or a model server that
/// relay can reach. Shows what is installed, its version, whether it is signed in, and what it can do. With --test each
/// is asked for one word: that sends a tiny request to its model.
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
    /// Who can be asked (the default)
    List(list::List),
    /// The conversations that go on by name
    Sessions,
    /// Forget a conversation
    Forget {
        /// What it is called
        #[arg(value_name = "NAME")]
        name: String,
    },
}

impl Act for Args {
    fn name(&self) -> &'static str {
        "friends"
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        match &self.what {
            None => self.list.run(context),
            Some(What::List(list)) => list.run(context),
            Some(What::Sessions) => sessions::list(context),
            Some(What::Forget { name }) => sessions::forget(name, context),
        }
    }
}
