//! `relay completions`: a script that lets a shell complete relay's commands and options. It comes from
//! the same data as the command line itself, without what is hidden.

use clap::Command;
use clap_complete::Shell;
use serde_json::json;

use crate::{CommandContext, CommandResult, Exit};

/// Print a shell completion script
///
/// bash: `relay completions bash > ~/.local/share/bash-completion/completions/relay`. zsh: save it as
/// `_relay` in a directory of `$fpath`. fish: save it as `~/.config/fish/completions/relay.fish`.
/// elvish and powershell: add it to `rc.elv` or `$PROFILE`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl CompletionsArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let script = completion_script(self.shell);
        let found = json!({"shell": self.shell.to_string(), "script": &script});
        Ok(ctx.print_either(Exit::Done, found, |_| script))
    }
}

fn completion_script(shell: Shell) -> String {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut without_hidden(&super::cli_definition()), "relay", &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The command line without hidden options and commands, which a shell would offer otherwise.
fn without_hidden(command: &Command) -> Command {
    Command::new("relay")
        .version(env!("CARGO_PKG_VERSION"))
        .args(command.get_arguments().filter(|arg| !arg.is_hide_set()).cloned())
        .subcommands(command.get_subcommands().filter(|command| !command.is_hide_set()).cloned())
}
