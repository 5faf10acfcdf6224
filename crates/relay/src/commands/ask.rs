//! `relay ask`: a question to a friend, who looks and changes nothing.

use std::path::PathBuf;

use relaycode_friend::ask::{Asked, Asking, ask};
use relaycode_project::access::Access;

use crate::context::{Act, Context};
use crate::failure::{Exit, Failure};
use crate::friends::arguments::{Whom, With, access, schema};
use crate::friends::circle::Circle;
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

    /// A JSON schema that the answer has to follow
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,

    /// What the friend may do: asking is always read-only
    #[arg(long, value_name = "ACCESS", value_parser = access, default_value = "read-only", visible_alias = "sandbox")]
    access: Access,

    /// Do not compare the project with how it was before
    #[arg(long)]
    no_tree_check: bool,
}

impl Act for Args {
    fn name(&self) -> &'static str {
        "ask"
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        only_reads(self.access)?;
        let held = Held::begin()?;
        let stop = || held.asked();
        let circle = Circle::gather(&self.whom, context, &stop)?;
        let given = self.with.read(circle.total, &stop, context)?;
        let schema = schema(self.schema.as_deref())?;
        let words =
            given.as_ref().map_or_else(|| self.prompt.clone(), |given| format!("{}\n\n{given}", self.prompt));
        let round = circle.ask(
            !self.no_tree_check,
            &words,
            |part, world, hear| {
                let asking = Asking {
                    prompt: self.prompt.clone(),
                    context: given.clone(),
                    include_diff: self.include_diff,
                    root: circle.root.clone(),
                    access: self.access,
                    model: part.model.clone(),
                    schema: schema.clone(),
                    memory: part.memory.clone(),
                    total: circle.total,
                    idle: circle.idle,
                    check_tree: part.check_tree,
                };
                ask(part.friend, &asking, world, hear)
            },
            context,
        )?;
        Ok(tell("ask", round, |asked: &Asked| Told { asked, verdict: None }, context))
    }
}

/// Whoever is asked or reviews changes nothing.
pub(super) fn only_reads(access: Access) -> Result<(), Failure> {
    if access.may_write() {
        return Err(Failure::usage(format!("with the access `{access}` a friend may change files"))
            .hint("`relay do` lets it work in a copy, and shows you what it changed"));
    }
    Ok(())
}
