//! The `relay` binary: arguments in, exit code out. What it can do is in [`commands`], how it looks
//! in [`show`]; everything that decides something is in the libraries.

mod answer;
#[allow(dead_code, reason = "`apply` asks through it when the door is behind it")]
mod approver;
mod ask;
mod clock;
mod commands;
mod console;
mod context;
mod failure;
mod home;
mod input;
mod json;
mod limit;
#[allow(dead_code, reason = "the approver uses it")]
mod programs;
mod project;
mod show;
mod signals;
mod terminal;

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::main().into()
}
