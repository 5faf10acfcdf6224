//! The commands around an apply: how long a user waits for the ones that only look, and for setting up.

use tempfile::TempDir;

use super::applying::milliseconds;
use super::project::{Form, Kind, Project, init, settle, with_history};
use crate::child::{Cost, median, run};
use crate::measure::Measured;

/// Processor time to stay below, in milliseconds: for what looks, for setting up, for two hundred files that
/// are only planned, and for asking a hundred transactions about every line of a file.
const LOOK_BELOW: f64 = 10.0;
const INIT_BELOW: f64 = 15.0;
const PREVIEW_BELOW: f64 = 60.0;
const BLAME_BELOW: f64 = 50.0;
/// Transactions of the file that is asked about.
const HISTORY: usize = 100;
/// Files of a large change.
const FILES: usize = 200;
/// Runs of which the median counts.
const RUNS: usize = 15;

/// Measures them.
pub(super) fn measure(
    wanted: &dyn Fn(&str) -> bool,
    keep: &mut impl FnMut(Measured),
    kept: &mut Vec<TempDir>,
) -> anyhow::Result<()> {
    if wanted("door, commands, preview") {
        let mut project = Project::make(Kind::Code, FILES, None)?;
        settle()?;
        for form in Form::ALL {
            let costs = repeated(|| project.preview(form, &["--no-syntax"]))?;
            keep(row(&format!("preview of {FILES} .ts, {}", form.name()), &costs, PREVIEW_BELOW));
        }
        kept.push(project.into_scratch());
    }
    if wanted("door, commands, log, show, blame") {
        let project = with_history(HISTORY)?;
        settle()?;
        let file = project.path(0);
        let mut look = |what: &str, args: &[&str], below: f64| -> anyhow::Result<()> {
            let costs = repeated(|| run(project.relay()?.args(args)))?;
            keep(row(&format!("{what}, {HISTORY} transactions"), &costs, below));
            Ok(())
        };
        look("log", &["log"], LOOK_BELOW)?;
        look("show", &["show", "1"], LOOK_BELOW)?;
        look("config show", &["config", "show"], LOOK_BELOW)?;
        look("blame", &["blame", &file], BLAME_BELOW)?;
        kept.push(project.into_scratch());
    }
    if wanted("door, commands, start, init") {
        let project = Project::make(Kind::Code, 1, None)?;
        let costs = repeated(|| run(project.relay()?.arg("--version")))?;
        keep(row("start", &costs, LOOK_BELOW));
        kept.push(project.into_scratch());
        let costs = repeated(|| {
            let (scratch, mut command) = init()?;
            kept.push(scratch);
            run(&mut command)
        })?;
        keep(row("init", &costs, INIT_BELOW));
    }
    Ok(())
}

fn repeated(mut once: impl FnMut() -> anyhow::Result<Cost>) -> anyhow::Result<Vec<Cost>> {
    (0..RUNS).map(|_| once()).collect()
}

fn row(what: &str, costs: &[Cost], below: f64) -> Measured {
    let cost = median(costs);
    let name = format!("door, commands, {what}");
    let mut measured = Measured::single(name, "ms", milliseconds(cost.processor), Some(below));
    measured.note = format!("processor; wall {:.1} ms", milliseconds(cost.wall));
    measured
}
