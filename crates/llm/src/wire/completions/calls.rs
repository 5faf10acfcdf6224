//! The tool calls of an answer while they come, in pieces that name them by number, by id, by name, or not at all.
//!
//! A piece belongs to the call that it most plainly means: the one of its number, unless it brings another id together with
//! a name; else the one of its id; else the last. Invariant: a call whose arguments are a whole object takes no more, so a
//! piece that comes twice changes nothing.

use std::borrow::Cow;

use serde_json::Value;

use crate::assembly::{Assembly, Kind, PIECES_MOST};
use crate::failure::{Class, Failure};

/// The tool calls so far.
#[derive(Debug, Default)]
pub(super) struct Calls {
    all: Vec<Call>,
}

#[derive(Debug, Default)]
struct Call {
    number: Option<u64>,
    id: String,
    name: String,
    /// Once its name is known.
    piece: Option<usize>,
    /// Arguments that came before the name.
    waiting: String,
    extent: Extent,
}

/// What a piece says.
pub(super) struct Piece<'a> {
    number: Option<u64>,
    id: &'a str,
    name: &'a str,
    arguments: Cow<'a, str>,
}

impl<'a> Piece<'a> {
    /// One entry of `tool_calls`, or the older `function_call`, if it says anything.
    pub(super) fn of(entry: &'a Value) -> Option<Piece<'a>> {
        let function = if entry["function"].is_object() { &entry["function"] } else { entry };
        let piece = Piece {
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

impl Calls {
    /// The place of the call with that id in the answer.
    pub(super) fn place(&self, id: &str) -> Option<usize> {
        self.all.iter().find(|call| call.id == id).and_then(|call| call.piece)
    }

    /// Takes a piece.
    ///
    /// # Errors
    /// [`Class::TooLarge`]
    pub(super) fn take(&mut self, piece: &Piece<'_>, into: &mut Assembly) -> Result<(), Failure> {
        let at = match self.meant(piece) {
            Some(at) => at,
            None => self.begin(piece)?,
        };
        self.all[at].take(at, piece, into)
    }

    fn meant(&self, piece: &Piece<'_>) -> Option<usize> {
        let last = |fits: &dyn Fn(&Call) -> bool| self.all.iter().rposition(fits);
        let found = match piece.number {
            Some(number) => last(&|call| call.number == Some(number)),
            None if !piece.id.is_empty() => last(&|call| call.id == piece.id),
            // A name alone begins a call; anything else goes on with the last one.
            None if !piece.name.is_empty() => None,
            None => self.all.len().checked_sub(1),
        }?;
        let call = &self.all[found];
        let other_id = !piece.id.is_empty() && !call.id.is_empty() && piece.id != call.id;
        let other_name = !piece.name.is_empty() && !call.name.is_empty() && piece.name != call.name;
        // Some give a new id with every piece, so another id means another call only together with a name.
        let another = (other_id && !piece.name.is_empty()) || (other_name && call.extent.began());
        (!another).then_some(found)
    }

    fn begin(&mut self, piece: &Piece<'_>) -> Result<usize, Failure> {
        if self.all.len() >= PIECES_MOST {
            return Err(Failure::new(
                Class::TooLarge,
                format!("the provider sent more than {PIECES_MOST} tool calls in one answer"),
            ));
        }
        self.all.push(Call { number: piece.number, ..Call::default() });
        Ok(self.all.len() - 1)
    }

    /// Nothing more comes.
    ///
    /// # Errors
    /// [`Class::Malformed`] for a call that never said which tool.
    pub(super) fn end(&self) -> Result<(), Failure> {
        if self.all.iter().any(|call| call.piece.is_none()) {
            return Err(Failure::malformed("the provider sent a tool call without a name"));
        }
        Ok(())
    }
}

impl Call {
    fn take(&mut self, at: usize, piece: &Piece<'_>, into: &mut Assembly) -> Result<(), Failure> {
        let late = !piece.id.is_empty() || !piece.name.is_empty();
        if self.id.is_empty() {
            piece.id.clone_into(&mut self.id);
        }
        if !piece.name.is_empty() && (self.name.is_empty() || !self.extent.began()) {
            piece.name.clone_into(&mut self.name);
        }
        let more = self.extent.within(&piece.arguments);
        match self.piece {
            None if self.name.is_empty() => {
                // Bounded like what is said, though nothing is said yet.
                if self.waiting.len() + more.len() > crate::assembly::ANSWER_MOST {
                    return Err(Failure::new(
                        Class::TooLarge,
                        "the provider sent arguments that are too long",
                    ));
                }
                self.waiting.push_str(more);
                Ok(())
            }
            None => {
                let id = if self.id.is_empty() { made_up(at, into) } else { self.id.clone() };
                let opened = into.open(Kind::ToolCall { id, name: self.name.clone() })?;
                self.piece = Some(opened);
                into.delta(opened, &std::mem::take(&mut self.waiting))?;
                into.delta(opened, more)
            }
            Some(opened) => {
                if late {
                    let id = if self.id.is_empty() { made_up(at, into) } else { self.id.clone() };
                    into.name(opened, &id, &self.name);
                }
                into.delta(opened, more)
            }
        }
    }
}

/// An id for a call that has none: the same for the same answer, another in the next.
fn made_up(at: usize, into: &Assembly) -> String {
    format!("call_{:x}_{at}", into.began())
}

/// A word; what some servers write for nothing is nothing.
fn word(value: &Value) -> &str {
    value.as_str().filter(|word| *word != "null").unwrap_or_default()
}

/// How far the JSON of the arguments has come.
#[derive(Debug, Default)]
struct Extent {
    depth: usize,
    in_string: bool,
    escaped: bool,
    began: bool,
    whole: bool,
}

impl Extent {
    /// Something of it has come.
    fn began(&self) -> bool {
        self.began
    }

    /// The part of `more` that still belongs to it.
    fn within<'a>(&mut self, more: &'a str) -> &'a str {
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
        let mut extent = Extent::default();
        assert_eq!(extent.within(" {\"a\": \"}\\"), " {\"a\": \"}\\");
        assert_eq!(extent.within("\"}\", \"b\": [{}]"), "\"}\", \"b\": [{}]");
        assert_eq!(extent.within("} {\"a\""), "}");
        assert_eq!(extent.within("{}"), "");
    }
}
