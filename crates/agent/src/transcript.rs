//! The conversation of a run: the session on disk, and the messages as the model gets them.
//!
//! Invariant: what is in memory is in the session first. Every call of an answer that counts has a result; an answer that
//! failed is kept in the session and is no part of what the model gets.

use std::collections::HashSet;

use relaycode_llm::message::{AssistantMessage, ToolCall, ToolResultMessage, UserMessage};
use relaycode_llm::{Message, StopReason};
use relaycode_session::format::header::TitleSource;
use relaycode_session::{
    ContextChange, ContextCompaction, EntryBody, EntryRole, EntryType, Session, SessionContext, SessionError,
};
use relaycode_tools::{Goal, ToolWorkspace};
use serde_json::Value;

use crate::compaction::user_words::{UserWords, to_own_words};
use crate::run::{AgentError, GOAL_ENTRY, RestoredMode, restore_mode};

/// What a model reads of a call that was not finished when relay ended.
const INTERRUPTED: &str = "Interrupted: relay ended before this call had a result. It may have taken effect in part. \
    Look at what is there before you call it again.";

/// The custom type of what one session hands over to another.
pub(crate) const HANDOFF: &str = "handoff";

pub(crate) struct Transcript {
    session: Session,
    messages: Vec<Message>,
    /// The entry of each message.
    sources: Vec<String>,
    /// What the latest compaction keeps.
    compaction: Option<ContextCompaction>,
    /// What tools had when another session handed over.
    handed_over: Value,
    /// A compaction was undone, and none came after it.
    is_undone: bool,
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
        let is_handoff = |message: &&Value| message.get("customType").is_some_and(|kind| kind == HANDOFF);
        let handed_over =
            context.messages.iter().find(is_handoff).and_then(|message| message.pointer("/details/tools"));
        let handed_over = handed_over.cloned().unwrap_or_default();
        let (messages, sources, compaction) = (Vec::new(), Vec::new(), None);
        let mut transcript = Transcript {
            session,
            messages,
            sources,
            compaction,
            handed_over,
            is_undone: false,
            earlier,
            model,
            thinking,
        };
        transcript.take_context(context)?;
        let closed = transcript.close_calls(INTERRUPTED)?;
        transcript.earlier.extend(closed.into_iter().map(|(entry_id, _)| entry_id));
        Ok(transcript)
    }

    pub(crate) fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The entry of each message.
    pub(crate) fn sources(&self) -> &[String] {
        &self.sources
    }

    pub(crate) fn compaction(&self) -> Option<&ContextCompaction> {
        self.compaction.as_ref()
    }

    /// A compaction was undone, and none came after it.
    pub(crate) fn is_undone(&self) -> bool {
        self.is_undone
    }

    /// The conversation as the session has it.
    fn take_context(&mut self, context: SessionContext) -> Result<(), SessionError> {
        let entries = context.to_model_entries();
        self.compaction = context.compaction;
        let kept = entries.into_iter().filter(|(_, message)| !is_failed(message));
        (self.sources, self.messages) = kept.unzip();
        self.is_undone = self.session.latest_context_change()?.1;
        Ok(())
    }

    /// Writes what changes the context before it: a compaction, cuts, or that one of them does not count. Returns its entry.
    pub(crate) fn change_context(&mut self, body: EntryBody) -> Result<String, SessionError> {
        let entry_id = self.session.append(body)?;
        let context = self.session.context()?;
        self.take_context(context)?;
        Ok(entry_id)
    }

    /// The latest compaction, or cut of outputs, does not count any more. Returns its entry; `None`: there is none.
    pub(crate) fn undo_compaction(&mut self) -> Result<Option<String>, SessionError> {
        let (Some(id), _) = self.session.latest_context_change()? else { return Ok(None) };
        self.change_context(ContextChange::Undone(id.clone()).to_body())?;
        Ok(Some(id))
    }

    /// Moves on the way of `leaf` (`None`: to the beginning), with a summary of what is left if there is one.
    pub(crate) fn move_to(
        &mut self,
        leaf: Option<&str>,
        summary: Option<(&str, Value)>,
    ) -> Result<(), SessionError> {
        match (leaf, summary) {
            (_, Some((summary, details))) => {
                self.session.branch_with_summary(leaf, summary, Some(details), None)?;
            }
            (Some(leaf), None) => self.session.move_to(leaf)?,
            (None, None) => self.session.move_to_start(),
        }
        let context = self.session.context()?;
        self.take_context(context)
    }

    /// What the user said on the way to where the conversation is: the newest first, with its entry. `enough` ends it.
    pub(crate) fn user_words(
        &self,
        enough: &mut dyn FnMut(&UserWords) -> bool,
    ) -> Result<(Vec<UserWords>, usize), SessionError> {
        let path = self.session.path(None);
        let is_said = |id: &&str| {
            let row = self.session.row(id);
            row.is_some_and(|row| row.kind == EntryType::Message && row.role == EntryRole::User)
        };
        let said: Vec<&str> = path.into_iter().filter(is_said).collect();
        let mut words = Vec::new();
        for (at, id) in said.iter().rev().enumerate() {
            let EntryBody::Message { message } = self.session.entry(id)?.body else { continue };
            let Ok(Message::User(message)) = serde_json::from_value(message) else { continue };
            let said_here = UserWords { entry_id: id.to_string(), text: to_own_words(&message.content) };
            let is_enough = enough(&said_here);
            words.push(said_here);
            if is_enough {
                return Ok((words, said.len() - at - 1));
            }
        }
        Ok((words, 0))
    }

    pub(crate) fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// Rules that the model was told on the way to where the conversation is.
    pub(crate) fn told_rules(&self) -> Result<Vec<String>, SessionError> {
        Ok(self.session.settings()?.injected_ttsr_rules)
    }

    /// No answer is there yet, and nobody gave it a title.
    pub(crate) fn is_new(&self) -> bool {
        self.session.header().title.is_none() && !self.is_answered()
    }

    pub(crate) fn is_answered(&self) -> bool {
        self.messages.iter().any(|message| matches!(message, Message::Assistant(_)))
    }

    /// Whether it was changed: a title of the user's stays.
    pub(crate) fn set_title(&mut self, title: &str) -> Result<bool, SessionError> {
        self.session.set_title(title, TitleSource::Auto)
    }

    /// The same for one that the user gives.
    pub(crate) fn set_user_title(&mut self, title: &str) -> Result<bool, SessionError> {
        self.session.set_title(title, TitleSource::User)
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
            self.sources.push(self.session.leaf().unwrap_or_default().to_string());
        }
        appended
    }

    /// Told to the model, and to people who read the session.
    pub(crate) fn append_note(&mut self, custom_type: &str, text: &str) -> Result<(), SessionError> {
        self.append_custom(custom_type, text, true, None)
    }

    /// Told to the model alone.
    pub(crate) fn append_hidden(
        &mut self,
        custom_type: &str,
        text: &str,
        details: Value,
    ) -> Result<(), SessionError> {
        self.append_custom(custom_type, text, false, Some(details))
    }

    fn append_custom(
        &mut self,
        custom_type: &str,
        text: &str,
        display: bool,
        details: Option<Value>,
    ) -> Result<(), SessionError> {
        let entry_id = self.session.append(EntryBody::CustomMessage {
            custom_type: custom_type.to_string(),
            content: text.into(),
            display,
            details,
            attribution: Some("agent".to_string()),
        })?;
        // As it comes out of the session when it is opened again.
        self.messages.push(Message::User(UserMessage::text(text, now())));
        self.sources.push(entry_id);
        Ok(())
    }

    /// The mode it was left in, made to hold again.
    pub(crate) fn restore_mode(&self, workspace: &ToolWorkspace) -> Result<RestoredMode, AgentError> {
        let (mode, data) = self.mode()?;
        Ok(restore_mode(&mode, data.as_ref(), workspace)?)
    }

    /// The newest goal on the way to where the conversation is.
    pub(crate) fn kept_goal(&self) -> Result<Option<Goal>, SessionError> {
        for id in self.session.path(None).into_iter().rev() {
            if self.session.row(id).is_none_or(|row| row.kind != EntryType::Custom) {
                continue;
            }
            let EntryBody::Custom { custom_type, data: Some(data) } = self.session.entry(id)?.body else {
                continue;
            };
            if custom_type == GOAL_ENTRY {
                return Ok(serde_json::from_value(data).ok());
            }
        }
        Ok(None)
    }

    /// Begins a conversation of its own with this note, in the same session. What is kept beside messages goes along: the newest
    /// of each kind.
    pub(crate) fn start_over(&mut self, custom_type: &str, text: &str) -> Result<(), SessionError> {
        let mut kept: Vec<(String, Option<Value>)> = Vec::new();
        let path: Vec<String> = self.session.path(None).into_iter().map(str::to_string).collect();
        for id in path {
            if self.session.row(&id).is_none_or(|row| row.kind != EntryType::Custom) {
                continue;
            }
            let EntryBody::Custom { custom_type, data } = self.session.entry(&id)?.body else { continue };
            kept.retain(|(known, _)| *known != custom_type);
            kept.push((custom_type, data));
        }
        self.session.move_to_start();
        (self.model, self.thinking, self.handed_over) = (None, String::new(), Value::Null);
        self.append_note(custom_type, text)?;
        for (custom_type, data) in kept {
            self.session.append(EntryBody::Custom { custom_type, data })?;
        }
        let context = self.session.context()?;
        self.take_context(context)
    }

    /// The mode of where the conversation is, with what the session keeps of it.
    pub(crate) fn mode(&self) -> Result<(String, Option<Value>), SessionError> {
        let context = self.session.context()?;
        Ok((context.mode, context.mode_data))
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
        let context = self.session.context()?;
        self.take_context(context)?;
        Ok(Some(entry_id))
    }

    /// What the tools kept of their calls that were carried out, oldest first.
    pub(crate) fn tool_details(&self) -> impl Iterator<Item = (&str, &Value)> {
        let kept = self.compaction.as_ref().and_then(|compaction| compaction.preserve_data.get("tools"));
        let kept = [&self.handed_over].into_iter().chain(kept).filter_map(Value::as_object).flatten();
        let kept = kept.map(|(tool, details)| (tool.as_str(), details));
        kept.chain(self.messages.iter().filter_map(|message| match message {
            Message::ToolResult(result) if !result.is_error => {
                Some((result.tool_name.as_str(), result.details.as_ref()?.get("details")?))
            }
            _ => None,
        }))
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
