//! `relay preview`: what an answer would do, without doing it.

use relaycode_change::plan::PlanRefusal;
use relaycode_change::plan::tree::OverlayTree;
use relaycode_change::prompt::repair;
use relaycode_change::proposal::Proposal;
use relaycode_door::{AnswerProposal, Door, PlanPreview};
use relaycode_project::config::LogLevel;
use relaycode_tui::views;
use relaycode_tui::views::diff::DiffLayout;
use serde_json::{Value, json};

use crate::answer::{self, AnswerArgs, AnswerSource};
use crate::report::failure::{CommandFailure, Exit};
use crate::report::outcome::batch_json;
use crate::terminal::environment::DiffLayoutArgs;
use crate::wiring::context::{CommandContext, RunCommand};
use crate::wiring::project::Project;

/// Show what an answer would change, without changing anything
///
/// Reads the answer of a model (fenced files, search/replace blocks, diffs, `*** Begin Patch` envelopes),
/// finds the place of every edit in the project, and shows the plan: the files, how each edit
/// matched, what deserves a look, and the diff. Where a place is not certain the answer is refused
/// as a whole (exit code 3), with the reasons.
#[derive(Debug, Clone, clap::Args)]
#[command(alias = "plan")]
pub(crate) struct PreviewArgs {
    #[command(flatten)]
    answer_args: AnswerArgs,

    /// With --json: include each file's resulting text (base64 if it is not UTF-8)
    #[arg(long, requires = "json")]
    text: bool,

    /// If the answer is refused, print a prompt to paste back to the model on stdout (with --json it
    /// is always part of the object)
    #[arg(long)]
    repair: bool,

    #[command(flatten)]
    layout: DiffLayoutArgs,

    /// Leave out the diff
    #[arg(long, overrides_with = "diff")]
    no_diff: bool,

    /// Show the diff (the default, except with --json and --repair)
    #[arg(long, overrides_with = "no_diff")]
    diff: bool,
}

impl RunCommand for PreviewArgs {
    fn name(&self) -> &'static str {
        "preview"
    }

    fn run(&self, context: &mut CommandContext<'_>) -> Result<Exit, CommandFailure> {
        let project = Project::open(context)?;
        let source = self.answer_args.to_source(self.name(), context);
        let answers = source.read_answers(context)?;
        let door = project.into_door(context)?;
        // stdout is for the object or the prompt alone, where one was asked for.
        let aside = context.is_json() || self.repair;
        let shown = PreviewOptions {
            diff: self.diff || self.layout.side_by_side || !(aside || self.no_diff),
            layout: self.layout.layout(),
            text: self.text,
            repair: self.repair,
        };
        Ok(preview_answers(&door, &source, &answers, &shown, context))
    }
}

/// What is shown of a plan.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PreviewOptions {
    pub(crate) diff: bool,
    /// How the diff is laid out.
    pub(crate) layout: DiffLayout,
    /// With `--json`: each file's resulting text.
    pub(crate) text: bool,
    /// Of a refusal: the prompt for the model.
    pub(crate) repair: bool,
}

/// Plans the answers, one on top of the other, and shows what comes out.
pub(crate) fn preview_answers(
    door: &Door,
    source: &AnswerSource,
    answers: &[AnswerProposal],
    shown: &PreviewOptions,
    context: &mut CommandContext<'_>,
) -> Exit {
    let mut objects = Vec::new();
    let mut exit = Exit::Done;
    let tree = door.tree(&source.limits);
    let mut tree = OverlayTree::new(&tree);
    for (at, answer) in answers.iter().enumerate() {
        if at > 0 && !shown.repair {
            context.print_info("\n");
        }
        match door.preview(&source.submission(answer), &tree) {
            Ok(preview) => {
                print_plan(source, &answer.proposal, &preview, shown, context);
                // Nobody reads it otherwise, and it holds the whole answer and every diff.
                objects.push(if context.is_json() {
                    plan_json(door, &answer.proposal, &preview, shown)
                } else {
                    Value::Null
                });
                tree.apply_plan(&preview.plan);
            }
            Err(refused) => {
                exit = Exit::Refused;
                objects.push(source.refusal_json(&answer.proposal, &refused, &door.root));
                print_refusal(source, &answer.proposal, &refused, shown, context);
                break;
            }
        }
    }
    context.print_json(&batch_json("preview", exit, answers.len(), objects));
    exit
}

fn print_plan(
    source: &AnswerSource,
    proposal: &Proposal,
    preview: &PlanPreview,
    shown: &PreviewOptions,
    context: &mut CommandContext<'_>,
) {
    let aside = context.is_json() || shown.repair;
    let look = if aside { context.console.err_style() } else { context.console.out_style() };
    let mut text = source.card_text(proposal, &preview.plan, "", &look);
    text += &views::rules::would_ask_line(&preview.rules, &look);
    if shown.diff {
        text += &views::diff::text_with_layout(&preview.plan, shown.layout, &look);
    }
    if context.is_quiet() {
        return;
    }
    if aside {
        context.eprint_at(LogLevel::Info, &text);
    } else {
        context.console.print(&text);
    }
}

fn print_refusal(
    source: &AnswerSource,
    proposal: &Proposal,
    refused: &PlanRefusal,
    shown: &PreviewOptions,
    context: &mut CommandContext<'_>,
) {
    if !(context.is_quiet() && (context.is_json() || shown.repair)) {
        let text = source.refusal_text(proposal, refused, shown.repair, &context.console.err_style());
        context.eprint_at(LogLevel::Error, &text);
    }
    if shown.repair && !context.is_json() {
        let text = context.console.out_style().block(&repair::repair_prompt(refused)).into_owned();
        context.console.print(&text);
    }
}

/// What `--json` prints for a plan.
fn plan_json(door: &Door, proposal: &Proposal, preview: &PlanPreview, shown: &PreviewOptions) -> Value {
    json!({
        "ok": true,
        "code": Exit::Done as u8,
        "command": "preview",
        "project": door.root.to_string_lossy(),
        "proposal": answer::proposal_json(proposal),
        "plan": answer::plan_json(&preview.plan, shown.text),
        "digest": preview.digest.to_string(),
        "rules": preview.rules,
    })
}
