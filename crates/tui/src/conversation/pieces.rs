//! The pieces of the answer that comes: text, thinking and calls, each a block from its first word on. The whole message says in
//! the end what was missed.

use std::time::Instant;

use relaycode_agent::event::MessageUpdate;
use relaycode_llm::StopReason;
use relaycode_llm::message::{AssistantContent, AssistantMessage};
use serde_json::Value;

use super::ConversationView;
use super::answer::{AnswerText, ThoughtText};
use super::block::ConversationBlock;
use super::call::{CallBlock, CallState};

impl ConversationView {
    /// The block of a piece of the answer that comes.
    fn piece(
        &mut self,
        at: usize,
        make: impl FnOnce() -> ConversationBlock,
    ) -> Option<&mut ConversationBlock> {
        let open = self.open.get_or_insert_default();
        let number = match open.iter().find(|(piece, _)| *piece == at) {
            Some((_, number)) => *number,
            None => {
                let number = self.first + self.blocks.len() as u64;
                open.push((at, number));
                self.blocks.push_back(make());
                number
            }
        };
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.blocks.get_mut(index)
    }

    pub(super) fn update(&mut self, update: &MessageUpdate, now: Instant) {
        let show_thinking = self.settings.show_thinking;
        match update {
            MessageUpdate::TextDelta { content_index, delta } => {
                self.close_pieces_before(*content_index, now);
                let unmask = self.unmask.take();
                let piece =
                    self.piece(*content_index, || ConversationBlock::Answer(Box::new(AnswerText::new())));
                if let Some(ConversationBlock::Answer(answer)) = piece {
                    answer.push(delta, unmask.as_ref());
                }
                self.unmask = unmask;
            }
            MessageUpdate::ThinkingDelta { content_index, delta } => {
                self.close_pieces_before(*content_index, now);
                let unmask = self.unmask.take();
                let make = || ConversationBlock::Thought(ThoughtText::new(show_thinking, Some(now)));
                if let Some(ConversationBlock::Thought(thought)) = self.piece(*content_index, make) {
                    thought.push(delta, unmask.as_ref());
                }
                self.unmask = unmask;
            }
            MessageUpdate::ToolcallStart { content_index, tool_name } => {
                self.close_pieces_before(*content_index, now);
                self.piece(*content_index, || ConversationBlock::Call(CallBlock::written(tool_name)));
            }
            MessageUpdate::ToolcallDelta { content_index, delta } => {
                let make = || ConversationBlock::Call(CallBlock::written(""));
                if let Some(ConversationBlock::Call(call)) = self.piece(*content_index, make)
                    && let CallState::Writing { bytes } = &mut call.state
                {
                    *bytes += delta.len();
                }
            }
        }
    }

    /// A piece is whole as soon as another begins.
    fn close_pieces_before(&mut self, at: usize, now: Instant) {
        let Some(open) = &self.open else { return };
        if open.iter().any(|(piece, _)| *piece == at) {
            return;
        }
        let numbers: Vec<u64> = open.iter().map(|(_, number)| *number).collect();
        for number in numbers {
            let index = number.checked_sub(self.first).and_then(|index| usize::try_from(index).ok());
            match index.and_then(|index| self.blocks.get_mut(index)) {
                Some(ConversationBlock::Thought(thought)) => {
                    thought.finish(None, self.unmask.as_ref(), Some(now));
                }
                Some(ConversationBlock::Answer(answer)) => answer.finish(None, self.unmask.as_ref()),
                _ => {}
            }
        }
    }

    /// An answer of which nothing is kept.
    pub(super) fn abandon_answer(&mut self, now: Instant) {
        let numbers: Vec<u64> = self.open.take().into_iter().flatten().map(|(_, number)| number).collect();
        self.close_pieces(&numbers, true, now);
    }

    pub(super) fn end_answer(&mut self, answer: &AssistantMessage, now: Instant) {
        let show_thinking = self.settings.show_thinking;
        self.open.get_or_insert_default();
        for (at, content) in answer.content.iter().enumerate() {
            let unmask = self.unmask.take();
            match content {
                AssistantContent::Text(text) => {
                    let make = || ConversationBlock::Answer(Box::new(AnswerText::new()));
                    if let Some(ConversationBlock::Answer(block)) = self.piece(at, make) {
                        block.finish(Some(&text.text), unmask.as_ref());
                    }
                }
                AssistantContent::Thinking(thought) if thought.thinking.trim().is_empty() => {}
                AssistantContent::Thinking(thought) => {
                    let make = || ConversationBlock::Thought(ThoughtText::new(show_thinking, None));
                    if let Some(ConversationBlock::Thought(block)) = self.piece(at, make) {
                        block.finish(Some(&thought.thinking), unmask.as_ref(), Some(now));
                    }
                }
                AssistantContent::ToolCall(call) => {
                    let arguments = Value::Object(call.arguments.clone());
                    let make = || ConversationBlock::Call(CallBlock::known(&call.id, &call.name, &arguments));
                    if let Some(ConversationBlock::Call(block)) = self.piece(at, make)
                        && !block.has_begun()
                    {
                        *block = CallBlock::known(&call.id, &call.name, &arguments);
                        if let Some(unmask) = &unmask {
                            block.title = unmask(&block.title);
                        }
                    }
                }
            }
            self.unmask = unmask;
        }
        let numbers: Vec<u64> = self.open.take().into_iter().flatten().map(|(_, number)| number).collect();
        let is_broken = matches!(answer.stop_reason, StopReason::Error | StopReason::Aborted);
        self.close_pieces(&numbers, is_broken, now);
    }

    /// Ends what is open. Calls of an answer that broke off are never made.
    pub(super) fn close_pieces(&mut self, numbers: &[u64], is_broken: bool, now: Instant) {
        let (first, unmask) = (self.first, self.unmask.as_ref());
        let is_meant = |at: usize| numbers.contains(&(first + at as u64));
        let mut gone = Vec::new();
        for (at, block) in self.blocks.iter_mut().enumerate().filter(|(at, _)| is_meant(*at)) {
            match block {
                ConversationBlock::Answer(answer) => {
                    answer.finish(None, unmask);
                    if answer.is_blank() {
                        gone.push(at);
                    }
                }
                ConversationBlock::Thought(thought) => thought.finish(None, unmask, Some(now)),
                ConversationBlock::Call(call) if !call.has_begun() && (is_broken || call.id.is_none()) => {
                    gone.push(at);
                }
                _ => {}
            }
        }
        // Numbers of blocks that are still looked for do not change: these are the last ones.
        for at in gone.into_iter().rev() {
            self.blocks.remove(at);
            if at == 0 {
                self.given = 0;
            }
        }
    }
}
