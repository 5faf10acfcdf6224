//! Agents of other projects: the same prompts, the same commands through their own shell tools, the same scripted model. They run
//! without a sandbox, keep no session where they have a switch for that, and have no undo of what a command does.

use std::fs::{self, File};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use relaycode_testkit::agents::{self, AgentScratch, InstalledAgent, RealAgent};
use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn};

use super::prompts::{LOOPS, ShellLoop, changed_file, processor_row};
use crate::child::{Cost, run_with};
use crate::measure::{BenchReport, Measured};

const PEERS: [&str; 3] = ["codex", "claude", "pi"];
const ONE_SHOTS: usize = 7;
const LOOP_RUNS: usize = 3;

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    if !report.peers {
        return Ok(());
    }
    for name in PEERS {
        let title = format!("agent, {name}");
        let agent = agents::find_by_name(name).with_context(|| format!("{name} is not known"))?;
        if let Err(absent) = agents::find(agent) {
            if report.wants(&title) {
                report.add(Measured::missing(title, absent));
            }
            continue;
        }
        one_shot(report, agent, &format!("{title}, one-shot"))?;
        for shell in &LOOPS {
            looped(report, agent, shell, &format!("{title}, {}", shell.name))?;
        }
    }
    Ok(())
}

fn one_shot(report: &mut BenchReport, agent: &'static dyn RealAgent, name: &str) -> anyhow::Result<()> {
    if !report.wants(name) {
        return Ok(());
    }
    let peer = PeerStage::new(agent)?;
    LOOPS[0].fill(&peer.scratch.project())?;
    let turns = || vec![ScriptedTurn::text("Hello.")];
    // The first start makes what the others find.
    peer.run(&turns())?;
    let costs: Vec<Cost> =
        std::iter::repeat_with(|| peer.run(&turns())).take(ONE_SHOTS).collect::<anyhow::Result<_>>()?;
    report.add(processor_row(&format!("{name}, processor"), &costs, None));
    report.add(Measured::single(format!("{name}, memory"), "MB", peer.peak(&turns())?));
    Ok(())
}

fn looped(
    report: &mut BenchReport,
    agent: &'static dyn RealAgent,
    shell: &ShellLoop,
    name: &str,
) -> anyhow::Result<()> {
    if !report.wants(name) {
        return Ok(());
    }
    let peer = PeerStage::new(agent)?;
    let project = peer.scratch.project();
    shell.fill(&project)?;
    let before = changed_file(&project)?;
    let turns = || shell.turns(|turn, line| agent.shell_call_turn(turn, line));
    peer.run(&[ScriptedTurn::text("Hello.")])?;
    let mut costs = Vec::new();
    for _ in 0..LOOP_RUNS {
        costs.push(peer.run(&turns())?);
        shell.check(&project, &before)?;
    }
    let row = processor_row(&format!("{name}, processor"), &costs, None);
    report.add(row.plain(shell.bare(&project)?).note("; plain: the bare commands"));
    report.add(Measured::single(format!("{name}, memory"), "MB", peer.peak(&turns())?));
    Ok(())
}

/// An agent in a home and a project of its own.
struct PeerStage {
    agent: &'static dyn RealAgent,
    installed: InstalledAgent,
    server: ScriptedServer,
    scratch: AgentScratch,
}

impl PeerStage {
    fn new(agent: &'static dyn RealAgent) -> anyhow::Result<PeerStage> {
        let server = ScriptedServer::start(Script::new([]));
        let scratch = AgentScratch::new();
        let installed = scratch.install_agent(agent, &server.url())?;
        Ok(PeerStage { agent, installed, server, scratch })
    }

    fn run(&self, turns: &[ScriptedTurn]) -> anyhow::Result<Cost> {
        turns.iter().for_each(|turn| self.server.push(turn));
        let mut command = self.installed.command(self.installed.program());
        let cost = run_with(command.args(self.agent.arguments()), self.prompt()?)?;
        let left = self.server.turns_left();
        ensure!(left == 0, "{}: {left} answers of the model were not asked for", self.agent.name());
        Ok(cost)
    }

    fn prompt(&self) -> anyhow::Result<Stdio> {
        let file = self.scratch.home().join("prompt.txt");
        fs::write(&file, "hi\n")?;
        Ok(File::open(file)?.into())
    }

    /// Megabytes at the peak of another run.
    fn peak(&self, turns: &[ScriptedTurn]) -> anyhow::Result<f64> {
        turns.iter().for_each(|turn| self.server.push(turn));
        let mut asks: Command = self.installed.command(std::env::current_exe()?);
        asks.arg("--peak-of").arg(self.installed.program()).args(self.agent.arguments());
        let output = asks.stdin(self.prompt()?).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let kilobytes: f64 = text.trim().lines().last().unwrap_or_default().parse().context("no peak")?;
        Ok(kilobytes * 1024.0 / 1e6)
    }
}
