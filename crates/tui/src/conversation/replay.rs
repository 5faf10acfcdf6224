//! A session that goes on: its last entries are shown as they were, at once and without their times.

use std::time::Instant;

use relaycode_agent::{AgentEvent, SequencedEvent};
use relaycode_llm::Message;
use relaycode_session::EntryBody;
use serde::Deserialize;

use super::notice::clip_lines;
use super::{ConversationNotice, ConversationView, NoticeSign, short_count};
use crate::pluralize;

impl ConversationView {
    /// Shows the end of a session. `earlier` entries came before these.
    pub fn replay<'e>(
        &mut self,
        earlier: usize,
        entries: impl IntoIterator<Item = (&'e str, &'e EntryBody)>,
        now: Instant,
    ) {
        if earlier > 0 {
            let text = format!("{}; `/tree` shows them", pluralize(earlier, "earlier entry"));
            self.push_notice(ConversationNotice::new(NoticeSign::Plain, text));
        }
        for (id, body) in entries {
            self.replay_entry(id, body, now);
        }
        self.end_replay(now);
    }

    fn replay_entry(&mut self, id: &str, body: &EntryBody, now: Instant) {
        let note = |sign, text: String| Some(ConversationNotice::new(sign, text));
        let notice = match body {
            EntryBody::Message { message } => {
                if let Ok(message) = Message::deserialize(message) {
                    let event =
                        AgentEvent::MessageEnd { entry_id: id.to_string(), message: Box::new(message) };
                    self.apply(&SequencedEvent { seq: 0, event }, now);
                }
                None
            }
            EntryBody::ModelChange { model, role: None } => {
                note(NoticeSign::Plain, format!("model: {model}"))
            }
            EntryBody::Compaction { short_summary, tokens_before, .. } => {
                let about = short_summary.as_deref().map(|about| format!(": {about}")).unwrap_or_default();
                note(
                    NoticeSign::Plain,
                    format!("summed up what came before, {} tokens{about}", short_count(*tokens_before)),
                )
            }
            EntryBody::BranchSummary { summary, .. } => {
                let first = summary.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
                note(NoticeSign::Plain, format!("came back from another branch: {first}"))
            }
            EntryBody::ModeChange { mode, .. } if mode == "none" => {
                note(NoticeSign::Done, "no longer planning".to_string())
            }
            EntryBody::ModeChange { mode, .. } => note(NoticeSign::Done, format!("{mode} mode")),
            // What the model is told about a mode; the change of the mode is shown.
            EntryBody::CustomMessage { custom_type, .. } if custom_type.ends_with("-mode") => None,
            EntryBody::CustomMessage { display: true, content, .. } => {
                content.as_str().and_then(|text| note(NoticeSign::Plain, clip_lines(text, 4)))
            }
            _ => None,
        };
        if let Some(notice) = notice {
            self.push_event_text(&notice);
        }
    }
}
