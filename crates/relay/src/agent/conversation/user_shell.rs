//! `!command`: the user's own command, run as the agent's are: in the fence, recorded, undoable. The model hears of it with the
//! next prompt; of `!!command` it does not.

use relaycode_agent::{Agent, UserPrompt};
use relaycode_llm::message::ToolCall;
use serde_json::{Map, Value};

use super::Conversation;
use crate::{CommandContext, CommandFailure, CommandResult};

/// The kind of what the model is told.
const USER_COMMAND_NOTE: &str = "user-bash";

/// A command that was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ShellLine<'a> {
    command: &'a str,
    is_told: bool,
}

impl<'a> ShellLine<'a> {
    pub(super) fn parse(line: &'a str) -> Option<ShellLine<'a>> {
        let rest = line.strip_prefix('!')?;
        let (command, is_told) = rest.strip_prefix('!').map_or((rest, true), |rest| (rest, false));
        Some(ShellLine { command: command.trim(), is_told })
    }
}

impl Conversation<'_> {
    pub(super) fn run_shell_line(
        &mut self,
        line: ShellLine<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<()> {
        if line.command.is_empty() {
            return Err(CommandFailure::usage("which command?").hint("`!ls` runs `ls`"));
        }
        let bash = self.open.tools.iter().find(|tool| tool.name() == "bash").cloned();
        let bash = bash.ok_or_else(|| {
            CommandFailure::usage("commands cannot be run here").hint("the agent has no tool `bash`")
        })?;
        self.shell_lines += 1;
        let call = ToolCall {
            id: format!("user-{}", self.shell_lines),
            name: "bash".to_string(),
            arguments: Map::from_iter([("command".to_string(), Value::from(line.command))]),
            thought_signature: None,
        };
        self.open.begin_prompt(&UserPrompt::text(format!("!{}", line.command)))?;
        let run = |agent: &mut Agent| {
            let outcome = agent.run_tool(&*bash, &call);
            if line.is_told && !outcome.is_cancelled {
                let said = format!("(relay: the user ran `{}`)\n{}", line.command, outcome.text);
                agent.tell(USER_COMMAND_NOTE, &said)?;
            }
            Ok(outcome)
        };
        let outcome = self.follow(ctx, run)?;
        let outcome =
            outcome.map_err(|error: relaycode_session::SessionError| CommandFailure::unexpected(error))?;
        self.surface.show_output(&self.open.unmask(&outcome.text), ctx);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::ShellLine;

    #[test]
    fn one_mark_tells_the_model_and_two_do_not() {
        assert_eq!(ShellLine::parse("!ls -l "), Some(ShellLine { command: "ls -l", is_told: true }));
        assert_eq!(ShellLine::parse("!!ls"), Some(ShellLine { command: "ls", is_told: false }));
        assert_eq!(ShellLine::parse("ls!"), None);
    }
}
