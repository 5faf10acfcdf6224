//! `relay sessions`: the conversations that are kept, one file for each thing that can be done with them.

mod delete;
mod export;
mod fork;
mod list;
mod place;
mod repair;
mod search;
mod show;
mod tree;

use clap::Subcommand;

use crate::context::{Act, Context};
use crate::failure::{Exit, Failure};

/// List, search and look after conversations
///
/// Without a command the sessions about this directory, newest first. A SESSION is a number of that list, the
/// beginning of an id, a path, or nothing: the one that this terminal had last, else the newest.
#[derive(Debug, Clone, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(flatten)]
    list: list::ListArgs,

    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Clone, Subcommand)]
enum What {
    List(list::ListArgs),
    Search(search::SearchArgs),
    Show(show::ShowArgs),
    Tree(tree::TreeArgs),
    Fork(fork::ForkArgs),
    Export(export::ExportArgs),
    Repair(repair::RepairArgs),
    Delete(delete::DeleteArgs),
}

impl Act for Args {
    fn name(&self) -> &'static str {
        "sessions"
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        match &self.what {
            None => self.list.run(context),
            Some(What::List(args)) => args.run(context),
            Some(What::Search(args)) => args.run(context),
            Some(What::Show(args)) => args.run(context),
            Some(What::Tree(args)) => args.run(context),
            Some(What::Fork(args)) => args.run(context),
            Some(What::Export(args)) => args.run(context),
            Some(What::Repair(args)) => args.run(context),
            Some(What::Delete(args)) => args.run(context),
        }
    }
}
