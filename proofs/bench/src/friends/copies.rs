//! What `record` does before and after a command, and what `do` does around a friend's work: in a project
//! of 100 MB. The plain pass is `cp -a` of the same files, alternating with `do`: the cost of creating
//! files depends on the file system and on what was just deleted there, so `do` is held to a multiple of
//! it.

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::ensure;

use super::median_row;
use super::stage::Stage;
use crate::child::{Cost, run};
use crate::measure::{BenchReport, Measured, milliseconds};
use crate::repository::fill;

/// Milliseconds around the work: acceptable beside an agent.
const RECORD_BELOW: f64 = 3_000.0;
/// Times `cp -a`: everything is written a second time, aside, and compared.
const DO_BELOW: f64 = 3.0;
const RUNS: usize = 5;

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    for (shape, files, size) in
        [("100 MB in 2000 files", 2_000, 50_000), ("100 MB in 10000 files", 10_000, 10_000)]
    {
        let record = format!("friends, record, {shape}");
        let work = format!("friends, do, {shape}");
        if !report.wants(&record) && !report.wants(&work) {
            continue;
        }
        let stage = Stage::new("change", "")?;
        fill(&stage.project(), files, size)?;
        run(stage.relay()?.args(["init", "--id", "bench"]))?;
        if report.wants(&record) {
            recorded(&record, &stage, copied(&stage)?, report)?;
        }
        if report.wants(&work) {
            worked(&work, &stage, report)?;
        }
    }
    Ok(())
}

fn recorded(name: &str, stage: &Stage, plain: f64, report: &mut BenchReport) -> anyhow::Result<()> {
    let record = |command: &str| -> anyhow::Result<Cost> {
        run(stage.relay()?.args(["record", "--", "sh", "-c", command]))
    };
    let first = record("true")?;
    let nothing: Vec<f64> =
        (0..RUNS).map(|_| Ok(milliseconds(record("true")?.wall))).collect::<anyhow::Result<_>>()?;
    let row =
        median_row(&format!("{name}, nothing changed"), "ms", &nothing, Some(RECORD_BELOW)).plain(plain);
    report.add(row.note(format!("; the first {:.0}", milliseconds(first.wall))));
    let changes = (0..RUNS).map(|at| {
        let cost = record(&format!("for f in part00*/*0.rs; do echo {at} >>$f; done"))?;
        Ok(milliseconds(cost.wall))
    });
    let changes = changes.collect::<anyhow::Result<Vec<_>>>()?;
    report.add(
        median_row(&format!("{name}, 50 files changed"), "ms", &changes, Some(RECORD_BELOW)).plain(plain),
    );
    Ok(())
}

fn worked(name: &str, stage: &Stage, report: &mut BenchReport) -> anyhow::Result<()> {
    let (mut wall, mut processor, mut plain) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS {
        plain.push(copied(stage)?);
        let mut work = stage.relay()?;
        let cost = run(work.args(["do", "--to", "codex", "-y", "write a file"]))?;
        let told = stage.report()?;
        let written = stage.project().join("changed-by-the-player.txt");
        ensure!(written.is_file(), "the change did not come in");
        run(stage.relay()?.args(["revert", "-y"]))?;
        ensure!(!written.is_file(), "the change was not taken back");
        wall.push(milliseconds(cost.wall.saturating_sub(told.processor)));
        processor.push(milliseconds(cost.with_children.saturating_sub(told.processor)));
    }
    let (took, plain) = (super::middle(wall.clone()), super::middle(plain));
    let row = median_row(name, "ms", &wall, None).plain(plain);
    report.add(row.note(format!("; processor {:.0}", super::middle(processor))));
    report.add(Measured::single(format!("{name}, times cp"), "×", took / plain).below(DO_BELOW));
    Ok(())
}

/// Time of `cp -a` for the project's files, without its repository.
fn copied(stage: &Stage) -> anyhow::Result<f64> {
    let to = stage.path().join("copy");
    std::fs::create_dir(&to)?;
    let folders = std::fs::read_dir(stage.project())?.flatten();
    let folders = folders.filter(|entry| entry.file_name().to_string_lossy().starts_with("part"));
    let mut command = Command::new("cp");
    command.arg("-a").arg("-t").arg(&to).args(folders.map(|entry| entry.path())).stdin(Stdio::null());
    let began = Instant::now();
    ensure!(command.status()?.success(), "cp fails");
    let took = milliseconds(began.elapsed());
    std::fs::remove_dir_all(&to)?;
    Ok(took)
}
