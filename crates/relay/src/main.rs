//! The `relay` binary: arguments in, exit code out. What it can do is in [`commands`], how it looks
//! in [`show`]; everything that decides something is in the libraries.

mod answer;
mod approver;
mod commands;
mod doctor;
mod friends;
mod report;
mod terminal;
mod watch;
mod wiring;

use std::process::ExitCode;

fn main() -> ExitCode {
    // Before anything else: this process is then no relay, but the keeper of a process that relay started.
    if std::env::args_os().nth(1).is_some_and(|first| first == relaycode_exec::KEEPER_ARGUMENT) {
        return relaycode_exec::run_keeper();
    }
    commands::main()
}
