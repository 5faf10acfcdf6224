//! Going on from another place of the conversation, with what is to be known of the way that is left.
//!
//! Invariant: nothing moves before everything is there. What was stopped leaves the conversation where it is.

use relaycode_llm::Message;
use relaycode_llm::tokens::text_tokens;
use relaycode_session::session::TreeNavigation;
use relaycode_session::{EntryBody, SessionError};
use serde_json::json;

use super::Agent;
use super::summarize::{SummaryFailure, SummaryQuestion};
use crate::compaction::files::FileLists;
use crate::compaction::summary::escape_summary;
use crate::compaction::without_model::summarize_without_model;
use crate::event::AgentEvent;

const INSTRUCTIONS: &str = include_str!("../../prompts/branch-summary.md");
/// Tokens of a summary, whatever the window is.
const MAX_SUMMARY: u64 = 4_096;

/// Where a move led.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchMove {
    pub navigation: TreeNavigation,
    /// What the model reads of the way that was left.
    pub summary: Option<String>,
    /// It was stopped: nothing moved.
    pub is_aborted: bool,
}

impl Agent {
    /// Goes on from `target`: from before it, if it is something the user said, whose text is given back. With `summarize`, what is
    /// left behind is summed up first, with a look at `focus`.
    ///
    /// # Errors
    /// If there is no such entry, or the session cannot be read or written.
    pub fn move_to(
        &mut self,
        target: &str,
        summarize: bool,
        focus: Option<&str>,
    ) -> Result<BranchMove, SessionError> {
        let (navigation, abandoned) = {
            let transcript = self.shared.transcript();
            let session = transcript.session();
            (session.destination(target)?, session.abandoned_entries(target)?)
        };
        if !navigation.moved {
            return Ok(BranchMove { navigation, summary: None, is_aborted: false });
        }
        let messages: Vec<Message> =
            abandoned.into_iter().filter_map(|entry| to_message(entry.body)).collect();
        let summary = match summarize && !messages.is_empty() {
            false => None,
            true => match self.between_runs(|agent| agent.summarize_branch(&messages, focus)) {
                Some(summary) => Some(summary),
                None => return Ok(BranchMove { navigation, summary: None, is_aborted: true }),
            },
        };
        let mut files = FileLists::default();
        self.note_files(&messages, &mut files);
        let summary = summary.map(|summary| escape_summary(&summary));
        let noted = summary.as_deref().map(|summary| (summary, files.to_details()));
        self.shared.transcript().move_to(navigation.leaf.as_deref(), noted)?;
        self.shared.transcript().flush()?;
        let told = self.shared.transcript().told_rules()?;
        self.rules.restore(&told);
        self.follow_branch()?;
        let (entry_id, moved) = (navigation.leaf.clone(), summary.clone());
        self.shared.events.publish(AgentEvent::ConversationMoved { entry_id, summary: moved });
        Ok(BranchMove { navigation, summary, is_aborted: false })
    }

    /// Labels an entry, or takes its label away.
    ///
    /// # Errors
    /// If there is no such entry, or it cannot be written.
    pub fn set_label(&mut self, target: &str, label: Option<&str>) -> Result<String, SessionError> {
        self.shared.transcript().session_mut().set_label(target, label)
    }

    /// `None`: it was stopped.
    fn summarize_branch(&mut self, messages: &[Message], focus: Option<&str>) -> Option<String> {
        let window = self.window();
        let most = (window / 8).min(MAX_SUMMARY);
        let instructions = INSTRUCTIONS;
        let question = SummaryQuestion { instructions, earlier: None, focus, messages, window, most };
        let why = match self.ask_summary(&question) {
            Ok(summary) if !summary.is_empty() && text_tokens(&summary) <= most * 2 => return Some(summary),
            Ok(_) => "it wrote nothing of use".to_string(),
            Err(SummaryFailure::Aborted) => return None,
            Err(SummaryFailure::Failed(why)) => why,
        };
        self.notice(&format!("the model did not sum up the branch: {why}"));
        Some(summarize_without_model(None, messages, most))
    }
}

fn to_message(body: EntryBody) -> Option<Message> {
    match body {
        EntryBody::Message { message } => serde_json::from_value(message).ok(),
        EntryBody::Compaction { summary, .. } | EntryBody::BranchSummary { summary, .. } => {
            serde_json::from_value(json!({ "role": "user", "content": summary })).ok()
        }
        _ => None,
    }
}
