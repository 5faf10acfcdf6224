//! `relay rpc`: what ten thousand events a second cost on a processor, and what a program that never reads costs in memory. The
//! server runs in a process of its own, with an agent that nobody prompts; what is said to it is an event.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use relaycode_testkit::clock::processor_time;
use relaycode_testkit::served_agent::ServedAgent;

use crate::child::part;
use crate::measure::{BenchReport, Measured};

/// Events a second, for so long.
const RATE: u64 = 10_000;
const SECONDS: u64 = 5;
/// Percent of a core.
const BELOW_PERCENT: f64 = 20.0;
/// Events that a program does not read, and megabytes for them.
const UNREAD: u64 = 100_000;
const BELOW_MB: f64 = 10.0;
/// Bytes of what is said.
const TEXT: usize = 40;

const PROCESSOR: &str = "rpc, 10 000 events a second";
const MEMORY: &str = "rpc, program that never reads";

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    if report.wants(PROCESSOR) {
        let value = child_value(&["rpc", "events"])?;
        let row = Measured::single(PROCESSOR, "%", value).below(BELOW_PERCENT);
        report.add(row.note(format!("of a core over {SECONDS} s, publishing and reading by `cat` included")));
    }
    if report.wants(MEMORY) {
        let value = child_value(&["rpc", "unread"])?;
        let row = Measured::single(MEMORY, "MB", value).below(BELOW_MB);
        report.add(row.note(format!("grown over {UNREAD} events, with what the agent keeps of them")));
    }
    Ok(())
}

fn child_value(words: &[&str]) -> anyhow::Result<f64> {
    let output = part(words)?.output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    said.trim()
        .parse()
        .with_context(|| format!("it said {said:?} {}", String::from_utf8_lossy(&output.stderr)))
}

/// The part that runs in a separate process.
pub(super) fn as_child(words: &[&str]) -> anyhow::Result<()> {
    match words {
        ["events"] => {
            let mut reader = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
            let output = reader.stdin.take().context("no stdin")?;
            let agent = ServedAgent::start(output);
            let (before, began) = (processor_time(), Instant::now());
            for at in 0..RATE * SECONDS / 2 {
                agent.publish_pair("x".repeat(TEXT));
                // Two events each.
                let due = began + Duration::from_micros(at * 2_000_000 / RATE);
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
            }
            let (used, took) = (processor_time() - before, began.elapsed());
            println!("{:.3}", 100.0 * used.as_secs_f64() / took.as_secs_f64());
        }
        ["unread"] => {
            let (output, server_out) = std::io::pipe()?;
            let agent = ServedAgent::start(server_out);
            let mut ready = String::new();
            BufReader::with_capacity(1 << 12, &output).read_line(&mut ready)?;
            let before = resident_kilobytes()?;
            for _ in 0..UNREAD / 2 {
                agent.publish_pair("x".repeat(TEXT));
            }
            let grown = resident_kilobytes()?.saturating_sub(before);
            println!("{:.3}", grown as f64 / 1024.0);
        }
        _ => bail!("`rpc events` and `rpc unread` are what a child can do"),
    }
    // The server ends with the process.
    Ok(())
}

fn resident_kilobytes() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}
