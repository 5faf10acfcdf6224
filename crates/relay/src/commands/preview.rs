//! `relay preview`: what an answer would do, without doing it.

use relaycode_change::plan::tree::OverlayTree;
use relaycode_change::prompt::repair;
use relaycode_change::proposal::Proposal;
use relaycode_door::{AnswerProposal, Door, PlanPreview, Submission};
use relaycode_ledger::TxId;
use relaycode_tui::{DiffLayout, OutputStyle, views};
use serde_json::json;

use crate::answer::{self, AnswerArgs};
use crate::approver::pager::PagedOutput;
use crate::json::ResultObject;
use crate::report::outcome::BatchJson;
use crate::terminal::environment::DiffLayoutArgs;
use crate::terminal::signals::ImmediateExit;
use crate::{AnswerSource, CommandContext, CommandFailure, CommandResult, Exit, LogLevel, Project};

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

impl PreviewArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let exit = ImmediateExit::arm(ctx)?;
        let project = Project::open(ctx)?;
        let mut source = self.answer_args.to_source(&project, ctx);
        let answers = source.read_answers(ctx)?;
        source.share_work(&answers);
        let door = project.into_door(ctx)?;
        // stdout is for the object or the prompt alone, where one was asked for.
        let aside = ctx.is_json() || self.repair;
        let shown = PreviewOptions {
            diff: self.diff || self.layout.side_by_side || !(aside || self.no_diff),
            layout: self.layout.layout(),
            text: self.text,
            repair: self.repair,
        };
        preview_answers(&door, &source, &answers, &shown, exit, ctx)
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

/// Plans the answers, one on top of the other, and shows what comes out. While `signals` lives, a signal ends relay.
pub(crate) fn preview_answers(
    door: &Door,
    source: &AnswerSource,
    answers: &[AnswerProposal],
    shown: &PreviewOptions,
    signals: ImmediateExit,
    ctx: &mut CommandContext<'_>,
) -> CommandResult {
    // stdout is for the object or the prompt alone, where one was asked for.
    let aside = ctx.is_json() || shown.repair;
    let mut objects = Vec::new();
    let mut exit = Exit::Done;
    let mut refusal = None;
    let mut output = PagedOutput::new(ctx);
    let tree = door.tree(&source.limits);
    let mut tree = OverlayTree::new(&tree);
    ctx.console.hide_key(door.key());
    for (at, answer) in answers.iter().enumerate() {
        let answer = &door.without_key(answer);
        if at > 0 && !shown.repair && !ctx.is_quiet() {
            output.push(|_| "\n".to_string(), ctx);
        }
        if let Some(failure) = already_applied(door, &source.submission(answer)) {
            exit = failure.exit;
            let object = json!({"project": door.root.to_string_lossy(), "error": failure});
            objects.push(ResultObject::new("preview", exit, object));
            if !(ctx.is_quiet() && aside) {
                ctx.console.report_failure(&failure, "preview", false);
            }
            continue;
        }
        match door.preview(&source.submission(answer), &tree) {
            Ok(preview) => {
                let text = |look: &OutputStyle| shown.plan_text(source, &answer.proposal, &preview, look);
                match (ctx.is_quiet(), aside) {
                    (true, _) => {}
                    (false, true) => ctx.eprint_at(LogLevel::Info, &text(&ctx.console.err_style())),
                    (false, false) => output.push(text, ctx),
                }
                // Nobody reads it otherwise, and it holds the whole answer and every diff.
                let json = ctx.is_json().then(|| plan_json(door, &answer.proposal, &preview, shown));
                objects.push(json.unwrap_or_default());
                tree.apply_plan(&preview.plan);
            }
            Err(refused) => {
                exit = Exit::Refused;
                objects.push(source.refusal_json(&answer.proposal, &refused, &door.root, ctx));
                refusal = Some((answer.proposal.clone(), refused));
                break;
            }
        }
    }
    // What the user types into their pager is not for relay.
    drop(signals);
    output.finish(ctx)?;
    if let Some((proposal, refused)) = refusal {
        if !(ctx.is_quiet() && aside) {
            let text = source.refusal_text(&proposal, &refused, shown.repair, &ctx.console.err_style());
            ctx.eprint_at(LogLevel::Error, &text);
        }
        if shown.repair && !ctx.is_json() {
            let prompt = repair::repair_prompt(&refused);
            ctx.console.print(&ctx.console.out_style().block(&prompt));
        }
    }
    ctx.print_json(&BatchJson { command: "preview", exit, answers: answers.len(), objects });
    Ok(exit)
}

/// Why `relay apply` would not take the answer up: it did before.
fn already_applied(door: &Door, submission: &Submission<'_>) -> Option<CommandFailure> {
    let id: TxId = submission.proposal.control.uuid.as_ref()?.parse().ok()?;
    let record = door.ledger.record(id).ok()?;
    let is_same = record.answer == Some(submission.answer);
    is_same.then(|| answer::already_processed(&door.ledger, id, false))
}

impl PreviewOptions {
    /// The plan as people see it.
    fn plan_text(
        &self,
        source: &AnswerSource,
        proposal: &Proposal,
        preview: &PlanPreview,
        look: &OutputStyle,
    ) -> String {
        let mut text = source.card(proposal, &preview.plan, "", look);
        text += &views::rules::would_ask_line(&preview.rules, look);
        if self.diff {
            text += &views::diff::text_with_layout(&preview.plan, self.layout, look);
        }
        text
    }
}

/// What `--json` prints for a plan.
fn plan_json(
    door: &Door,
    proposal: &Proposal,
    preview: &PlanPreview,
    shown: &PreviewOptions,
) -> ResultObject {
    let object = json!({
        "project": door.root.to_string_lossy(), "digest": preview.digest.to_string(),
        "rules": preview.rules, "unread": proposal.unread,
    });
    let mut object = ResultObject::new("preview", Exit::Done, object);
    object.insert_large("proposal", &answer::proposal_json(proposal));
    object.insert_large("plan", &answer::PlanJson { plan: &preview.plan, with_text: shown.text });
    object
}
