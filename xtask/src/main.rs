//! Developer commands: `cargo xtask <command>`.
//!
//! This file only dispatches. A command is one file (or folder) with an `Args` struct, whose doc
//! comment is its help, and a `run` function; adding one is a `mod` line, a variant and an arm.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer tool: printing is its output")]

#[cfg(target_os = "linux")]
mod agents;
mod bench;
mod clock;
mod corpus;
mod docs;
mod fuzz;
#[cfg(target_os = "linux")]
mod record;
mod test;
mod tidy;
#[cfg(target_os = "linux")]
mod torture;
mod workspace;

use std::process::ExitCode;

use clap::Parser;

/// Developer commands of this repository.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Command {
    Test(test::Args),
    Tidy(tidy::Args),
    Docs(docs::Args),
    Corpus(corpus::Args),
    Fuzz(fuzz::Args),
    Bench(bench::Args),
    #[cfg(target_os = "linux")]
    Agents(agents::Args),
    #[cfg(target_os = "linux")]
    Record(record::Args),
    #[cfg(target_os = "linux")]
    Torture(torture::Args),
}

fn main() -> ExitCode {
    let outcome = match Command::parse() {
        Command::Test(args) => test::run(&args),
        Command::Tidy(args) => tidy::run(&args),
        Command::Docs(args) => docs::run(&args),
        Command::Corpus(args) => corpus::run(&args),
        Command::Fuzz(args) => fuzz::run(&args),
        Command::Bench(args) => bench::run(&args),
        #[cfg(target_os = "linux")]
        Command::Agents(args) => agents::run(&args),
        #[cfg(target_os = "linux")]
        Command::Record(args) => record::run(&args),
        #[cfg(target_os = "linux")]
        Command::Torture(args) => torture::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            for cause in error.chain().skip(1) {
                eprintln!("  {cause}");
            }
            ExitCode::FAILURE
        }
    }
}
