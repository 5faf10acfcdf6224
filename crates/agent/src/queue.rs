//! What people say while the agent works: steering, which counts as soon as possible, and follow-ups, which wait until
//! the model is done.

use std::collections::VecDeque;

use relaycode_llm::message::UserContent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::AgentEvent;

/// Messages that may wait in each of both, and their bytes.
const MAX_QUEUED: usize = 100;
const MAX_QUEUED_BYTES: usize = 64 << 20;
/// Of a message in lists of what waits.
const MAX_LISTED_CHARS: usize = 1_000;

/// How many of what waits go to the model together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QueueMode {
    #[default]
    OneAtATime,
    All,
}

/// When steering counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InterruptMode {
    /// Between two calls; the rest of the answer's calls is skipped.
    #[default]
    Immediate,
    /// After all calls of the answer.
    Wait,
}

/// What waits to be said, and how it will be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueState {
    /// The beginnings of what counts as soon as possible.
    pub steering: Vec<String>,
    /// The same of what waits until the model is done.
    pub follow_up: Vec<String>,
    pub steering_mode: QueueMode,
    pub follow_up_mode: QueueMode,
    pub interrupt_mode: InterruptMode,
}

/// Something a person said.
#[derive(Debug, Clone, PartialEq)]
pub struct UserPrompt {
    pub content: Vec<UserContent>,
}

impl UserPrompt {
    pub fn text(text: impl Into<String>) -> UserPrompt {
        UserPrompt { content: vec![UserContent::text(text)] }
    }

    fn bytes(&self) -> usize {
        let bytes = |piece: &UserContent| match piece {
            UserContent::Text(text) => text.text.len(),
            UserContent::Image(image) => image.data.len(),
        };
        self.content.iter().map(bytes).sum()
    }

    /// The first text, for lists and titles.
    pub fn first_text(&self) -> &str {
        let text = self.content.iter().find_map(|piece| match piece {
            UserContent::Text(text) => Some(text.text.as_str()),
            UserContent::Image(_) => None,
        });
        text.unwrap_or_default()
    }
}

/// Too much waits already.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{MAX_QUEUED} messages or {} MB wait already; send more when the agent has read some",
    MAX_QUEUED_BYTES >> 20
)]
pub struct QueueFullError;

#[derive(Debug, Default)]
pub(crate) struct PromptQueue {
    pub(crate) steering_mode: QueueMode,
    pub(crate) follow_up_mode: QueueMode,
    pub(crate) interrupt_mode: InterruptMode,
    steering: VecDeque<UserPrompt>,
    follow_up: VecDeque<UserPrompt>,
}

impl PromptQueue {
    pub(crate) fn new(
        steering_mode: QueueMode,
        follow_up_mode: QueueMode,
        interrupt_mode: InterruptMode,
    ) -> PromptQueue {
        PromptQueue { steering_mode, follow_up_mode, interrupt_mode, ..PromptQueue::default() }
    }

    pub(crate) fn steer(&mut self, prompt: UserPrompt) -> Result<(), QueueFullError> {
        push(&mut self.steering, prompt)
    }

    pub(crate) fn follow_up(&mut self, prompt: UserPrompt) -> Result<(), QueueFullError> {
        push(&mut self.follow_up, prompt)
    }

    /// Whether calls that have not begun are skipped.
    pub(crate) fn interrupts_calls(&self) -> bool {
        self.interrupt_mode == InterruptMode::Immediate && !self.steering.is_empty()
    }

    pub(crate) fn take_steering(&mut self) -> Vec<UserPrompt> {
        take(&mut self.steering, self.steering_mode)
    }

    pub(crate) fn take_follow_up(&mut self) -> Vec<UserPrompt> {
        take(&mut self.follow_up, self.follow_up_mode)
    }

    /// What was not said to the model, oldest first.
    pub(crate) fn take_all(&mut self) -> Vec<UserPrompt> {
        self.steering.drain(..).chain(self.follow_up.drain(..)).collect()
    }

    pub(crate) fn to_event(&self) -> AgentEvent {
        AgentEvent::QueueUpdate { steering: texts(&self.steering), follow_up: texts(&self.follow_up) }
    }

    pub(crate) fn state(&self) -> QueueState {
        QueueState {
            steering: texts(&self.steering),
            follow_up: texts(&self.follow_up),
            steering_mode: self.steering_mode,
            follow_up_mode: self.follow_up_mode,
            interrupt_mode: self.interrupt_mode,
        }
    }
}

fn texts(queue: &VecDeque<UserPrompt>) -> Vec<String> {
    queue.iter().map(|prompt| prompt.first_text().chars().take(MAX_LISTED_CHARS).collect()).collect()
}

fn push(queue: &mut VecDeque<UserPrompt>, prompt: UserPrompt) -> Result<(), QueueFullError> {
    let bytes: usize = queue.iter().chain([&prompt]).map(UserPrompt::bytes).sum();
    if queue.len() >= MAX_QUEUED || bytes > MAX_QUEUED_BYTES {
        return Err(QueueFullError);
    }
    queue.push_back(prompt);
    Ok(())
}

fn take(queue: &mut VecDeque<UserPrompt>, mode: QueueMode) -> Vec<UserPrompt> {
    match mode {
        QueueMode::OneAtATime => queue.pop_front().into_iter().collect(),
        QueueMode::All => queue.drain(..).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_decides_how_many_are_taken() {
        let mut queue = PromptQueue::default();
        for text in ["a", "b", "c"] {
            queue.steer(UserPrompt::text(text)).unwrap();
            queue.follow_up(UserPrompt::text(text)).unwrap();
        }
        queue.follow_up_mode = QueueMode::All;
        assert_eq!(queue.take_steering(), [UserPrompt::text("a")]);
        assert_eq!(queue.take_follow_up().len(), 3);
        assert!(queue.take_follow_up().is_empty());
        assert!(queue.interrupts_calls());
        queue.interrupt_mode = InterruptMode::Wait;
        assert!(!queue.interrupts_calls());
        assert_eq!(queue.take_all().len(), 2);
    }

    #[test]
    fn no_more_than_its_limit_waits() {
        let mut queue = PromptQueue::default();
        for _ in 0..MAX_QUEUED {
            queue.steer(UserPrompt::text("x")).unwrap();
        }
        assert_eq!(queue.steer(UserPrompt::text("x")), Err(QueueFullError));
        let half = UserPrompt::text("x".repeat(MAX_QUEUED_BYTES / 2));
        queue.follow_up(half.clone()).unwrap();
        queue.follow_up(half).unwrap();
        assert_eq!(queue.follow_up(UserPrompt::text("x")), Err(QueueFullError));
        assert_eq!(queue.state().follow_up[0].len(), MAX_LISTED_CHARS);
    }
}
