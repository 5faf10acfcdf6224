//! relay's own agent, SIGKILLed at any moment of a scripted run: its session goes on, every result that it told is in it,
//! nothing of it still runs, and what it changed is taken back whole.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn};
use relaycode_testkit::process::poll_until;
use relaycode_testkit::process_table::find_processes;
use relaycode_testkit::random::Random;
use serde_json::{Value, json};

use super::Layer;
use crate::relay::{self, Ran};
use crate::scenario::ScenarioId;
use crate::snapshot::Snapshot;
use crate::world::World;

pub(super) struct AgentRuns;

/// Kills: in a quick run, and in a full one.
const KILLS: (u64, u64) = (10, 500);
/// Answers of the model that call tools.
const TURNS: usize = 6;
/// Calls of one of them.
const CALLS: usize = 3;
/// Microseconds between a request and the kill.
const WAIT_MOST: usize = 25_000;
/// How long a process may take to go.
const PATIENCE: Duration = Duration::from_secs(20);
/// So many changes are there at most to be undone.
const UNDO_MOST: usize = 8;

impl Layer for AgentRuns {
    type Case = ScenarioId;
    type Setup = ();
    const NAME: &'static str = "agent";
    const ABOUT: &'static str =
        "SIGKILL in a run of relay's own agent: the session goes on, no result lost, every prompt undone";
    const QUICK_SECONDS: u64 = 60;

    fn base(world: &World) -> &Path {
        &world.disk
    }

    fn cases(world: &World, (): &()) -> anyhow::Result<Vec<ScenarioId>> {
        Ok((0..world.choose(KILLS.0, KILLS.1)).map(|at| world.scenario(at)).collect())
    }

    fn check(world: &World, (): &(), room: &Path, id: &ScenarioId) -> anyhow::Result<u64> {
        let mut random = id.random();
        let project = relay::furnish(room)?;
        for at in 0..CALLS {
            fs::write(project.join(format!("file-{at}.txt")), format!("{at}\n{:x}\n", random.number()))?;
        }
        let before = Snapshot::of(&project)?;
        let told = kill_run(world, room, &mut random).context("the run that is killed")?;
        nothing_runs(room)?;
        resume(world, room, &told).context("the run after it")?;
        undo_everything(world, room)?;
        let after = Snapshot::of(&project)?;
        ensure!(after == before, "undone, and yet {}", after.differences(&before));
        Ok(1 + told.len() as u64)
    }
}

/// The results that were told before the kill.
fn kill_run(world: &World, room: &Path, random: &mut Random) -> anyhow::Result<BTreeSet<String>> {
    let turns = (0..TURNS).map(|_| {
        (0..1 + random.below(CALLS)).fold(ScriptedTurn::text("On it."), |turn, _| {
            // Each path is a word of its own, which the result names.
            let path = match random.below(4) {
                0 => format!("file-{}.txt", random.below(CALLS)),
                _ => format!("made-{:016x}.txt", random.number()),
            };
            turn.tool("write", json!({"path": path, "content": format!("{:x}\n", random.number())}))
        })
    });
    let turns: Vec<ScriptedTurn> = turns.chain([ScriptedTurn::text("Done.")]).collect();
    let server = ScriptedServer::start(Script::any(turns));
    let enough = random.below(TURNS + 2);
    let wait = Duration::from_micros(random.below(WAIT_MOST) as u64);
    let mut child = relay::start(&mut command(world, room, &server, &["Work"])?, room)?;
    let began = Instant::now();
    while server.requests().len() < enough && child.try_wait()?.is_none() && began.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_micros(300));
    }
    std::thread::sleep(wait);
    child.kill()?;
    let ran = relay::ended(room, child.wait()?);
    ensure!(ran.killed() || ran.code == Some(0), "it ended by itself with {}", ran.told());
    // The last line may be cut off.
    let events = ran.out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let results = events.filter(|event| {
        event["type"] == "message_end"
            && event["message"]["role"] == "toolResult"
            && event["message"]["isError"] == false
    });
    let texts =
        results.filter_map(|event| event["message"]["content"][0]["text"].as_str().map(str::to_owned));
    // The first line, which no call says: `Successfully wrote 17 bytes to made-….txt`.
    Ok(texts.filter_map(|text| text.lines().next().map(str::to_owned)).collect())
}

fn nothing_runs(room: &Path) -> anyhow::Result<()> {
    let marker = room.join("home").display().to_string();
    let left = || find_processes(|process| process.contains_text(&marker));
    let gone = poll_until(PATIENCE, || left().is_empty().then_some(()));
    ensure!(gone.is_some(), "still running: {:?}", left());
    Ok(())
}

/// The session goes on, and the model reads of everything that was told.
fn resume(world: &World, room: &Path, told: &BTreeSet<String>) -> anyhow::Result<()> {
    let server = ScriptedServer::start(Script::any([ScriptedTurn::text("Going on.")]));
    let mut ran = relay::finish(command(world, room, &server, &["--continue", "Go on"])?, room)?;
    if told.is_empty() && ran.code == Some(2) {
        // It had not said anything yet: there is no session.
        ran = relay::finish(command(world, room, &server, &["Go on"])?, room)?;
    }
    ensure!(ran.code == Some(0), "it ended with {}", ran.told());
    let requests = server.requests();
    let sent = requests.first().context("the model was not asked")?.body.to_string();
    let lost: Vec<&String> = told.iter().filter(|line| !sent.contains(line.as_str())).collect();
    ensure!(lost.is_empty(), "results were told and are lost: {lost:?}");
    Ok(())
}

fn undo_everything(world: &World, room: &Path) -> anyhow::Result<()> {
    for _ in 0..UNDO_MOST {
        let ran: Ran = relay::run(&world.relay, room, &relay::Do::Undo)?;
        match ran.code {
            Some(0) => {}
            // Nothing is left.
            Some(2) => return Ok(()),
            _ => anyhow::bail!("an undo ended with {}", ran.told()),
        }
    }
    anyhow::bail!("one prompt is more than {UNDO_MOST} undos")
}

/// `relay run` in a room whose only model is this server.
fn command(world: &World, room: &Path, server: &ScriptedServer, words: &[&str]) -> anyhow::Result<Command> {
    let home = room.join("home/.relaycode");
    fs::create_dir_all(&home)?;
    let file = format!(
        "providers:\n  work:\n    baseUrl: {}\n    api: anthropic-messages\n    apiKey: sk-test-0123456789\n    models:\n      \
         - {{id: m1}}\nroles: {{default: work/m1}}\n",
        server.url()
    );
    fs::write(home.join("models.yml"), file)?;
    let mut command = Command::new(&world.relay);
    command.arg("-C").arg(room.join("project")).args(["run", "--json"]).args(words);
    relay::in_room(&mut command, room);
    Ok(command)
}
