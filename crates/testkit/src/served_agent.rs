//! `relay rpc` in this process: a server whose agent belongs to a scratch project and is never prompted. What is said to it is an
//! event, so whoever measures decides what happens. With the feature `rpc`, since it needs the agent and all below it.

use std::io::{PipeWriter, Write};
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
use tempfile::TempDir;

use crate::expect::expect_ok;

/// A server that writes somewhere, and its agent.
pub struct ServedAgent {
    _directory: TempDir,
    pub handle: AgentHandle,
    input: PipeWriter,
    server: JoinHandle<ServeEnd>,
}

impl ServedAgent {
    /// Serves whoever reads `output`.
    #[track_caller]
    pub fn start(output: impl Write + Send + 'static) -> ServedAgent {
        let directory = expect_ok(tempfile::tempdir(), "no scratch directory");
        let seed = RpcServerSeed::default();
        let root = expect_ok(directory.path().canonicalize(), "no scratch directory");
        let opened = open_agent(root, seed.host());
        let handle = opened.agent.handle();
        let (server_in, input) = expect_ok(std::io::pipe(), "no pipe");
        let server = std::thread::spawn(move || {
            let mut backend = NoBackend;
            expect_ok(seed.into_server(opened, &mut backend).serve("test", server_in, output), "no threads")
        });
        ServedAgent { _directory: directory, handle, input, server }
    }

    /// Writes a line to the server.
    #[track_caller]
    pub fn send(&mut self, line: &str) {
        expect_ok(self.input.write_all(format!("{line}\n").as_bytes()), "the server reads nothing");
    }

    /// Publishes two events with this text: a queue that is never full, since what is said is taken back at once.
    pub fn publish_pair(&self, text: String) {
        let _ = self.handle.steer(UserPrompt::text(text));
        self.handle.take_queued();
    }

    /// Closes the input; how the server ended.
    #[track_caller]
    pub fn end(self) -> ServeEnd {
        drop(self.input);
        let ended = self.server.join().map_err(|_| "it panicked");
        expect_ok(ended, "the server")
    }
}

fn open_agent(root: PathBuf, host: Arc<dyn Host + Send>) -> OpenedAgent {
    let fs: Arc<dyn Fs> = Arc::new(RealFs::default());
    let dir = expect_ok(fs.open_root(&root), "no scratch project");
    let ledger = Ledger::open(Arc::new(RealFs::default()), &root, LedgerSettings::default());
    let loaded = expect_ok(config::load(&root, None), "no configuration");
    let door =
        Door::new(root, expect_ok(ledger, "no ledger"), loaded, None, Runner::new("/no/keeper".into()));
    let model = AgentModel {
        model: Model { id: "m1".into(), provider: "none".into(), ..Model::default() },
        auth: Auth::None,
        other_keys: Vec::new(),
        thinking: ThinkingLevel::Off,
        promotion: None,
    };
    let session = Session::create(fs, dir, "session.jsonl", SessionHeader::new("/p"));
    let client = ModelClient::new(&ClientSettings::default()).map_err(|failure| failure.message);
    let agent = Agent::new(AgentParts {
        session: expect_ok(session, "no session"),
        client: expect_ok(client, "no client"),
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
    OpenedAgent { agent: expect_ok(agent, "no agent"), model, tools: Vec::new() }
}

/// There are no other sessions, models and changes.
struct NoBackend;

fn nothing<T>() -> Result<T, RpcError> {
    Err(RpcError::new(RpcErrorCode::NotAvailable, "not here"))
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
