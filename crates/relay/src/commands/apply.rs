//! `relay apply`: an answer becomes a change of the project, whole or not at all.

use relaycode_door::{AnswerProposal, Door};
use relaycode_tui::pluralize;

use super::preview;
use crate::answer::AnswerArgs;
use crate::answer::consent_args::ConsentArgs;
use crate::report::outcome::BatchJson;
use crate::terminal::signals::ImmediateExit;
use crate::{
    AnswerSource, CommandContext, CommandFailure, CommandResult, Exit, LogLevel, Project, SignalGuard,
    Submitter,
};

/// Apply an answer, whole or not at all
///
/// Takes the answer from a file, from a pipe (`-`) or, if none is named, from the clipboard. Plans it as `relay preview`
/// does, shows the plan, asks where it must, and puts it on disk: every file or none, whatever happens meanwhile. The
/// project's commands judge the result, if you trust them; what they do not accept is put back. What was applied is
/// recorded in `.relaycode` and can be undone with `relay revert`. An answer that does not fit is refused as a whole
/// (exit code 3).
///
/// Several answers in one text are several changes, in their order, up to the first that is not applied; those that
/// were applied before are passed over.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    answer_args: AnswerArgs,

    #[command(flatten)]
    consent_args: ConsentArgs,

    /// Only show what would be done
    #[arg(long, conflicts_with_all = ["yes", "allow"])]
    dry_run: bool,
}

impl ApplyArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let exit = ImmediateExit::arm(ctx)?;
        let project = Project::open(ctx)?;
        if ctx.home.gate.as_ref() == Some(&project.root) {
            let said = "a command that judges a change cannot apply one";
            return Err(CommandFailure::refused("inGate", said)
                .hint("take `relay apply` out of linter, preCommand and postCommand"));
        }
        let mut source = AnswerSource {
            consent: self.consent_args.to_consent(),
            diff: self.consent_args.diff,
            ..self.answer_args.to_source(&project, ctx)
        };
        let answers = source.read_answers(ctx)?;
        source.share_work(&answers);
        SignalGuard::hold_until_exit()?;
        drop(exit);
        project.recover(ctx)?;
        let door = project.into_door(ctx)?;
        if self.dry_run {
            let exit = ImmediateExit::arm(ctx)?;
            let shown = preview::PreviewOptions { diff: self.consent_args.diff, ..Default::default() };
            return preview::preview_answers(&door, &source, &answers, &shown, exit, ctx);
        }
        apply_all(&door, &source, &answers, ctx)
    }
}

/// One after the other, up to the first that is not applied. Those that are in already are passed over, so
/// that a text of which only a part was applied can be given again.
fn apply_all(
    door: &Door,
    source: &AnswerSource,
    answers: &[AnswerProposal],
    ctx: &mut CommandContext<'_>,
) -> CommandResult {
    let submitter = Submitter { door, source, is_batch: answers.len() > 1 };
    let mut objects = Vec::new();
    let mut exit = Exit::Done;
    let mut applied = 0;
    for (at, answer) in answers.iter().enumerate() {
        if at > 0 {
            ctx.print_info("\n");
        }
        let plan = if at == 0 { Some(submitter.plan_first(answer, ctx)?) } else { None };
        let ending = submitter.submit(answer, plan, None, ctx)?.result;
        exit = ending.exit;
        objects.push(ending.json);
        if ending.already_applied {
            // If anything else of the text came in, all of it is in now.
            exit = if applied > 0 { Exit::Done } else { exit };
            continue;
        }
        applied += 1;
        if exit != Exit::Done {
            let rest = answers.len() - at - 1;
            if rest > 0 {
                let (answers, were) = (pluralize(rest, "answer"), if rest == 1 { "was" } else { "were" });
                let said = format!("{answers} after it in the same text {were} not looked at");
                ctx.eprint_remark(LogLevel::Warn, &said);
            }
            break;
        }
    }
    ctx.print_json(&BatchJson { command: ctx.command, exit, answers: answers.len(), objects });
    Ok(exit)
}
