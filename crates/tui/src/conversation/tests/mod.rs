//! What a conversation looks like, state by state, and the laws that its lines keep.

mod laws;
mod live_states;
mod turns;

use std::time::{Duration, Instant};

use relaycode_agent::event::{MessageUpdate, RunUsage};
use relaycode_agent::{AgentEvent, EndReason, SequencedEvent};
use relaycode_llm::Message;
use relaycode_llm::message::{ToolCall, UserMessage};
use relaycode_tools::{CardBody, ToolCard};
use serde_json::{Value, json};

use super::*;
use crate::cards::tests::{at_widths, plain_style};

/// A conversation that is played event by event.
pub(super) struct Scene {
    pub(super) view: ConversationView,
    seq: u64,
    began: Instant,
    pub(super) now: Instant,
}

impl Scene {
    pub(super) fn new() -> Scene {
        Scene::with(ConversationSettings::default(), None)
    }

    pub(super) fn with(settings: ConversationSettings, unmask: Option<TextUnmask>) -> Scene {
        let began = Instant::now();
        Scene { view: ConversationView::new(settings, unmask, began), seq: 0, began, now: began }
    }

    pub(super) fn event(&mut self, event: AgentEvent) {
        self.seq += 1;
        self.view.apply(&SequencedEvent { seq: self.seq, event }, self.now);
    }

    pub(super) fn after(&mut self, ms: u64) {
        self.now = self.began + Duration::from_millis(ms);
    }

    pub(super) fn start(&mut self) {
        self.event(AgentEvent::AgentStart {
            session_id: "s".into(),
            model: "anthropic/sonnet-5".into(),
            thinking: "high".into(),
            cwd: "/p".into(),
            tools: Vec::new(),
        });
    }

    pub(super) fn end(&mut self, reason: EndReason, message: Option<&str>) {
        let message = message.map(str::to_string);
        self.event(AgentEvent::AgentEnd { reason, message, usage: RunUsage::default() });
    }

    pub(super) fn say(&mut self, text: &str) {
        self.message(Message::User(UserMessage::text(text, 0)));
    }

    pub(super) fn message(&mut self, message: Message) {
        let entry_id = format!("e{}", self.seq);
        self.event(AgentEvent::MessageEnd { entry_id, message: Box::new(message) });
    }

    pub(super) fn text(&mut self, content_index: usize, delta: &str) {
        self.event(AgentEvent::MessageUpdate {
            update: MessageUpdate::TextDelta { content_index, delta: delta.into() },
        });
    }

    pub(super) fn think(&mut self, content_index: usize, delta: &str) {
        self.event(AgentEvent::MessageUpdate {
            update: MessageUpdate::ThinkingDelta { content_index, delta: delta.into() },
        });
    }

    /// A whole answer, streamed and ended.
    pub(super) fn answer(&mut self, text: &str, calls: &[(&str, &str, Value)]) {
        self.event(AgentEvent::MessageStart);
        if !text.is_empty() {
            self.text(0, text);
        }
        self.end_answer(text, calls);
    }

    pub(super) fn end_answer(&mut self, text: &str, calls: &[(&str, &str, Value)]) {
        self.message(answer_of(text, calls));
    }

    pub(super) fn begin_call(&mut self, id: &str, tool: &str, args: Value) {
        let (tool_call_id, tool_name) = (id.to_string(), tool.to_string());
        self.event(AgentEvent::ToolExecutionStart { tool_call_id, tool_name, args });
    }

    pub(super) fn end_call(
        &mut self,
        id: &str,
        tool: &str,
        is_error: bool,
        card: &ToolCard,
        duration_ms: u64,
    ) {
        let card = serde_json::to_value(card).unwrap();
        let (tool_call_id, tool_name) = (id.to_string(), tool.to_string());
        self.event(AgentEvent::ToolExecutionEnd {
            tool_call_id,
            tool_name,
            is_error,
            card: card.clone(),
            duration_ms,
        });
        let call = ToolCall { id: id.into(), name: tool.into(), ..ToolCall::default() };
        let mut result = ToolResultMessage::text(&call, "for the model", is_error, 0);
        result.details = Some(json!({ "card": card }));
        self.message(Message::ToolResult(result));
    }

    pub(super) fn finished(&mut self, width: usize) -> Vec<String> {
        self.view.take_finished(&plain_style(), width)
    }

    pub(super) fn live(&self, width: usize) -> Vec<String> {
        self.view.live(&plain_style(), width, self.now)
    }

    /// Scrollback, a rule, and what may still change.
    fn screen(&mut self, width: usize) -> Vec<String> {
        let mut lines = self.finished(width);
        let live = self.live(width);
        if !live.is_empty() {
            lines.push("~~ live ~~".to_string());
            lines.extend(live);
        }
        lines
    }
}

pub(super) fn answer_of(text: &str, calls: &[(&str, &str, Value)]) -> Message {
    let mut content = Vec::new();
    if !text.is_empty() {
        content.push(json!({"type": "text", "text": text}));
    }
    for (id, tool, arguments) in calls {
        content.push(json!({"type": "toolCall", "id": id, "name": tool, "arguments": arguments}));
    }
    let stop = if calls.is_empty() { "stop" } else { "toolUse" };
    serde_json::from_value(json!({"role": "assistant", "content": content, "stopReason": stop})).unwrap()
}

/// What a scene looks like at the widths that matter.
pub(super) fn played(play: impl Fn(&mut Scene)) -> String {
    played_at(&crate::cards::tests::WIDTHS, play)
}

pub(super) fn played_at(widths: &[usize], play: impl Fn(&mut Scene)) -> String {
    at_widths(widths, |width| {
        let mut scene = Scene::new();
        play(&mut scene);
        scene.screen(width)
    })
}

pub(super) fn tail(lines: &[&str]) -> CardBody {
    CardBody::Text { text: lines.join("\n"), first_line: None, is_tail: true }
}
