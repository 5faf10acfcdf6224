//! `cargo xtask bench`: measures what users wait for, against targets. Data is generated here, the same on
//! every run; everything is measured in a release build, which `cargo xtask bench` makes.
//!
//! Times on a busy machine are noisy, so every table also shows a plain pass over the same bytes.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer tool: printing is its output")]

#[cfg(target_os = "linux")]
mod agent;
mod child;
mod commands;
mod costly;
mod door;
#[cfg(target_os = "linux")]
mod friends;
mod ledger;
mod llm;
mod measure;
mod parsing;
mod planning;
#[cfg(target_os = "linux")]
mod repository;
#[cfg(target_os = "linux")]
mod rpc;
mod samples;
mod session;
mod snapshot;
mod startup;
#[cfg(target_os = "linux")]
mod terminal;
#[cfg(target_os = "linux")]
mod watch;

use std::path::PathBuf;

use anyhow::bail;
use clap::Parser;

use measure::BenchReport;

/// What is measured, in this order.
const BENCHES: &[fn(&mut BenchReport) -> anyhow::Result<()>] = &[
    planning::measure,
    parsing::measure,
    costly::measure,
    startup::measure,
    ledger::measure,
    door::measure,
    session::measure,
    snapshot::measure,
    commands::measure,
    llm::measure,
    #[cfg(target_os = "linux")]
    rpc::measure,
    #[cfg(target_os = "linux")]
    watch::measure,
    #[cfg(target_os = "linux")]
    friends::measure,
    #[cfg(target_os = "linux")]
    agent::measure,
    #[cfg(target_os = "linux")]
    terminal::measure,
];

/// Measure matching, planning, parsing, start-up, the ledger, the door, sessions, snapshots, recorded commands, models, rpc, watching, friends, relay's own agent and its terminal against their targets.
#[derive(Parser)]
#[command(name = "cargo xtask bench", bin_name = "cargo xtask bench")]
struct Args {
    /// Only measurements whose name contains this.
    #[arg(long)]
    only: Option<String>,
    /// Print one JSON object per measurement, and nothing else.
    #[arg(long)]
    json: bool,
    /// Measure the agents of other projects that are installed, too, with the same model and the same commands.
    #[arg(long)]
    peers: bool,
    /// Print the memory peak of this command in kilobytes, for the parent process.
    #[arg(long, hide = true, num_args = 1.., allow_hyphen_values = true)]
    peak_of: Vec<String>,
    /// Do a part of a measurement in this process, and say what it took.
    #[arg(long, hide = true, num_args = 1..)]
    as_child: Vec<String>,
    /// Write the files of the large change into this project, twice and without care, and nothing else.
    #[arg(long, hide = true)]
    write_plainly: Option<PathBuf>,
}

/// Fails if a target is missed.
fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    if !args.peak_of.is_empty() {
        println!("{}", startup::peak_of(&args.peak_of)?);
        return Ok(());
    }
    match args.as_child.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {}
        ["session", ref rest @ ..] => return session::as_child(rest),
        ["costly", ref rest @ ..] => return costly::as_child(rest),
        ["llm", ref rest @ ..] => return llm::as_child(rest),
        #[cfg(target_os = "linux")]
        ["rpc", ref rest @ ..] => return rpc::as_child(rest),
        #[cfg(target_os = "linux")]
        ["friends", ref rest @ ..] => return friends::as_child(rest),
        [other, ..] => bail!("nothing is measured in a child `{other}`"),
    }
    if let Some(root) = &args.write_plainly {
        return ledger::write_plainly(root);
    }
    let mut report = BenchReport::new(args.only, args.json, args.peers);
    for measure in BENCHES {
        measure(&mut report)?;
    }
    report.verdict()
}
