//! `relay ask`: a question to a friend, who looks and changes nothing.

use relaycode_friend::{AskDiff, AskRequest};

use crate::friends::args::{FriendArgs, ReadOnlyArgs};
use crate::friends::ask_report::report_answers;
use crate::{CommandContext, CommandResult, SignalGuard};

/// Ask another agent; it reads the project and changes nothing
///
/// The friend works in this project with read-only access, by a tested recipe: what it wants to write or run beyond
/// that is refused. Afterwards the project is compared with how it was, and what changed is named. What comes on stdin
/// goes with the question. With several friends all are asked at once, and their answers stand side by side.
///
/// A prompt that begins with a hyphen stands behind `--`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct AskArgs {
    /// The question
    prompt: String,

    #[command(flatten)]
    friend_args: FriendArgs,

    /// Send what is not committed along, or else the last commit
    #[arg(long)]
    include_diff: bool,

    #[command(flatten)]
    read_only: ReadOnlyArgs,
}

impl AskArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let held = SignalGuard::acquire()?;
        let stop = || held.stop_requested();
        let (group, request) = self.read_only.prepare(&self.friend_args, &stop, ctx)?;
        let diff = if self.include_diff { AskDiff::Latest } else { AskDiff::None };
        let request = AskRequest { prompt: self.prompt.clone(), diff, ..request };
        let asked = group.ask_all(&request, ctx)?;
        Ok(report_answers(&request, asked, ctx))
    }
}
