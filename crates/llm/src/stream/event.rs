//! What happens while a model answers: the same events for every wire.
//!
//! `start`, then for each piece of the answer its start, its deltas and its end, then `done` or `error`, once, and nothing
//! behind it. Pieces are numbered by their place in the message. Deltas of one piece that wait to be taken
//! are merged; nothing overtakes them.

use serde::Serialize;

use crate::message::{AssistantMessage, StopReason, ToolCall};

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum StreamEvent {
    /// The provider has begun to answer.
    Start,
    /// A text begins.
    TextStart {
        /// Its place.
        content_index: usize,
    },
    /// More of it.
    TextDelta {
        /// Its place.
        content_index: usize,
        /// What is new.
        delta: String,
    },
    /// The text is whole.
    TextEnd {
        /// Its place.
        content_index: usize,
        /// All of it.
        content: String,
    },
    /// Thinking begins.
    ThinkingStart {
        /// Its place.
        content_index: usize,
    },
    /// More of it.
    ThinkingDelta {
        /// Its place.
        content_index: usize,
        /// What is new.
        delta: String,
    },
    /// The thought is whole.
    ThinkingEnd {
        /// Its place.
        content_index: usize,
        /// All of it.
        content: String,
    },
    /// A tool call begins; its name is known.
    ToolcallStart {
        /// Its place.
        content_index: usize,
    },
    /// More of its arguments, as JSON text; what they are so far is in the message.
    ToolcallDelta {
        /// Its place.
        content_index: usize,
        /// What is new.
        delta: String,
    },
    /// The call is whole.
    ToolcallEnd {
        /// Its place.
        content_index: usize,
        /// The call.
        tool_call: ToolCall,
    },
    /// The answer is whole.
    Done {
        /// `stop`, `length` or `toolUse`.
        reason: StopReason,
        /// The answer.
        message: Box<AssistantMessage>,
    },
    /// The answer is not whole.
    Error {
        /// `aborted` or `error`.
        reason: StopReason,
        /// As much of the answer as came, and what went wrong.
        error: Box<AssistantMessage>,
    },
}

impl StreamEvent {
    /// Nothing comes behind it.
    pub fn is_last(&self) -> bool {
        matches!(self, StreamEvent::Done { .. } | StreamEvent::Error { .. })
    }

    /// It is one of many that say the same together.
    pub fn is_delta(&self) -> bool {
        matches!(
            self,
            StreamEvent::TextDelta { .. }
                | StreamEvent::ThinkingDelta { .. }
                | StreamEvent::ToolcallDelta { .. }
        )
    }

    /// Takes more of the same kind and piece into this delta; says whether it is one of them.
    pub(crate) fn append_delta(&mut self, kind: StreamDeltaKind, at: usize, more: &str) -> bool {
        let (mine, content_index, delta) = match self {
            StreamEvent::TextDelta { content_index, delta } => (StreamDeltaKind::Text, content_index, delta),
            StreamEvent::ThinkingDelta { content_index, delta } => {
                (StreamDeltaKind::Thinking, content_index, delta)
            }
            StreamEvent::ToolcallDelta { content_index, delta } => {
                (StreamDeltaKind::Toolcall, content_index, delta)
            }
            _ => return false,
        };
        let same = mine == kind && *content_index == at;
        if same {
            delta.push_str(more);
        }
        same
    }

    /// Takes a later delta into this one, if both are of the same kind and piece; else gives it back.
    pub(crate) fn merge_delta(&mut self, later: StreamEvent) -> Option<StreamEvent> {
        let merged = match &later {
            StreamEvent::TextDelta { content_index, delta } => {
                self.append_delta(StreamDeltaKind::Text, *content_index, delta)
            }
            StreamEvent::ThinkingDelta { content_index, delta } => {
                self.append_delta(StreamDeltaKind::Thinking, *content_index, delta)
            }
            StreamEvent::ToolcallDelta { content_index, delta } => {
                self.append_delta(StreamDeltaKind::Toolcall, *content_index, delta)
            }
            _ => false,
        };
        if merged { None } else { Some(later) }
    }
}

/// The kinds of deltas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamDeltaKind {
    Text,
    Thinking,
    Toolcall,
}

impl StreamDeltaKind {
    /// A delta of this kind.
    pub(crate) fn to_event(self, content_index: usize, more: &str) -> StreamEvent {
        let delta = more.to_owned();
        match self {
            StreamDeltaKind::Text => StreamEvent::TextDelta { content_index, delta },
            StreamDeltaKind::Thinking => StreamEvent::ThinkingDelta { content_index, delta },
            StreamDeltaKind::Toolcall => StreamEvent::ToolcallDelta { content_index, delta },
        }
    }
}
