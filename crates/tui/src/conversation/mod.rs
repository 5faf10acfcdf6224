//! A conversation as it is shown: events come in, and lines come out in two kinds. Finished lines are printed once, in order, and
//! belong to the terminal's scrollback from then on; live lines are what may still change, drawn again and again below them.
//!
//! ```text
//! › add retry with backoff to the client, and a test
//!
//!   I'll look at the client first.
//!   ● read src/client.rs                                          212 lines
//!   ⠋ bash cargo test client                                      3 s
//!       running 12 tests
//! ```
//!
//! Invariants: a line that was given out as finished is never given out again, and is in the order of the conversation; calls stand
//! in the order of the answer that made them, whatever order they end in; nothing foreign is in a line raw; what is finished is
//! forgotten but for the last few cards, bounded in bytes.

mod activity;
mod answer;
mod block;
mod call;
mod head;
mod kept;
mod notice;
mod pieces;
mod plain_stream;
mod replay;
#[cfg(test)]
mod tests;
mod turn_summary;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use relaycode_agent::{AgentEvent, SequencedEvent};
use relaycode_llm::Message;
use relaycode_llm::message::{ToolResultMessage, UserContent};
use relaycode_tools::{CardBody, TodoPhase, ToolCard, ToolProgress};
use serde::Deserialize;
use serde_json::Value;

pub use activity::ConversationActivity;
pub use answer::TextUnmask;
pub use head::ConversationHead;
pub(crate) use notice::short_count;
pub use notice::{ConversationNotice, NoticeSign};
pub use turn_summary::TurnSummary;
pub(crate) use turn_summary::cost_text;

use crate::panels::QueuedWords;
use crate::theme::ThemeStyle;
use block::{BlockLook, ConversationBlock, DrawnKind, PlanBlock, PromptBlock};
use call::{CallBlock, CallState};
use kept::{KeptBlock, KeptBlocks};

/// Calls that ended and whose results may still come.
const MAX_ENDED: usize = 256;
/// Pictures of a spinner per second.
pub const FRAME_TIME: Duration = Duration::from_millis(80);

/// How a conversation is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationSettings {
    /// What the model thinks is shown, not only how much.
    pub show_thinking: bool,
    /// Keys as people read them.
    pub expand_key: String,
    pub unfold_key: String,
}

impl Default for ConversationSettings {
    fn default() -> ConversationSettings {
        ConversationSettings {
            show_thinking: false,
            expand_key: "Ctrl-O".to_string(),
            unfold_key: "Ctrl-T".to_string(),
        }
    }
}

/// The time of a frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LiveClock {
    pub(crate) now: Instant,
    pub(crate) began: Instant,
}

impl LiveClock {
    pub(crate) fn elapsed_ms(&self) -> u128 {
        self.now.saturating_duration_since(self.began).as_millis()
    }
}

/// A conversation on its way to the screen.
pub struct ConversationView {
    settings: ConversationSettings,
    unmask: Option<TextUnmask>,
    /// What was not given out whole, oldest first, and the number of the first.
    blocks: VecDeque<ConversationBlock>,
    first: u64,
    /// Of the answer that comes: the number of the block of each of its pieces.
    open: Option<Vec<(usize, u64)>>,
    /// Lines of the first block that were given out.
    given: usize,
    last: DrawnKind,
    ended: VecDeque<String>,
    kept: KeptBlocks,
    activity: ConversationActivity,
    began: Instant,
    last_seq: u64,
    /// What is to be done, and what waits to be said, as of the newest event.
    todo: Vec<TodoPhase>,
    queued: QueuedWords,
}

impl ConversationView {
    pub fn new(settings: ConversationSettings, unmask: Option<TextUnmask>, now: Instant) -> ConversationView {
        ConversationView {
            settings,
            unmask,
            blocks: VecDeque::new(),
            first: 0,
            open: None,
            given: 0,
            last: DrawnKind::Nothing,
            ended: VecDeque::new(),
            kept: KeptBlocks::default(),
            activity: ConversationActivity::Idle,
            began: now,
            last_seq: 0,
            todo: Vec::new(),
            queued: QueuedWords::default(),
        }
    }

    pub fn settings(&self) -> &ConversationSettings {
        &self.settings
    }

    /// Of the newest event that was applied.
    pub fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// For what follows.
    pub fn set_show_thinking(&mut self, show: bool) {
        self.settings.show_thinking = show;
    }

    /// What is to be done, for its panel.
    pub fn todo(&self) -> &[TodoPhase] {
        &self.todo
    }

    /// What waits to be said.
    pub fn queued(&self) -> &QueuedWords {
        &self.queued
    }

    /// What it does at the moment, for the status line.
    pub fn activity(&self) -> &ConversationActivity {
        &self.activity
    }

    /// When live lines look different by themselves; `None`: only an event changes them.
    pub fn next_frame(&self) -> Option<Duration> {
        let runs = |block: &ConversationBlock| {
            !block.is_finished() && !matches!(block, ConversationBlock::Answer(_))
        };
        let is_animated = self.activity.is_animated() || self.blocks.iter().any(runs);
        is_animated.then_some(FRAME_TIME)
    }

    /// The first lines.
    pub fn push_head(&mut self, head: ConversationHead) {
        self.push(ConversationBlock::Head(head));
    }

    /// Something people should know.
    pub fn push_notice(&mut self, notice: ConversationNotice) {
        self.push(ConversationBlock::Notice(notice));
    }

    /// A line that was typed and that no event tells of, such as a command.
    pub fn push_typed(&mut self, text: &str) {
        self.push_prompt(&[UserContent::text(text)]);
    }

    /// The end of a turn.
    pub fn push_turn_summary(&mut self, summary: TurnSummary) {
        if !summary.is_empty() {
            self.push(ConversationBlock::TurnSummary(summary));
        }
    }

    /// Takes an event in: one that happens, or one of a session that goes on. Each counts once.
    pub fn apply(&mut self, event: &SequencedEvent, now: Instant) {
        if event.seq > 0 && event.seq <= self.last_seq {
            return;
        }
        self.last_seq = self.last_seq.max(event.seq);
        self.activity.apply(&event.event, now);
        match &event.event {
            AgentEvent::MessageStart => {
                self.abandon_answer(now);
                self.open = Some(Vec::new());
            }
            AgentEvent::MessageUpdate { update } => self.update(update, now),
            AgentEvent::MessageEnd { message, .. } => match &**message {
                Message::Assistant(answer) => self.end_answer(answer, now),
                Message::ToolResult(result) => self.take_result(result),
                Message::User(message) => self.push_prompt(&message.content),
                // From relay to the model.
                Message::Developer(_) => {}
            },
            AgentEvent::ToolExecutionStart { tool_call_id, tool_name, args } => {
                if self.ended.iter().any(|ended| ended == tool_call_id) {
                    return;
                }
                self.with_call(tool_call_id, tool_name, args, |call| {
                    call.state = CallState::Running { since: now, progress: ToolProgress::default() };
                });
            }
            AgentEvent::ToolExecutionUpdate { tool_call_id, update } => {
                let Ok(news) = ToolProgress::deserialize(update) else { return };
                if let Some(CallState::Running { progress, .. }) =
                    self.find_call(tool_call_id).map(|call| &mut call.state)
                {
                    *progress = news;
                }
            }
            AgentEvent::ToolExecutionEnd { tool_call_id, tool_name, is_error, card, duration_ms } => {
                let mut card = ToolCard::from_value(card);
                card.duration_ms = card.duration_ms.or(Some(*duration_ms));
                self.end_call(tool_call_id, tool_name, *is_error, card);
            }
            AgentEvent::PlanProposed { proposed } => {
                let (title, text) = (self.unmasked(&proposed.title), self.unmasked(&proposed.plan));
                self.push(ConversationBlock::Plan(PlanBlock { title, text, is_edited: proposed.is_edited }));
            }
            AgentEvent::QueueUpdate { steering, follow_up } => {
                self.queued = QueuedWords { steering: steering.clone(), follow_up: follow_up.clone() };
            }
            AgentEvent::AgentEnd { .. } => {
                self.close_all(now);
                self.push_event_notice(&event.event);
            }
            other => self.push_event_notice(other),
        }
    }

    fn push_event_notice(&mut self, event: &AgentEvent) {
        if let Some(notice) = ConversationNotice::of_event(event) {
            self.push_event_text(&notice);
        }
    }

    fn push_event_text(&mut self, notice: &ConversationNotice) {
        let (sign, text) = (notice.sign, self.unmasked(&notice.text));
        self.push(ConversationBlock::Notice(ConversationNotice { sign, text }));
    }

    /// What was worked on is done, also where no event says so.
    pub fn end_work(&mut self) {
        self.activity = ConversationActivity::Idle;
    }

    /// Calls that were never answered are not waited for.
    fn end_replay(&mut self, now: Instant) {
        self.close_all(now);
        self.activity = ConversationActivity::Idle;
    }

    /// What becomes scrollback now, each line once.
    pub fn take_finished(&mut self, style: &ThemeStyle, width: usize) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(block) = self.blocks.front_mut() {
            let look =
                BlockLook { expand_key: &self.settings.expand_key, unfold_key: &self.settings.unfold_key };
            let drawn = block.take_finished(&look, style, width);
            if !drawn.is_empty() {
                if self.given == 0 && block.is_set_apart(self.last) {
                    lines.push(String::new());
                }
                self.given += drawn.len();
                lines.extend(drawn);
            }
            if !block.is_finished() {
                break;
            }
            self.drop_first();
        }
        lines
    }

    /// What may still change: the open end of an answer, calls that run, what it waits for.
    pub fn live(&self, style: &ThemeStyle, width: usize, now: Instant) -> Vec<String> {
        let clock = LiveClock { now, began: self.began };
        let look = BlockLook { expand_key: &self.settings.expand_key, unfold_key: &self.settings.unfold_key };
        let mut lines = Vec::new();
        let (mut last, mut given) = (self.last, self.given);
        for block in &self.blocks {
            let drawn = block.live(&clock, &look, style, width);
            if !drawn.is_empty() {
                if given == 0 && block.is_set_apart(last) {
                    lines.push(String::new());
                }
                last = block.drawn_kind(given + drawn.len());
                lines.extend(drawn);
            }
            given = 0;
        }
        let is_shown = self.blocks.iter().any(|block| !block.is_finished());
        if let Some(line) = self.activity.waiting_line(is_shown, &clock, style, width) {
            if lines.is_empty() && matches!(last, DrawnKind::Prompt | DrawnKind::Apart) {
                lines.push(String::new());
            }
            lines.push(line);
        }
        lines
    }

    /// Whether what was given out last is something else than what somebody typed: output of a command is set apart from it.
    pub fn is_below_words(&self) -> bool {
        !matches!(self.last, DrawnKind::Nothing | DrawnKind::Prompt)
    }

    /// The last `count` cards and thoughts that were folded, whole.
    pub fn expanded(&self, count: usize, style: &ThemeStyle, width: usize) -> Vec<String> {
        self.kept.lines(count, style, width)
    }

    /// How many there are.
    pub fn expandable(&self) -> usize {
        self.kept.len()
    }

    /// Bytes that are kept for it.
    pub fn kept_bytes(&self) -> usize {
        self.kept.bytes()
    }

    fn drop_first(&mut self) {
        let Some(block) = self.blocks.pop_front() else { return };
        if self.given > 0 {
            self.last = block.drawn_kind(self.given);
        }
        self.first += 1;
        self.given = 0;
        match block {
            ConversationBlock::Call(CallBlock { state: CallState::Ended(card), .. })
                if !matches!(card.card.body, CardBody::None) =>
            {
                self.kept.keep(KeptBlock::Call(card));
            }
            ConversationBlock::Thought(thought) if !thought.is_shown && !thought.kept.trim().is_empty() => {
                self.kept.keep(KeptBlock::Thought(thought.kept));
            }
            _ => {}
        }
    }

    /// Returns its number.
    fn push(&mut self, block: ConversationBlock) -> u64 {
        self.blocks.push_back(block);
        self.first + self.blocks.len() as u64 - 1
    }

    fn unmasked(&self, text: &str) -> String {
        self.unmask.as_ref().map_or_else(|| text.to_string(), |unmask| unmask(text))
    }

    fn push_prompt(&mut self, content: &[UserContent]) {
        let prompt = PromptBlock::of_content(content, |text| self.unmasked(text));
        self.push(ConversationBlock::Prompt(prompt));
    }

    /// Nothing comes any more.
    fn close_all(&mut self, now: Instant) {
        let numbers: Vec<u64> = (self.first..self.first + self.blocks.len() as u64).collect();
        self.open = None;
        self.close_pieces(&numbers, true, now);
        for block in &mut self.blocks {
            if let ConversationBlock::Call(call) = block
                && !call.is_ended()
            {
                call.end(true, ToolCard::line(call.tool.clone(), "it has no result"));
            }
        }
    }

    fn find_call(&mut self, id: &str) -> Option<&mut CallBlock> {
        self.blocks.iter_mut().rev().find_map(|block| match block {
            ConversationBlock::Call(call) if call.id.as_deref() == Some(id) => Some(call),
            _ => None,
        })
    }

    /// Changes a call, which is new if its answer was not seen.
    fn with_call(&mut self, id: &str, tool: &str, arguments: &Value, change: impl FnOnce(&mut CallBlock)) {
        if let Some(call) = self.find_call(id) {
            return change(call);
        }
        let mut call = CallBlock::known(id, tool, arguments);
        change(&mut call);
        self.push(ConversationBlock::Call(call));
    }

    fn end_call(&mut self, id: &str, tool: &str, is_error: bool, card: ToolCard) {
        if self.ended.iter().any(|ended| ended == id) {
            return;
        }
        self.ended.push_back(id.to_string());
        if self.ended.len() > MAX_ENDED {
            self.ended.pop_front();
        }
        if let (false, CardBody::Todo { phases }) = (is_error, &card.body) {
            self.todo.clone_from(phases);
        }
        self.with_call(id, tool, &Value::Null, |call| call.end(is_error, card));
    }

    /// The result of a call, as the session has it: news only if its end was not seen.
    fn take_result(&mut self, result: &ToolResultMessage) {
        let card = result.details.as_ref().and_then(|details| details.get("card"));
        let card = card.map_or_else(|| card_of_content(result), ToolCard::from_value);
        self.end_call(&result.tool_call_id, &result.tool_name, result.is_error, card);
    }
}

/// Of a result without a card: its first line.
fn card_of_content(result: &ToolResultMessage) -> ToolCard {
    let text = result.content.iter().find_map(|piece| match piece {
        UserContent::Text(text) => Some(text.text.as_str()),
        UserContent::Image(_) => None,
    });
    let line = text.and_then(|text| text.lines().find(|line| !line.trim().is_empty()));
    let said: String = line.unwrap_or_default().trim().chars().take(400).collect();
    ToolCard::line(result.tool_name.as_str(), said)
}
