//! `relay sessions`: the conversations that are kept, one file for each thing that can be done with them.

mod delete;
pub(crate) mod export;
mod fork;
mod list;
pub(crate) mod locator;
mod repair;
mod search;
mod show;
mod tree;

use clap::Subcommand;

use crate::{CommandContext, CommandResult};

/// List, search and look after conversations
///
/// Without a command the sessions about this directory, newest first. A SESSION is a number of that list, the
/// beginning of an id, a path, or nothing: the one that this terminal had last, else the newest.
#[derive(Debug, Clone, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct SessionsArgs {
    #[command(flatten)]
    list: list::SessionsListArgs,

    #[command(subcommand)]
    command: Option<SessionsCommand>,
}

#[derive(Debug, Clone, Subcommand)]
enum SessionsCommand {
    List(list::SessionsListArgs),
    Search(search::SessionsSearchArgs),
    Show(show::SessionsShowArgs),
    Tree(tree::SessionsTreeArgs),
    Fork(fork::SessionsForkArgs),
    Export(export::SessionsExportArgs),
    Repair(repair::SessionsRepairArgs),
    Delete(delete::SessionsDeleteArgs),
}

impl SessionsArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        match &self.command {
            None => self.list.run(ctx),
            Some(SessionsCommand::List(args)) => args.run(ctx),
            Some(SessionsCommand::Search(args)) => args.run(ctx),
            Some(SessionsCommand::Show(args)) => args.run(ctx),
            Some(SessionsCommand::Tree(args)) => args.run(ctx),
            Some(SessionsCommand::Fork(args)) => args.run(ctx),
            Some(SessionsCommand::Export(args)) => args.run(ctx),
            Some(SessionsCommand::Repair(args)) => args.run(ctx),
            Some(SessionsCommand::Delete(args)) => args.run(ctx),
        }
    }
}
