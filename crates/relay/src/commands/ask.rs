//! `relay ask`: a question to a friend, who looks and changes nothing.

use relaycode_friend::ask::{Asked, Asking, ask};

use crate::context::{Act, Context};
use crate::failure::{Exit, Failure};
use crate::friends::arguments::{Reading, Whom, With};
use crate::friends::tell::{Told, tell};
use crate::signals::Held;

/// Ask another agent, who looks and changes nothing
///
/// The friend works in this project with read-only access, by a tested recipe: what it wants to write or run beyond
/// that is refused. Afterwards the project is compared with how it was, and what changed is named. What comes on stdin
/// goes with the question. With several friends all are asked at once, and their answers stand side by side.
///
/// A prompt that begins with a hyphen stands behind `--`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// The question
    #[arg(value_name = "PROMPT")]
    prompt: String,

    #[command(flatten)]
    whom: Whom,

    #[command(flatten)]
    with: With,

    /// Send what is not committed along, or else the last commit
    #[arg(long)]
    include_diff: bool,

    #[command(flatten)]
    reading: Reading,
}

impl Act for Args {
    fn name(&self) -> &'static str {
        "ask"
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let held = Held::begin()?;
        let stop = || held.asked();
        let begun = self.reading.begin(&self.whom, &self.with, &stop, context)?;
        let round = begun.circle.ask(
            begun.check,
            |part, world, hear| {
                let asking = Asking {
                    prompt: self.prompt.clone(),
                    context: begun.given.clone(),
                    include_diff: self.include_diff,
                    terms: begun.terms(part),
                };
                ask(part.friend, &asking, world, hear)
            },
            context,
        )?;
        Ok(tell("ask", begun.check, round, |asked: &Asked| Told { asked, verdict: None }, context))
    }
}
