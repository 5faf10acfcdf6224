//! `/todo` and `/jobs`: what the agent still has to do, and what runs in the background.

use std::time::Duration;

use relaycode_tools::{JobCancel, JobStatus, TodoStatus};
use relaycode_tui::PaintRole;

use super::{SlashCall, SlashCommand};
use crate::agent::conversation::{Conversation, ConversationStep};
use crate::{CommandContext, CommandFailure, CommandResult};

pub(super) struct TodoCommand;
pub(super) struct JobsCommand;

impl SlashCommand for TodoCommand {
    fn name(&self) -> &'static str {
        "todo"
    }

    fn help(&self) -> &'static str {
        "the agent's list of tasks"
    }

    fn run(
        &self,
        _call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        let look = ctx.console.out_style();
        let phases = conversation.open.agent.workspace().todo_phases();
        let mut text = String::new();
        for phase in &phases {
            let name = look.paint(PaintRole::Strong, &look.safe(&conversation.open.unmask(&phase.name)));
            text.push_str(&format!("  {name}\n"));
            for task in &phase.tasks {
                let content = conversation.open.unmask(&task.content);
                let line = format!("    {} {}", todo_mark(task.status, look.utf8), look.safe(&content));
                text.push_str(&look.wrap(&line, 8));
                text.push('\n');
            }
        }
        if text.is_empty() {
            text.push_str("  the agent has no list of tasks\n");
        }
        ctx.print_info(&text);
        Ok(ConversationStep::GoOn)
    }
}

fn todo_mark(status: TodoStatus, utf8: bool) -> &'static str {
    match (status, utf8) {
        (TodoStatus::Pending, _) => "[ ]",
        (TodoStatus::InProgress, true) => "[›]",
        (TodoStatus::InProgress, false) => "[>]",
        (TodoStatus::Completed, _) => "[x]",
        (TodoStatus::Abandoned, _) => "[-]",
    }
}

impl SlashCommand for JobsCommand {
    fn name(&self) -> &'static str {
        "jobs"
    }

    fn arguments(&self) -> &'static str {
        "[end ID|end all]"
    }

    fn help(&self) -> &'static str {
        "commands in the background; `/jobs end ID` ends one"
    }

    fn run(
        &self,
        call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        let jobs = &conversation.open.agent.workspace().jobs;
        match call.rest.split_once(char::is_whitespace).unwrap_or((call.rest, "")) {
            ("", _) => {}
            ("end", "all") => {
                jobs.end_all();
                ctx.print_success("all commands in the background were ended");
                return Ok(ConversationStep::GoOn);
            }
            ("end", id) if !id.trim().is_empty() => {
                return match jobs.cancel(id.trim()) {
                    JobCancel::NotFound => Err(CommandFailure::usage(format!("there is no `{}`", id.trim()))
                        .hint("`/jobs` lists them")),
                    _ => {
                        ctx.print_success(&format!("{} was ended", id.trim()));
                        Ok(ConversationStep::GoOn)
                    }
                };
            }
            _ => return Err(CommandFailure::usage("that is not understood").hint("`/jobs end ID` ends one")),
        }
        let look = ctx.console.out_style();
        let listed = jobs.list();
        let mut text = String::new();
        for job in &listed {
            let seconds = Duration::from_millis(job.duration_ms).as_secs_f64();
            let line = format!("  {}  {}  {seconds:.1} s  {}", job.id, job.status.name(), job.label);
            let line = look.clip(&line, look.columns());
            let line =
                if job.status == JobStatus::Running { line } else { look.paint(PaintRole::Dim, &line) };
            text.push_str(&format!("{line}\n"));
        }
        if listed.is_empty() {
            text.push_str("  nothing runs in the background\n");
        }
        ctx.print_info(&text);
        Ok(ConversationStep::GoOn)
    }
}
