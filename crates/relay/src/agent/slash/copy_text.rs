//! `/copy` and `/dump`: the last answer, or the whole conversation, onto the clipboard.

use std::fmt::Write;

use relaycode_llm::Message;
use relaycode_llm::message::UserContent;

use super::{SlashCall, SlashCommand};
use crate::agent::conversation::{Conversation, ConversationStep};
use crate::{CommandContext, CommandFailure, CommandResult, copy_out};

/// Bytes that are copied at most.
const MAX_BYTES: usize = 4 << 20;

pub(super) struct CopyCommand;
pub(super) struct DumpCommand;

impl SlashCommand for CopyCommand {
    fn name(&self) -> &'static str {
        "copy"
    }

    fn help(&self) -> &'static str {
        "copy the last answer to the clipboard"
    }

    fn run(
        &self,
        _call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        let answer = messages(conversation)?.into_iter().rev().find_map(|message| match message {
            Message::Assistant(answer) => Some(answer.text()).filter(|text| !text.trim().is_empty()),
            _ => None,
        });
        let answer = answer.ok_or_else(|| CommandFailure::usage("there is no answer to copy yet"))?;
        copy("the answer", &conversation.open.unmask(&answer), ctx)
    }
}

impl SlashCommand for DumpCommand {
    fn name(&self) -> &'static str {
        "dump"
    }

    fn help(&self) -> &'static str {
        "copy the whole conversation to the clipboard, with what tools were asked and said"
    }

    fn run(
        &self,
        _call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        let mut text = String::new();
        for message in messages(conversation)? {
            write_message(&mut text, &message);
            if text.len() > MAX_BYTES {
                return Err(CommandFailure::usage(format!(
                    "the conversation has more than {} MB",
                    MAX_BYTES >> 20
                ))
                .hint("`/export` writes it to a file"));
            }
        }
        if text.is_empty() {
            return Err(CommandFailure::usage("nothing was said yet"));
        }
        copy("the conversation", &conversation.open.unmask(&text), ctx)
    }
}

fn messages(conversation: &Conversation<'_>) -> CommandResult<Vec<Message>> {
    let context = conversation.open.agent.with_session(|session| session.context());
    Ok(context.map_err(CommandFailure::unexpected)?.to_model_messages())
}

fn write_message(text: &mut String, message: &Message) {
    let heading = match message {
        Message::User(_) => "## You",
        Message::Developer(_) => "## relay",
        Message::Assistant(_) => "## The agent",
        Message::ToolResult(_) => "## Result",
    };
    let _ = writeln!(text, "{heading}\n");
    if let Message::Assistant(answer) = message {
        let _ = writeln!(text, "{}\n", answer.text());
        for call in answer.tool_calls() {
            let arguments = serde_json::Value::Object(call.arguments.clone());
            let _ = writeln!(text, "call {}: {arguments}\n", call.name);
        }
        return;
    }
    for piece in message.pieces() {
        let _ = match piece {
            UserContent::Text(piece) => writeln!(text, "{}\n", piece.text),
            UserContent::Image(image) => writeln!(text, "(image, {})\n", image.mime_type),
        };
    }
}

fn copy(what: &str, text: &str, ctx: &mut CommandContext<'_>) -> CommandResult<ConversationStep> {
    let target = copy_out::copy_text(text)?;
    ctx.print_success(&format!("{what} {}", target.clause()));
    Ok(ConversationStep::GoOn)
}
