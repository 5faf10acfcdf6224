//! An answer in progress: the message so far, and the events that nobody has taken yet.
//!
//! Every wire reports through this what it has read, so the rules of the events are kept in one place:
//! `start` first and once, a piece's end after its deltas, one last event and nothing after it. Waiting
//! deltas are merged. Invariant: the message is what the events say, and neither it nor the queue grows
//! beyond its bounds.

use std::{collections::VecDeque, fmt, sync::Arc};

use crate::failure::{FailureClass, ModelFailure, ModelResult};
use crate::message::{
    AssistantContent, AssistantMessage, StopReason, TextContent, ThinkingContent, TokenUsage, ToolCall,
};
use crate::request::{secret_mask::SecretMask, tool_names::ToolNames};
use crate::stream::event::{StreamDeltaKind, StreamEvent};
use crate::{models::model::Model, stream::partial_json::PartialJson};

#[cfg(test)]
mod tests;

/// Most bytes of text, thinking, arguments, names and signatures of an answer together.
pub const MAX_ANSWER_BYTES: usize = 32 << 20;

pub const MAX_ANSWER_PIECES: usize = 4096;

/// Longest id of an answer; a longer one is ignored.
const RESPONSE_ID_MOST: usize = 1024;

/// An answer in progress.
pub struct Assembly {
    message: AssistantMessage,
    model: Model,
    pieces: Vec<AnswerPieceState>,
    waiting: VecDeque<StreamEvent>,
    started: bool,
    ended: bool,
    /// There was text, thinking, or a tool call.
    has_output: bool,
    /// There was text, or a tool call.
    has_text: bool,
    bytes: usize,
    /// Open calls whose arguments in the message are out of date.
    stale: Vec<usize>,
    malformed: Vec<usize>,
    secret_mask: Option<Arc<dyn SecretMask + Send + Sync>>,
    names: ToolNames,
}

/// What is not in the message yet.
#[derive(Debug)]
enum AnswerPieceState {
    /// Text or thinking.
    Open,
    /// An open tool call, with its arguments so far; they may be lent to the message.
    Arguments { json: Box<PartialJson>, in_message: bool },
    /// Nothing more comes.
    Closed,
}

#[derive(Debug, Clone, PartialEq)]
pub enum AnswerPieceKind {
    Text,
    Thinking,
    ToolCall { id: String, name: String },
}

impl Assembly {
    /// `now` in milliseconds since 1970.
    pub fn new(model: &Model, now: i64) -> Assembly {
        let message = AssistantMessage {
            api: model.api.clone(),
            provider: model.provider.clone(),
            model: model.id.clone(),
            timestamp: now,
            ..AssistantMessage::default()
        };
        Assembly {
            message,
            model: model.clone(),
            pieces: Vec::new(),
            waiting: VecDeque::new(),
            started: false,
            ended: false,
            has_output: false,
            has_text: false,
            bytes: 0,
            stale: Vec::new(),
            malformed: Vec::new(),
            secret_mask: None,
            names: ToolNames::default(),
        }
    }

    /// Secrets are restored in complete calls.
    pub fn set_secret_mask(&mut self, mask: Option<Arc<dyn SecretMask + Send + Sync>>) {
        self.secret_mask = mask;
    }

    /// Calls use the tools' own names, whatever they are on the wire.
    pub(crate) fn set_names(&mut self, names: ToolNames) {
        self.names = names;
    }

    /// The provider has begun to answer. May be repeated.
    pub fn start(&mut self) {
        if !self.started && !self.ended {
            self.started = true;
            self.waiting.push_back(StreamEvent::Start);
        }
    }

    /// Begins a piece and returns its index. After the last event nothing begins, and reports for that
    /// index are ignored.
    ///
    /// # Errors
    /// [`FailureClass::TooLarge`] for one piece too many.
    pub fn open(&mut self, kind: AnswerPieceKind) -> ModelResult<usize> {
        let content_index = self.pieces.len();
        if self.ended {
            return Ok(content_index);
        }
        self.start();
        if content_index >= MAX_ANSWER_PIECES {
            return Err(ModelFailure::too_large(format!(
                "the provider sent more than {MAX_ANSWER_PIECES} pieces in one answer"
            )));
        }
        let mut piece = AnswerPieceState::Open;
        let (content, event) = match kind {
            AnswerPieceKind::Text => {
                (AssistantContent::Text(TextContent::default()), StreamEvent::TextStart { content_index })
            }
            AnswerPieceKind::Thinking => {
                let thinking = ThinkingContent::default();
                (AssistantContent::Thinking(thinking), StreamEvent::ThinkingStart { content_index })
            }
            AnswerPieceKind::ToolCall { id, name } => {
                self.count_bytes(id.len() + name.len())?;
                let name = self.names.original_name(&name).to_owned();
                self.has_output = true;
                self.has_text = true;
                piece = AnswerPieceState::Arguments { json: Box::default(), in_message: false };
                let call = ToolCall { id, name, ..ToolCall::default() };
                (AssistantContent::ToolCall(call), StreamEvent::ToolcallStart { content_index })
            }
        };
        self.message.content.push(content);
        self.pieces.push(piece);
        self.push(event);
        Ok(content_index)
    }

    /// The piece that is `open`, or a new one, which it is then.
    pub(crate) fn continue_or_open(
        &mut self,
        open: &mut Option<usize>,
        kind: AnswerPieceKind,
    ) -> ModelResult<usize> {
        match *open {
            Some(piece) => Ok(piece),
            None => Ok(*open.insert(self.open(kind)?)),
        }
    }

    /// More of an open piece: text, thinking, or the JSON text of arguments. Ignored if it is closed.
    ///
    /// # Errors
    /// [`FailureClass::TooLarge`] if the answer exceeds [`MAX_ANSWER_BYTES`].
    pub fn append_delta(&mut self, content_index: usize, more: &str) -> ModelResult {
        if more.is_empty() || !self.is_open(content_index) {
            return Ok(());
        }
        self.has_output = true;
        self.has_text |= !matches!(self.message.content[content_index], AssistantContent::Thinking(_));
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
        // By far the usual case: the previous delta still waits, and nothing new is allocated.
        if !self.waiting.back_mut().is_some_and(|last| last.append_delta(kind, content_index, more)) {
            self.waiting.push_back(kind.to_event(content_index, more));
        }
        Ok(())
    }

    /// The piece is complete. May be repeated, also after the last event.
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
                    if let Some(mask) = &self.secret_mask {
                        mask.unmask_call(call);
                    }
                }
                StreamEvent::ToolcallEnd { content_index, tool_call: call.clone() }
            }
        };
        self.push(event);
    }

    pub fn is_open(&self, content_index: usize) -> bool {
        let open = self.pieces.get(content_index).filter(|piece| !matches!(piece, AnswerPieceState::Closed));
        open.is_some() && !self.ended
    }

    /// More of a piece's signature, which the provider wants back unchanged. It may come after the piece is
    /// complete.
    ///
    /// # Errors
    /// [`FailureClass::TooLarge`] if the answer exceeds [`MAX_ANSWER_BYTES`].
    pub fn append_signature(&mut self, content_index: usize, more: &str) -> ModelResult {
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

    /// For a call whose id and tool come after its beginning.
    pub fn set_call_name(&mut self, content_index: usize, id: &str, name: &str) {
        if let Some(AssistantContent::ToolCall(call)) = self.message.content.get_mut(content_index) {
            id.clone_into(&mut call.id);
            self.names.original_name(name).clone_into(&mut call.name);
        }
    }

    /// Without the arguments of an open call.
    pub fn piece(&mut self, content_index: usize) -> Option<&mut AssistantContent> {
        self.message.content.get_mut(content_index)
    }

    /// Bytes of JSON of an open call's arguments so far.
    pub fn argument_bytes(&self, content_index: usize) -> usize {
        match self.pieces.get(content_index) {
            Some(AnswerPieceState::Arguments { json, .. }) => json.len(),
            _ => 0,
        }
    }

    /// Token counts so far; money and total are filled in at the end.
    pub fn usage(&mut self) -> &mut TokenUsage {
        &mut self.message.usage
    }

    /// The provider's own id for this answer.
    pub fn set_response_id(&mut self, id: &str) {
        // Most wires repeat it in every frame.
        if self.message.response_id.as_deref() != Some(id) && id.len() <= RESPONSE_ID_MOST {
            self.message.response_id = Some(id.to_owned());
        }
    }

    /// In milliseconds since 1970.
    pub fn started_at(&self) -> i64 {
        self.message.timestamp
    }

    /// The answer is complete. Open pieces end here. A stop that leaves tool calls waiting becomes a tool
    /// use, whatever the server calls it.
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

    /// The answer is incomplete, and nothing more comes. What is there stays, arguments as far as they
    /// came.
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

    /// With the arguments of open calls as far as they came.
    pub fn message(&mut self) -> &AssistantMessage {
        self.lend_arguments();
        &self.message
    }

    /// Indices of tool calls whose arguments are not complete JSON: broken, or cut off by the output limit,
    /// a failure or a cancellation. Their readable part is in the message. Such a call must not be run:
    /// answer it with an error. Known from the call's end on.
    pub fn malformed_calls(&self) -> &[usize] {
        &self.malformed
    }

    /// Each call with whether its arguments are complete: see [`Assembly::malformed_calls`].
    pub fn tool_calls(&self) -> impl Iterator<Item = (&ToolCall, bool)> {
        self.message.content.iter().enumerate().filter_map(|(content_index, content)| match content {
            AssistantContent::ToolCall(call) => Some((call, !self.malformed.contains(&content_index))),
            AssistantContent::Text(_) | AssistantContent::Thinking(_) => None,
        })
    }

    pub fn has_pieces(&self) -> bool {
        !self.pieces.is_empty()
    }

    /// Whether a retry would repeat something: text, thinking, the name of a tool.
    pub fn has_output(&self) -> bool {
        self.has_output
    }

    /// The same without thinking.
    pub fn has_text(&self) -> bool {
        self.has_text
    }

    /// The last event is there.
    pub fn is_finished(&self) -> bool {
        self.ended
    }

    pub fn take_event(&mut self) -> Option<StreamEvent> {
        self.waiting.pop_front()
    }

    pub fn has_events(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Only the beginning of an empty piece waits. It is held back: if the answer breaks off here, a retry
    /// begins it again, and nobody has seen it twice.
    pub fn withholds_events(&self) -> bool {
        !self.has_output
            && !self.ended
            && self.waiting.front().is_some_and(|event| *event != StreamEvent::Start)
    }

    /// The next event, unless it should wait for more deltas to join it.
    pub fn take_ready_event(&mut self) -> Option<StreamEvent> {
        let joins = self.waiting.len() == 1 && self.waiting.front().is_some_and(StreamEvent::is_delta);
        if joins { None } else { self.take_event() }
    }

    /// Lends the changed arguments of open calls to the message.
    fn lend_arguments(&mut self) {
        for content_index in self.stale.drain(..) {
            let piece = &mut self.pieces[content_index];
            if let (AssistantContent::ToolCall(call), AnswerPieceState::Arguments { json, in_message }) =
                (&mut self.message.content[content_index], piece)
            {
                json.lend(&mut call.arguments);
                *in_message = true;
            }
        }
    }

    /// Counts bytes that are kept.
    fn count_bytes(&mut self, bytes: usize) -> ModelResult {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MAX_ANSWER_BYTES {
            let message = format!("the provider sent an answer of more than {} MB", MAX_ANSWER_BYTES >> 20);
            return Err(ModelFailure::too_large(message));
        }
        Ok(())
    }

    fn push(&mut self, event: StreamEvent) {
        let event = match self.waiting.back_mut() {
            Some(last) => last.merge_delta(event),
            None => Some(event),
        };
        self.waiting.extend(event);
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
