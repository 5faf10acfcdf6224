//! What there is, and where the program stands in it.

use relaycode_agent::QueueState;
use relaycode_agent::question::AgentQuestion;
use relaycode_tools::{Goal, TodoPhase};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CommandCall, CommandReply, RpcCommand};
use crate::rpc::error::RpcError;
use crate::rpc::server::{AgentWork, RpcServer};

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetStateParams {
    /// Also these.
    #[serde(default)]
    include: Vec<StatePart>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum StatePart {
    Queue,
    Todos,
    /// What the agent works towards.
    Goal,
    Tools,
    /// Questions and decisions that wait for an answer.
    Open,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StateData {
    #[serde(rename = "session_id")]
    session_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_name: Option<String>,
    session_file: String,
    /// The agent works on a prompt.
    is_streaming: bool,
    /// A command of the program's runs.
    is_running_command: bool,
    /// `provider/model`
    model: String,
    thinking_level: String,
    context_window: u64,
    /// What the model would read next, as of the end of the last run.
    context_tokens: u64,
    access: String,
    cwd: String,
    /// The project's directory.
    root: String,
    last_seq: u64,
    auto_retry: bool,
    auto_compaction: bool,
    /// Room is being made in the conversation.
    is_compacting: bool,
    /// The program answers questions.
    is_attended: bool,
    /// `none` or `plan`, as of the end of the last run.
    mode: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<QueueState>,
    /// As of the end of the last run.
    #[serde(skip_serializing_if = "Option::is_none")]
    todos: Option<Vec<TodoPhase>>,
    /// The same.
    #[serde(skip_serializing_if = "Option::is_none")]
    goal: Option<Goal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    questions: Option<Vec<AgentQuestion>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gates: Option<Vec<OpenGateData>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OpenGateData {
    gate_id: String,
    stage: String,
}

pub(crate) struct GetStateCommand;

impl RpcCommand for GetStateCommand {
    const NAME: &'static str = "get_state";
    const ABOUT: &'static str = "Tells what session this is, what the agent does and how it is set.";
    type Params = GetStateParams;
    type Data = StateData;

    fn run(
        server: &mut RpcServer<'_>,
        params: GetStateParams,
        _: &CommandCall,
    ) -> Result<CommandReply<StateData>, RpcError> {
        let wants = |part: StatePart| params.include.contains(&part);
        let (session_name, session_file) = server
            .handle
            .with_session(|session| (session.header().title.clone(), session.name().to_string()));
        let facts = server.facts();
        let gates =
            || server.link.gates.open().into_iter().map(|(gate_id, stage)| OpenGateData { gate_id, stage });
        Ok(CommandReply::Now(StateData {
            session_id: server.session_id.clone(),
            session_name,
            session_file,
            is_streaming: server.work() == Some(AgentWork::Prompt),
            is_running_command: server.work() == Some(AgentWork::Shell),
            model: server.model.model.selector(),
            thinking_level: server.model.thinking.name().to_string(),
            context_window: server.model.model.context_window,
            context_tokens: facts.context_tokens,
            access: facts.access.clone(),
            cwd: facts.cwd.clone(),
            root: facts.root.clone(),
            last_seq: server.handle.last_seq(),
            auto_retry: server.handle.auto_retry(),
            auto_compaction: server.handle.is_auto_compaction(),
            is_compacting: server.work() == Some(AgentWork::Compaction),
            is_attended: server.link.attendance.is_attended(),
            queue: wants(StatePart::Queue).then(|| server.handle.queue_state()),
            todos: wants(StatePart::Todos).then(|| facts.todos.clone()),
            mode: facts.mode.clone(),
            goal: facts.goal.clone().filter(|_| wants(StatePart::Goal)),
            tools: wants(StatePart::Tools).then(|| server.tool_names()),
            questions: wants(StatePart::Open).then(|| server.handle.open_questions()),
            gates: wants(StatePart::Open).then(|| gates().collect()),
        }))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplayParams {
    /// The number of the last event that the program has; 0 for all.
    after: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReplayData {
    after: u64,
    last_seq: u64,
}

pub(crate) struct ReplayCommand;

impl RpcCommand for ReplayCommand {
    const NAME: &'static str = "replay";
    const ABOUT: &'static str = "Sends the events after a number again, and then those that follow. Messages are always among \
        them; of deltas and live output, what is still kept.";
    type Params = ReplayParams;
    type Data = ReplayData;

    fn run(
        server: &mut RpcServer<'_>,
        params: ReplayParams,
        call: &CommandCall,
    ) -> Result<CommandReply<ReplayData>, RpcError> {
        let last_seq = server.handle.last_seq();
        let after = params.after;
        if after > last_seq {
            return Err(RpcError::params(format!("there is no event {after}; the last one is {last_seq}")));
        }
        // Before the events.
        server.respond(call, Ok(ReplayData { after, last_seq }));
        server.replay(after);
        Ok(CommandReply::Later)
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetTodosParams {
    phases: Vec<TodoPhase>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TodosData {
    phases: Vec<TodoPhase>,
}

pub(crate) struct SetTodosCommand;

impl RpcCommand for SetTodosCommand {
    const NAME: &'static str = "set_todos";
    const ABOUT: &'static str =
        "Replaces the list of what is to be done, and tells the model. Not while the agent works.";
    type Params = SetTodosParams;
    type Data = TodosData;

    fn run(
        server: &mut RpcServer<'_>,
        params: SetTodosParams,
        _: &CommandCall,
    ) -> Result<CommandReply<TodosData>, RpcError> {
        let agent = server.idle_agent()?;
        agent.workspace().set_todo_phases(params.phases).map_err(RpcError::params)?;
        let phases = agent.workspace().todo_phases();
        let list = serde_json::to_string(&phases).unwrap_or_default();
        let said = format!("(relay: the user changed the list of what is to be done: {list})");
        agent.tell("user-todos", &said).map_err(|error| RpcError::failed(&error))?;
        server.look_again();
        Ok(CommandReply::Now(TodosData { phases }))
    }
}
