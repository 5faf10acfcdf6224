//! What claude tells of a turn, made into events and, at last, an answer.
//!
//! Invariants: the answer is what the last `result` says, and only if that does not say that it is an error (its
//! `subtype` says "success" of failures, too). What was shown before and is not the answer is begun anew. A use
//! of a tool that was refused counts once, however often claude speaks of it. Everything is bounded.

use std::collections::HashSet;

use relaycode_project::access::Access;
use serde_json::Value;

use super::NAME;
use super::conversation::TRANSPORT;
use super::error::classify_result;
use super::permissions::{STRUCTURED_OUTPUT_TOOL, declined_kind, describe_input};
use crate::driver::TurnClock;
use crate::{DeclinedAction, EventSink, FriendAnswer, FriendEvent, FriendFailure, FriendUsage, TurnResult};

/// Bytes of an answer.
pub(super) const MOST_ANSWER: usize = 8 << 20;

/// What was refused, at most so much of it is kept.
const MOST_DECLINED: usize = 1_000;

#[derive(Debug, Default)]
pub(super) struct ClaudeTurnState {
    access: Access,
    schema: bool,
    /// What is shown of the message that is being written.
    shown: String,
    /// The message that is written now came in pieces.
    streamed: bool,
    /// The next words are of another message.
    new_message: bool,
    tools: HashSet<String>,
    /// Uses of tools that were counted as refused.
    declined_ids: HashSet<String>,
    declined: Vec<DeclinedAction>,
    model: Option<String>,
}

impl ClaudeTurnState {
    pub(super) fn new(access: Access, schema: bool) -> ClaudeTurnState {
        ClaudeTurnState { access, schema, ..ClaudeTurnState::default() }
    }

    /// What claude said of itself, after it was looked at.
    pub(super) fn record_init(&mut self, init: &Value) {
        let tools = init["tools"].as_array().into_iter().flatten();
        self.tools = tools.filter_map(Value::as_str).map(str::to_string).collect();
        self.model = init["model"].as_str().map(str::to_string);
    }

    pub(super) fn handle_message(
        &mut self,
        told: &Value,
        clock: &mut TurnClock<'_>,
        hear: &mut EventSink<'_>,
    ) -> TurnResult<()> {
        if told["subtype"] == "api_retry" {
            let status = &told["error_status"];
            let (error, attempt) = (told["error"].as_str().unwrap_or_default(), &told["attempt"]);
            hear(FriendEvent::Retrying(if status.is_null() {
                clock.mark_retrying("it gets no answer");
                format!("it gets no answer of its server; attempt {attempt}")
            } else {
                clock.mark_reached();
                format!("its server says {status} {error}; attempt {attempt}")
            }));
            return Ok(());
        }
        // That it asks its server is nothing that was done.
        if told["subtype"] != "status" {
            clock.mark_alive();
        }
        // A helper of claude's own has its own words.
        if told["parent_tool_use_id"].is_string() {
            return Ok(());
        }
        match told["type"].as_str().unwrap_or_default() {
            "stream_event" => self.handle_stream_event(&told["event"], hear),
            "assistant" => self.handle_assistant_message(&told["message"], hear),
            "system" if told["subtype"] == "permission_denied" => {
                self.record_json_decline(told, hear);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn handle_stream_event(&mut self, event: &Value, hear: &mut EventSink<'_>) -> TurnResult<()> {
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => {
                self.new_message = true;
                self.streamed = false;
            }
            "content_block_delta" => {
                let delta = &event["delta"];
                if let Some(text) = delta["text"].as_str() {
                    self.streamed = true;
                    self.push_text(text, hear)?;
                } else if let Some(text) = delta["thinking"].as_str() {
                    hear(FriendEvent::Thinking(text.to_string()));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A message, block by block as they are done; its words were streamed before, or were not.
    fn handle_assistant_message(&mut self, message: &Value, hear: &mut EventSink<'_>) -> TurnResult<()> {
        for block in message["content"].as_array().into_iter().flatten() {
            match block["type"].as_str().unwrap_or_default() {
                "text" if !self.streamed => {
                    self.new_message = true;
                    self.push_text(block["text"].as_str().unwrap_or_default(), hear)?;
                }
                "tool_use" => self.handle_tool_use(block, hear),
                _ => {}
            }
        }
        Ok(())
    }

    fn handle_tool_use(&mut self, block: &Value, hear: &mut EventSink<'_>) {
        let name = block["name"].as_str().unwrap_or_default();
        if name == STRUCTURED_OUTPUT_TOOL {
            return;
        }
        // With full access everything is allowed, and one tool goes by two names.
        if self.access != Access::Full && !self.tools.contains(name) {
            // Claude tells the model that there is no such tool, and asks nobody.
            let id = block["id"].as_str().unwrap_or_default();
            return self.record_decline(id, name, &block["input"], hear);
        }
        let object = describe_input(name, &block["input"]);
        hear(FriendEvent::Action(if object == name { object } else { format!("{name} {object}") }));
    }

    fn push_text(&mut self, text: &str, hear: &mut EventSink<'_>) -> TurnResult<()> {
        if text.is_empty() {
            return Ok(());
        }
        if std::mem::take(&mut self.new_message) && !self.shown.is_empty() {
            self.shown.clear();
            hear(FriendEvent::AnswerRestarted);
        }
        if self.shown.len() + text.len() > MOST_ANSWER {
            return Err(answer_too_large());
        }
        self.shown.push_str(text);
        hear(FriendEvent::Text(text.to_string()));
        Ok(())
    }

    fn record_json_decline(&mut self, denial: &Value, hear: &mut EventSink<'_>) {
        let text = |key: &str| denial[key].as_str().unwrap_or_default();
        self.record_decline(text("tool_use_id"), text("tool_name"), &denial["tool_input"], hear);
    }

    /// Remembers what was refused, once.
    pub(super) fn record_decline(&mut self, id: &str, name: &str, input: &Value, hear: &mut EventSink<'_>) {
        if self.declined.len() >= MOST_DECLINED || !self.declined_ids.insert(id.to_string()) {
            return;
        }
        let declined = DeclinedAction { kind: declined_kind(name), what: describe_input(name, input) };
        hear(FriendEvent::Declined(declined.clone()));
        self.declined.push(declined);
    }

    /// What came of it, by the last word.
    pub(super) fn finish(
        &mut self,
        result: &Value,
        session: Option<&str>,
        hear: &mut EventSink<'_>,
    ) -> TurnResult {
        for denial in result["permission_denials"].as_array().into_iter().flatten() {
            self.record_json_decline(denial, hear);
        }
        if result["is_error"] != false || result["subtype"] != "success" {
            return Err(classify_result(result, session));
        }
        let mut text = result["result"].as_str().unwrap_or_default().to_string();
        let mut value = None;
        if self.schema {
            match &result["structured_output"] {
                Value::Null => {
                    let fault = "it was not handed in".to_string();
                    return Err(FriendFailure::SchemaMismatch { friend: NAME.to_string(), fault, text });
                }
                output => {
                    text = output.to_string();
                    value = Some(output.clone());
                }
            }
        }
        if text.len() > MOST_ANSWER {
            return Err(answer_too_large());
        }
        if text.trim().is_empty() {
            return Err(FriendFailure::NoAnswer { friend: NAME.to_string(), said: String::new() });
        }
        if self.shown.trim() != text.trim() {
            self.new_message = true;
            self.push_text(&text, hear)?;
        }
        let count = |name: &str| result["usage"][name].as_u64().unwrap_or(0);
        let input = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"].map(count);
        let input = input.into_iter().fold(0, u64::saturating_add);
        let unconfined = "It could run no commands: claude does not confine a shell to the project.";
        let remark = (self.access == Access::Workspace).then(|| unconfined.to_string());
        Ok(FriendAnswer {
            text,
            value,
            session: session.map(str::to_string),
            model: self.model.clone(),
            declined: std::mem::take(&mut self.declined),
            usage: Some(FriendUsage { input, output: count("output_tokens") }),
            transport: TRANSPORT,
            remarks: remark.into_iter().collect(),
            ..FriendAnswer::default()
        })
    }
}

pub(super) fn answer_too_large() -> FriendFailure {
    FriendFailure::AnswerTooLarge { friend: NAME.to_string(), most: MOST_ANSWER }
}
