//! The `relay` binary: arguments in, exit code out. What it can do is in [`commands`], how it looks
//! in [`show`]; everything that decides something is in the libraries.

mod answer;
mod ask;
mod clock;
mod commands;
mod console;
mod context;
mod exit_codes;
mod failure;
mod home;
mod input;
mod json;
mod limit;
mod project;
mod show;
mod signals;
mod terminal;

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::main().into()
}
