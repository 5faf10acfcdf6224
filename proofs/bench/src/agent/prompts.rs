//! One prompt that is answered at once, and prompts for which the model calls the shell many times.

use std::fs;
use std::path::Path;

use anyhow::ensure;
use relaycode_testkit::model::ScriptedTurn;
use serde_json::json;

use super::stage::{AgentStage, bare, shell_turns};
use crate::child::Cost;
use crate::measure::{BenchReport, Measured, median_row, milliseconds};
use crate::repository::fill;
use crate::startup::peak;

/// Files of a project under git, and of a small one.
const FILES: usize = 2_000;
const FEW_FILES: usize = 20;
/// Bytes of each.
const FILE_BYTES: usize = 1_000;
/// Milliseconds of the processor, and megabytes at the peak.
const ONE_SHOT_BELOW: f64 = 50.0;
const ONE_SHOT_MEMORY_BELOW: f64 = 40.0;
const ONE_SHOTS: usize = 21;
/// Runs of what takes longer.
const FEW: usize = 5;

/// A prompt for which the shell is called again and again.
pub(super) struct ShellLoop {
    pub(super) name: &'static str,
    calls: usize,
    files: usize,
    line: fn(usize) -> String,
    /// Milliseconds of the processor for all of it.
    below: f64,
}

/// The file that commands change.
const CHANGED: &str = "part000/file00000.rs";

pub(super) static LOOPS: [ShellLoop; 3] = [
    ShellLoop {
        name: "50 commands that change a file, 2000 files",
        calls: 50,
        files: FILES,
        line: |number| format!("echo {number} >> {CHANGED}; ls | wc -l"),
        below: 1_000.0,
    },
    ShellLoop {
        name: "50 commands that change nothing, 2000 files",
        calls: 50,
        files: FILES,
        line: |number| format!("ls part{:03} | wc -l; : {number}", number % 40),
        below: 1_000.0,
    },
    ShellLoop {
        name: "120 commands of 4000 lines",
        calls: 120,
        files: FEW_FILES,
        line: |number| format!("seq {number} {}", number + 3_999),
        below: 2_000.0,
    },
];

impl ShellLoop {
    /// The turns of a model that calls the shell as `turn` says.
    pub(super) fn turns(&self, turn: impl Fn(ScriptedTurn, &str) -> ScriptedTurn) -> Vec<ScriptedTurn> {
        shell_turns(self.calls, self.line, turn)
    }

    /// The project that they run in.
    pub(super) fn fill(&self, project: &Path) -> anyhow::Result<()> {
        fill(project, self.files, FILE_BYTES)
    }

    /// What the commands take by themselves; the project is as before.
    pub(super) fn bare(&self, project: &Path) -> anyhow::Result<f64> {
        let before = changed_file(project)?;
        let costs = bare(project, self.calls, self.line)?;
        fs::write(project.join(CHANGED), before)?;
        Ok(costs.iter().map(|cost| milliseconds(cost.with_children)).sum())
    }

    /// Fails unless every command ran once, and makes the file as it was.
    pub(super) fn check(&self, project: &Path, before: &str) -> anyhow::Result<()> {
        let wanted: String = (0..self.calls).map(|number| format!("{number}\n")).collect();
        let now = fs::read_to_string(project.join(CHANGED))?;
        let is_right = if (self.line)(0).contains(CHANGED) {
            now.strip_prefix(before) == Some(&wanted)
        } else {
            now == before
        };
        ensure!(is_right, "not every command of `{}` ran once", self.name);
        fs::write(project.join(CHANGED), before)?;
        Ok(())
    }
}

/// What the file holds that commands change.
pub(super) fn changed_file(project: &Path) -> anyhow::Result<String> {
    Ok(fs::read_to_string(project.join(CHANGED))?)
}

fn shell_call(turn: ScriptedTurn, line: &str) -> ScriptedTurn {
    turn.tool("bash", json!({ "command": line }))
}

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    let one_shot = "agent, one-shot";
    if report.wants(one_shot) {
        let stage = AgentStage::new()?;
        fill(&stage.project(), FILES, FILE_BYTES)?;
        let mut costs = Vec::new();
        for _ in 0..ONE_SHOTS {
            costs.push(stage.run(&["hi"], [ScriptedTurn::text("Hello.")])?);
        }
        report.add(processor_row(&format!("{one_shot}, processor"), &costs, Some(ONE_SHOT_BELOW)));
        stage.says([ScriptedTurn::text("Hello.")]);
        memory_row(report, one_shot, &stage, &["hi"], Some(ONE_SHOT_MEMORY_BELOW))?;
    }
    for shell in &LOOPS {
        let name = format!("agent, {}", shell.name);
        if report.wants(&name) {
            looped(report, &name, shell)?;
        }
    }
    Ok(())
}

fn looped(report: &mut BenchReport, name: &str, shell: &ShellLoop) -> anyhow::Result<()> {
    let stage = AgentStage::new()?;
    shell.fill(&stage.project())?;
    let before = changed_file(&stage.project())?;
    let (mut costs, mut alone) = (Vec::new(), Vec::new());
    for _ in 0..FEW {
        costs.push(stage.run(&["Go"], shell.turns(shell_call))?);
        shell.check(&stage.project(), &before)?;
        alone.push(shell.bare(&stage.project())?);
    }
    let row = processor_row(&format!("{name}, processor"), &costs, Some(shell.below));
    report.add(row.plain(crate::measure::middle(alone)).note("; plain: the bare commands"));
    stage.says(shell.turns(shell_call));
    memory_row(report, name, &stage, &["Go"], None)
}

/// What all processes took.
pub(super) fn processor_row(name: &str, costs: &[Cost], below: Option<f64>) -> Measured {
    let all: Vec<f64> = costs.iter().map(|cost| milliseconds(cost.with_children)).collect();
    let own: Vec<f64> = costs.iter().map(|cost| milliseconds(cost.processor)).collect();
    let wall: Vec<f64> = costs.iter().map(|cost| milliseconds(cost.wall)).collect();
    let (own, wall) = (crate::measure::middle(own), crate::measure::middle(wall));
    median_row(name, "ms", &all, below).note(format!("; the program alone {own:.0}, wall {wall:.0}"))
}

/// The peak of another run.
pub(super) fn memory_row(
    report: &mut BenchReport,
    name: &str,
    stage: &AgentStage,
    words: &[&str],
    below: Option<f64>,
) -> anyhow::Result<()> {
    if let Some(megabytes) = peak(&stage.relay(words)?)? {
        report.add(Measured::single(format!("{name}, memory"), "MB", megabytes).below(below));
    }
    Ok(())
}
