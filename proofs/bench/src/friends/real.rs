//! `relay ask` with the real codex and a scripted model, beside the same conversation without relay: the
//! same lines that relay sends to its app-server, sent by this program. The cost of codex varies by more
//! than relay's, so relay's own share is held to the target, and the difference is shown.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail};
use relaycode_testkit::agents::{self, AgentScratch, InstalledAgent};
use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn};
use serde_json::Value;

use super::median_row;
use super::player::THREAD;
use super::stage::Stage;
use crate::child::{ended, run};
use crate::measure::{BenchReport, Measured, milliseconds};
use crate::startup::beside_this_one;

const PROCESSOR_BELOW: f64 = 20.0;
const RUNS: usize = 10;
/// As relay starts codex.
const SERVER: &[&str] = &[
    "app-server",
    "-c",
    "notify=[]",
    "-c",
    "features.hooks=false",
    "-c",
    "features.plugins=false",
    "-c",
    "features.apps=false",
    "-c",
    "features.memories=false",
    "-c",
    "check_for_update_on_startup=false",
    "-c",
    "analytics.enabled=false",
];

/// If codex is installed.
pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    let name = "friends, ask, the real codex";
    if !report.wants(name) {
        return Ok(());
    }
    let turns: Vec<ScriptedTurn> =
        (0..4 * RUNS).map(|_| ScriptedTurn::text("It is a project, and there is nothing in it.")).collect();
    let server = ScriptedServer::start(Script::new(turns));
    let scratch = AgentScratch::new();
    let codex = agents::find_by_name("codex").context("codex is not known")?;
    let resident = match scratch.install_agent(codex, &server.url()) {
        Ok(resident) => resident,
        Err(absent) => {
            report.add(Measured::single(name, "", 0.0).note(format!("not measured: {absent}")));
            return Ok(());
        }
    };
    let said = said()?;
    let (mut own, mut with, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let mut ask = resident.command(beside_this_one()?);
        let cost = run(ask.args(["ask", "--to", "codex", "--no-tree-check", "what is this"]))?;
        own.push(milliseconds(cost.processor));
        with.push(milliseconds(cost.with_children));
        bare.push(milliseconds(driven(&resident, &said)?));
    }
    let row = median_row(&format!("{name}, relay's own processor"), "ms", &own, Some(PROCESSOR_BELOW));
    report.add(row.note("; without the keeper"));
    let row = median_row(&format!("{name}, processor of all"), "ms", &with, None).plain(super::middle(bare));
    report.add(row.note("; plain: the same conversation without relay"));
    Ok(())
}

/// What relay sends to an app-server.
fn said() -> anyhow::Result<Vec<String>> {
    let stage = Stage::new("answer", "")?;
    run(stage.relay()?.args(["ask", "--to", "codex", "--no-tree-check", "what is this"]))?;
    let project = stage.project().canonicalize()?;
    let project = project.to_str().context("no text")?;
    Ok(stage.report()?.said.iter().map(|line| line.replace(project, "PROJECT")).collect())
}

/// Has the same conversation; returns its processor time.
fn driven(resident: &InstalledAgent, said: &[String]) -> anyhow::Result<Duration> {
    let mut command = resident.command(resident.program());
    command.args(SERVER).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let project = command.get_current_dir().context("no directory")?.canonicalize()?;
    let project = project.to_str().context("no text")?.to_owned();
    let mut child = command.spawn()?;
    let mut input = child.stdin.take().context("no input")?;
    let mut output = BufReader::new(child.stdout.take().context("no output")?).lines();
    let (mut thread, mut home) = (THREAD.to_owned(), "/nowhere".to_owned());
    for line in said {
        let line = line.replace("PROJECT", &project).replace(THREAD, &thread).replace("/nowhere", &home);
        let asked: Value = serde_json::from_str(&line)?;
        writeln!(input, "{line}")?;
        let is_turn = asked["method"] == "turn/start";
        let over = |heard: &Value| match is_turn {
            true => heard["method"] == "turn/completed",
            false => heard["id"] == asked["id"],
        };
        while asked.get("id").is_some() {
            let Some(heard) = output.next() else { bail!("codex ended in the middle") };
            let heard: Value = serde_json::from_str(&heard?)?;
            if let Some(id) = heard["result"]["thread"]["id"].as_str() {
                thread = id.to_owned();
            }
            if let Some(path) = heard["result"]["codexHome"].as_str() {
                home = path.to_owned();
            }
            if over(&heard) {
                break;
            }
        }
    }
    drop(input);
    ended(&mut child)
}
