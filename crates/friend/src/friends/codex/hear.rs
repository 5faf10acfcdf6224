//! What the app-server tells of a turn, made into events and, at last, an answer.
//!
//! Invariants: the answer is the last message alone, as it was completed; what came before it was a remark. A
//! review's own words are those of the reviewer, never the raw form that the model wrote. Everything is bounded.

use std::collections::HashMap;

use serde_json::Value;

use super::trouble::{failure_of, tries_again};
use super::{KNOWN, NAME};
use crate::answer::{Declined, DeclinedKind, Usage};
use crate::clock::Clock;
use crate::event::Event;
use crate::failure::Failure;

/// Bytes of an answer.
pub(super) const MOST_ANSWER: usize = 8 << 20;

/// What was refused, at most so much of it is kept.
const MOST_DECLINED: usize = 1_000;

/// Changes that are remembered until codex asks for leave.
const MOST_CHANGES: usize = 1_000;

/// A turn as it is heard.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// The thread that the turn is in. Helpers of codex's own have others.
    pub(super) thread: String,
    /// The turn itself, once codex has named it: what it tells before is of earlier ones.
    pub(super) turn: Option<String>,
    /// Its own review: only the last word of it counts.
    review: bool,
    /// The message that is being written.
    message: Option<String>,
    pub(super) text: String,
    pub(super) declined: Vec<Declined>,
    pub(super) usage: Option<Usage>,
    /// Something was shown: the prompt was answered, at least in part.
    pub(super) spoke: bool,
    /// The files of a change, by its id.
    changes: HashMap<String, Vec<String>>,
    last_error: Option<Value>,
}

/// Whoever hears of a turn.
pub(super) type Hear<'a> = dyn FnMut(Event) + 'a;

impl Heard {
    pub(super) fn new(review: bool) -> Heard {
        Heard { review, ..Heard::default() }
    }

    /// Takes a notification. `Ok(true)`: the turn is over, and went well.
    pub(super) fn note(
        &mut self,
        method: &str,
        params: &Value,
        clock: &mut Clock<'_>,
        hear: &mut Hear<'_>,
    ) -> Result<bool, Failure> {
        if method != "error" {
            clock.lives();
        }
        if params["threadId"].as_str().is_some_and(|thread| thread != self.thread) {
            return Ok(false);
        }
        match method {
            "item/agentMessage/delta" => {
                let id = params["itemId"].as_str().unwrap_or_default();
                self.write(id, params["delta"].as_str().unwrap_or_default(), hear)?;
            }
            "item/reasoning/summaryTextDelta" | "item/reasoning/textDelta" => {
                self.spoke = true;
                hear(Event::Thinking(params["delta"].as_str().unwrap_or_default().to_string()));
            }
            "item/started" => self.begins(&params["item"], hear),
            "item/completed" => self.completes(&params["item"], hear)?,
            "thread/tokenUsage/updated" if self.turn.is_some() => self.counts(&params["tokenUsage"]["last"]),
            "error" => self.error(params, clock, hear),
            "turn/completed" => return self.over(&params["turn"]),
            _ => {}
        }
        Ok(false)
    }

    fn write(&mut self, id: &str, delta: &str, hear: &mut Hear<'_>) -> Result<(), Failure> {
        if self.review || delta.is_empty() {
            return Ok(());
        }
        if self.message.as_deref() != Some(id) {
            if !self.text.is_empty() {
                hear(Event::Anew);
            }
            self.text.clear();
            self.message = Some(id.to_string());
        }
        self.text.push_str(delta);
        self.spoke = true;
        if self.text.len() > MOST_ANSWER {
            return Err(too_much());
        }
        hear(Event::Text(delta.to_string()));
        Ok(())
    }

    fn begins(&mut self, item: &Value, hear: &mut Hear<'_>) {
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
        self.spoke = true;
        // What was said before something is done was a remark; if nothing follows, there is no answer.
        if !std::mem::take(&mut self.text).is_empty() && !self.review {
            hear(Event::Anew);
        }
        self.message = None;
        hear(Event::Doing(doing));
    }

    fn completes(&mut self, item: &Value, hear: &mut Hear<'_>) -> Result<(), Failure> {
        match item["type"].as_str().unwrap_or_default() {
            "agentMessage" if !self.review => {
                let (id, text) =
                    (item["id"].as_str().unwrap_or_default(), item["text"].as_str().unwrap_or_default());
                if self.message.as_deref() == Some(id) && text.starts_with(&self.text) {
                    let rest = text[self.text.len()..].to_string();
                    self.write(id, &rest, hear)
                } else {
                    // Never streamed, or not as it was meant.
                    self.message = None;
                    self.write(id, text, hear)
                }
            }
            "exitedReviewMode" => {
                self.review = false;
                self.message = None;
                self.text.clear();
                let words = item["review"].as_str().unwrap_or_default();
                let written = self.write("review", words, hear);
                self.review = true;
                written
            }
            _ => Ok(()),
        }
    }

    fn counts(&mut self, last: &Value) {
        let usage = self.usage.get_or_insert_default();
        usage.input = usage.input.saturating_add(last["inputTokens"].as_u64().unwrap_or(0));
        usage.output = usage.output.saturating_add(last["outputTokens"].as_u64().unwrap_or(0));
    }

    fn error(&mut self, params: &Value, clock: &mut Clock<'_>, hear: &mut Hear<'_>) {
        let error = &params["error"];
        if params["willRetry"] == true {
            let details = error["additionalDetails"].as_str().unwrap_or_default();
            let said = format!("{} {details}", error["message"].as_str().unwrap_or_default());
            tries_again(clock, said.trim(), hear);
        } else {
            self.last_error = Some(error.clone());
        }
    }

    fn over(&mut self, turn: &Value) -> Result<bool, Failure> {
        match turn["status"].as_str().unwrap_or_default() {
            "completed" => Ok(true),
            "interrupted" => Err(KNOWN.failed("the turn was interrupted, and not by relay")),
            _ => {
                let error =
                    if turn["error"].is_null() { self.last_error.as_ref() } else { Some(&turn["error"]) };
                Err(failure_of(error.unwrap_or(&Value::Null)))
            }
        }
    }

    /// Remembers what was refused.
    pub(super) fn declines(&mut self, kind: DeclinedKind, what: &str, hear: &mut Hear<'_>) {
        let declined = Declined { kind, what: what.to_string() };
        hear(Event::Declined(declined.clone()));
        if self.declined.len() < MOST_DECLINED {
            self.declined.push(declined);
        }
    }

    /// The files that the change of this id is about.
    pub(super) fn files_of(&mut self, id: &str) -> Vec<String> {
        self.changes.remove(id).unwrap_or_default()
    }
}

pub(super) fn too_much() -> Failure {
    Failure::TooMuch { friend: NAME.to_string(), most: MOST_ANSWER }
}

fn paths(changes: &Value) -> Vec<String> {
    let changes = changes.as_array().map(Vec::as_slice).unwrap_or_default();
    let of = |change: &Value| change["path"].as_str().unwrap_or("a file").to_string();
    changes.iter().take(MOST_CHANGES).map(of).collect()
}
