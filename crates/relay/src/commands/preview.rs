//! `relay preview`: what an answer would do, without doing it.

use std::borrow::Cow;

use relaycode_change::plan::{Plan, Refused};
use relaycode_change::proposal::Proposal;
use relaycode_change::repair;
use serde::Serialize;

use crate::answer::{Answer, Given, PlanJson};
use crate::context::{Act, Context};
use crate::failure::{Exit, Failure};
use crate::project::Project;
use crate::show;

/// Show what an answer would change, without changing anything
///
/// Reads the answer of a model (fenced files, search/replace blocks, diffs, `*** Begin Patch` envelopes),
/// finds the place of every edit in the project, and shows the plan: the files, how each edit
/// matched, what deserves a look, and the diff. Where a place is not certain the answer is refused
/// as a whole (exit code 3), with the reasons.
#[derive(Debug, Clone, clap::Args)]
#[command(alias = "plan")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) given: Given,

    /// With --json: include each file's resulting text (base64 if it is not UTF-8)
    #[arg(long, requires = "json")]
    text: bool,

    /// If the answer is refused, print a prompt to paste back to the model on stdout (with --json it
    /// is always part of the object)
    #[arg(long)]
    repair: bool,

    /// Leave out the diff
    #[arg(long, overrides_with = "diff")]
    no_diff: bool,

    /// Show the diff (the default, except with --json and --repair)
    #[arg(long, overrides_with = "no_diff")]
    diff: bool,
}

impl Act for Args {
    fn name(&self) -> &'static str {
        "preview"
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        run(self, context)
    }
}

/// Plans the answer and shows what comes out.
fn run(args: &Args, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let project = Project::open(context)?;
    let answer = Answer::read(&args.given, project.root.clone(), "preview", context)?;
    let tree = project.tree(&args.given.limit.limits());
    match answer.plan(&tree) {
        Ok(plan) => Ok(planned(args, &answer, &plan, context)),
        Err(refused) => Ok(refuse(args, &answer, &refused, context)),
    }
}

fn planned(args: &Args, answer: &Answer, plan: &Plan, context: &mut Context<'_>) -> Exit {
    context.object(&PlannedJson {
        ok: true,
        code: Exit::Done as u8,
        command: "preview",
        project: answer.root.to_string_lossy(),
        proposal: &answer.proposal,
        plan: Answer::plan_json(plan, args.text),
    });
    if context.quiet() {
        return Exit::Done;
    }
    // stdout is for the object or the prompt alone, where one was asked for.
    let aside = context.json() || args.repair;
    let look = if aside { context.console.err_look() } else { context.console.out_look() };
    let mut text = answer.card(plan, &look);
    if args.diff || !(aside || args.no_diff) {
        text += &show::diff::text(plan, &look);
    }
    if aside {
        context.console.err(&text);
    } else {
        context.console.out(&text);
    }
    Exit::Done
}

fn refuse(args: &Args, answer: &Answer, refused: &Refused, context: &mut Context<'_>) -> Exit {
    let silent = context.quiet() && (context.json() || args.repair);
    answer.refused(refused, args.repair, silent, context);
    if args.repair && !context.json() {
        let text = context.console.out_look().block(&repair::prompt(refused)).into_owned();
        context.console.out(&text);
    }
    Exit::Refused
}

/// What `--json` prints for a plan.
#[derive(Serialize)]
struct PlannedJson<'a> {
    ok: bool,
    code: u8,
    command: &'static str,
    project: Cow<'a, str>,
    proposal: &'a Proposal,
    plan: PlanJson<'a>,
}
