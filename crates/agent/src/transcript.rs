//! The conversation of a run: the session on disk, and the messages as the model gets them.
//!
//! Invariant: what is in memory is in the session first. Every call of an answer that counts has a result; an answer that
//! failed is kept in the session and is no part of what the model gets.

use std::collections::HashSet;

use relaycode_llm::message::{AssistantMessage, ToolCall, ToolResultMessage, UserMessage};
use relaycode_llm::{Message, StopReason};
use relaycode_session::{EntryBody, Session, SessionContext, SessionError};
use serde_json::Value;

/// What a model reads of a call that was not finished when relay ended.
const INTERRUPTED: &str = "Interrupted: relay ended before this call had a result. It may have taken effect in part. \
    Look at what is there before you call it again.";

pub(crate) struct Transcript {
    session: Session,
    messages: Vec<Message>,
    /// Entries of the messages that were there when it was opened.
    earlier: Vec<String>,
    model: Option<String>,
    thinking: String,
}

impl Transcript {
    /// Reads what the session has. Calls without a result get one.
    pub(crate) fn open(session: Session) -> Result<Transcript, SessionError> {
        let context = session.context()?;
        let SessionContext { thinking_level, models, sources, .. } = &context;
        let (thinking, model, earlier) =
            (thinking_level.clone(), models.get("default").cloned(), sources.clone());
        let messages =
            context.to_model_messages().into_iter().filter(|message| !is_failed(message)).collect();
        let mut transcript = Transcript { session, messages, earlier, model, thinking };
        let closed = transcript.close_calls(INTERRUPTED)?;
        transcript.earlier.extend(closed.into_iter().map(|(entry_id, _)| entry_id));
        Ok(transcript)
    }

    pub(crate) fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    pub(crate) fn take_earlier(&mut self) -> Vec<String> {
        std::mem::take(&mut self.earlier)
    }

    /// Returns the entry's id.
    pub(crate) fn append(&mut self, message: Message) -> Result<String, SessionError> {
        let appended = self.session.append_message(&message);
        // A kept entry is written with the next one: it counts, and the disk's error is told.
        if appended.as_ref().err().is_none_or(SessionError::is_entry_kept) && !is_failed(&message) {
            self.messages.push(message);
        }
        appended
    }

    /// Told to the model, and to people who read the session.
    pub(crate) fn append_note(&mut self, custom_type: &str, text: &str) -> Result<(), SessionError> {
        self.session.append(EntryBody::CustomMessage {
            custom_type: custom_type.to_string(),
            content: text.into(),
            display: true,
            details: None,
            attribution: Some("agent".to_string()),
        })?;
        // As it comes out of the session when it is opened again.
        self.messages.push(Message::User(UserMessage::text(text, now())));
        Ok(())
    }

    /// Goes back to where this call of a tool, and those beside it, had their results. What the model said and did after that
    /// becomes `summary`; what the user said after it is repeated. Returns the new entry; `None`: there is no such call.
    pub(crate) fn rewind(&mut self, call: &str, summary: &str) -> Result<Option<String>, SessionError> {
        let (mut mark, mut is_beside, mut said) = (None, false, Vec::new());
        let path: Vec<String> = self.session.path(None).into_iter().map(str::to_string).collect();
        for id in path {
            let EntryBody::Message { message } = self.session.entry(&id)?.body else { continue };
            match serde_json::from_value::<Message>(message) {
                Ok(Message::ToolResult(result)) if result.tool_call_id == call => {
                    (mark, is_beside, said) = (Some(id), true, Vec::new());
                }
                Ok(Message::ToolResult(_)) if is_beside => mark = Some(id),
                Ok(Message::User(message)) if mark.is_some() => {
                    is_beside = false;
                    said.push(Message::User(message));
                }
                _ => is_beside = false,
            }
        }
        let Some(mark) = mark else { return Ok(None) };
        let entry_id = self.session.branch_with_summary(Some(&mark), summary, None, None)?;
        for message in said {
            self.session.append_message(&message)?;
        }
        let messages = self.session.context()?.to_model_messages();
        self.messages = messages.into_iter().filter(|message| !is_failed(message)).collect();
        Ok(Some(entry_id))
    }

    /// What the tools kept of their calls that were carried out, oldest first.
    pub(crate) fn tool_details(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.messages.iter().filter_map(|message| match message {
            Message::ToolResult(result) if !result.is_error => {
                Some((result.tool_name.as_str(), result.details.as_ref()?.get("details")?))
            }
            _ => None,
        })
    }

    /// The text of the last answer; empty if the model has not spoken since the user did.
    pub(crate) fn last_answer(&self) -> String {
        match self.messages.iter().rfind(|message| !matches!(message, Message::ToolResult(_))) {
            Some(Message::Assistant(answer)) => answer.text(),
            _ => String::new(),
        }
    }

    /// Kept in the session and not sent.
    pub(crate) fn record(&mut self, body: EntryBody) -> Result<String, SessionError> {
        self.session.append(body)
    }

    /// Notes the model and how much it thinks, where that is new.
    pub(crate) fn set_model(&mut self, model: &str, thinking: &str) -> Result<(), SessionError> {
        if self.model.as_deref() != Some(model) {
            self.session.append(EntryBody::ModelChange { model: model.to_string(), role: None })?;
            self.model = Some(model.to_string());
        }
        if self.thinking != thinking {
            let thinking_level = Some(thinking.to_string());
            self.session.append(EntryBody::ThinkingLevelChange { thinking_level })?;
            self.thinking = thinking.to_string();
        }
        Ok(())
    }

    /// Gives every call of the last answer that has no result this one. Returns their entries and messages.
    pub(crate) fn close_calls(&mut self, why: &str) -> Result<Vec<(String, Message)>, SessionError> {
        let mut closed = Vec::new();
        for call in self.open_calls() {
            let result = Message::ToolResult(ToolResultMessage::text(&call, why, true, now()));
            let entry_id = self.append(result.clone())?;
            closed.push((entry_id, result));
        }
        Ok(closed)
    }

    /// Makes everything durable.
    pub(crate) fn flush(&mut self) -> Result<(), SessionError> {
        self.session.flush()
    }

    fn open_calls(&self) -> Vec<ToolCall> {
        let last = self.messages.iter().rposition(|message| matches!(message, Message::Assistant(_)));
        let Some(at) = last else { return Vec::new() };
        let Message::Assistant(answer) = &self.messages[at] else { return Vec::new() };
        let answered: HashSet<&str> = self.messages[at..]
            .iter()
            .filter_map(|message| match message {
                Message::ToolResult(result) => Some(result.tool_call_id.as_str()),
                _ => None,
            })
            .collect();
        answer.tool_calls().filter(|call| !answered.contains(call.id.as_str())).cloned().collect()
    }
}

/// An answer that broke off without anybody's will.
fn is_failed(message: &Message) -> bool {
    matches!(message, Message::Assistant(AssistantMessage { stop_reason: StopReason::Error, .. }))
}

/// In milliseconds since 1970.
pub(crate) fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
