//! A server whose agent belongs to a scratch project; its program is the test.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

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
    ServeEnd, SessionTarget,
};
use relaycode_session::{Session, SessionHeader};
use relaycode_tools::{Host, ToolWorkspace};
use serde_json::Value;
use tempfile::TempDir;

/// What a program has of a server.
pub(crate) struct ServedProgram {
    _directory: TempDir,
    /// Whoever publishes events: what is said is an event.
    pub(crate) handle: AgentHandle,
    input: Option<PipeWriter>,
    output: Option<BufReader<PipeReader>>,
    server: Option<JoinHandle<ServeEnd>>,
}

impl ServedProgram {
    pub(crate) fn start() -> ServedProgram {
        let directory = tempfile::tempdir().unwrap();
        let seed = RpcServerSeed::default();
        let opened = open_agent(directory.path().canonicalize().unwrap(), seed.host());
        let handle = opened.agent.handle();
        let ((server_in, input), (output, server_out)) = (std::io::pipe().unwrap(), std::io::pipe().unwrap());
        let server = std::thread::spawn(move || {
            let mut backend = NoBackend;
            seed.into_server(opened, &mut backend).serve("test", server_in, server_out).unwrap()
        });
        let output = Some(BufReader::new(output));
        ServedProgram { _directory: directory, handle, input: Some(input), output, server: Some(server) }
    }

    pub(crate) fn send(&mut self, line: &str) {
        self.input.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// The next frame; `None` at the end.
    pub(crate) fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.output.as_mut().unwrap().read_line(&mut line).unwrap();
        (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap())
    }

    /// Frames up to the first that is so.
    pub(crate) fn read_until(&mut self, is_so: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut frames = Vec::new();
        while let Some(frame) = self.read() {
            let is_last = is_so(&frame);
            frames.push(frame);
            if is_last {
                break;
            }
        }
        frames
    }

    /// Publishes an event with this text.
    pub(crate) fn publish(&self, text: &str) {
        self.handle.steer(UserPrompt::text(text)).unwrap();
    }

    /// Closes the input; how the server ended.
    pub(crate) fn end(mut self) -> ServeEnd {
        self.input = None;
        self.server.take().unwrap().join().unwrap()
    }

    /// The program dies.
    pub(crate) fn die(mut self) -> ServeEnd {
        (self.input, self.output) = (None, None);
        self.server.take().unwrap().join().unwrap()
    }
}

fn open_agent(root: PathBuf, host: Arc<dyn Host + Send>) -> OpenedAgent {
    let fs: Arc<dyn Fs> = Arc::new(RealFs::default());
    let dir = fs.open_root(&root).unwrap();
    let ledger = Ledger::open(Arc::new(RealFs::default()), &root, LedgerSettings::default()).unwrap();
    let loaded = config::load(&root, None).unwrap();
    let door = Door::new(root, ledger, loaded, None, Runner::new("/no/keeper".into()));
    let model = Model { id: "m1".into(), provider: "none".into(), ..Model::default() };
    let model = AgentModel {
        model,
        auth: Auth::None,
        other_keys: Vec::new(),
        thinking: ThinkingLevel::Off,
        promotion: None,
    };
    let agent = Agent::new(AgentParts {
        session: Session::create(fs, dir, "session.jsonl", SessionHeader::new("/p")).unwrap(),
        client: ModelClient::new(&ClientSettings::default()).unwrap(),
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
    });
    OpenedAgent { agent: agent.unwrap(), model, tools: Vec::new() }
}

/// There are no other sessions, models and changes.
struct NoBackend;

fn nothing<T>() -> Result<T, RpcError> {
    Err(RpcError::new(RpcErrorCode::NotAvailable, "not in this test"))
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
