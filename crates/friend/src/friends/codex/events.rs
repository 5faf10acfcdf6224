//! What the app-server tells of a turn, made into events and, at last, an answer.
//!
//! Invariants: the answer is the last message alone, as it was completed; what came before it was a remark. A
//! review's own words are those of the reviewer, never the raw form that the model wrote. Everything is bounded.

use std::collections::HashMap;

use serde_json::Value;

use super::error::{classify_error, report_retry, was_blocked};
use super::{NAME, PROFILE};
use crate::driver::TurnClock;
use crate::{
    DeclinedAction, DeclinedActionKind, EventSink, FriendEvent, FriendFailure, FriendUsage, TurnResult,
};

/// Bytes of an answer.
pub(super) const MOST_ANSWER: usize = 8 << 20;

/// What was refused, at most so much of it is kept.
pub(super) const MOST_DECLINED: usize = 1_000;

/// Changes that are remembered until codex asks for leave.
const MOST_CHANGES: usize = 1_000;

#[derive(Debug, Default)]
pub(super) struct CodexTurnState {
    /// The thread that the turn is in. Helpers of codex's own have others.
    pub(super) thread: String,
    /// The turn itself, once codex has named it: what it tells before is of earlier ones.
    pub(super) turn: Option<String>,
    /// Its own review: only the last word of it counts.
    pub(super) review: bool,
    message: Option<String>,
    pub(super) text: String,
    pub(super) declined: Vec<DeclinedAction>,
    pub(super) usage: Option<FriendUsage>,
    /// Something was shown: the prompt was answered, at least in part.
    pub(super) has_output: bool,
    /// The files of a change, by its id.
    changes: HashMap<String, Vec<String>>,
    last_error: Option<Value>,
}

impl CodexTurnState {
    /// Takes a notification. `Ok(true)`: the turn is over, and went well.
    pub(super) fn handle_notification(
        &mut self,
        method: &str,
        params: &Value,
        clock: &mut TurnClock<'_>,
        hear: &mut EventSink<'_>,
    ) -> TurnResult<bool> {
        if method != "error" {
            clock.mark_alive();
        }
        if params["threadId"].as_str().is_some_and(|thread| thread != self.thread) {
            return Ok(false);
        }
        match method {
            "item/agentMessage/delta" => {
                let id = params["itemId"].as_str().unwrap_or_default();
                self.push_text(id, params["delta"].as_str().unwrap_or_default(), hear)?;
            }
            "item/reasoning/summaryTextDelta" | "item/reasoning/textDelta" => {
                self.has_output = true;
                hear(FriendEvent::Thinking(params["delta"].as_str().unwrap_or_default().to_string()));
            }
            "item/started" => self.item_started(&params["item"], hear),
            "item/completed" => self.item_completed(&params["item"], hear)?,
            "thread/tokenUsage/updated" if self.turn.is_some() => {
                self.add_usage(&params["tokenUsage"]["last"]);
            }
            "error" => self.error(params, clock, hear),
            "turn/completed" => return self.finish_turn(&params["turn"]),
            _ => {}
        }
        Ok(false)
    }

    fn push_text(&mut self, id: &str, delta: &str, hear: &mut EventSink<'_>) -> TurnResult<()> {
        if self.review || delta.is_empty() {
            return Ok(());
        }
        if self.message.as_deref() != Some(id) {
            if !self.text.is_empty() {
                hear(FriendEvent::AnswerRestarted);
            }
            self.text.clear();
            self.message = Some(id.to_string());
        }
        self.text.push_str(delta);
        self.has_output = true;
        if self.text.len() > MOST_ANSWER {
            return Err(answer_too_large());
        }
        hear(FriendEvent::Text(delta.to_string()));
        Ok(())
    }

    fn item_started(&mut self, item: &Value, hear: &mut EventSink<'_>) {
        let doing = match item["type"].as_str().unwrap_or_default() {
            "commandExecution" => item["command"].as_str().unwrap_or_default().to_string(),
            "fileChange" => {
                let files = paths(&item["changes"]);
                let doing = format!("change {}", files.join(", "));
                if let Some(id) = item["id"].as_str()
                    && self.changes.len() < MOST_CHANGES
                {
                    self.changes.insert(id.to_string(), files);
                }
                doing
            }
            "mcpToolCall" | "dynamicToolCall" => item["tool"].as_str().unwrap_or("a tool").to_string(),
            "webSearch" => format!("search for {}", item["query"].as_str().unwrap_or_default()),
            _ => return,
        };
        self.has_output = true;
        // What was said before something is done was a remark; if nothing follows, there is no answer.
        if !std::mem::take(&mut self.text).is_empty() && !self.review {
            hear(FriendEvent::AnswerRestarted);
        }
        self.message = None;
        hear(FriendEvent::Action(doing));
    }

    fn item_completed(&mut self, item: &Value, hear: &mut EventSink<'_>) -> TurnResult<()> {
        match item["type"].as_str().unwrap_or_default() {
            "agentMessage" if !self.review => {
                let id = item["id"].as_str().unwrap_or_default();
                let text = item["text"].as_str().unwrap_or_default();
                let streamed = self.message.as_deref() == Some(id);
                match text.strip_prefix(&self.text).filter(|_| streamed) {
                    Some(rest) => self.push_text(id, rest, hear),
                    // Never streamed, or not as it was meant.
                    None => {
                        self.message = None;
                        self.push_text(id, text, hear)
                    }
                }
            }
            "commandExecution" if item["status"] != "declined" => {
                // Nobody was asked: the sandbox stopped it.
                if was_blocked(item["aggregatedOutput"].as_str().unwrap_or_default()) {
                    let command = item["command"].as_str().unwrap_or("a command");
                    self.record_decline(DeclinedActionKind::Command, command, hear);
                }
                Ok(())
            }
            "exitedReviewMode" => {
                self.review = false;
                self.message = None;
                self.text.clear();
                let words = item["review"].as_str().unwrap_or_default();
                let written = self.push_text("review", words, hear);
                self.review = true;
                written
            }
            _ => Ok(()),
        }
    }

    fn add_usage(&mut self, last: &Value) {
        let usage = self.usage.get_or_insert_default();
        usage.input = usage.input.saturating_add(last["inputTokens"].as_u64().unwrap_or(0));
        usage.output = usage.output.saturating_add(last["outputTokens"].as_u64().unwrap_or(0));
    }

    fn error(&mut self, params: &Value, clock: &mut TurnClock<'_>, hear: &mut EventSink<'_>) {
        let error = &params["error"];
        if params["willRetry"] == true {
            let details = error["additionalDetails"].as_str().unwrap_or_default();
            let said = format!("{} {details}", error["message"].as_str().unwrap_or_default());
            report_retry(clock, said.trim(), hear);
        } else {
            self.last_error = Some(error.clone());
        }
    }

    fn finish_turn(&mut self, turn: &Value) -> TurnResult<bool> {
        match turn["status"].as_str().unwrap_or_default() {
            "completed" => Ok(true),
            "interrupted" => Err(PROFILE.failed("the turn was interrupted, and not by relay")),
            _ => {
                let own = Some(&turn["error"]).filter(|error| !error.is_null());
                Err(classify_error(own.or(self.last_error.as_ref()).unwrap_or(&Value::Null)))
            }
        }
    }

    pub(super) fn record_decline(&mut self, kind: DeclinedActionKind, what: &str, hear: &mut EventSink<'_>) {
        let declined = DeclinedAction { kind, what: what.to_string() };
        hear(FriendEvent::Declined(declined.clone()));
        if self.declined.len() < MOST_DECLINED {
            self.declined.push(declined);
        }
    }

    pub(super) fn take_change_files(&mut self, id: &str) -> Vec<String> {
        self.changes.remove(id).unwrap_or_default()
    }
}

pub(super) fn answer_too_large() -> FriendFailure {
    FriendFailure::AnswerTooLarge { friend: NAME.to_string(), most: MOST_ANSWER }
}

fn paths(changes: &Value) -> Vec<String> {
    let changes = changes.as_array().map(Vec::as_slice).unwrap_or_default();
    let of = |change: &Value| change["path"].as_str().unwrap_or("a file").to_string();
    changes.iter().take(MOST_CHANGES).map(of).collect()
}
