//! The commands around an apply: how long a user waits for read-only ones, and for setting up.

use tempfile::TempDir;

use super::project::{Form, Kind, Project, init, settle, with_history};
use crate::child::{Cost, repeated, run};
use crate::measure::{BenchReport, Measured, milliseconds};

/// Limits in milliseconds of processor time: for read-only commands, for setting up, for planning two
/// hundred files, and for asking a hundred transactions about every line of a file.
const LOOK_BELOW: f64 = 10.0;
const INIT_BELOW: f64 = 15.0;
const PREVIEW_BELOW: f64 = 60.0;
const BLAME_BELOW: f64 = 50.0;
/// Transactions of the file that is asked about.
const HISTORY: usize = 100;
/// Files of a large change.
const FILES: usize = 200;
/// The median counts.
const RUNS: usize = 15;

pub(super) fn measure(report: &mut BenchReport, kept: &mut Vec<TempDir>) -> anyhow::Result<()> {
    if report.wants("door, commands, preview") {
        let mut project = Project::make(Kind::Code, FILES, None)?;
        settle()?;
        for form in Form::ALL {
            let cost = repeated(RUNS, || project.preview(form, &["--no-syntax"]))?;
            report.add(row(&format!("preview of {FILES} .ts, {}", form.name()), cost, PREVIEW_BELOW));
        }
        kept.push(project.into_scratch());
    }
    if report.wants("door, commands, log, show, blame") {
        let project = with_history(HISTORY)?;
        settle()?;
        let file = project.path(0);
        let mut look = |what: &str, args: &[&str], below: f64| -> anyhow::Result<()> {
            let cost = repeated(RUNS, || run(project.relay()?.args(args)))?;
            report.add(row(&format!("{what}, {HISTORY} transactions"), cost, below));
            Ok(())
        };
        look("log", &["log"], LOOK_BELOW)?;
        look("show", &["show", "1"], LOOK_BELOW)?;
        look("config show", &["config", "show"], LOOK_BELOW)?;
        look("blame", &["blame", &file], BLAME_BELOW)?;
        kept.push(project.into_scratch());
    }
    if report.wants("door, commands, start, init") {
        let project = Project::make(Kind::Code, 1, None)?;
        let cost = repeated(RUNS, || run(project.relay()?.arg("--version")))?;
        report.add(row("start", cost, LOOK_BELOW));
        kept.push(project.into_scratch());
        let cost = repeated(RUNS, || {
            let (scratch, mut command) = init()?;
            kept.push(scratch);
            run(&mut command)
        })?;
        report.add(row("init", cost, INIT_BELOW));
    }
    Ok(())
}

fn row(what: &str, cost: Cost, below: f64) -> Measured {
    let name = format!("door, commands, {what}");
    Measured::single(name, "ms", milliseconds(cost.processor))
        .below(below)
        .note(format!("processor; wall {:.1} ms", milliseconds(cost.wall)))
}
