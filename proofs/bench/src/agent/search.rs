//! The tool `search` against ripgrep over the same tree: the same pattern, the same files, the same lines around each match. What
//! looking through one small file takes is not counted of either: a call of the model's for the one, a process for the other.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use relaycode_testkit::model::ScriptedTurn;
use serde_json::json;

use super::stage::AgentStage;
use crate::child::{Cost, run};
use crate::measure::{BenchReport, Measured, middle, milliseconds};
use crate::repository::write_sources;

/// Trees: how many files of how many bytes.
const TREES: [(&str, usize, usize); 2] =
    [("20000 files", 20_000, 10_000), ("4 files of 50 MB", 4, 50_000_000)];
/// What is looked for, and the line that is added here and there.
const PATTERN: &str = r"fn \w+_total\(";
const MATCH: &str = "fn basket_total(basket: &Basket) -> Money {\n";
/// Files of all that have such a line.
const MATCHING: usize = 50;
/// Calls of one run.
const CALLS: u32 = 10;
/// The file that is searched to know what a search costs beside the search.
const SMALL: &str = "small.txt";
const ROUNDS: usize = 5;
/// So much of ripgrep's time it may take.
const BELOW: f64 = 1.2;

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    for (what, files, size) in TREES {
        let name = format!("agent, search, {what}");
        if report.wants(&name) {
            compared(report, name, files, size)?;
        }
    }
    Ok(())
}

fn compared(report: &mut BenchReport, name: String, files: usize, size: usize) -> anyhow::Result<()> {
    let stage = AgentStage::new()?;
    let project = stage.project();
    write_sources(&project, files, size)?;
    for at in (0..files).step_by(files.div_ceil(MATCHING)) {
        let file = project.join(format!("part{:03}/file{at:05}.rs", at / 50));
        OpenOptions::new().append(true).open(file)?.write_all(MATCH.as_bytes())?;
    }
    fs::write(project.join(SMALL), MATCH)?;
    if Command::new("rg").arg("--version").stdout(Stdio::null()).status().is_err() {
        report.add(Measured::missing(name, "no rg"));
        return Ok(());
    }
    let config = "agent: {repeatLimit: 1000}\n";
    fs::write(stage.home().join("config.yml"), config)?;
    let (mut processor, mut wall) = (Vec::new(), Vec::new());
    let (mut rg_processor, mut rg_wall) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (all, none) = (searched(&stage, ".")?, searched(&stage, SMALL)?);
        let each = |time: fn(&Cost) -> f64| (time(&all) - time(&none)) / f64::from(CALLS);
        processor.push(each(|cost| milliseconds(cost.with_children)));
        wall.push(each(|cost| milliseconds(cost.wall)));
        let (all, none) = (ripgrep(&project, ".")?, ripgrep(&project, SMALL)?);
        rg_processor.push(milliseconds(all.with_children) - milliseconds(none.with_children));
        rg_wall.push(milliseconds(all.wall) - milliseconds(none.wall));
    }
    let (ours, theirs) = (middle(processor), middle(rg_processor));
    let note = format!(
        "processor: {ours:.0} ms, rg {theirs:.0}; wall: {:.0} ms, rg {:.0}",
        middle(wall),
        middle(rg_wall)
    );
    report.add(Measured::single(name, "×", ours / theirs).below(BELOW).note(note));
    Ok(())
}

fn searched(stage: &AgentStage, path: &str) -> anyhow::Result<Cost> {
    let call = ScriptedTurn::call("search", json!({ "pattern": PATTERN, "paths": [path] }));
    stage.run(&["Go"], [call.repeat(CALLS), ScriptedTurn::text("Done.")])
}

fn ripgrep(project: &Path, path: &str) -> anyhow::Result<Cost> {
    let settings = ["--no-config", "--hidden", "--glob=!.git", "--glob=!.relaycode", "-n", "-B1", "-A3"];
    run(Command::new("rg").args(settings).args([PATTERN, path]).current_dir(project))
}
