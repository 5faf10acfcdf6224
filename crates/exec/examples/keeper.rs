//! A small stand-in for relay: it is a keeper, or enters a fence, when it is asked to, and else runs one job and says
//! what came of it. The tests use it where the one who runs a job is killed, measured or at a terminal.

#![allow(clippy::print_stdout, reason = "what it is for")]

use std::fs;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use relaycode_exec::{Deadlines, FENCE_ARGUMENT, Job, JobOutput, KEEPER_ARGUMENT, Runner};

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|first| first == FENCE_ARGUMENT) {
        return relaycode_exec::run_fence(&std::env::args_os().skip(2).collect::<Vec<_>>());
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|first| first == KEEPER_ARGUMENT) {
        return relaycode_exec::run_keeper();
    }
    let [output, line] = words.as_slice() else { return ExitCode::from(2) };
    if output == "ancestors" {
        println!("{:?}", relaycode_exec::count_keeper_ancestors(line));
        return ExitCode::SUCCESS;
    }
    match run(output, line) {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("failed: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(output: &str, line: &str) -> Result<String, Box<dyn std::error::Error>> {
    // As relay does while an editor has the terminal.
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::default())?;
    let output = match output {
        "terminal" => JobOutput::Terminal,
        "streams" => JobOutput::Inherited { stdout_to_stderr: false },
        "aside" => JobOutput::Inherited { stdout_to_stderr: true },
        _ => JobOutput::Merged,
    };
    let deadlines = Deadlines { grace: Duration::from_millis(300), ..Deadlines::default() };
    let job = Job { output, deadlines, ..Job::shell(line, ".") };
    let mut seen = 0;
    let finished =
        Runner::new(std::env::current_exe()?).run(&job, &|| false, &mut |bytes| seen += bytes.len())?;
    let text = finished.stdout.text();
    let text = text.get(..200).unwrap_or(&text);
    let (end, left_behind) = (finished.reason, finished.left_behind);
    Ok(format!(
        "end {end:?}, left behind {left_behind}, seen {seen}, children {}, peak {} KiB\n{text}",
        children()?,
        peak()?
    ))
}

/// Processes whose parent this one is, dead or alive.
fn children() -> Result<usize, Box<dyn std::error::Error>> {
    let me = std::process::id();
    let mut count = 0;
    for entry in fs::read_dir("/proc")? {
        let status = fs::read_to_string(entry?.path().join("status")).unwrap_or_default();
        count += status.lines().filter(|line| *line == format!("PPid:\t{me}")).count();
    }
    Ok(count)
}

/// The most memory that this process ever had.
fn peak() -> Result<u64, Box<dyn std::error::Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
