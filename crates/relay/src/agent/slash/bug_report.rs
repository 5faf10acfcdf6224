//! `/bug`: a file for whoever looks for a fault: versions, checks, and what happened last, without anybody's words and without
//! secrets. Nothing is sent.

use std::fmt::Write;

use jiff::Timestamp;
use relaycode_durable::private_files::PrivateFolder;
use relaycode_text::redact::redact;
use relaycode_tui::OutputStyle;

use super::{SlashCall, SlashCommand};
use crate::agent::conversation::{Conversation, ConversationStep};
use crate::report::render::doctor::finding_line;
use crate::{CommandContext, CommandFailure, CommandResult, Project, doctor};

/// Entries of the session that it tells of.
const LAST_ENTRIES: usize = 100;
/// Bytes of the file.
const MAX_BYTES: u64 = 1 << 20;

pub(super) struct BugCommand;

impl SlashCommand for BugCommand {
    fn name(&self) -> &'static str {
        "bug"
    }

    fn arguments(&self) -> &'static str {
        "[WORDS]"
    }

    fn help(&self) -> &'static str {
        "write a file for a bug report, without secrets and without what was said; nothing is sent"
    }

    fn run(
        &self,
        call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        let text = redact(&report_text(call.rest, conversation, ctx)?).into_owned();
        let files = PrivateFolder::new(ctx.home.path.as_deref(), "bugs", MAX_BYTES).into_secret();
        let name = format!("{}.md", Timestamp::now().strftime("%Y%m%d-%H%M%S"));
        let written = files.write(&name, text.as_bytes()).and_then(|()| files.path_of(&name));
        let path = written.map_err(CommandFailure::unexpected)?;
        ctx.print_success(&format!(
            "{} has what is needed: read it before you give it to anybody",
            path.display()
        ));
        Ok(ConversationStep::GoOn)
    }
}

fn report_text(
    words: &str,
    conversation: &Conversation<'_>,
    ctx: &mut CommandContext<'_>,
) -> CommandResult<String> {
    let open = &conversation.open;
    let plain = OutputStyle { color: false, utf8: true, width: None };
    let mut text = format!("# A fault in relay {}\n\n{}\n\n", env!("CARGO_PKG_VERSION"), words.trim());
    let _ = writeln!(text, "model: {}", open.models.first.model.selector());
    let _ = writeln!(text, "access: {}\n\n## Checks\n", open.agent.workspace().access);
    let (project, why_not) = Project::look(ctx)?;
    for finding in doctor::run_checks(&project, why_not.as_ref(), ctx) {
        text.push_str(&finding_line(&finding, &plain));
    }
    text.push_str("\n## What happened last\n\n");
    open.agent.with_session(|session| {
        let rows = session.rows();
        for row in &rows[rows.len().saturating_sub(LAST_ENTRIES)..] {
            let failed = if row.failed { " failed" } else { "" };
            let _ = writeln!(
                text,
                "- {} {:?} {:?}{failed}, {} bytes",
                row.timestamp, row.kind, row.role, row.len
            );
        }
    });
    Ok(text)
}
