//! The commands, one file each: arguments, help and function. Adding one is a `mod` line, a variant
//! and an arm.

mod apply;
mod ask;
pub(crate) mod blame;
mod completions;
mod config;
mod demo;
mod do_;
mod doctor;
pub(crate) mod friends;
mod git;
mod hold;
mod init;
mod keys;
pub(crate) mod log;
mod man;
pub(crate) mod models;
mod preview;
pub(crate) mod prompt;
mod record;
mod recover;
pub(crate) mod revert;
mod review;
mod sessions;
pub(crate) mod show;
mod trust;
mod watch;
mod why;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use relaycode_text::escape::is_unsafe;

use crate::report::exit_codes;
use crate::terminal::console::Console;
use crate::terminal::environment::{ColorChoice, ConsoleEnv};
use crate::wiring::context::GlobalArgs;
use crate::wiring::home::RelayHome;
use crate::{CommandContext, CommandFailure, Exit, RunCommand};

/// relay stands between AI and code: it reads the answer of a model, plans the change exactly, and
/// never applies one wrongly.
#[derive(Debug, Parser)]
#[command(name = "relay", version, arg_required_else_help = true, after_help = help_footer())]
struct Cli {
    #[command(flatten)]
    options: GlobalArgs,

    #[command(subcommand)]
    command: CliCommand,
}

/// What the help ends with.
fn help_footer() -> String {
    format!("Try `relay demo`. {}", exit_codes::help_sentence())
}

#[derive(Debug, Subcommand)]
enum CliCommand {
    Init(init::InitArgs),
    Prompt(prompt::PromptArgs),
    Preview(preview::PreviewArgs),
    Apply(apply::ApplyArgs),
    Watch(watch::WatchArgs),
    Log(log::LogArgs),
    Show(show::ShowArgs),
    Revert(revert::RevertArgs),
    Recover(recover::RecoverArgs),
    Record(record::RecordArgs),
    Blame(blame::BlameArgs),
    Git(git::GitArgs),
    Sessions(sessions::SessionsArgs),
    Trust(trust::TrustArgs),
    Why(why::WhyArgs),
    Config(config::ConfigArgs),
    Doctor(doctor::DoctorArgs),
    Demo(demo::DemoArgs),
    Ask(ask::AskArgs),
    Review(review::ReviewArgs),
    #[command(name = "do")]
    Do(do_::DoArgs),
    Friends(friends::FriendsArgs),
    Models(models::ModelsArgs),
    Keys(keys::KeysArgs),
    Completions(completions::CompletionsArgs),
    #[command(name = "__hold", hide = true)]
    Hold(hold::HoldArgs),
    #[command(name = "__man", hide = true)]
    Man(man::ManArgs),
}

impl CliCommand {
    fn as_run_command(&self) -> &dyn RunCommand {
        match self {
            CliCommand::Init(args) => args,
            CliCommand::Prompt(args) => args,
            CliCommand::Preview(args) => args,
            CliCommand::Apply(args) => args,
            CliCommand::Watch(args) => args,
            CliCommand::Log(args) => args,
            CliCommand::Show(args) => args,
            CliCommand::Revert(args) => args,
            CliCommand::Recover(args) => args,
            CliCommand::Record(args) => args,
            CliCommand::Blame(args) => args,
            CliCommand::Git(args) => args,
            CliCommand::Sessions(args) => args,
            CliCommand::Trust(args) => args,
            CliCommand::Why(args) => args,
            CliCommand::Config(args) => args,
            CliCommand::Doctor(args) => args,
            CliCommand::Demo(args) => args,
            CliCommand::Ask(args) => args,
            CliCommand::Review(args) => args,
            CliCommand::Do(args) => args,
            CliCommand::Friends(args) => args,
            CliCommand::Models(args) => args,
            CliCommand::Keys(args) => args,
            CliCommand::Completions(args) => args,
            CliCommand::Hold(args) => args,
            CliCommand::Man(args) => args,
        }
    }
}

/// The command line as data, for what describes it.
fn cli_definition() -> clap::Command {
    Cli::command()
}

/// Runs what the command line asks for.
pub(crate) fn main() -> ExitCode {
    let environment = ConsoleEnv::from_env();
    let args = translate_legacy_args(std::env::args_os().collect());
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return print_usage_error(&error, &args, &environment).into(),
    };
    let act = cli.command.as_run_command();
    let mut console = Console::stdio(&environment, cli.options.color);
    let home = RelayHome::from_env();
    let result = act.run(&mut CommandContext { options: &cli.options, console: &mut console, home: &home });
    let level = console.level();
    let written = console.finish();
    let (failure, exit) = match (result, written) {
        (Ok(exit), Ok(())) => return act.exit_code_override().map_or(exit.into(), ExitCode::from),
        // What was done to the project is done, whoever hears of it.
        (Ok(exit), Err(failure)) if act.may_write() => (failure, exit),
        (Err(failure), _) | (Ok(_), Err(failure)) => {
            let exit = failure.exit;
            (failure, exit)
        }
    };
    let mut console = Console::stdio(&environment, cli.options.color);
    console.set_level(level);
    console.report_failure(&failure, act.name(), cli.options.json);
    // Nothing is left to say it with, if this cannot be written either.
    let _ = console.finish();
    act.exit_code_override().map_or(exit.into(), ExitCode::from)
}

/// `relay --init` is how the tool was once set up; it still works, and nothing speaks of it.
fn translate_legacy_args(mut args: Vec<OsString>) -> Vec<OsString> {
    if let Some(first) = args.get_mut(1).filter(|first| *first == "--init") {
        *first = "init".into();
    }
    args
}

/// Help, the version, or what is wrong with the command line.
fn print_usage_error(error: &clap::Error, args: &[OsString], environment: &ConsoleEnv) -> Exit {
    // A name that a shell made out of `*` is quoted in the message.
    let said = error.to_string();
    if error.use_stderr() && said.chars().any(|c| is_unsafe(c) && c != '\n') {
        let mut console = Console::stdio(environment, ColorChoice::Never);
        let safe = console.err_style().block(&said).into_owned();
        console.eprint(&safe);
        let _ = console.finish();
    } else {
        // A closed pipe is no reason to fail.
        let _ = error.print();
    }
    if !error.use_stderr() {
        return Exit::Done;
    }
    if args.iter().any(|arg| arg == "--json") {
        // What is wrong stands before the first empty line, names of what is missing included.
        let lines: Vec<&str> = said.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
        let failure = CommandFailure::usage(lines.join(" ").trim_start_matches("error: "))
            .with_hint("`relay --help` lists the commands, `relay COMMAND --help` the options of one");
        let mut console = Console::stdio(environment, ColorChoice::Never);
        console.print_failure_json(&failure, "");
        let _ = console.finish();
    }
    Exit::Usage
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_consistent() {
        super::cli_definition().debug_assert();
    }
}
