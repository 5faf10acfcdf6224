//! What claude tells of a turn, made into events and, at last, an answer. The same for both ways.
//!
//! Invariants: the answer is what the last `result` says, and only if that does not say that it is an error (its
//! `subtype` says "success" of failures, too). What was shown before and is not the answer is begun anew. A use
//! of a tool that was refused counts once, however often claude speaks of it. Everything is bounded.

use std::collections::HashSet;

use relaycode_project::access::Access;
use serde_json::Value;

use super::NAME;
use super::judge::{HAND_IN, kind, object};
use super::trouble::failure_of;
use crate::answer::{Answer, Declined, Usage};
use crate::clock::Clock;
use crate::event::Event;
use crate::failure::Failure;

/// Bytes of an answer.
pub(super) const MOST_ANSWER: usize = 8 << 20;

/// What was refused, at most so much of it is kept.
const MOST_DECLINED: usize = 1_000;

/// Whoever hears of a turn.
pub(super) type Hear<'a> = dyn FnMut(Event) + 'a;

/// A turn as it is heard.
#[derive(Debug)]
pub(super) struct Heard {
    access: Access,
    schema: bool,
    /// What is shown of the message that is being written.
    shown: String,
    /// The message that is written now came in pieces.
    streamed: bool,
    /// The next words are of another message.
    anew: bool,
    /// The tools that claude says it has.
    tools: HashSet<String>,
    /// Uses of tools that were counted as refused.
    refused: HashSet<String>,
    declined: Vec<Declined>,
    model: Option<String>,
}

impl Heard {
    pub(super) fn new(access: Access, schema: bool) -> Heard {
        Heard {
            access,
            schema,
            shown: String::new(),
            streamed: false,
            anew: false,
            tools: HashSet::new(),
            refused: HashSet::new(),
            declined: Vec::new(),
            model: None,
        }
    }

    /// What claude said of itself, after it was looked at.
    pub(super) fn began(&mut self, init: &Value) {
        let tools = init["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        self.tools = tools.iter().filter_map(Value::as_str).map(str::to_string).collect();
        self.model = init["model"].as_str().map(str::to_string);
    }

    /// Takes what claude tells.
    pub(super) fn note(
        &mut self,
        told: &Value,
        clock: &mut Clock<'_>,
        hear: &mut Hear<'_>,
    ) -> Result<(), Failure> {
        if told["subtype"] == "api_retry" {
            let status = &told["error_status"];
            let (error, attempt) = (told["error"].as_str().unwrap_or_default(), &told["attempt"]);
            hear(Event::Retrying(if status.is_null() {
                clock.tries("it gets no answer");
                format!("it gets no answer of its server; attempt {attempt}")
            } else {
                clock.reached();
                format!("its server says {status} {error}; attempt {attempt}")
            }));
            return Ok(());
        }
        // That it asks its server is nothing that was done.
        if told["subtype"] != "status" {
            clock.lives();
        }
        // A helper of claude's own has its own words.
        if told["parent_tool_use_id"].is_string() {
            return Ok(());
        }
        match told["type"].as_str().unwrap_or_default() {
            "stream_event" => self.piece(&told["event"], hear),
            "assistant" => self.message(&told["message"], hear),
            "system" if told["subtype"] == "permission_denied" => {
                self.declines_use(&told["tool_use_id"], &told["tool_name"], &told["tool_input"], hear);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn piece(&mut self, event: &Value, hear: &mut Hear<'_>) -> Result<(), Failure> {
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => {
                self.anew = true;
                self.streamed = false;
            }
            "content_block_delta" => {
                let delta = &event["delta"];
                if let Some(text) = delta["text"].as_str() {
                    self.streamed = true;
                    self.write(text, hear)?;
                } else if let Some(text) = delta["thinking"].as_str() {
                    hear(Event::Thinking(text.to_string()));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A message, block by block as they are done; its words were streamed before, or were not.
    fn message(&mut self, message: &Value, hear: &mut Hear<'_>) -> Result<(), Failure> {
        let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        for block in blocks {
            match block["type"].as_str().unwrap_or_default() {
                "text" if !self.streamed => {
                    self.anew = true;
                    self.write(block["text"].as_str().unwrap_or_default(), hear)?;
                }
                "tool_use" => self.uses(block, hear),
                _ => {}
            }
        }
        Ok(())
    }

    fn uses(&mut self, block: &Value, hear: &mut Hear<'_>) {
        let name = block["name"].as_str().unwrap_or_default();
        if name == HAND_IN {
            return;
        }
        // With full access everything is allowed, and one tool goes by two names.
        if self.access != Access::Full && !self.tools.contains(name) {
            // Claude tells the model that there is no such tool, and asks nobody.
            return self.declines_use(&block["id"], &block["name"], &block["input"], hear);
        }
        let object = object(name, &block["input"]);
        hear(Event::Doing(if object == name { object } else { format!("{name} {object}") }));
    }

    fn write(&mut self, text: &str, hear: &mut Hear<'_>) -> Result<(), Failure> {
        if text.is_empty() {
            return Ok(());
        }
        if std::mem::take(&mut self.anew) && !self.shown.is_empty() {
            self.shown.clear();
            hear(Event::Anew);
        }
        if self.shown.len() + text.len() > MOST_ANSWER {
            return Err(too_much());
        }
        self.shown.push_str(text);
        hear(Event::Text(text.to_string()));
        Ok(())
    }

    fn declines_use(&mut self, id: &Value, name: &Value, input: &Value, hear: &mut Hear<'_>) {
        let (id, name) = (id.as_str().unwrap_or_default(), name.as_str().unwrap_or_default());
        self.declines(id, name, input, hear);
    }

    /// Remembers what was refused, once.
    pub(super) fn declines(&mut self, id: &str, name: &str, input: &Value, hear: &mut Hear<'_>) {
        if self.declined.len() >= MOST_DECLINED || !self.refused.insert(id.to_string()) {
            return;
        }
        let declined = Declined { kind: kind(name), what: object(name, input) };
        hear(Event::Declined(declined.clone()));
        self.declined.push(declined);
    }

    /// What came of it, by the last word.
    pub(super) fn result(
        &mut self,
        result: &Value,
        session: Option<&str>,
        way: &'static str,
        hear: &mut Hear<'_>,
    ) -> Result<Answer, Failure> {
        let denials = result["permission_denials"].as_array().map(Vec::as_slice).unwrap_or_default();
        for denial in denials {
            self.declines_use(&denial["tool_use_id"], &denial["tool_name"], &denial["tool_input"], hear);
        }
        if result["is_error"] != false || result["subtype"] != "success" {
            return Err(failure_of(result, session));
        }
        let mut text = result["result"].as_str().unwrap_or_default().to_string();
        let mut value = None;
        if self.schema {
            match &result["structured_output"] {
                Value::Null => {
                    let fault = "it was not handed in".to_string();
                    return Err(Failure::NotByTheSchema { friend: NAME.to_string(), fault, text });
                }
                output => {
                    text = output.to_string();
                    value = Some(output.clone());
                }
            }
        }
        if text.len() > MOST_ANSWER {
            return Err(too_much());
        }
        if text.trim().is_empty() {
            return Err(Failure::NoAnswer { friend: NAME.to_string(), said: String::new() });
        }
        if self.shown.trim() != text.trim() {
            self.anew = true;
            self.write(&text, hear)?;
        }
        let count = |name: &str| result["usage"][name].as_u64().unwrap_or(0);
        let input = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"].map(count);
        let input = input.into_iter().fold(0, u64::saturating_add);
        let mut remarks = Vec::new();
        if self.access == Access::Workspace {
            let remark = "It could run no commands: claude does not confine a shell to the project.";
            remarks.push(remark.to_string());
        }
        Ok(Answer {
            text,
            value,
            session: session.map(str::to_string),
            model: self.model.clone(),
            declined: std::mem::take(&mut self.declined),
            usage: Some(Usage { input, output: count("output_tokens") }),
            way,
            remarks,
        })
    }
}

pub(super) fn too_much() -> Failure {
    Failure::TooMuch { friend: NAME.to_string(), most: MOST_ANSWER }
}
