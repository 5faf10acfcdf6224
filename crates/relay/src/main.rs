//! The `relay` binary: arguments in, exit code out. What it can do is in [`commands`], how it looks
//! mostly in the crate `tui`; everything that decides something is in the libraries.
//!
//! | module | what it is for |
//! |---|---|
//! | `agent` | relay's own agent for `run` and the conversation: options, sessions, attachments, groups of changes, who is asked, how events are printed |
//! | `commands` | one file per command: arguments, help, and what it does |
//! | `wiring` | what every command is given: `context`, the project, the user's directory, providers, programs; mostly here the environment is read |
//! | `answer` | answers from a file, a pipe, the clipboard or a friend, and the one way through the door for `apply`, `watch` and `do` |
//! | `approver` | the person at the terminal: one file per question, pager, editor, picking |
//! | `watch` | a session of `relay watch` |
//! | `friends` | what `ask`, `review`, `do` and `friends` share |
//! | `report` | what came of a command: for people, as JSON, as a failure, as an exit code |
//! | `screens` | views that cover the whole terminal |
//! | `terminal` | streams and how they look, questions, signals, copying out |
//! | `doctor` | one function for each thing relay needs, one list |
//! | `sys` | what differs by system |

mod agent;
mod answer;
mod approver;
mod commands;
mod doctor;
mod friends;
mod report;
mod screens;
mod sys;
mod terminal;
mod watch;
mod wiring;

use std::process::ExitCode;

use relaycode_project::config::LogLevel;

// What nearly every module uses.
use answer::AnswerSource;
use answer::origin::AnswerOrigin;
use answer::submit::Submitter;
use report::failure::{CommandFailure, CommandResult, Exit, FailureDetail, ProjectState};
use report::render::answers;
use report::{json, render};
use terminal::console::Console;
use terminal::environment::ConsoleEnv;
use terminal::signals::SignalGuard;
use terminal::{copy_out, questions};
use wiring::command_fence;
use wiring::context::CommandContext;
use wiring::home::RelayHome;
use wiring::programs::UserPrograms;
use wiring::project::{Project, process_runner};
use wiring::providers::{Providers, start_spinner};
use wiring::{desktop, path_args, project, providers};

fn main() -> ExitCode {
    // Before anything else: this process is then no relay, but the keeper of a process that relay started, or such a process
    // itself on its way into a fence.
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next();
    if first.as_ref().is_some_and(|first| first == relaycode_exec::KEEPER_ARGUMENT) {
        return relaycode_exec::run_keeper();
    }
    if first.is_some_and(|first| first == relaycode_exec::FENCE_ARGUMENT) {
        return relaycode_exec::run_fence(&arguments.collect::<Vec<_>>());
    }
    commands::main()
}
