//! `/compact`, `/context` and `/handoff`: how full the conversation is, summing it up and taking that back, going on in a fresh
//! session.
//!
//! ```text
//! › /context
//!   96.2k of 200.0k tokens (48 %); room is made from 170.0k on
//!     system prompt       3.1k
//!     tools               5.2k
//!     your messages       1.2k   4
//!     answers            21.0k  31
//!     tool outputs       65.7k  30
//! ```

use relaycode_agent::{CompactionAction, ContextReport, HandoffError};

use super::{SlashCall, SlashCommand};
use crate::agent::conversation::{Conversation, ConversationStep};
use crate::agent::event_printer::short_count;
use crate::agent::session_file::create_child_session;
use crate::{CommandContext, CommandFailure, CommandResult, Exit};

pub(super) struct CompactCommand;
pub(super) struct ContextCommand;
pub(super) struct HandoffCommand;

impl SlashCommand for CompactCommand {
    fn name(&self) -> &'static str {
        "compact"
    }

    fn arguments(&self) -> &'static str {
        "[WORDS|undo]"
    }

    fn help(&self) -> &'static str {
        "sum up what was said so far, with a look at WORDS; `/compact undo` takes that back"
    }

    fn run(
        &self,
        call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        if call.rest == "undo" {
            let agent = &mut conversation.open.agent;
            let undone = agent.undo_compaction().map_err(CommandFailure::unexpected)?;
            if undone.is_none() {
                return Err(CommandFailure::usage("there is no summary to take back"));
            }
            let tokens = short_count(agent.context_tokens());
            ctx.print_success(&format!("the conversation is as it was before: {tokens} tokens"));
            return Ok(ConversationStep::GoOn);
        }
        let outcome = conversation.follow(ctx, |agent| agent.compact(Some(call.rest)))?;
        let outcome = outcome.map_err(CommandFailure::unexpected)?;
        match outcome.action {
            CompactionAction::Aborted => return Err(stopped()),
            CompactionAction::Summarized | CompactionAction::SummarizedByRule => {
                ctx.print_info("  `/compact undo` takes it back\n");
            }
            CompactionAction::Pruned
            | CompactionAction::Promoted
            | CompactionAction::Nothing
            | CompactionAction::Cancelled => {}
        }
        Ok(ConversationStep::GoOn)
    }
}

impl SlashCommand for ContextCommand {
    fn name(&self) -> &'static str {
        "context"
    }

    fn help(&self) -> &'static str {
        "how full the model's window is, and of what"
    }

    fn run(
        &self,
        _call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        let ContextReport { tokens, window, threshold, parts } = conversation.open.agent.context_report();
        let mut text = format!("  {} tokens", short_count(tokens));
        if let Some(percent) = tokens.saturating_mul(100).checked_div(window) {
            text = format!("  {} of {} tokens ({percent} %)", short_count(tokens), short_count(window));
        }
        match threshold {
            Some(threshold) => {
                text.push_str(&format!("; room is made from {} on\n", short_count(threshold)));
            }
            None => text.push_str("; room is not made by itself\n"),
        }
        for part in parts {
            let count = if part.messages == 0 { String::new() } else { format!("{:>5}", part.messages) };
            text.push_str(&format!("    {:<16}{:>8}{count}\n", part.name, short_count(part.tokens)));
        }
        ctx.print_info(&text);
        Ok(ConversationStep::GoOn)
    }
}

impl SlashCommand for HandoffCommand {
    fn name(&self) -> &'static str {
        "handoff"
    }

    fn arguments(&self) -> &'static str {
        "[WORDS]"
    }

    fn help(&self) -> &'static str {
        "go on in a fresh session that knows what it has to"
    }

    fn run(
        &self,
        call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        let focus = Some(call.rest).filter(|words| !words.is_empty());
        let written = conversation.follow(ctx, |agent| agent.write_handoff(focus))?;
        let document = written.map_err(|error| match error {
            HandoffError::TooShort | HandoffError::Planning => CommandFailure::usage(error),
            HandoffError::Aborted => stopped(),
            HandoffError::Empty | HandoffError::Failed(_) => {
                CommandFailure::new(Exit::NoAnswer, "handoff", error)
                    .hint("this conversation goes on as it is")
            }
        })?;
        let mut session = create_child_session(&document.parent, ctx)?;
        document.begin(&mut session).map_err(CommandFailure::unexpected)?;
        let (id, parent) = (session.id().to_string(), document.parent.clone());
        conversation.switch_to(session, true, ctx)?;
        let look = ctx.console.out_style();
        let text = look.block(&conversation.open.unmask(&document.text)).into_owned();
        ctx.print_info(&format!("{text}\n"));
        ctx.print_success(&format!("a fresh session goes on: {id}, after {parent}"));
        Ok(ConversationStep::GoOn)
    }
}

/// The user stopped what the agent did.
pub(super) fn stopped() -> CommandFailure {
    CommandFailure::new(Exit::Interrupted, "interrupted", "stopped; the conversation stays as it is")
}
