//! Texts built to cost: what `relay preview` takes for each of them, planned or refused, and for the worst that a
//! small search finds.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use relaycode_testkit::costly::{self, CostlyShape, PEAK_MEMORY, PROCESSOR_TIME};
use relaycode_testkit::random::Random;

use super::child::{part, relay, scratch};
use super::measure::{BenchReport, Measured, milliseconds};

/// Shapes that the search tries, and its seed.
const SEARCHED: usize = 80;
const SEED: u64 = 7;

/// What a preview took.
#[derive(Clone, Copy)]
struct PreviewCost {
    processor: Duration,
    megabytes: f64,
    code: i32,
}

/// Each known text, and the search from there.
pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    let mut worst: Option<(PreviewCost, CostlyShape)> = None;
    for shape in costly::known() {
        let name = format!("costly, {}", shape.name());
        if !report.wants(&name) {
            continue;
        }
        let cost = preview(&shape)?;
        add(report, &name, cost);
        if worst.is_none_or(|(other, _)| cost.processor > other.processor) {
            worst = Some((cost, shape));
        }
    }
    let (Some(mut worst), true) = (worst, report.wants("costly, search")) else { return Ok(()) };
    let (mut random, mut largest) = (Random::new(SEED), worst);
    for _ in 0..SEARCHED {
        let shape = costly::mutate(&worst.1, &mut random);
        let cost = preview(&shape)?;
        if cost.processor > worst.0.processor {
            worst = (cost, shape);
        }
        if cost.megabytes > largest.0.megabytes {
            largest = (cost, shape);
        }
    }
    for (cost, shape) in [worst, largest] {
        add(report, &format!("costly, search, {}", shape.name()), cost);
    }
    Ok(())
}

fn add(report: &mut BenchReport, name: &str, cost: PreviewCost) {
    let row = Measured::single(name, "ms", milliseconds(cost.processor)).below(milliseconds(PROCESSOR_TIME));
    report.add(row.note(format!("exit {}", cost.code)));
    let memory = Measured::single(format!("{name}, memory"), "MB", cost.megabytes);
    report.add(memory.below(PEAK_MEMORY as f64 / 1e6));
}

/// Previews a text in a project of its own.
fn preview(shape: &CostlyShape) -> anyhow::Result<PreviewCost> {
    let (case, scratch) = (shape.case(), scratch()?);
    let project = scratch.path().join("project");
    std::fs::create_dir(&project)?;
    for (path, bytes) in &case.files {
        std::fs::write(project.join(path), bytes)?;
    }
    let answer = scratch.path().join("answer.md");
    std::fs::write(&answer, &case.response)?;
    let place = |path: &Path| path.to_str().map(str::to_owned).context("a path that is not text");
    let output = part(&["costly", &place(&project)?, &place(&answer)?])?.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let Some([micros, kilobytes, code]) = text.split_whitespace().collect::<Vec<_>>().first_chunk().copied()
    else {
        bail!("{}: {}", shape.name(), String::from_utf8_lossy(&output.stderr));
    };
    Ok(PreviewCost {
        processor: Duration::from_micros(micros.parse()?),
        megabytes: kilobytes.parse::<f64>()? * 1024.0 / 1e6,
        code: code.parse()?,
    })
}

/// Runs the preview as the only child of this process, and prints its time, its peak and its exit code.
#[cfg(unix)]
pub(super) fn as_child(words: &[&str]) -> anyhow::Result<()> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;
    let [project, answer] = words else { bail!("a project and an answer are wanted") };
    let mut command: Command = relay(None)?;
    command.args(["preview", answer, "-C", project]).stdin(Stdio::null()).stdout(Stdio::null());
    let status = command.stderr(Stdio::null()).status()?;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    // Darwin counts bytes, all others kilobytes.
    let peak = if cfg!(target_vendor = "apple") { usage.max_rss() / 1024 } else { usage.max_rss() };
    println!("{micros} {peak} {}", status.code().unwrap_or(-1));
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn as_child(_words: &[&str]) -> anyhow::Result<()> {
    bail!("the cost of a finished process is not known on this system")
}
