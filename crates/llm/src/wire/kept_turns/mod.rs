//! What earlier requests of a conversation made of its turns, to be used again: a request costs what is new in it, and one copy of
//! the bytes.
//!
//! Invariant: a request is the same, byte for byte, whether anything was kept or not. A turn's pieces follow from the messages that
//! its [`TurnKey`] names, the model and its wire, and the limits of images: they are used only while all of those are equal to what
//! they were made from. The messages themselves are compared, as they are after secrets were masked and tools renamed, so nobody has to
//! say what a compaction, a rewind or another model changed.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use serde_json::Value;

use crate::message::{AssistantContent, Message, UserContent};
use crate::models::model::Model;
use crate::request::ChatRequest;
use crate::wire::history::{KeyedTurn, TurnKey};
use crate::wire::request_body::json_bytes;

/// Bytes of messages whose turns are kept: more than the windows of models hold, images aside.
const MOST_KEPT: usize = 32 << 20;

/// Shared by the requests of one conversation. The default keeps nothing. All are equal: what is kept changes no request.
#[derive(Clone, Default)]
pub struct KeptTurns(Option<Arc<Mutex<KeptConversation>>>);

impl KeptTurns {
    /// For a conversation that is going to be sent again and again.
    pub fn new() -> KeptTurns {
        KeptTurns(Some(Arc::default()))
    }
}

impl PartialEq for KeptTurns {
    fn eq(&self, _: &KeptTurns) -> bool {
        true
    }
}

/// Nothing of the conversation.
impl fmt::Debug for KeptTurns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "KeptTurns(…)" } else { "KeptTurns(none)" })
    }
}

/// The pieces of a turn, each a whole JSON value.
pub(super) type TurnPieces = Arc<[Bytes]>;

#[derive(Default)]
struct KeptConversation {
    /// The wire, and the longest side of images.
    made_for: Option<(&'static str, u32, Model)>,
    /// What the pieces were made from, without what a model does not see.
    messages: Vec<Message>,
    bytes: usize,
    pieces: HashMap<TurnKey, TurnPieces>,
}

/// Makes the pieces of turns, unless they are kept.
pub(super) struct TurnWriter<'k> {
    kept: Option<MutexGuard<'k, KeptConversation>>,
}

impl<'k> TurnWriter<'k> {
    /// `side`: the longest that an image may have; 0 where that does not change.
    pub(super) fn new(
        wire: &'static str,
        model: &Model,
        request: &'k ChatRequest,
        side: u32,
    ) -> TurnWriter<'k> {
        let kept = request.kept.0.as_ref().map(|kept| {
            // Whatever a thread left behind that panicked: pieces are entered when they are whole.
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.continue_with(wire, side, model, &request.messages);
            kept
        });
        TurnWriter { kept }
    }

    pub(super) fn pieces(&mut self, turn: &KeyedTurn<'_>, make: impl FnOnce() -> Vec<Value>) -> TurnPieces {
        let fresh = |values: Vec<Value>| values.iter().map(json_bytes).collect();
        let Some((kept, key)) = self.kept.as_mut().zip(turn.key) else { return fresh(make()) };
        if key.last_message() >= kept.messages.len() {
            return fresh(make());
        }
        kept.pieces.entry(key).or_insert_with(|| fresh(make())).clone()
    }
}

impl KeptConversation {
    /// Forgets what does not hold for this request.
    fn continue_with(&mut self, wire: &'static str, side: u32, model: &Model, messages: &[Message]) {
        let is_same = self.made_for.as_ref().is_some_and(|(known_wire, known_side, known)| {
            (*known_wire, *known_side) == (wire, side) && known == model
        });
        if !is_same {
            *self = KeptConversation { made_for: Some((wire, side, model.clone())), ..Default::default() };
        }
        let same = self.messages.iter().zip(messages).take_while(|(known, now)| reads_the_same(known, now));
        let same = same.count();
        if same < self.messages.len() {
            self.pieces.retain(|key, _| key.last_message() < same);
            self.messages.truncate(same);
            self.bytes = self.messages.iter().map(weight).sum();
        }
        for message in &messages[same..] {
            let more = weight(message);
            if self.bytes + more > MOST_KEPT {
                break;
            }
            self.bytes += more;
            self.messages.push(message.without_details());
        }
    }
}

/// Whether a model cannot tell the two apart.
fn reads_the_same(one: &Message, other: &Message) -> bool {
    match (one, other) {
        (Message::ToolResult(one), Message::ToolResult(other)) => {
            (&one.tool_call_id, &one.tool_name, one.is_error)
                == (&other.tool_call_id, &other.tool_name, other.is_error)
                && one.content == other.content
        }
        _ => one == other,
    }
}

/// Nearly all of a message's bytes.
fn weight(message: &Message) -> usize {
    let pieces = message.pieces().iter().map(|piece| match piece {
        UserContent::Text(text) => text.text.len(),
        UserContent::Image(image) => image.data.len(),
    });
    let said = match message {
        Message::Assistant(answer) => answer.content.iter().map(content_weight).sum(),
        Message::User(_) | Message::Developer(_) | Message::ToolResult(_) => 0,
    };
    pieces.sum::<usize>() + said
}

fn content_weight(content: &AssistantContent) -> usize {
    match content {
        AssistantContent::Text(text) => text.text.len(),
        AssistantContent::Thinking(thinking) => {
            thinking.thinking.len() + thinking.thinking_signature.as_ref().map_or(0, String::len)
        }
        AssistantContent::ToolCall(call) => {
            call.arguments.values().filter_map(Value::as_str).map(str::len).sum()
        }
    }
}
