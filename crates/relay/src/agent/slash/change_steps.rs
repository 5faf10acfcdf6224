//! `/undo` and `/redo`: as `relay undo` and `relay redo`, once nothing runs in the background.

use relaycode_ledger::{RevertOptions, RevertStep};
use relaycode_tools::JobStatus;
use relaycode_tui::PromptAnswer;

use super::{SlashCall, SlashCommand};
use crate::agent::conversation::{Conversation, ConversationStep, show_ended_jobs};
use crate::commands::revert::{RevertRequest, next_step};
use crate::{CommandContext, CommandFailure, CommandResult, Exit, questions};

pub(super) struct UndoCommand;
pub(super) struct RedoCommand;

impl SlashCommand for UndoCommand {
    fn name(&self) -> &'static str {
        "undo"
    }

    fn help(&self) -> &'static str {
        "take back the newest change, as `relay undo` does"
    }

    fn run(
        &self,
        _call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        step(RevertStep::Undo, conversation, ctx)
    }
}

impl SlashCommand for RedoCommand {
    fn name(&self) -> &'static str {
        "redo"
    }

    fn help(&self) -> &'static str {
        "bring back what the last undo took out"
    }

    fn run(
        &self,
        _call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        step(RevertStep::Redo, conversation, ctx)
    }
}

/// A command that goes on is recorded by comparing the project before and after it: what is taken back meanwhile would be
/// taken for its work, and the next undo would bring it back. So it has to end first.
fn step(
    step: RevertStep,
    conversation: &Conversation<'_>,
    ctx: &mut CommandContext<'_>,
) -> CommandResult<ConversationStep> {
    end_jobs(step, conversation, ctx)?;
    let door = &conversation.open.agent.workspace().door;
    let request = RevertRequest {
        root: &door.root,
        ledger: &door.ledger,
        target: next_step(&door.ledger, step)?,
        options: RevertOptions::default(),
        yes: false,
        allow_foreign: false,
        dry_run: false,
        may_ask: true,
        has_keys: false,
    };
    request.run(ctx)?;
    Ok(ConversationStep::GoOn)
}

fn end_jobs(
    step: RevertStep,
    conversation: &Conversation<'_>,
    ctx: &mut CommandContext<'_>,
) -> CommandResult<()> {
    let jobs = &conversation.open.agent.workspace().jobs;
    let running = jobs.list().into_iter().filter(|job| job.status == JobStatus::Running);
    let names: Vec<String> = running.map(|job| format!("{} ({})", job.id, job.label)).collect();
    if names.is_empty() {
        return Ok(());
    }
    let word = match step {
        RevertStep::Undo => "undo",
        RevertStep::Redo | RevertStep::Revert => "redo",
    };
    let look = ctx.console.out_style();
    let (runs, them) = if names.len() == 1 { ("still runs", "it") } else { ("still run", "them") };
    let question = format!("{} {runs}. End {them} and {word}? [y/N] ", names.join(", "));
    ctx.console.flush();
    let stopped = || conversation.held.stop_requested();
    let answer =
        questions::open_terminal().map(|terminal| terminal.prompt(&look.safe(&question), &look, &stopped));
    let is_yes = |line: &String| questions::is_yes(line);
    if !matches!(&answer, Some(PromptAnswer::Line(line)) if is_yes(line)) {
        let said =
            format!("not {}: {} {runs}", if word == "undo" { "undone" } else { "redone" }, names.join(", "));
        return Err(CommandFailure::new(Exit::Declined, "declined", said)
            .hint(format!("`/{word}` works without a question once nothing runs in the background"))
            .unchanged());
    }
    jobs.end_all();
    show_ended_jobs(jobs, ctx);
    Ok(())
}
