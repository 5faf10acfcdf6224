//! A whole answer over a socket: the scripted model server in one process, a client in another, and the
//! processor time of the client alone, its start included.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use relaycode_llm::message::{Message, UserMessage};
use relaycode_llm::request::Auth;
use relaycode_llm::stream::transport::ClientSettings;
use relaycode_llm::{ChatRequest, ModelClient, StreamOptions, StreamStep, wire};
use serde_json::json;

use super::{BELOW, DELTAS, RUNS, model};
use crate::child::{part, scratch, told};
use crate::measure::{BenchReport, Measured, milliseconds};
use crate::startup::beside_this_one;
use relaycode_testkit::clock::processor_time;

/// How long the server may take to listen.
const PATIENCE: Duration = Duration::from_secs(20);

/// Ends with the value.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Every wire.
pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    let name = |wire: &str, what: &str| format!("llm, {wire}, socket, {what}");
    let rows = [("each", 0), ("merged", 50)];
    let any = |wire: &str| rows.iter().any(|(what, _)| report.wants(&name(wire, what)));
    if !wire::ALL.iter().any(|wire| any(wire.id())) {
        return Ok(());
    }
    let scratch = scratch()?;
    let (_server, address) = start(scratch.path())?;
    for wire in wire::ALL {
        for (what, interval) in rows {
            let name = name(wire.id(), what);
            if !report.wants(&name) {
                continue;
            }
            let url = format!("{address}{}", beneath(wire.id()));
            let words = ["llm", "stream", wire.id(), &url, &interval.to_string()];
            let (times, told) = told(RUNS, &mut part(&words)?)?;
            let row = Measured::from_times(name, times).below(BELOW);
            report.add(row.note(format!("{DELTAS} deltas, {told}; processor of the client, {RUNS} runs")));
        }
    }
    Ok(())
}

/// Where the paths of a wire begin on the server.
fn beneath(wire: &str) -> &'static str {
    match wire {
        "google-generative-ai" => "/v1beta",
        "openai-completions" | "openai-responses" => "/v1",
        _ => "",
    }
}

/// With a turn for each request.
fn start(scratch: &Path) -> anyhow::Result<(Server, String)> {
    let pieces: Vec<&str> =
        ["The", " basket", ".total", "(\"", "ü", "\n    "].into_iter().cycle().take(DELTAS).collect();
    let turn = json!({ "text": pieces, "repeat": 2 * RUNS * wire::ALL.len() });
    let (script, port) = (scratch.join("script.json"), scratch.join("port"));
    fs::write(&script, json!({ "turns": [turn], "consume": "any" }).to_string())?;
    let program =
        beside_this_one()?.with_file_name(format!("relay-scripted-model{}", std::env::consts::EXE_SUFFIX));
    let mut command = Command::new(&program);
    command.arg("--script").arg(&script).arg("--port-file").arg(&port).stdout(Stdio::null());
    let server = Server(command.spawn().with_context(|| format!("cannot run {}", program.display()))?);
    let began = Instant::now();
    while !port.is_file() {
        ensure!(began.elapsed() < PATIENCE, "the scripted model server does not listen");
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok((server, format!("http://127.0.0.1:{}", fs::read_to_string(port)?.trim())))
}

/// Reads one answer; prints the processor time of this process in microseconds, and the result.
pub(super) fn stream(wire: &str, url: &str, interval: u64) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let start = Instant::now();
    let events = runtime.block_on(async {
        let client = ModelClient::new(&ClientSettings::default())
            .map_err(|failure| anyhow::anyhow!(failure.message))?;
        let question = Message::User(UserMessage::text("What does it say?", 0));
        let request = ChatRequest { messages: vec![question], ..ChatRequest::default() };
        let options =
            StreamOptions { delta_interval: Duration::from_millis(interval), ..StreamOptions::default() };
        let mut stream = client.stream(&model(wire, url), Auth::Key("k1".into()), request, options);
        let mut events = 0_usize;
        while let Some(step) = stream.next().await {
            events += usize::from(matches!(&step, StreamStep::Event(event) if event.is_delta()));
            std::hint::black_box(step);
        }
        if let Some(failure) = stream.failure() {
            bail!("{}", failure.message);
        }
        let said = stream.message().text().len();
        ensure!(said >= 3 * DELTAS, "only {said} bytes came");
        Ok(events)
    })?;
    let wall = milliseconds(start.elapsed());
    println!("{} {events} delta events, wall {wall:.0} ms", processor_time().as_micros());
    Ok(())
}
