//! `relay friends`: who can be asked, whether they answer, and what was said to them by name.

mod list;
mod sessions;

use clap::Subcommand;

use crate::{CommandContext, CommandResult};

/// Show which agents can be asked, and whether they answer
///
/// A friend is another agent that you have on this machine (codex, claude, gemini, opencode) or a model server that
/// relay can reach. Shows what is installed, its version, whether it is signed in, and what it can do. With --test each
/// is asked for one word: that sends a tiny request to its model.
#[derive(Debug, Clone, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct FriendsArgs {
    #[command(subcommand)]
    command: Option<FriendsCommand>,

    #[command(flatten)]
    list: list::FriendsListArgs,
}

#[derive(Debug, Clone, Subcommand)]
enum FriendsCommand {
    /// Who can be asked (the default)
    List(list::FriendsListArgs),
    /// The conversations that go on by name
    Sessions,
    /// Forget a conversation
    Forget {
        /// What it is called
        name: String,
    },
}

impl FriendsArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        match &self.command {
            None => self.list.run(ctx),
            Some(FriendsCommand::List(list)) => list.run(ctx),
            Some(FriendsCommand::Sessions) => sessions::list_sessions(ctx),
            Some(FriendsCommand::Forget { name }) => sessions::forget_session(name, ctx),
        }
    }
}
