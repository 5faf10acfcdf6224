//! An answer of 10,000 pieces, a thousand a second: what it costs, how late a frame is, and how many bytes go to the terminal.

use std::time::{Duration, Instant};

use anyhow::Context;
use relaycode_testkit::agents::{self, AgentScratch};
use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn};
use relaycode_testkit::screen::{TestScreen, on_terminal};

use super::stage::{COLUMNS, LIMIT, ROWS, TerminalStage};
use crate::measure::{BenchReport, Measured};

const PIECES: usize = 10_000;
/// Share of a core while it comes, in percent.
const PROCESSOR_BELOW: f64 = 15.0;
/// Milliseconds between two frames while pieces come.
const FRAME_BELOW: f64 = 50.0;
const END: &str = "The end of the answer.";
const PEERS: [&str; 2] = ["codex", "pi"];

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    let name = "terminal, 10,000 pieces";
    if report.wants(name) {
        let stage = TerminalStage::new()?;
        let screen = stage.start(&[])?;
        TerminalStage::wait_ready(&screen);
        stage.says(turn());
        let before = screen.usage().processor;
        let written = screen.raw().len();
        screen.type_keys("tell\r");
        let began = Instant::now();
        let gaps = frame_gaps(&screen);
        let took = began.elapsed();
        let processor = screen.usage().processor.saturating_sub(before);
        let share = processor.as_secs_f64() / took.as_secs_f64() * 100.0;
        let row = Measured::single(format!("{name}, processor"), "%", share).below(PROCESSOR_BELOW);
        report.add(row.note(format!("{:.1} s for the whole answer", took.as_secs_f64())));
        report.add(Measured::from_times(format!("{name}, between frames"), gaps).below(FRAME_BELOW));
        report.add(bytes_row(name, screen.raw().len() - written));
    }
    let peers: &[&str] = if report.peers { &PEERS } else { &[] };
    for peer in peers {
        let name = format!("terminal, {peer}, 10,000 pieces");
        if report.wants(&name) {
            measure_peer(report, peer, &name)?;
        }
    }
    Ok(())
}

fn turn() -> ScriptedTurn {
    let words = (0..PIECES).map(|at| match at % 40 {
        39 => format!("word{at}.\n\n"),
        _ => format!("word{at} "),
    });
    let pieces: Vec<String> = words.chain([END.to_string()]).collect();
    ScriptedTurn { chunk_delay_ms: 1, ..ScriptedTurn::pieces(pieces) }
}

fn text_bytes() -> usize {
    turn().text.deltas().iter().map(String::len).sum()
}

fn bytes_row(name: &str, bytes: usize) -> Measured {
    Measured::single(format!("{name}, bytes per byte of the answer"), "×", bytes as f64 / text_bytes() as f64)
        .note(format!("{bytes} bytes to the terminal"))
}

/// How long the terminal waited for each output until the end of the answer was there.
fn frame_gaps(screen: &TestScreen) -> Vec<Duration> {
    let mut gaps = Vec::new();
    let (mut last, mut seen) = (None, screen.raw().len());
    while !screen.text().contains(END) {
        let before = seen;
        screen.wait_for(|screen| screen.raw().len() > before, LIMIT);
        seen = screen.raw().len();
        // The first comes when the model begins.
        if let Some(last) = last.replace(Instant::now()) {
            gaps.push(Instant::now().duration_since(last));
        }
    }
    gaps
}

fn measure_peer(report: &mut BenchReport, peer: &str, name: &str) -> anyhow::Result<()> {
    let agent = agents::find_by_name(peer).with_context(|| format!("{peer} is not known"))?;
    let server = ScriptedServer::start(Script::new([]));
    let scratch = AgentScratch::new();
    let installed = match scratch.install_agent(agent, &server.url()) {
        Ok(installed) => installed,
        Err(absent) => {
            report.add(Measured::missing(name, absent));
            return Ok(());
        }
    };
    // As it is started for a prompt in a script, without its screen, an agent says little of that: its conversation is wanted.
    let bare = installed.command(installed.program());
    let mut command = on_terminal(installed.program());
    for (key, value) in bare.get_envs() {
        match value {
            Some(value) => command.env(key, value),
            None => command.env_remove(key),
        };
    }
    command.env("TERM", "xterm-256color").current_dir(scratch.project());
    server.push(&turn());
    let screen = TestScreen::start(command, COLUMNS, ROWS);
    if !settle(&screen) {
        report.add(Measured::missing(name, "it did not begin"));
        return Ok(());
    }
    // Whether the folder is trusted, and the like.
    screen.type_keys("\r");
    settle(&screen);
    let before = screen.usage().processor;
    let written = screen.raw().len();
    screen.type_keys("tell");
    settle(&screen);
    screen.type_keys("\r");
    let began = Instant::now();
    while !screen.text().contains(END) && began.elapsed() < LIMIT {
        std::thread::sleep(Duration::from_millis(50));
    }
    if !screen.text().contains(END) {
        report.add(Measured::missing(name, "its conversation did not show the answer"));
        return Ok(());
    }
    let processor = screen.usage().processor.saturating_sub(before);
    let share = processor.as_secs_f64() / began.elapsed().as_secs_f64() * 100.0;
    report.add(Measured::single(format!("{name}, processor"), "%", share).note("its own process alone"));
    report.add(bytes_row(name, screen.raw().len() - written));
    Ok(())
}

/// Waits until it writes nothing for a while; whether it wrote anything.
fn settle(screen: &TestScreen) -> bool {
    const QUIET: Duration = Duration::from_millis(1_500);
    let began = Instant::now();
    let (mut seen, mut since) = (0, Instant::now());
    while began.elapsed() < LIMIT && (seen == 0 || since.elapsed() < QUIET) {
        std::thread::sleep(Duration::from_millis(50));
        let now = screen.raw().len();
        if now != seen {
            (seen, since) = (now, Instant::now());
        }
    }
    seen > 0
}
