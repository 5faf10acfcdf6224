//! The commands, one file each: arguments, help and function. Adding one is a `mod` line, a variant
//! and an arm.

pub(crate) mod accept_foreign;
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
mod permissions;
mod preview;
pub(crate) mod prompt;
mod record;
mod recover;
mod redo;
pub(crate) mod revert;
mod review;
mod rpc;
mod run;
pub(crate) mod sessions;
pub(crate) mod show;
mod stats;
mod trust;
mod undo;
mod watch;
mod why;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use relaycode_text::escape::is_unsafe;

use crate::report::exit_codes;
use crate::terminal::environment::ColorChoice;
use crate::wiring::context::GlobalArgs;
use crate::{CommandContext, CommandFailure, CommandResult, Console, ConsoleEnv, Exit, RelayHome};

/// relay stands between AI and code: it reads the answer of a model, plans the change exactly, and
/// never applies one wrongly.
#[derive(Debug, Parser)]
#[command(name = "relay", version, after_help = help_footer())]
struct Cli {
    #[command(flatten)]
    options: GlobalArgs,

    /// Without one it is a conversation with relay's own agent.
    #[command(subcommand)]
    command: Option<CliCommand>,
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
    Undo(undo::UndoArgs),
    Redo(redo::RedoArgs),
    Revert(revert::RevertArgs),
    Recover(recover::RecoverArgs),
    Record(record::RecordArgs),
    Blame(blame::BlameArgs),
    Git(git::GitArgs),
    Sessions(sessions::SessionsArgs),
    Stats(stats::StatsArgs),
    Trust(trust::TrustArgs),
    Permissions(permissions::PermissionsArgs),
    Why(why::WhyArgs),
    Config(config::ConfigArgs),
    Doctor(doctor::DoctorArgs),
    Demo(demo::DemoArgs),
    Ask(ask::AskArgs),
    Review(review::ReviewArgs),
    #[command(name = "do")]
    Do(do_::DoArgs),
    Friends(friends::FriendsArgs),
    Run(run::RunArgs),
    Rpc(rpc::RpcArgs),
    Models(models::ModelsArgs),
    Keys(keys::KeysArgs),
    Completions(completions::CompletionsArgs),
    #[command(name = "__hold", hide = true)]
    Hold(hold::HoldArgs),
    #[command(name = "__man", hide = true)]
    Man(man::ManArgs),
}

impl CliCommand {
    fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        match self {
            CliCommand::Init(args) => args.run(ctx),
            CliCommand::Prompt(args) => args.run(ctx),
            CliCommand::Preview(args) => args.run(ctx),
            CliCommand::Apply(args) => args.run(ctx),
            CliCommand::Watch(args) => args.run(ctx),
            CliCommand::Log(args) => args.run(ctx),
            CliCommand::Show(args) => args.run(ctx),
            CliCommand::Undo(args) => args.run(ctx),
            CliCommand::Redo(args) => args.run(ctx),
            CliCommand::Revert(args) => args.run(ctx),
            CliCommand::Recover(args) => args.run(ctx),
            CliCommand::Record(args) => args.run(ctx),
            CliCommand::Blame(args) => args.run(ctx),
            CliCommand::Git(args) => args.run(ctx),
            CliCommand::Sessions(args) => args.run(ctx),
            CliCommand::Stats(args) => args.run(ctx),
            CliCommand::Trust(args) => args.run(ctx),
            CliCommand::Permissions(args) => args.run(ctx),
            CliCommand::Why(args) => args.run(ctx),
            CliCommand::Config(args) => args.run(ctx),
            CliCommand::Doctor(args) => args.run(ctx),
            CliCommand::Demo(args) => args.run(ctx),
            CliCommand::Ask(args) => args.run(ctx),
            CliCommand::Review(args) => args.run(ctx),
            CliCommand::Do(args) => args.run(ctx),
            CliCommand::Friends(args) => args.run(ctx),
            CliCommand::Run(args) => args.run(ctx),
            CliCommand::Rpc(args) => args.run(ctx),
            CliCommand::Models(args) => args.run(ctx),
            CliCommand::Keys(args) => args.run(ctx),
            CliCommand::Completions(args) => args.run(ctx),
            CliCommand::Hold(args) => args.run(ctx),
            CliCommand::Man(args) => args.run(ctx),
        }
    }

    /// Whether it may change the project.
    fn may_write(&self) -> bool {
        use CliCommand::{Apply, Do, Git, Init, Record, Recover, Redo, Revert, Rpc, Run, Undo, Watch};
        let records = matches!(self, Apply(_) | Do(_) | Git(_) | Init(_) | Record(_) | Watch(_));
        records || matches!(self, Recover(_) | Redo(_) | Revert(_) | Rpc(_) | Run(_) | Undo(_))
    }

    /// How the process ends: what was recorded ends as the recorded command did.
    fn exit_code(&self, exit: Exit) -> ExitCode {
        match self {
            CliCommand::Record(args) => args.exit_code().map_or(exit.into(), ExitCode::from),
            _ => exit.into(),
        }
    }
}

/// The command line as data, for what describes it.
fn cli_definition() -> clap::Command {
    Cli::command()
}

/// Reads a command line; the name is its command's. Without one it is a conversation.
fn parse_args<T: Into<OsString> + Clone>(
    args: impl IntoIterator<Item = T>,
) -> Result<(GlobalArgs, CliCommand, String), clap::Error> {
    let matches = cli_definition().try_get_matches_from(args)?;
    let name = matches.subcommand_name().unwrap_or("run").to_string();
    let Cli { options, command } = Cli::from_arg_matches(&matches)?;
    Ok((options, command.unwrap_or_else(|| CliCommand::Run(run::RunArgs::default())), name))
}

/// Runs a command within another one that goes on, such as `log --file a.rs` in a conversation.
pub(crate) fn run_line(words: &[String], ctx: &mut CommandContext<'_>) -> CommandResult {
    let line = std::iter::once("relay").chain(words.iter().map(String::as_str));
    let (_, command, name) = parse_args(line).map_err(|error| {
        // What is wrong stands before the first empty line.
        let said = error.to_string();
        let lines: Vec<&str> = said.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
        CommandFailure::usage(lines.join(" ").trim_start_matches("error: ")).unchanged()
    })?;
    command.run(&mut CommandContext {
        command: &name,
        options: ctx.options,
        console: &mut *ctx.console,
        home: ctx.home,
        may_write: command.may_write(),
    })
}

/// The error with a tip, where somebody means another command.
fn with_tip(mut error: clap::Error, args: &[OsString]) -> clap::Error {
    let tip = match error.kind() {
        ErrorKind::UnknownArgument => argument_tip(&error, args),
        ErrorKind::InvalidSubcommand => command_tip(&error),
        _ => None,
    };
    if let Some(tip) = tip {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
        error.remove(ContextKind::SuggestedSubcommand);
    }
    error
}

fn argument_tip(error: &clap::Error, args: &[OsString]) -> Option<String> {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidArg) else { return None };
    if name.starts_with('-') {
        return None;
    }
    let command = args.iter().filter_map(|arg| arg.to_str());
    match command.into_iter().find(|arg| ["undo", "redo", "record", "log"].contains(arg))? {
        "undo" => Some(format!("`relay revert {name}` undoes one change by its number or id")),
        "redo" => Some(
            "to bring back one change, run `relay revert` with the id of its undo from `relay log`"
                .to_string(),
        ),
        "log" => Some(format!("`relay log --file {name}` lists what changed one file")),
        _ => Some(format!("put `--` before the command: `relay record -- {name} ...`")),
    }
}

/// For those who know another tool's word.
fn command_tip(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let tip = match name.as_str() {
        "status" => "`relay log` lists what was done here, `relay doctor` says what works",
        "diff" => {
            "`relay show --diff` shows what the last change did, `relay preview` what an answer would do"
        }
        "rollback" | "reset" | "restore" => {
            "`relay undo` takes the last change back, `relay revert` any other"
        }
        "commit" => "`relay git commit` commits the last change",
        "history" => "`relay log` lists what was done here",
        _ => return None,
    };
    Some(tip.to_string())
}

/// Runs what the command line asks for.
pub(crate) fn main() -> ExitCode {
    let environment = ConsoleEnv::from_env();
    let args = complete_args(std::env::args_os().collect());
    let (options, command, name) = match parse_args(&args) {
        Ok(parsed) => parsed,
        Err(error) => return print_usage_error(&with_tip(error, &args), &args, &environment).into(),
    };
    let mut console = Console::stdio(&environment, options.color);
    let home = RelayHome::from_env();
    let result = command.run(&mut CommandContext {
        command: &name,
        options: &options,
        console: &mut console,
        home: &home,
        may_write: command.may_write(),
    });
    let level = console.level;
    let (failure, exit) = match (result, console.finish()) {
        (Ok(exit), Ok(())) => return command.exit_code(exit),
        // What was done to the project is done, whoever hears of it.
        (Ok(exit), Err(failure)) if command.may_write() => (failure, exit),
        (Err(failure), _) | (Ok(_), Err(failure)) => {
            let exit = failure.exit;
            (failure, exit)
        }
    };
    let mut console = Console::stdio(&environment, options.color);
    console.level = level;
    console.report_failure(&failure, &name, options.json);
    // Nothing is left to say it with, if this cannot be written either.
    let _ = console.finish();
    command.exit_code(exit)
}

/// `relay --continue` and `relay --resume` are conversations. `relay --init` is how the tool was once set up; it still works, and
/// nothing speaks of it.
fn complete_args(mut args: Vec<OsString>) -> Vec<OsString> {
    let goes_on = |arg: &OsString| {
        let arg = arg.to_string_lossy();
        arg == "--continue" || arg == "--resume" || arg.starts_with("--resume=")
    };
    if let Some(at) = args.iter().position(goes_on) {
        let definition = cli_definition();
        let is_command = |arg: &OsString| definition.find_subcommand(arg).is_some();
        if !args[1..at].iter().any(is_command) {
            args.insert(at, "run".into());
        }
    }
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
            .hint("`relay --help` lists the commands, `relay COMMAND --help` the options of one");
        let mut console = Console::stdio(environment, ColorChoice::Never);
        console.print_failure_json(&failure, "");
        let _ = console.finish();
    }
    Exit::Usage
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    /// Every option of every command: its letter, its name, and what its value is called.
    fn each_option(command: &clap::Command, see: &mut dyn FnMut(&str, &clap::Arg)) {
        command.get_opts().chain(command.get_arguments()).for_each(|option| see(command.get_name(), option));
        command.get_subcommands().for_each(|sub| each_option(sub, see));
    }

    #[test]
    fn a_letter_means_the_same_in_every_command() {
        let mut letters: BTreeMap<char, (String, String)> = BTreeMap::new();
        let mut limits: Vec<String> = Vec::new();
        each_option(&super::cli_definition(), &mut |command, option| {
            let long = option.get_long().unwrap_or_default().to_string();
            if let Some(letter) = option.get_short() {
                let known = letters.entry(letter).or_insert((long.clone(), command.to_string()));
                assert_eq!(known.0, long, "-{letter} in {command} and in {}", known.1);
            }
            if long == "limit" {
                limits
                    .push(option.get_value_names().unwrap_or_default().iter().map(|n| n.as_str()).collect());
            }
        });
        let names: Vec<String> =
            letters.iter().map(|(letter, (long, _))| format!("{letter} {long}")).collect();
        assert_eq!(names, ["C directory", "a all", "m message", "n count", "o output", "q quiet", "y yes"]);
        limits.dedup();
        assert_eq!(limits, ["NAME=N,..."]);
    }

    #[test]
    fn going_on_without_a_command_is_a_conversation() {
        let words = |line: &str| line.split(' ').map(Into::into).collect::<Vec<std::ffi::OsString>>();
        for (typed, meant) in [
            ("relay --continue", "relay run --continue"),
            ("relay -C dir --resume 3", "relay -C dir run --resume 3"),
            ("relay run --continue", "relay run --continue"),
            ("relay sessions --resume", "relay sessions --resume"),
            ("relay --init", "relay init"),
            ("relay log", "relay log"),
        ] {
            assert_eq!(super::complete_args(words(typed)), words(meant), "{typed}");
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        super::cli_definition().debug_assert();
    }
}
