//! The tool calls of an answer in progress, in pieces that identify them by number, by id, by name, or not
//! at all.
//!
//! A piece belongs to the call that it most plainly means: the one of its number, unless it brings another
//! id together with a name; else the one of its id; else the last. Invariant: a call whose arguments are a
//! complete object takes no more, so a piece that comes twice changes nothing.

use std::borrow::Cow;

use serde_json::Value;

use crate::failure::{ModelFailure, ModelResult};
use crate::stream::assembly::{AnswerPieceKind, Assembly, MAX_ANSWER_PIECES};

/// The tool calls so far.
#[derive(Debug, Default)]
pub(super) struct CompletionsCalls {
    all: Vec<PartialToolCall>,
}

#[derive(Debug, Default)]
struct PartialToolCall {
    number: Option<u64>,
    id: String,
    name: String,
    /// Once its name is known.
    piece: Option<usize>,
    /// Arguments that came before the name.
    waiting: String,
    extent: JsonExtent,
}

/// What a piece says.
pub(super) struct ToolCallDelta<'a> {
    number: Option<u64>,
    id: &'a str,
    name: &'a str,
    arguments: Cow<'a, str>,
}

impl<'a> ToolCallDelta<'a> {
    /// One entry of `tool_calls`, or of the older `function_call`, if it says anything.
    pub(super) fn from_json(entry: &'a Value) -> Option<ToolCallDelta<'a>> {
        let function = if entry["function"].is_object() { &entry["function"] } else { entry };
        let piece = ToolCallDelta {
            number: entry["index"].as_u64(),
            id: word(&entry["id"]),
            name: word(&function["name"]),
            arguments: match &function["arguments"] {
                Value::String(text) => Cow::Borrowed(text),
                Value::Null => Cow::Borrowed(""),
                whole => Cow::Owned(whole.to_string()),
            },
        };
        let says = !(piece.id.is_empty() && piece.name.is_empty() && piece.arguments.is_empty());
        says.then_some(piece)
    }
}

impl CompletionsCalls {
    /// The index of the call with that id.
    pub(super) fn place(&self, id: &str) -> Option<usize> {
        self.all.iter().find(|call| call.id == id).and_then(|call| call.piece)
    }

    /// Fails with [`crate::FailureClass::TooLarge`].
    pub(super) fn take(&mut self, piece: &ToolCallDelta<'_>, into: &mut Assembly) -> ModelResult {
        let at = match self.find_target(piece) {
            Some(at) => at,
            None => self.begin(piece)?,
        };
        self.all[at].take(at, piece, into)
    }

    fn find_target(&self, piece: &ToolCallDelta<'_>) -> Option<usize> {
        let last = |fits: &dyn Fn(&PartialToolCall) -> bool| self.all.iter().rposition(fits);
        let found = match piece.number {
            Some(number) => last(&|call| call.number == Some(number)),
            None if !piece.id.is_empty() => last(&|call| call.id == piece.id),
            // A name alone begins a call; anything else continues the last one.
            None if !piece.name.is_empty() => None,
            None => self.all.len().checked_sub(1),
        }?;
        let call = &self.all[found];
        let other_id = !piece.id.is_empty() && !call.id.is_empty() && piece.id != call.id;
        let other_name = !piece.name.is_empty() && !call.name.is_empty() && piece.name != call.name;
        // Some send a new id with every piece, so another id means another call only together with a name.
        let another = (other_id && !piece.name.is_empty()) || (other_name && call.extent.began());
        (!another).then_some(found)
    }

    fn begin(&mut self, piece: &ToolCallDelta<'_>) -> ModelResult<usize> {
        if self.all.len() >= MAX_ANSWER_PIECES {
            return Err(ModelFailure::too_large(format!(
                "the provider sent more than {MAX_ANSWER_PIECES} tool calls in one answer"
            )));
        }
        self.all.push(PartialToolCall { number: piece.number, ..PartialToolCall::default() });
        Ok(self.all.len() - 1)
    }

    /// # Errors
    /// [`crate::FailureClass::Malformed`] for a call that never named its tool.
    pub(super) fn end(&self) -> ModelResult {
        if self.all.iter().any(|call| call.piece.is_none()) {
            return Err(ModelFailure::malformed("the provider sent a tool call without a name"));
        }
        Ok(())
    }
}

impl PartialToolCall {
    fn take(&mut self, at: usize, piece: &ToolCallDelta<'_>, into: &mut Assembly) -> ModelResult {
        let late = !piece.id.is_empty() || !piece.name.is_empty();
        if self.id.is_empty() {
            piece.id.clone_into(&mut self.id);
        }
        if !piece.name.is_empty() && (self.name.is_empty() || !self.extent.began()) {
            piece.name.clone_into(&mut self.name);
        }
        let more = self.extent.take_within(&piece.arguments);
        match self.piece {
            None if self.name.is_empty() => {
                // Bounded like content, though it is not in the answer yet.
                if self.waiting.len() + more.len() > crate::stream::assembly::MAX_ANSWER_BYTES {
                    return Err(ModelFailure::too_large("the provider sent arguments that are too long"));
                }
                self.waiting.push_str(more);
                Ok(())
            }
            None => {
                let id = if self.id.is_empty() { generated_id(at, into) } else { self.id.clone() };
                let opened = into.open(AnswerPieceKind::ToolCall { id, name: self.name.clone() })?;
                self.piece = Some(opened);
                into.append_delta(opened, &std::mem::take(&mut self.waiting))?;
                into.append_delta(opened, more)
            }
            Some(opened) => {
                if late {
                    let id = if self.id.is_empty() { generated_id(at, into) } else { self.id.clone() };
                    into.set_call_name(opened, &id, &self.name);
                }
                into.append_delta(opened, more)
            }
        }
    }
}

/// For a call without an id: the same for the same answer, different in the next.
fn generated_id(at: usize, into: &Assembly) -> String {
    format!("call_{:x}_{at}", into.started_at())
}

/// Treats what some servers write for nothing as nothing.
fn word(value: &Value) -> &str {
    value.as_str().filter(|word| *word != "null").unwrap_or_default()
}

/// How far the JSON of the arguments has come.
#[derive(Debug, Default)]
struct JsonExtent {
    depth: usize,
    in_string: bool,
    escaped: bool,
    began: bool,
    whole: bool,
}

impl JsonExtent {
    fn began(&self) -> bool {
        self.began
    }

    /// The part of `more` that still belongs to it.
    fn take_within<'a>(&mut self, more: &'a str) -> &'a str {
        if self.whole {
            return "";
        }
        for (at, byte) in more.bytes().enumerate() {
            self.began |= !byte.is_ascii_whitespace();
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        self.whole = true;
                        return &more[..=at];
                    }
                }
                _ => {}
            }
        }
        more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_end_with_the_brace_that_closes_them() {
        let mut extent = JsonExtent::default();
        assert_eq!(extent.take_within(" {\"a\": \"}\\"), " {\"a\": \"}\\");
        assert_eq!(extent.take_within("\"}\", \"b\": [{}]"), "\"}\", \"b\": [{}]");
        assert_eq!(extent.take_within("} {\"a\""), "}");
        assert_eq!(extent.take_within("{}"), "");
    }
}
