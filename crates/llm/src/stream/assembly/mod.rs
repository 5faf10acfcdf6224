//! An answer while it comes: the message so far, and the events that nobody has taken yet.
//!
//! Every wire says through this what it has read, so the rules of the events are kept in one place: `start` first and
//! once, a piece's end behind its deltas, one last event and nothing behind it. Deltas that wait are merged.
//! Invariant: the message is what the events say, and neither it nor the queue grows beyond its bounds.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use crate::failure::{FailureClass, ModelFailure};
use crate::message::{
    AssistantContent, AssistantMessage, StopReason, TextContent, ThinkingContent, TokenUsage, ToolCall,
};
use crate::models::model::Model;
use crate::request::secret_mask::SecretMask;
use crate::request::tool_names::ToolNames;
use crate::stream::event::{StreamDeltaKind, StreamEvent};
use crate::stream::partial_json::PartialJson;

#[cfg(test)]
mod tests;

/// Bytes of text, thinking, arguments, names and signatures that an answer may have together.
pub const MAX_ANSWER_BYTES: usize = 32 << 20;

/// Pieces that an answer may have.
pub const MAX_ANSWER_PIECES: usize = 4096;

/// Bytes of the provider's own name for an answer; a longer one is none.
const RESPONSE_ID_MOST: usize = 1024;

/// An answer while it comes.
pub struct Assembly {
    message: AssistantMessage,
    model: Model,
    pieces: Vec<AnswerPieceState>,
    waiting: VecDeque<StreamEvent>,
    started: bool,
    ended: bool,
    /// Something was said, or a tool called.
    has_output: bool,
    bytes: usize,
    /// Open calls whose arguments in the message are older than what came.
    stale: Vec<usize>,
    malformed: Vec<usize>,
    secret_mask: Option<Arc<dyn SecretMask + Send + Sync>>,
    names: ToolNames,
}

/// What is not in the message yet.
#[derive(Debug)]
enum AnswerPieceState {
    Open,
    /// An open tool call, with its arguments so far; they may be lent to the message.
    Arguments {
        json: Box<PartialJson>,
        in_message: bool,
    },
    Closed,
}

/// What a piece of an answer is.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerPieceKind {
    /// Text.
    Text,
    /// Thinking.
    Thinking,
    /// A tool call.
    ToolCall {
        /// Its name in the conversation.
        id: String,
        /// Which tool.
        name: String,
    },
}

impl Assembly {
    /// An answer of `model` of which nothing has come; `now` in milliseconds since 1970.
    pub fn new(model: &Model, now: i64) -> Assembly {
        let message = AssistantMessage {
            content: Vec::new(),
            api: model.api.clone(),
            provider: model.provider.clone(),
            model: model.id.clone(),
            response_id: None,
            usage: TokenUsage::default(),
            stop_reason: StopReason::Stop,
            error_message: None,
            timestamp: now,
        };
        Assembly {
            message,
            model: model.clone(),
            pieces: Vec::new(),
            waiting: VecDeque::new(),
            started: false,
            ended: false,
            has_output: false,
            bytes: 0,
            stale: Vec::new(),
            malformed: Vec::new(),
            secret_mask: None,
            names: ToolNames::default(),
        }
    }

    /// Calls that are whole show what `veil` hides.
    pub fn set_secret_mask(&mut self, veil: Option<Arc<dyn SecretMask + Send + Sync>>) {
        self.secret_mask = veil;
    }

    /// Calls name tools by their own names, whatever they are called on the wire.
    pub(crate) fn set_names(&mut self, names: ToolNames) {
        self.names = names;
    }

    /// The provider has begun to answer. Again is no harm.
    pub fn start(&mut self) {
        if !self.started && !self.ended {
            self.started = true;
            self.waiting.push_back(StreamEvent::Start);
        }
    }

    /// A piece begins; its place is given back. Behind the last event nothing begins: what is said of that place is
    /// nothing, too.
    ///
    /// # Errors
    /// [`FailureClass::TooLarge`] for one piece too many.
    pub fn open(&mut self, kind: AnswerPieceKind) -> Result<usize, ModelFailure> {
        let content_index = self.pieces.len();
        if self.ended {
            return Ok(content_index);
        }
        self.start();
        if content_index >= MAX_ANSWER_PIECES {
            return Err(ModelFailure::new(
                FailureClass::TooLarge,
                format!("the provider sent more than {MAX_ANSWER_PIECES} pieces in one answer"),
            ));
        }
        let (content, piece, event) = match kind {
            AnswerPieceKind::Text => (
                AssistantContent::Text(TextContent::default()),
                AnswerPieceState::Open,
                StreamEvent::TextStart { content_index },
            ),
            AnswerPieceKind::Thinking => (
                AssistantContent::Thinking(ThinkingContent::default()),
                AnswerPieceState::Open,
                StreamEvent::ThinkingStart { content_index },
            ),
            AnswerPieceKind::ToolCall { id, name } => {
                self.count_bytes(id.len() + name.len())?;
                let name = self.names.original_name(&name).to_owned();
                (
                    AssistantContent::ToolCall(ToolCall { id, name, ..ToolCall::default() }),
                    AnswerPieceState::Arguments { json: Box::default(), in_message: false },
                    StreamEvent::ToolcallStart { content_index },
                )
            }
        };
        self.has_output |= matches!(piece, AnswerPieceState::Arguments { .. });
        self.message.content.push(content);
        self.pieces.push(piece);
        self.push(event);
        Ok(content_index)
    }

    /// More of a piece that is open: text, thought, or the JSON text of arguments. Nothing, if it is closed.
    ///
    /// # Errors
    /// [`FailureClass::TooLarge`] where the answer gets longer than [`MAX_ANSWER_BYTES`].
    pub fn append_delta(&mut self, content_index: usize, more: &str) -> Result<(), ModelFailure> {
        if more.is_empty() || !self.is_open(content_index) {
            return Ok(());
        }
        self.has_output = true;
        self.count_bytes(more.len())?;
        let kind = match (&mut self.message.content[content_index], &mut self.pieces[content_index]) {
            (AssistantContent::Text(text), _) => {
                text.text.push_str(more);
                StreamDeltaKind::Text
            }
            (AssistantContent::Thinking(thinking), _) => {
                thinking.thinking.push_str(more);
                StreamDeltaKind::Thinking
            }
            (AssistantContent::ToolCall(call), AnswerPieceState::Arguments { json, in_message: lent }) => {
                if std::mem::take(lent) {
                    json.take_back(&mut call.arguments);
                    self.stale.push(content_index);
                } else if json.is_empty() {
                    self.stale.push(content_index);
                }
                json.push(more);
                StreamDeltaKind::Toolcall
            }
            (AssistantContent::ToolCall(_), _) => return Ok(()),
        };
        // The usual case by far: the delta before it still waits, and nothing new is made.
        if !self.waiting.back_mut().is_some_and(|last| last.append_delta(kind, content_index, more)) {
            self.waiting.push_back(kind.to_event(content_index, more));
        }
        Ok(())
    }

    /// The piece is whole. Again is no harm, and neither is it behind the last event.
    pub fn close(&mut self, content_index: usize) {
        if self.ended {
            return;
        }
        let Some(piece) = self.pieces.get_mut(content_index) else { return };
        let closed = std::mem::replace(piece, AnswerPieceState::Closed);
        if matches!(closed, AnswerPieceState::Closed) {
            return;
        }
        let event = match &mut self.message.content[content_index] {
            AssistantContent::Text(text) => {
                StreamEvent::TextEnd { content_index, content: text.text.clone() }
            }
            AssistantContent::Thinking(thinking) => {
                StreamEvent::ThinkingEnd { content_index, content: thinking.thinking.clone() }
            }
            AssistantContent::ToolCall(call) => {
                if let AnswerPieceState::Arguments { json, .. } = closed {
                    if !json.is_complete() {
                        self.malformed.push(content_index);
                    }
                    call.arguments = json.finish();
                    if let Some(veil) = &self.secret_mask {
                        veil.unmask_call(call);
                    }
                }
                StreamEvent::ToolcallEnd { content_index, tool_call: call.clone() }
            }
        };
        self.push(event);
    }

    /// Whether a piece is there and not whole yet.
    pub fn is_open(&self, content_index: usize) -> bool {
        !self.ended
            && matches!(
                self.pieces.get(content_index),
                Some(AnswerPieceState::Open | AnswerPieceState::Arguments { .. })
            )
    }

    /// More of what the provider wants back with a piece, unread. It may come when the piece is whole.
    ///
    /// # Errors
    /// [`FailureClass::TooLarge`] where the answer gets longer than [`MAX_ANSWER_BYTES`].
    pub fn append_signature(&mut self, content_index: usize, more: &str) -> Result<(), ModelFailure> {
        if more.is_empty() || self.ended {
            return Ok(());
        }
        self.count_bytes(more.len())?;
        let signature = match self.message.content.get_mut(content_index) {
            Some(AssistantContent::Text(text)) => &mut text.text_signature,
            Some(AssistantContent::Thinking(thinking)) => &mut thinking.thinking_signature,
            Some(AssistantContent::ToolCall(call)) => &mut call.thought_signature,
            None => return Ok(()),
        };
        signature.get_or_insert_default().push_str(more);
        Ok(())
    }

    /// The id and the tool of a call, where they come behind its beginning.
    pub fn set_call_name(&mut self, content_index: usize, id: &str, name: &str) {
        if let Some(AssistantContent::ToolCall(call)) = self.message.content.get_mut(content_index) {
            id.clone_into(&mut call.id);
            self.names.original_name(name).clone_into(&mut call.name);
        }
    }

    /// What a piece is so far. Arguments of an open call are not in it yet.
    pub fn piece(&mut self, content_index: usize) -> Option<&mut AssistantContent> {
        self.message.content.get_mut(content_index)
    }

    /// Bytes of JSON that the arguments of an open call have so far.
    pub fn argument_bytes(&self, content_index: usize) -> usize {
        match self.pieces.get(content_index) {
            Some(AnswerPieceState::Arguments { json, .. }) => json.len(),
            _ => 0,
        }
    }

    /// What the answer has cost so far; money and sum are filled in at its end.
    pub fn usage(&mut self) -> &mut TokenUsage {
        &mut self.message.usage
    }

    /// The provider's own name for this answer.
    pub fn set_response_id(&mut self, id: &str) {
        // Most wires say it with every frame.
        if self.message.response_id.as_deref() != Some(id) && id.len() <= RESPONSE_ID_MOST {
            self.message.response_id = Some(id.to_owned());
        }
    }

    /// When the answer began, in milliseconds since 1970.
    pub fn started_at(&self) -> i64 {
        self.message.timestamp
    }

    /// The answer is whole. Pieces that are still open end here. A stop that leaves tool calls waiting is a call of
    /// tools, whatever the server calls it.
    pub fn finish(&mut self, reason: StopReason) {
        if self.ended {
            return;
        }
        self.start();
        for content_index in 0..self.pieces.len() {
            self.close(content_index);
        }
        let waits = self.message.tool_calls().next().is_some();
        let reason = if waits && reason == StopReason::Stop { StopReason::ToolUse } else { reason };
        self.message.stop_reason = reason;
        self.model.fill_in_cost(&mut self.message.usage);
        self.ended = true;
        self.waiting.push_back(StreamEvent::Done { reason, message: Box::new(self.message.clone()) });
    }

    /// The answer is not whole, and nothing more comes. What is there of it stays, arguments as far as they came.
    pub fn fail(&mut self, failure: &ModelFailure) {
        if self.ended {
            return;
        }
        self.lend_arguments();
        for (content_index, piece) in self.pieces.iter().enumerate() {
            if matches!(piece, AnswerPieceState::Arguments { json, .. } if json.is_empty() || !json.is_complete())
            {
                self.malformed.push(content_index);
            }
        }
        let reason =
            if failure.class == FailureClass::Aborted { StopReason::Aborted } else { StopReason::Error };
        self.message.stop_reason = reason;
        self.message.error_message = Some(failure.message_with_wait());
        self.model.fill_in_cost(&mut self.message.usage);
        self.ended = true;
        self.waiting.push_back(StreamEvent::Error { reason, error: Box::new(self.message.clone()) });
    }

    /// The message so far, with the arguments of open calls as far as they came.
    pub fn message(&mut self) -> &AssistantMessage {
        self.lend_arguments();
        &self.message
    }

    /// Places of the tool calls whose arguments are not whole JSON: broken, or cut off by the longest answer, a failure or
    /// a cancellation. What could be read of them is in the message. Such a call must not be run: it is answered with an
    /// error. Known from the call's end on.
    pub fn malformed_calls(&self) -> &[usize] {
        &self.malformed
    }

    /// The tools that it wants to be run, each with whether its arguments are whole: see [`Assembly::malformed`].
    pub fn tool_calls(&self) -> impl Iterator<Item = (&ToolCall, bool)> {
        self.message.content.iter().enumerate().filter_map(|(content_index, content)| match content {
            AssistantContent::ToolCall(call) => Some((call, !self.malformed.contains(&content_index))),
            AssistantContent::Text(_) | AssistantContent::Thinking(_) => None,
        })
    }

    /// A piece began.
    pub fn has_pieces(&self) -> bool {
        !self.pieces.is_empty()
    }

    /// Something was said that a second attempt would say again: a word, a thought, the name of a tool.
    pub fn has_output(&self) -> bool {
        self.has_output
    }

    /// The last event is there.
    pub fn is_finished(&self) -> bool {
        self.ended
    }

    /// The next event, if one waits.
    pub fn take_event(&mut self) -> Option<StreamEvent> {
        self.waiting.pop_front()
    }

    /// An event waits to be taken.
    pub fn has_events(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// What waits is only the beginning of a piece of which nothing was said. It is kept back: should the answer break
    /// off here, a second attempt begins it anew, and nobody has seen it twice.
    pub fn withholds_events(&self) -> bool {
        !self.has_output
            && !self.ended
            && self.waiting.front().is_some_and(|event| *event != StreamEvent::Start)
    }

    /// The next event, if it need not wait for more deltas to join it.
    pub fn take_ready_event(&mut self) -> Option<StreamEvent> {
        let joins = self.waiting.len() == 1 && self.waiting.front().is_some_and(StreamEvent::is_delta);
        if joins { None } else { self.take_event() }
    }

    /// Lends the arguments of open calls to the message, those that changed.
    fn lend_arguments(&mut self) {
        for content_index in self.stale.drain(..) {
            if let (
                AssistantContent::ToolCall(call),
                AnswerPieceState::Arguments { json, in_message: lent },
            ) = (&mut self.message.content[content_index], &mut self.pieces[content_index])
            {
                json.lend(&mut call.arguments);
                *lent = true;
            }
        }
    }

    /// So much more is kept.
    fn count_bytes(&mut self, bytes: usize) -> Result<(), ModelFailure> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MAX_ANSWER_BYTES {
            let message = format!("the provider sent an answer of more than {} MB", MAX_ANSWER_BYTES >> 20);
            return Err(ModelFailure::new(FailureClass::TooLarge, message));
        }
        Ok(())
    }

    fn push(&mut self, event: StreamEvent) {
        let event = match self.waiting.back_mut() {
            Some(last) => match last.merge_delta(event) {
                Some(event) => event,
                None => return,
            },
            None => event,
        };
        self.waiting.push_back(event);
    }
}

impl fmt::Debug for Assembly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Assembly { message, pieces, waiting, ended, .. } = self;
        f.debug_struct("Assembly")
            .field("message", message)
            .field("pieces", pieces)
            .field("waiting", waiting)
            .field("ended", ended)
            .finish_non_exhaustive()
    }
}
