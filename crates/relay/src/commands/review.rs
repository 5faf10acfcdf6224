//! `relay review`: a friend reviews what this branch adds, or what is not committed yet.

use std::path::PathBuf;

use relaycode_friend::ask::review::PROMPT;
use relaycode_friend::{AnswerFormat, AskDiff, AskRequest, ReviewScope};

use crate::friends::args::{FriendArgs, ReadOnlyArgs};
use crate::friends::ask_report::report_answers;
use crate::{CommandContext, CommandFailure, CommandResult, SignalGuard};

/// Have another agent review your changes
///
/// What was committed since the base is reviewed; if that is nothing, what is not committed yet. The base is
/// `origin/HEAD`, or else `main`, `master`, or the commit before the last; which one is said. The friend looks and
/// changes nothing, as with `relay ask`. With --of another branch or a range of commits is reviewed, and what is checked
/// out stays as it is.
///
/// With --verdict it has to come to one: findings with a severity and a place, read from checked JSON only. Findings
/// that block end with code 20. No answer, or one that cannot be read, is never a pass.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ReviewArgs {
    /// Only these files and directories
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    friend_args: FriendArgs,

    /// Review this branch, commit or range (a..b), which need not be checked out
    #[arg(long, value_name = "REF", allow_hyphen_values = true, conflicts_with = "uncommitted")]
    of: Option<String>,

    /// What to compare with: a branch or a commit
    #[arg(long, value_name = "REF", allow_hyphen_values = true)]
    base: Option<String>,

    /// What to look for, instead of the usual request
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    prompt: Option<String>,

    /// Review what is not committed yet, too
    #[arg(long)]
    uncommitted: bool,

    /// Come to a verdict, with findings
    #[arg(long, conflicts_with = "schema")]
    verdict: bool,

    #[command(flatten)]
    read_only: ReadOnlyArgs,
}

impl ReviewArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let held = SignalGuard::acquire()?;
        let stop = || held.stop_requested();
        let (group, request) = self.read_only.prepare(&self.friend_args, &stop, ctx)?;
        if self.base.is_some() && self.of.as_deref().is_some_and(|of| of.contains("..")) {
            let said = "a range says what to compare with, and so does --base";
            return Err(CommandFailure::usage(said).hint("leave one of them out"));
        }
        let (of, base, paths) = (self.of.clone(), self.base.clone(), self.absolute_paths(ctx)?);
        let scope = ReviewScope { of, base, paths, uncommitted: self.uncommitted };
        let request = AskRequest {
            prompt: self.prompt.clone().unwrap_or_else(|| PROMPT.to_string()),
            diff: AskDiff::Review(scope),
            format: if self.verdict { AnswerFormat::Verdict } else { request.format },
            ..request
        };
        let asked = group.ask_all(&request, ctx)?;
        Ok(report_answers(&request, asked, ctx))
    }
}

impl ReviewArgs {
    /// The paths as seen from where the user stands.
    fn absolute_paths(&self, ctx: &CommandContext<'_>) -> CommandResult<Vec<String>> {
        let directory = ctx.options.directory.canonicalize();
        let directory = directory.map_err(|error| CommandFailure::usage(format!("-C: {error}")))?;
        let one = |path: &PathBuf| {
            let whole = directory.join(path);
            whole.into_os_string().into_string().map_err(|_| {
                CommandFailure::usage(format!("{} is no text, and git is asked in text", path.display()))
            })
        };
        self.paths.iter().map(one).collect()
    }
}
