//! `relay rpc`: what ten thousand events a second cost on a processor, and what a program that never reads costs in memory. The
//! server runs in a process of its own, with an agent that nobody prompts; what is said to it is an event.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use relaycode_agent::stream_rules::StreamRules;
use relaycode_agent::{Agent, AgentHandle, AgentModel, AgentParts, AgentSettings, SessionTitles, UserPrompt};
use relaycode_door::Door;
use relaycode_durable::{Fs, RealFs};
use relaycode_exec::Runner;
use relaycode_ledger::{Ledger, LedgerSettings};
use relaycode_llm::request::{Auth, ThinkingLevel};
use relaycode_llm::stream::transport::ClientSettings;
use relaycode_llm::{Model, ModelClient};
use relaycode_project::config;
use relaycode_servers::rpc::{
    ChangeStep, ChangeStepData, ExportData, OpenedAgent, RpcBackend, RpcError, RpcErrorCode, RpcServerSeed,
    SessionTarget,
};
use relaycode_session::{Session, SessionHeader};
use relaycode_testkit::clock::processor_time;
use relaycode_tools::{Host, ToolWorkspace};

use crate::child::{part, scratch};
use crate::measure::{BenchReport, Measured};

/// Events a second, for so long.
const RATE: u64 = 10_000;
const SECONDS: u64 = 5;
/// Percent of a core.
const BELOW_PERCENT: f64 = 20.0;
/// Events that a program does not read, and megabytes for them.
const UNREAD: u64 = 100_000;
const BELOW_MB: f64 = 10.0;
/// Bytes of what is said.
const TEXT: usize = 40;

const PROCESSOR: &str = "rpc, 10 000 events a second";
const MEMORY: &str = "rpc, program that never reads";

pub(super) fn measure(report: &mut BenchReport) -> anyhow::Result<()> {
    if report.wants(PROCESSOR) {
        let value = child_value(&["rpc", "events"])?;
        let row = Measured::single(PROCESSOR, "%", value).below(BELOW_PERCENT);
        report.add(row.note(format!("of a core over {SECONDS} s, publishing and reading by `cat` included")));
    }
    if report.wants(MEMORY) {
        let value = child_value(&["rpc", "unread"])?;
        let row = Measured::single(MEMORY, "MB", value).below(BELOW_MB);
        report.add(row.note(format!("grown over {UNREAD} events, with what the agent keeps of them")));
    }
    Ok(())
}

fn child_value(words: &[&str]) -> anyhow::Result<f64> {
    let output = part(words)?.output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    said.trim()
        .parse()
        .with_context(|| format!("it said {said:?} {}", String::from_utf8_lossy(&output.stderr)))
}

/// The part that runs in a separate process.
pub(super) fn as_child(words: &[&str]) -> anyhow::Result<()> {
    match words {
        ["events"] => {
            let mut reader = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
            let output = reader.stdin.take().context("no stdin")?;
            let (_scratch, _input, handle) = serve(output)?;
            let (before, began) = (processor_time(), Instant::now());
            for at in 0..RATE * SECONDS / 2 {
                publish(&handle);
                // Two events each.
                let due = began + Duration::from_micros(at * 2_000_000 / RATE);
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
            }
            let (used, took) = (processor_time() - before, began.elapsed());
            println!("{:.3}", 100.0 * used.as_secs_f64() / took.as_secs_f64());
        }
        ["unread"] => {
            let (output, server_out) = std::io::pipe()?;
            let (_scratch, _input, handle) = serve(server_out)?;
            let mut ready = String::new();
            BufReader::with_capacity(1 << 12, &output).read_line(&mut ready)?;
            let before = resident_kilobytes()?;
            for _ in 0..UNREAD / 2 {
                publish(&handle);
            }
            let grown = resident_kilobytes()?.saturating_sub(before);
            println!("{:.3}", grown as f64 / 1024.0);
        }
        _ => bail!("`rpc events` and `rpc unread` are what a child can do"),
    }
    // The server ends with the process.
    Ok(())
}

fn publish(handle: &AgentHandle) {
    // A queue that is never full: what is said is taken back at once.
    let _ = handle.steer(UserPrompt::text("x".repeat(TEXT)));
    handle.take_queued();
}

fn resident_kilobytes() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}

/// A server that writes to `output`; its input stays open as long as the second value lives.
fn serve(
    output: impl std::io::Write + Send + 'static,
) -> anyhow::Result<(tempfile::TempDir, std::io::PipeWriter, AgentHandle)> {
    let directory = scratch()?;
    let seed = RpcServerSeed::default();
    let opened = open_agent(directory.path().canonicalize()?, seed.host())?;
    let handle = opened.agent.handle();
    let (server_in, input) = std::io::pipe()?;
    std::thread::spawn(move || {
        let mut backend = NoBackend;
        // It is ended with the process.
        let _ = seed.into_server(opened, &mut backend).serve("bench", server_in, output);
    });
    Ok((directory, input, handle))
}

fn open_agent(root: PathBuf, host: Arc<dyn Host + Send>) -> anyhow::Result<OpenedAgent> {
    let fs: Arc<dyn Fs> = Arc::new(RealFs::default());
    let dir = fs.open_root(&root)?;
    let ledger = Ledger::open(Arc::new(RealFs::default()), &root, LedgerSettings::default())?;
    let loaded = config::load(&root, None)?;
    let door = Door::new(root, ledger, loaded, None, Runner::new("/no/keeper".into()));
    let model = Model { id: "m1".into(), provider: "none".into(), ..Model::default() };
    let model = AgentModel {
        model,
        auth: Auth::None,
        other_keys: Vec::new(),
        thinking: ThinkingLevel::Off,
        promotion: None,
    };
    let client =
        ModelClient::new(&ClientSettings::default()).map_err(|failure| anyhow::anyhow!(failure.message))?;
    let agent = Agent::new(AgentParts {
        session: Session::create(fs, dir, "session.jsonl", SessionHeader::new("/p"))?,
        client,
        model: model.clone(),
        fallbacks: Vec::new(),
        tools: Vec::new(),
        workspace: ToolWorkspace::new(door),
        host,
        system_prompt: String::new(),
        stream_rules: StreamRules::default(),
        titles: SessionTitles::Off,
        secrets: None,
        settings: AgentSettings::default(),
    })?;
    Ok(OpenedAgent { agent, model, tools: Vec::new() })
}

/// Nothing of it is asked for.
struct NoBackend;

fn nothing<T>() -> Result<T, RpcError> {
    Err(RpcError::new(RpcErrorCode::NotAvailable, "not in a bench"))
}

impl RpcBackend for NoBackend {
    fn open(&mut self, _: &SessionTarget<'_>, _: Arc<dyn Host + Send>) -> Result<OpenedAgent, RpcError> {
        nothing()
    }

    fn begin_prompt(&mut self, _: &mut Agent, _: &UserPrompt) -> Result<(), RpcError> {
        nothing()
    }

    fn available_models(&mut self) -> Result<Vec<Model>, RpcError> {
        nothing()
    }

    fn choose_model(&mut self, _: &str, _: ThinkingLevel) -> Result<AgentModel, RpcError> {
        nothing()
    }

    fn step_changes(&mut self, _: &Agent, _: ChangeStep, _: bool) -> Result<ChangeStepData, RpcError> {
        nothing()
    }

    fn export_html(&mut self, _: &Session, _: Option<PathBuf>) -> Result<ExportData, RpcError> {
        nothing()
    }

    fn unmask(&self, text: &str) -> String {
        text.to_string()
    }
}
