//! A project, a session, a scripted model, and tools that look, change, wait, fail.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use relaycode_agent::stream_rules::StreamRules;
use relaycode_agent::{
    Agent, AgentEvent, AgentModel, AgentParts, AgentSettings, RunOutcome, SessionTitles, UserPrompt,
};
use relaycode_door::{ApprovalQuestion, ApprovalReply, Approver, Door, DoorEvent};
use relaycode_durable::{Fs, RealFs};
use relaycode_exec::Runner;
use relaycode_ledger::{Ledger, LedgerSettings};
use relaycode_llm::message::ToolResultMessage;
use relaycode_llm::models::model::ModelPrice;
use relaycode_llm::request::{Auth, ThinkingLevel, Tool as ToolDefinition};
use relaycode_llm::stream::retry::RetryBudget;
use relaycode_llm::stream::transport::ClientSettings;
use relaycode_llm::{Message, Model, ModelClient, StopReason};
use relaycode_project::config;
use relaycode_session::{OpenMode, Session, SessionHeader};
use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn};
use relaycode_tools::{
    Host, HostAnswer, HostQuestion, Tool, ToolCard, ToolConcurrency, ToolError, ToolInvocation, ToolOutput,
    ToolProgress, ToolWorkspace,
};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const NAME: &str = "session.jsonl";
/// Every wire, and where its paths begin on the server.
pub(crate) const WIRES: [(&str, &str); 5] = [
    ("anthropic-messages", ""),
    ("openai-completions", "/v1"),
    ("google-generative-ai", "/v1beta"),
    ("ollama", ""),
    ("openai-responses", "/v1"),
];

pub(crate) struct Scene {
    pub(crate) server: ScriptedServer,
    pub(crate) directory: TempDir,
    pub(crate) settings: AgentSettings,
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    pub(crate) wire: (&'static str, &'static str),
    pub(crate) fallbacks: Vec<String>,
    /// Of the provider, beside the first.
    pub(crate) other_keys: Vec<&'static str>,
    pub(crate) model_id: &'static str,
    /// What the model's data say that it reads.
    pub(crate) window: u64,
    pub(crate) promotion: Option<Box<AgentModel>>,
    pub(crate) system_prompt: &'static str,
    pub(crate) host: Arc<dyn Host + Send>,
    /// Another server, whose model names sessions.
    pub(crate) title_server: Option<ScriptedServer>,
}

impl Scene {
    pub(crate) fn new(turns: impl IntoIterator<Item = ScriptedTurn>) -> Scene {
        Scene::with_script(Script::any(turns))
    }

    pub(crate) fn with_script(script: Script) -> Scene {
        let retry =
            relaycode_agent::AutoRetrySettings { base_delay: Duration::from_millis(1), ..Default::default() };
        Scene {
            server: ScriptedServer::start(script),
            directory: tempfile::tempdir().unwrap(),
            settings: AgentSettings { retry, request_budget: RetryBudget::NONE, ..AgentSettings::default() },
            tools: vec![
                Arc::new(LookTool),
                Arc::new(ChangeTool),
                Arc::new(PanicTool),
                Arc::new(RefuseTool),
                Arc::new(FatalTool),
                Arc::new(AskTool),
                Arc::new(WaitTool),
            ],
            wire: WIRES[0],
            fallbacks: Vec::new(),
            other_keys: Vec::new(),
            model_id: "first",
            window: 200_000,
            promotion: None,
            system_prompt: "Be brief.",
            host: Arc::new(Nobody),
            title_server: None,
        }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap()
    }

    fn titles(&self) -> SessionTitles {
        let Some(server) = &self.title_server else { return SessionTitles::ByRule };
        let mut model = self.model("small");
        model.model.base_url = format!("{}{}", server.url(), self.wire.1);
        let client = ModelClient::new(&ClientSettings::default()).unwrap();
        SessionTitles::ByModel { model: Box::new(model), client }
    }

    pub(crate) fn model(&self, id: &str) -> AgentModel {
        let model = Model {
            id: id.into(),
            provider: "scripted".into(),
            api: self.wire.0.into(),
            base_url: format!("{}{}", self.server.url(), self.wire.1),
            context_window: self.window,
            max_tokens: 32_000.min(self.window / 4),
            price: ModelPrice { input: 10_000.0, output: 0.0, ..ModelPrice::default() },
            ..Model::default()
        };
        let other_keys = self.other_keys.iter().map(|key| Auth::Key(key.to_string())).collect();
        AgentModel {
            model,
            auth: Auth::Key("sk-test".into()),
            other_keys,
            thinking: ThinkingLevel::Off,
            promotion: self.promotion.clone(),
        }
    }

    /// A new session, or the one of before.
    pub(crate) fn session(&self) -> Session {
        let fs: Arc<dyn Fs> = Arc::new(RealFs::default());
        let dir = fs.open_root(&self.root()).unwrap();
        if self.root().join(NAME).exists() {
            return Session::open(fs, dir, NAME, OpenMode::Write).unwrap();
        }
        Session::create(fs, dir, NAME, SessionHeader::new("/p")).unwrap()
    }

    pub(crate) fn read_session(&self) -> Session {
        let fs: Arc<dyn Fs> = Arc::new(RealFs::default());
        let dir = fs.open_root(&self.root()).unwrap();
        Session::open(fs, dir, NAME, OpenMode::Read).unwrap()
    }

    pub(crate) fn agent(&self) -> Agent {
        self.agent_with_rules(StreamRules::default())
    }

    pub(crate) fn agent_with_rules(&self, stream_rules: StreamRules) -> Agent {
        self.make_agent(self.session(), stream_rules)
    }

    pub(crate) fn agent_of(&self, session: Session) -> Agent {
        self.make_agent(session, StreamRules::default())
    }

    fn make_agent(&self, session: Session, stream_rules: StreamRules) -> Agent {
        let root = self.root();
        let ledger = Ledger::open(Arc::new(RealFs::default()), &root, LedgerSettings::default()).unwrap();
        let loaded = config::load(&root, None).unwrap();
        let door = Door::new(root, ledger, loaded, None, Runner::new("/no/keeper".into()));
        Agent::new(AgentParts {
            session,
            client: ModelClient::new(&ClientSettings::default()).unwrap(),
            model: self.model(self.model_id),
            fallbacks: self.fallbacks.iter().map(|id| self.model(id)).collect(),
            tools: self.tools.clone(),
            workspace: ToolWorkspace::new(door),
            host: self.host.clone(),
            system_prompt: self.system_prompt.into(),
            stream_rules,
            titles: self.titles(),
            secrets: None,
            settings: self.settings.clone(),
        })
        .unwrap()
    }

    /// One prompt, and every event of it.
    pub(crate) fn run(&self, prompt: &str) -> (RunOutcome, Vec<AgentEvent>) {
        let mut agent = self.agent();
        let handle = agent.handle();
        let seen = handle.last_seq();
        let outcome = agent.prompt(&UserPrompt::text(prompt));
        drop(agent);
        let mut reader = handle.read_events(seen);
        let events = std::iter::from_fn(|| reader.next_event()).map(|event| event.event.clone()).collect();
        (outcome, events)
    }

    /// What the session has, as the model gets it: every call has a result.
    pub(crate) fn messages(&self) -> Vec<Message> {
        let messages = self.read_session().context().unwrap().to_model_messages();
        let results: Vec<&str> = messages
            .iter()
            .filter_map(|message| match message {
                Message::ToolResult(result) => Some(result.tool_call_id.as_str()),
                _ => None,
            })
            .collect();
        // Of an answer that failed or was stopped no call is carried out.
        let calls = messages.iter().filter_map(|message| match message {
            Message::Assistant(answer) if answer.stop_reason != StopReason::Error => {
                Some(answer.tool_calls())
            }
            _ => None,
        });
        let mut calls: Vec<&str> = calls.flatten().map(|call| call.id.as_str()).collect();
        let mut sorted = results.clone();
        sorted.sort_unstable();
        calls.sort_unstable();
        assert_eq!(sorted, calls, "each call has one result");
        messages
    }

    pub(crate) fn results(&self) -> Vec<ToolResultMessage> {
        let results = self.messages().into_iter().filter_map(|message| match message {
            Message::ToolResult(result) => Some(result),
            _ => None,
        });
        results.collect()
    }

    /// The conversation that was sent with request `at`, as text.
    pub(crate) fn sent(&self, at: usize) -> String {
        self.server.requests()[at].body.to_string()
    }
}

pub(crate) fn result_text(result: &ToolResultMessage) -> String {
    Message::ToolResult(result.clone()).pieces().iter().map(|piece| format!("{piece:?}")).collect()
}

/// An answer that calls `look` once for each of these.
pub(crate) fn looks(words: &[&str]) -> ScriptedTurn {
    words.iter().fold(ScriptedTurn::default(), |turn, word| turn.tool("look", json!({ "at": word })))
}

/// Nobody can be asked.
pub(crate) struct Nobody;

impl Host for Nobody {
    fn ask(&self, _: &HostQuestion) -> HostAnswer {
        HostAnswer::Unavailable
    }

    fn with_approver(&self, _: &str, submit: &mut dyn FnMut(&mut dyn Approver)) {
        submit(&mut Nobody);
    }

    fn progress(&self, _: &str, _: &ToolProgress) {}
}

impl Approver for Nobody {
    fn name(&self) -> &'static str {
        "nobody"
    }

    fn decide(&mut self, _: &ApprovalQuestion<'_>) -> ApprovalReply {
        ApprovalReply::Unavailable
    }

    fn on_event(&mut self, _: &DoorEvent<'_>) {}

    fn stop_requested(&self) -> bool {
        false
    }
}

fn definition(name: &str) -> ToolDefinition {
    let parameters = json!({"type": "object", "properties": {"at": {"type": "string"}}});
    ToolDefinition { name: name.into(), description: format!("Test tool {name}"), parameters }
}

fn argument(call: &ToolInvocation<'_>) -> String {
    call.arguments.get("at").and_then(Value::as_str).unwrap_or_default().to_string()
}

macro_rules! test_tool {
    ($type:ident, $name:literal, $concurrency:ident, $run:expr) => {
        pub(crate) struct $type;

        impl Tool for $type {
            fn name(&self) -> &'static str {
                $name
            }

            fn definition(&self, _: &ToolWorkspace) -> ToolDefinition {
                definition($name)
            }

            fn concurrency(&self) -> ToolConcurrency {
                ToolConcurrency::$concurrency
            }

            fn run(&self, call: &ToolInvocation<'_>) -> Result<ToolOutput, ToolError> {
                let run: fn(&ToolInvocation<'_>) -> Result<ToolOutput, ToolError> = $run;
                run(call)
            }
        }
    };
}

test_tool!(LookTool, "look", Shared, |call| {
    let at = argument(call);
    Ok(ToolOutput::text(format!("saw {at}"), ToolCard::line(format!("look {at}"), "seen")))
});

/// How often something was changed, in this process.
pub(crate) static CHANGES: AtomicUsize = AtomicUsize::new(0);

test_tool!(ChangeTool, "change", Exclusive, |call| {
    CHANGES.fetch_add(1, Ordering::SeqCst);
    Ok(ToolOutput::text("changed", ToolCard::line(format!("change {}", argument(call)), "")))
});

test_tool!(PanicTool, "panic", Shared, |_| panic!("the test wants this"));

test_tool!(RefuseTool, "refuse", Shared, |_| Err(ToolError::refused("There is no such file. Nearest: a.rs")));

test_tool!(FatalTool, "fatal", Exclusive, |_| Err(ToolError::Fatal("the project is gone".into())));

test_tool!(AskTool, "ask", Exclusive, |call| {
    let question = HostQuestion {
        call: call.id.into(),
        text: "Which colour?".into(),
        options: vec!["red".into(), "blue".into()],
        several: false,
        default: Some(0),
        deadline: Some(Duration::from_secs(60)),
        ..HostQuestion::default()
    };
    Ok(ToolOutput::text(format!("{:?}", call.host.ask(&question)), ToolCard::line("ask", "")))
});

// Until it is stopped.
test_tool!(WaitTool, "wait", Shared, |call| {
    while !call.cancel.is_cancelled() {
        call.host.progress(call.id, &ToolProgress { status: "waiting".into(), tail: String::new() });
        std::thread::yield_now();
    }
    Err(ToolError::Aborted)
});
