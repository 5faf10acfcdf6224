//! A program that plays codex's app-server: it answers at once, and finally reports its own cost, and what
//! the system says about its parent, the keeper, and the keeper's parent, relay.

use std::fs;
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Pieces of a long answer, as many as a talkative agent sends in an hour.
pub(super) const PIECES: usize = 20_000;
/// The thread id, by which a recorded conversation is recognised.
pub(super) const THREAD: &str = "01a1de0c-0000-7000-8000-000000000001";
/// A file beside the report, created when a turn has begun.
pub(super) const BEGUN: &str = "begun";
const TURN: &str = "01a1de0c-0000-7000-8000-000000000002";

/// What a player reports at its end.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Report {
    /// Its own processor time.
    pub(super) processor: Duration,
    pub(super) keeper: Seen,
    pub(super) relay: Seen,
    /// Every line it received.
    pub(super) said: Vec<String>,
}

/// What the system says about a process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Seen {
    /// Peak memory in kilobytes.
    pub(super) peak: f64,
    pub(super) threads: f64,
}

/// Plays until the end of its input.
pub(super) fn play(play: &str, report: &Path) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let mut said = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let request: Value = serde_json::from_str(&line)?;
        if let Some(id) = request.get("id") {
            let method = request["method"].as_str().unwrap_or_default();
            let answer = json!({"id": id, "result": answer(method, &request["params"])?});
            writeln!(out, "{answer}")?;
            match method {
                "turn/start" => turn(play, &mut out)?,
                "turn/interrupt" if play == "wait" => end(&mut out, "interrupted", "")?,
                _ => {}
            }
            out.flush()?;
            if method == "turn/start" {
                fs::write(report.with_file_name(BEGUN), "")?;
            }
        }
        said.push(line);
    }
    let parent = std::os::unix::process::parent_id();
    let (keeper, relay) = (status(&parent.to_string())?, status(&parent_of(parent)?)?);
    let processor = Duration::from(clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)?);
    let told = serde_json::to_vec(&Report { processor, keeper, relay, said })?;
    Ok(fs::write(report, told)?)
}

fn answer(method: &str, params: &Value) -> anyhow::Result<Value> {
    Ok(match method {
        "initialize" => json!({"userAgent": "relay/0.166.0 (a player)", "codexHome": "/nowhere"}),
        "account/read" => json!({"account": null, "requiresOpenaiAuth": false}),
        "config/read" => json!({"config": {}}),
        "thread/start" => {
            let profile = &params["config"]["default_permissions"];
            let files = format!("permissions.{}.filesystem", profile.as_str().unwrap_or_default());
            let writes = !params["config"][&files][":workspace_roots"].is_null();
            let sandbox = if writes {
                json!({
                    "type": "workspaceWrite", "networkAccess": false, "excludeSlashTmp": true,
                    "excludeTmpdirEnvVar": true, "writableRoots": [],
                })
            } else {
                json!({"type": "readOnly", "networkAccess": false})
            };
            json!({
                "thread": {"id": THREAD}, "model": "m", "cwd": params["cwd"], "approvalPolicy": params["approvalPolicy"],
                "approvalsReviewer": "user", "sandbox": sandbox, "activePermissionProfile": {"id": profile},
            })
        }
        "turn/start" => json!({"turn": {"id": TURN, "items": [], "status": "inProgress", "error": null}}),
        "turn/interrupt" => json!({}),
        other => bail!("`{other}` is not played"),
    })
}

/// The events of the turn.
fn turn(play: &str, out: &mut impl Write) -> anyhow::Result<()> {
    let pieces = match play {
        // They think and never finish; one of them not even when asked to.
        "wait" | "deaf" => return Ok(()),
        "answer" => 50,
        "long" => PIECES,
        "change" => {
            fs::write("changed-by-the-player.txt", "one line\n")?;
            3
        }
        other => bail!("there is no play `{other}`"),
    };
    let text: String = (0..pieces).map(piece).collect();
    tell(
        out,
        "turn/started",
        json!({"turn": {"id": TURN, "items": [], "status": "inProgress", "error": null}}),
    )?;
    tell(out, "item/started", json!({"item": item("")}))?;
    for at in 0..pieces {
        tell(out, "item/agentMessage/delta", json!({"itemId": "m", "delta": piece(at)}))?;
    }
    tell(out, "item/completed", json!({"item": item(&text)}))?;
    end(out, "completed", &text)
}

fn end(out: &mut impl Write, status: &str, text: &str) -> anyhow::Result<()> {
    let turn = json!({"id": TURN, "items": [item(text)], "status": status, "error": null});
    tell(out, "turn/completed", json!({"turn": turn}))
}

fn item(text: &str) -> Value {
    json!({"type": "agentMessage", "id": "m", "text": text, "phase": null})
}

fn tell(out: &mut impl Write, method: &str, mut params: Value) -> anyhow::Result<()> {
    params["threadId"] = THREAD.into();
    params["turnId"] = TURN.into();
    Ok(writeln!(out, "{}", json!({"method": method, "params": params}))?)
}

fn piece(at: usize) -> String {
    format!("word {at} and others, ")
}

fn status(pid: &str) -> anyhow::Result<Seen> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let value = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).context("no such line")
    };
    Ok(Seen { peak: value("VmHWM")?, threads: value("Threads")? })
}

fn parent_of(pid: u32) -> anyhow::Result<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"));
    Ok(line.context("no parent")?.trim().to_owned())
}
