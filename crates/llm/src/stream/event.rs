//! What happens while a model answers: the same events for every wire.
//!
//! `start`, then for each piece of the answer its start, its deltas and its end, then `done` or `error`,
//! once, and nothing after it. Pieces are numbered by their place in the message. Waiting deltas of one
//! piece are merged; nothing overtakes them.

use serde::Serialize;

use crate::message::{AssistantMessage, StopReason, ToolCall};

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum StreamEvent {
    /// The provider has begun to answer.
    Start,
    /// A piece of text begins.
    TextStart { content_index: usize },
    /// More of it.
    TextDelta { content_index: usize, delta: String },
    /// It is whole.
    TextEnd { content_index: usize, content: String },
    /// Thinking begins.
    ThinkingStart { content_index: usize },
    /// More of it.
    ThinkingDelta { content_index: usize, delta: String },
    /// It is whole.
    ThinkingEnd { content_index: usize, content: String },
    /// The tool's name is known.
    ToolcallStart { content_index: usize },
    /// JSON text; the arguments so far are in the message.
    ToolcallDelta { content_index: usize, delta: String },
    /// The call is whole.
    ToolcallEnd { content_index: usize, tool_call: ToolCall },
    /// The answer is complete: `stop`, `length` or `toolUse`.
    Done { reason: StopReason, message: Box<AssistantMessage> },
    /// The answer is incomplete, `aborted` or `error`: as much of it as came, and the error.
    Error { reason: StopReason, error: Box<AssistantMessage> },
}

impl StreamEvent {
    /// Nothing comes after it.
    pub fn is_last(&self) -> bool {
        matches!(self, StreamEvent::Done { .. } | StreamEvent::Error { .. })
    }

    pub fn is_delta(&self) -> bool {
        use StreamEvent::{TextDelta, ThinkingDelta, ToolcallDelta};
        matches!(self, TextDelta { .. } | ThinkingDelta { .. } | ToolcallDelta { .. })
    }

    /// The kind, the piece and the text of a delta.
    fn delta(&mut self) -> Option<(StreamDeltaKind, usize, &mut String)> {
        match self {
            StreamEvent::TextDelta { content_index: at, delta } => Some((StreamDeltaKind::Text, *at, delta)),
            StreamEvent::ThinkingDelta { content_index: at, delta } => {
                Some((StreamDeltaKind::Thinking, *at, delta))
            }
            StreamEvent::ToolcallDelta { content_index: at, delta } => {
                Some((StreamDeltaKind::Toolcall, *at, delta))
            }
            _ => None,
        }
    }

    /// Appends to this delta if kind and piece are the same; returns whether they are.
    pub(crate) fn append_delta(&mut self, kind: StreamDeltaKind, at: usize, more: &str) -> bool {
        match self.delta() {
            Some((mine, place, delta)) if mine == kind && place == at => delta.push_str(more),
            _ => return false,
        }
        true
    }

    /// Merges a later delta of the same kind and piece; otherwise gives it back.
    pub(crate) fn merge_delta(&mut self, mut later: StreamEvent) -> Option<StreamEvent> {
        let merged = later.delta().is_some_and(|(kind, at, delta)| self.append_delta(kind, at, delta));
        if merged { None } else { Some(later) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamDeltaKind {
    Text,
    Thinking,
    Toolcall,
}

impl StreamDeltaKind {
    pub(crate) fn to_event(self, content_index: usize, more: &str) -> StreamEvent {
        let delta = more.to_owned();
        match self {
            StreamDeltaKind::Text => StreamEvent::TextDelta { content_index, delta },
            StreamDeltaKind::Thinking => StreamEvent::ThinkingDelta { content_index, delta },
            StreamDeltaKind::Toolcall => StreamEvent::ToolcallDelta { content_index, delta },
        }
    }
}
