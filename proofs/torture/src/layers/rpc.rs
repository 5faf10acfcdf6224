//! `relay rpc`, with SIGKILL for either side at any moment of a scripted run with calls that the program itself answers: the
//! session goes on, every call in it has a result, every message that was told is in it, nothing of it still runs.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::{Context, ensure};
use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn};
use relaycode_testkit::process::poll_until;
use relaycode_testkit::process_table::find_processes;
use relaycode_testkit::random::Random;
use serde_json::{Value, json};

use super::Layer;
use crate::relay;
use crate::scenario::ScenarioId;
use crate::world::World;

pub(super) struct RpcRuns;

/// Kills: in a quick run, and in a full one.
const KILLS: (u64, u64) = (20, 1_000);
/// Answers of the model that call tools.
const TURNS: usize = 6;
/// Frames between the prompt and the kill, and then microseconds.
const FRAMES_MOST: usize = 40;
const WAIT_MOST: usize = 10_000;
/// How long a frame, or the end of a process, may take.
const PATIENCE: Duration = Duration::from_secs(30);

impl Layer for RpcRuns {
    type Case = ScenarioId;
    type Setup = ();
    const NAME: &'static str = "rpc";
    const ABOUT: &'static str =
        "SIGKILL for relay rpc, or its program gone: the session goes on, nothing told is lost, nothing runs";
    const QUICK_SECONDS: u64 = 60;

    fn base(world: &World) -> &Path {
        &world.disk
    }

    fn cases(world: &World, (): &()) -> anyhow::Result<Vec<ScenarioId>> {
        Ok((0..world.choose(KILLS.0, KILLS.1)).map(|at| world.scenario(at)).collect())
    }

    fn check(world: &World, (): &(), room: &Path, id: &ScenarioId) -> anyhow::Result<u64> {
        let mut random = id.random();
        relay::furnish(room)?;
        let told = kill_run(world, room, &mut random).context("the run that is killed")?;
        nothing_runs(room)?;
        resume(world, room, &told).context("the run after it")?;
        nothing_runs(room)?;
        Ok(1 + told.len() as u64)
    }
}

/// The entries of messages that were told before the kill.
fn kill_run(world: &World, room: &Path, random: &mut Random) -> anyhow::Result<BTreeSet<String>> {
    let turns = (0..TURNS).map(|_| match random.below(3) {
        0 => ScriptedTurn::call("ticket", json!({})).tool("ticket", json!({})),
        1 => ScriptedTurn::call("bash", json!({"command": "echo hi; sleep 0.01 & true"})),
        _ => ScriptedTurn::call(
            "write",
            json!({"path": format!("{:x}.txt", random.number()), "content": "x\n"}),
        ),
    });
    let turns: Vec<ScriptedTurn> = turns.chain([ScriptedTurn::text("Done.")]).collect();
    let server = ScriptedServer::start(Script::any(turns));
    let mut command = command(world, room, &server, &["rpc"])?;
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut input = child.stdin.take().context("no stdin")?;
    let frames = read_frames(child.stdout.take().context("no stdout")?);
    let parameters = json!({"type": "object", "properties": {}});
    let tool =
        json!({"name": "ticket", "description": "A ticket.", "parameters": parameters, "readOnly": true});
    writeln!(input, "{}", json!({"id": 1, "type": "set_host_tools", "tools": [tool]}))?;
    writeln!(input, "{}", json!({"id": 2, "type": "prompt", "message": "Work"}))?;
    let mut told = BTreeSet::new();
    let mut see = |frame: &Value| {
        if let Some(entry) = frame["event"]["entryId"].as_str() {
            told.insert(entry.to_owned());
        }
    };
    let answers = random.below(2 * TURNS);
    for at in 0..random.below(FRAMES_MOST) {
        let Ok(frame) = frames.recv_timeout(PATIENCE) else { break };
        see(&frame);
        if frame["event"]["type"] == "agent_end" {
            break;
        }
        // Some calls stay without an answer.
        if frame["type"] == "host_tool_call" {
            if at > answers {
                break;
            }
            writeln!(
                input,
                "{}",
                json!({"type": "host_tool_result", "id": frame["id"], "content": "wrong total"})
            )?;
        }
    }
    std::thread::sleep(Duration::from_micros(random.below(WAIT_MOST) as u64));
    if random.below(3) == 0 {
        // The program dies: both pipes are closed, and relay ends by itself.
        drop(input);
        let ended = poll_until(PATIENCE, || child.try_wait().ok().flatten());
        ensure!(ended.is_some_and(|status| status.code() == Some(0)), "it ended with {ended:?}");
    } else {
        child.kill()?;
        child.wait()?;
    }
    frames.iter().for_each(|frame| see(&frame));
    Ok(told)
}

fn read_frames(output: impl std::io::Read + Send + 'static) -> Receiver<Value> {
    let (sender, frames) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            // The last line may be cut off.
            let Ok(frame) = serde_json::from_str(&line) else { return };
            if sender.send(frame).is_err() {
                return;
            }
        }
    });
    frames
}

fn nothing_runs(room: &Path) -> anyhow::Result<()> {
    let marker = room.join("home").display().to_string();
    let left = || find_processes(|process| process.contains_text(&marker));
    let gone = poll_until(PATIENCE, || left().is_empty().then_some(()));
    ensure!(gone.is_some(), "still running: {:?}", left());
    Ok(())
}

/// The session goes on, has every message that was told, and a result for each call.
fn resume(world: &World, room: &Path, told: &BTreeSet<String>) -> anyhow::Result<()> {
    let server = ScriptedServer::start(Script::any([ScriptedTurn::text("Going on.")]));
    let ran = relay::finish(command(world, room, &server, &["run", "--json", "--continue", "Go on"])?, room)?;
    if told.is_empty() && ran.code == Some(2) {
        // It had not said anything yet: there is no session.
        return Ok(());
    }
    ensure!(ran.code == Some(0), "it ended with {}", ran.told());
    let requests = server.requests();
    let sent = requests.first().context("the model was not asked")?.body.to_string();
    let (calls, results) = (sent.matches("\"tool_use\"").count(), sent.matches("\"tool_result\"").count());
    ensure!(calls == results, "{calls} calls have {results} results");
    let home = room.join("home/.relaycode/sessions");
    let text = read_all(&home)?;
    let lost: Vec<&String> = told.iter().filter(|entry| !text.contains(entry.as_str())).collect();
    ensure!(lost.is_empty(), "messages were told and are lost: {lost:?}");
    Ok(())
}

/// Every session file.
fn read_all(directory: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    for entry in fs::read_dir(directory).with_context(|| directory.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            text.push_str(&read_all(&path)?);
        } else if path.extension().is_some_and(|end| end == "jsonl") {
            text.push_str(&String::from_utf8_lossy(&fs::read(&path)?));
        }
    }
    Ok(text)
}

/// relay in a room whose only model is this server.
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
    command.arg("-C").arg(room.join("project")).args(words);
    relay::in_room(&mut command, room);
    Ok(command)
}
