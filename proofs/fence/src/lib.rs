//! Programs that try to get out of the fence, and what came of it, seen from outside.
//!
//! An attempt is a short function that runs inside. Whether it was stopped is not its word: whoever started it looks at
//! the files, sockets and processes outside, before and after. Only what leaves no mark there (a new namespace, a
//! device that opens) is told by the attempt itself. Each runs without a fence too: what does not get through then proves
//! nothing about one. So the table does to the machine what a fence would stop, in directories of its own, and takes it back:
//! it is for a machine that may be thrown away.
//!
//! `relaycode-proof-fence table [--read-only] [NAME]` runs all of them at every level, as root and as a user; `cost` measures what a
//! fence costs; `run LEVEL PROGRAM …` runs a command in the current directory, to try what works.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer tool: printing is its output")]

mod attempts;
mod cost;
mod known;
mod runs;
mod table;
mod traces;
mod world;

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use relaycode_exec::FenceAccess;

pub use attempts::{ALL, Attempt, AttemptKind, Place};
pub use known::KNOWN_AT_LEVEL_2;
pub use runs::{AttemptOutcome, run_attempt, run_attempt_with_relay};
pub use world::{World, WorldUser};

/// What the command line asks for.
pub fn run() -> anyhow::Result<ExitCode> {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let first = words.first().and_then(|word| word.to_str()).context("table, cost, or attempt NAME …")?;
    match first {
        relaycode_exec::FENCE_ARGUMENT => Ok(relaycode_exec::run_fence(&words[1..])),
        "attempt" => attempts::run_inside(&words[1..]),
        "victim" => {
            std::thread::sleep(Duration::from_secs(60));
            Ok(ExitCode::SUCCESS)
        }
        "probe" => {
            let found = relaycode_exec::probe_fence(&std::env::current_exe()?, &std::env::temp_dir());
            println!("level {}, {:?}", found.level.number(), found.reasons);
            Ok(ExitCode::SUCCESS)
        }
        "table" => {
            let mut rest: Vec<&str> = words[1..].iter().filter_map(|word| word.to_str()).collect();
            let closed = rest.first() == Some(&"--read-only");
            let access = if closed { FenceAccess::ReadOnly } else { FenceAccess::Workspace };
            table::print(access, rest.drain(usize::from(closed)..).next())
        }
        "cost" => cost::print(),
        "run" => runs::run_words(&words[1..]),
        other => bail!("table, cost, probe, run or attempt, not {other}"),
    }
}
