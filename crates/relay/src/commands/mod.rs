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

pub(crate) use apply::config_name;

use crate::console::Console;
use crate::context::{Act, Context, Options};
use crate::exit_codes;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::terminal::{ColorChoice, Environment};

/// relay stands between AI and code: it reads the answer of a model, plans the change exactly, and
/// never applies one wrongly.
#[derive(Debug, Parser)]
#[command(name = "relay", version, arg_required_else_help = true, after_help = next())]
struct Cli {
    #[command(flatten)]
    options: Options,

    #[command(subcommand)]
    command: Command,
}

/// What the help ends with.
fn next() -> String {
    format!("Try `relay demo`. {}", exit_codes::sentence())
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Args),
    Prompt(prompt::Args),
    Preview(preview::Args),
    Apply(apply::Args),
    Watch(watch::Args),
    Log(log::Args),
    Show(show::Args),
    Revert(revert::Args),
    Recover(recover::Args),
    Record(record::Args),
    Blame(blame::Args),
    Git(git::Args),
    Sessions(sessions::Args),
    Trust(trust::Args),
    Why(why::Args),
    Config(config::Args),
    Doctor(doctor::Args),
    Demo(demo::Args),
    Ask(ask::Args),
    Review(review::Args),
    #[command(name = "do")]
    Do(do_::Args),
    Friends(friends::Args),
    Models(models::Args),
    Keys(keys::Args),
    Completions(completions::Args),
    #[command(name = "__hold", hide = true)]
    Hold(hold::Args),
    #[command(name = "__man", hide = true)]
    Man(man::Args),
}

impl Command {
    fn act(&self) -> &dyn Act {
        match self {
            Command::Init(args) => args,
            Command::Prompt(args) => args,
            Command::Preview(args) => args,
            Command::Apply(args) => args,
            Command::Watch(args) => args,
            Command::Log(args) => args,
            Command::Show(args) => args,
            Command::Revert(args) => args,
            Command::Recover(args) => args,
            Command::Record(args) => args,
            Command::Blame(args) => args,
            Command::Git(args) => args,
            Command::Sessions(args) => args,
            Command::Trust(args) => args,
            Command::Why(args) => args,
            Command::Config(args) => args,
            Command::Doctor(args) => args,
            Command::Demo(args) => args,
            Command::Ask(args) => args,
            Command::Review(args) => args,
            Command::Do(args) => args,
            Command::Friends(args) => args,
            Command::Models(args) => args,
            Command::Keys(args) => args,
            Command::Completions(args) => args,
            Command::Hold(args) => args,
            Command::Man(args) => args,
        }
    }
}

/// The command line as data, for what describes it.
fn command() -> clap::Command {
    Cli::command()
}

/// Runs what the command line asks for.
pub(crate) fn main() -> ExitCode {
    let environment = Environment::read();
    let args = renamed(std::env::args_os().collect());
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return usage(&error, &args, &environment).into(),
    };
    let act = cli.command.act();
    let mut console = Console::real(&environment, cli.options.color);
    let home = Home::read();
    let result = act.run(&mut Context { options: &cli.options, console: &mut console, home: &home });
    let level = console.level();
    let written = console.finish();
    let (failure, exit) = match (result, written) {
        (Ok(exit), Ok(())) => return act.passes_on().map_or(exit.into(), ExitCode::from),
        // What was done to the project is done, whoever hears of it.
        (Ok(exit), Err(failure)) if act.writes() => (failure, exit),
        (Err(failure), _) | (Ok(_), Err(failure)) => {
            let exit = failure.exit;
            (failure, exit)
        }
    };
    let mut console = Console::real(&environment, cli.options.color);
    console.listen(level);
    console.failure(&failure, act.name(), cli.options.json);
    // Nothing is left to say it with, if this cannot be written either.
    let _ = console.finish();
    act.passes_on().map_or(exit.into(), ExitCode::from)
}

/// `relay --init` is how the tool was once set up; it still works, and nothing speaks of it.
fn renamed(mut args: Vec<OsString>) -> Vec<OsString> {
    if let Some(first) = args.get_mut(1).filter(|first| *first == "--init") {
        *first = "init".into();
    }
    args
}

/// Help, the version, or what is wrong with the command line.
fn usage(error: &clap::Error, args: &[OsString], environment: &Environment) -> Exit {
    // A name that a shell made out of `*` is quoted in the message.
    let said = error.to_string();
    if error.use_stderr() && said.chars().any(|c| is_unsafe(c) && c != '\n') {
        let mut console = Console::real(environment, ColorChoice::Never);
        let safe = console.err_look().block(&said).into_owned();
        console.err(&safe);
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
        let failure = Failure::usage(lines.join(" ").trim_start_matches("error: "))
            .hint("`relay --help` lists the commands, `relay COMMAND --help` the options of one");
        let mut console = Console::real(environment, ColorChoice::Never);
        console.failure_json(&failure, "");
        let _ = console.finish();
    }
    Exit::Usage
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_consistent() {
        super::command().debug_assert();
    }
}
