//! Something that a model can call, and what comes of a call.
//!
//! A tool never reports a success that is none: what did not happen is a [`ToolError::Refused`], whose message tells the
//! model what happened, what is really there, and what to do.

use relaycode_llm::CancelToken;
use relaycode_llm::message::{TextContent, UserContent};
use serde_json::{Map, Value};

use crate::card::ToolCard;
use crate::host::Host;
use crate::workspace::ToolWorkspace;

/// Something that a model can call. One file or folder per tool, one line in [`crate::registry`].
pub trait Tool: Send + Sync {
    /// As the model calls it.
    fn name(&self) -> &str;

    /// Name, description and schema as the model reads them, with the settings of the workspace.
    fn definition(&self, workspace: &ToolWorkspace) -> relaycode_llm::request::Tool;

    /// Whether models are offered it, with the settings of the workspace.
    fn is_offered(&self, _workspace: &ToolWorkspace) -> bool {
        true
    }

    /// Whether its calls run beside others or alone.
    fn concurrency(&self) -> ToolConcurrency;

    /// Blocks. Ends soon after the call's token is cancelled.
    ///
    /// # Errors
    /// See [`ToolError`].
    fn run(&self, call: &ToolInvocation<'_>) -> Result<ToolOutput, ToolError>;

    /// The project's files that a call looked at or changed. Its output is of no use any more once a later call touched them.
    fn touched_files(&self, _arguments: &Map<String, Value>, _details: &Value) -> TouchedFiles {
        TouchedFiles::default()
    }

    /// Whether `restore` takes something up: it goes on with a session that was summed up or handed over.
    fn keeps_state(&self) -> bool {
        false
    }

    /// Takes up what an earlier call of the session left: `details` are those of its output. Called for each, oldest first.
    fn restore(&self, _workspace: &ToolWorkspace, _details: &Value) {}
}

/// Paths as the model names them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TouchedFiles {
    pub read: Vec<String>,
    pub changed: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolConcurrency {
    /// It only looks: calls may run at the same time.
    Shared,
    /// It changes something: nothing runs beside it.
    Exclusive,
}

/// One call.
pub struct ToolInvocation<'a> {
    /// The model's name for the call.
    pub id: &'a str,
    pub arguments: &'a Map<String, Value>,
    /// What the tools of one session share.
    pub workspace: &'a ToolWorkspace,
    pub host: &'a dyn Host,
    pub cancel: &'a CancelToken,
}

/// What a call brought.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    /// For the model.
    pub content: Vec<UserContent>,
    /// For people.
    pub card: ToolCard,
    /// For the session: kept, never sent.
    pub details: Option<Value>,
}

/// Why a call brought nothing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ToolError {
    /// The model is told and can act on it.
    #[error("{message}")]
    Refused { message: String, card: Option<Box<ToolCard>>, details: Option<Value> },
    /// The user stopped it.
    #[error("stopped by the user")]
    Aborted,
    /// The run cannot go on.
    #[error("{0}")]
    Fatal(String),
}

impl ToolInvocation<'_> {
    /// # Errors
    /// [`ToolError::Aborted`] once the call is cancelled.
    pub fn check_cancelled(&self) -> Result<(), ToolError> {
        if self.cancel.is_cancelled() { Err(ToolError::Aborted) } else { Ok(()) }
    }
}

impl ToolOutput {
    /// One text for the model.
    pub fn text(text: impl Into<String>, card: ToolCard) -> ToolOutput {
        let text = TextContent { text: text.into(), ..TextContent::default() };
        ToolOutput { content: vec![UserContent::Text(text)], card, details: None }
    }

    /// Its text, without images.
    pub fn to_text(&self) -> String {
        let texts = self.content.iter().filter_map(|content| match content {
            UserContent::Text(text) => Some(text.text.as_str()),
            UserContent::Image(_) => None,
        });
        texts.collect()
    }

    #[must_use]
    pub fn with_details(self, details: Value) -> ToolOutput {
        ToolOutput { details: Some(details), ..self }
    }
}

impl ToolError {
    /// A refusal that is only its message.
    pub fn refused(message: impl Into<String>) -> ToolError {
        ToolError::Refused { message: message.into(), card: None, details: None }
    }
}
