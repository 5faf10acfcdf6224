//! The `relay` binary: arguments in, exit code out. What it can do is in [`commands`], how it looks
//! in [`show`]; everything that decides something is in the libraries.

mod answer;
mod approver;
mod ask;
mod clipping;
mod commands;
mod console;
mod context;
mod copying;
mod desktop;
mod doctor;
mod exit_codes;
mod failure;
mod files;
mod friends;
mod home;
mod input;
mod json;
mod limit;
mod outcome;
mod programs;
mod project;
mod providers;
mod show;
mod signals;
mod terminal;
mod watching;

use std::process::ExitCode;

fn main() -> ExitCode {
    // Before anything else: this process is then no relay, but the keeper of a process that relay started.
    if std::env::args_os().nth(1).is_some_and(|first| first == relaycode_exec::KEEP) {
        return relaycode_exec::keep();
    }
    commands::main()
}
