//! `relay review`: a friend reviews what this branch adds, or what is not committed yet.

use std::path::PathBuf;

use relaycode_friend::review::{Reviewed, Reviewing, review};

use crate::context::{Act, Context};
use crate::failure::{Exit, Failure};
use crate::friends::arguments::{Reading, Whom, With};
use crate::friends::circle::Answered;
use crate::friends::tell::{Told, tell};
use crate::signals::Held;

/// Have another agent review your changes
///
/// What was committed since the base is reviewed; if that is nothing, what is not committed yet. The base is
/// `origin/HEAD`, or else `main`, `master`, or the commit before the last; which one is said. The friend looks and
/// changes nothing, as with `relay ask`.
///
/// With --verdict it has to come to one: findings with a severity and a place, read from checked JSON only. Findings
/// that block end with code 20. No answer, or one that cannot be read, is never a pass.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Only these files and directories
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    whom: Whom,

    #[command(flatten)]
    with: With,

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
    reading: Reading,
}

impl Answered for Reviewed {
    fn asked(&self) -> &relaycode_friend::ask::Asked {
        &self.asked
    }
}

impl Act for Args {
    fn name(&self) -> &'static str {
        "review"
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let held = Held::begin()?;
        let stop = || held.asked();
        let begun = self.reading.begin(&self.whom, &self.with, &stop, context)?;
        let paths = self.named(context)?;
        let round = begun.circle.ask(
            begun.check,
            |part, world, hear| {
                let reviewing = Reviewing {
                    base: self.base.clone(),
                    paths: paths.clone(),
                    prompt: self.prompt.clone(),
                    context: begun.given.clone(),
                    uncommitted: self.uncommitted,
                    verdict: self.verdict,
                    terms: begun.terms(part),
                };
                review(part.friend, &reviewing, world, hear)
            },
            context,
        )?;
        Ok(tell("review", begun.check, round, told, context))
    }
}

fn told(reviewed: &Reviewed) -> Told<'_> {
    Told { asked: &reviewed.asked, verdict: reviewed.verdict.as_ref() }
}

impl Args {
    /// The paths as seen from where the user stands.
    fn named(&self, context: &Context<'_>) -> Result<Vec<String>, Failure> {
        let directory = context.options.directory.canonicalize();
        let directory = directory.map_err(|error| Failure::usage(format!("-C: {error}")))?;
        let one = |path: &PathBuf| {
            let whole = directory.join(path);
            whole.into_os_string().into_string().map_err(|_| {
                Failure::usage(format!("{} is no text, and git is asked in text", path.display()))
            })
        };
        self.paths.iter().map(one).collect()
    }
}
