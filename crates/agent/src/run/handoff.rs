//! Work that is handed over to a fresh session: the document that it begins with.

use relaycode_llm::tokens::text_tokens;
use relaycode_session::{EntryBody, Session, SessionError};
use serde_json::{Value, json};

use super::Agent;
use super::summarize::{SummaryFailure, SummaryQuestion};
use crate::compaction::budget::CompactionBudget;
use crate::compaction::summary::{SummaryParts, compose_summary};
use crate::transcript::HANDOFF;

const INSTRUCTIONS: &str = include_str!("../../prompts/handoff.md");
/// With fewer there is nothing to hand over.
const MIN_MESSAGES: usize = 2;
/// Tokens of the document, whatever the window is.
const MAX_DOCUMENT: u64 = 8_192;

/// What a session hands over.
#[derive(Debug, Clone, PartialEq)]
pub struct HandoffDocument {
    /// As the model of the fresh session reads it.
    pub text: String,
    /// The session that it comes from.
    pub parent: String,
    /// What the tools had.
    tools: Value,
}

/// Why nothing is handed over.
#[derive(Debug, thiserror::Error)]
pub enum HandoffError {
    #[error("there is nothing to hand over yet")]
    TooShort,
    #[error("the model wrote no document")]
    Empty,
    #[error("the agent plans, and a fresh session would not: `/plan off` ends that")]
    Planning,
    #[error("stopped")]
    Aborted,
    #[error("the model wrote no document: {0}")]
    Failed(String),
}

impl Agent {
    /// Lets the model write down what a fresh session has to know, with a look at `focus`. Nothing changes here.
    ///
    /// # Errors
    /// If there is nothing to hand over, or the model does not write it down.
    pub fn write_handoff(&mut self, focus: Option<&str>) -> Result<HandoffDocument, HandoffError> {
        if self.mode().is_some() {
            return Err(HandoffError::Planning);
        }
        let messages = self.shared.transcript().messages().to_vec();
        if messages.len() < MIN_MESSAGES {
            return Err(HandoffError::TooShort);
        }
        let window = self.window();
        let most = (window / 8).min(MAX_DOCUMENT);
        let instructions = INSTRUCTIONS;
        let question =
            SummaryQuestion { instructions, earlier: None, focus, messages: &messages, window, most };
        let written = self.between_runs(|agent| agent.ask_summary(&question));
        let written = match written {
            Ok(text) if text.trim().is_empty() => return Err(HandoffError::Empty),
            Ok(text) => text,
            Err(SummaryFailure::Aborted) => return Err(HandoffError::Aborted),
            Err(SummaryFailure::Failed(why)) => return Err(HandoffError::Failed(why)),
        };
        let files = self.file_lists();
        let kept = self.kept_texts(&files);
        let wanted = kept.iter().map(|(_, text)| text_tokens(text) + 8).sum();
        let budget = CompactionBudget::new(window, self.head_tokens(), wanted, &self.settings.compaction);
        let text = compose_summary(
            &SummaryParts { summary: &written, files: &files, kept: &kept, user_words: "" },
            &budget,
        );
        let text = format!(
            "<handoff from=\"{}\">\n{}\n</handoff>",
            self.session_id,
            text.replace("</handoff", "< /handoff")
        );
        Ok(HandoffDocument { text, parent: self.session_id.clone(), tools: self.tool_state() })
    }
}

impl HandoffDocument {
    /// Puts it into a fresh session.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(&self, session: &mut Session) -> Result<String, SessionError> {
        session.append(EntryBody::CustomMessage {
            custom_type: HANDOFF.to_string(),
            content: self.text.as_str().into(),
            display: true,
            details: Some(json!({ "parentSession": self.parent, "tools": self.tools })),
            attribution: Some("agent".to_string()),
        })
    }
}
