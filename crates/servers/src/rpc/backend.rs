//! What whoever wires relay brings: agents for sessions, models with their keys, what undoes a change, what exports a session.

use std::path::PathBuf;
use std::sync::Arc;

use relaycode_agent::{Agent, AgentModel, UserPrompt};
use relaycode_llm::Model;
use relaycode_llm::request::ThinkingLevel;
use relaycode_session::Session;
use relaycode_tools::{Host, Tool};
use schemars::JsonSchema;
use serde::Serialize;

use super::error::RpcError;

/// Called from one thread.
pub trait RpcBackend {
    /// An agent for a session. `host` is who it asks.
    ///
    /// # Errors
    /// Nothing is open then that was not before.
    fn open(
        &mut self,
        target: &SessionTarget<'_>,
        host: Arc<dyn Host + Send>,
    ) -> Result<OpenedAgent, RpcError>;

    /// Before a prompt or a command of the user's: its changes belong together.
    ///
    /// # Errors
    /// Nothing was done.
    fn begin_prompt(&mut self, agent: &mut Agent, prompt: &UserPrompt) -> Result<(), RpcError>;

    /// The models that can be used.
    ///
    /// # Errors
    /// If nobody knows.
    fn available_models(&mut self) -> Result<Vec<Model>, RpcError>;

    /// The model that is meant, with its key; it thinks as it says, else as much as `thinking` says.
    ///
    /// # Errors
    /// If there is none.
    fn choose_model(&mut self, selector: &str, thinking: ThinkingLevel) -> Result<AgentModel, RpcError>;

    /// Goes one change back or forward. Nobody is asked: what needs a person at a terminal is an error.
    ///
    /// # Errors
    /// Nothing was changed then.
    fn step_changes(
        &mut self,
        agent: &Agent,
        step: ChangeStep,
        any_branch: bool,
    ) -> Result<ChangeStepData, RpcError>;

    /// Writes the conversation as one HTML page; a file that is there already stays.
    ///
    /// # Errors
    /// If it cannot be written.
    fn export_html(&mut self, session: &Session, path: Option<PathBuf>) -> Result<ExportData, RpcError>;

    /// A text of the model's with what was hidden from it.
    fn unmask(&self, text: &str) -> String;
}

/// Which conversation.
pub enum SessionTarget<'a> {
    New,
    /// The beginning of an id, a path, or a number of the list of sessions.
    Named(&'a str),
    /// A new one, with what that one has up to this entry; nothing of it without one.
    Branch {
        from: &'a Session,
        leaf: Option<&'a str>,
    },
}

pub struct OpenedAgent {
    pub agent: Agent,
    pub model: AgentModel,
    /// Those of relay, in their order.
    pub tools: Vec<Arc<dyn Tool>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeStep {
    Undo,
    Redo,
}

/// What was taken back or brought back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangeStepData {
    /// What it was recorded as; `null`: there was nothing left to change.
    pub id: Option<String>,
    pub title: String,
    /// The same step would be about this next.
    pub next: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExportData {
    pub path: String,
    pub entries: usize,
}
