//! How a run goes: limits, queues, retries. Whoever wires the agent fills this in from the user's configuration.

use std::time::Duration;

use relaycode_llm::Model;
use relaycode_llm::request::{Auth, ThinkingLevel};
use relaycode_llm::stream::StreamTimeouts;
use relaycode_llm::stream::retry::RetryBudget;

use crate::compaction::CompactionSettings;
use crate::queue::{InterruptMode, QueueMode};

/// A model that can be asked.
#[derive(Debug, Clone)]
pub struct AgentModel {
    pub model: Model,
    pub auth: Auth,
    /// Further keys of the same provider: a session begins with one of all of them, and goes on with the next when that one fails.
    pub other_keys: Vec<Auth>,
    pub thinking: ThinkingLevel,
    /// A model of the same provider that reads more, and goes on when this one's window is full.
    pub promotion: Option<Box<AgentModel>>,
}

#[derive(Debug, Clone)]
pub struct AgentSettings {
    pub limits: RunLimits,
    pub steering_mode: QueueMode,
    pub follow_up_mode: QueueMode,
    pub interrupt_mode: InterruptMode,
    /// The project's check runs on what a prompt changed.
    pub check: bool,
    /// Calls of tools that only look, at the same time.
    pub parallel_tools: usize,
    /// After so many repetitions of the same calls with the same results the model is told; after twice as many the run ends.
    pub repeat_limit: usize,
    /// How often the agent goes on by itself towards a goal, in one run.
    pub goal_continuations: u64,
    pub retry: AutoRetrySettings,
    pub compaction: CompactionSettings,
    /// For each request.
    pub request_budget: RetryBudget,
    pub timeouts: StreamTimeouts,
}

/// `None`: no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RunLimits {
    /// Answers of the model to one prompt.
    pub turns: Option<u64>,
    pub time: Option<Duration>,
    /// US dollars.
    pub cost: Option<f64>,
}

/// What happens after an answer that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AutoRetrySettings {
    pub enabled: bool,
    pub max_retries: u32,
    pub base_delay: Duration,
    pub max_delay: Duration,
    /// Go back to the first model once its failure is long enough ago.
    pub revert_fallback: bool,
}

impl Default for AutoRetrySettings {
    fn default() -> AutoRetrySettings {
        AutoRetrySettings {
            enabled: true,
            max_retries: 3,
            base_delay: Duration::from_millis(2_000),
            max_delay: Duration::from_millis(300_000),
            revert_fallback: true,
        }
    }
}

impl Default for AgentSettings {
    fn default() -> AgentSettings {
        AgentSettings {
            limits: RunLimits::default(),
            steering_mode: QueueMode::default(),
            follow_up_mode: QueueMode::default(),
            interrupt_mode: InterruptMode::default(),
            check: true,
            parallel_tools: 8,
            repeat_limit: 5,
            goal_continuations: 20,
            retry: AutoRetrySettings::default(),
            compaction: CompactionSettings::default(),
            request_budget: RetryBudget::default(),
            timeouts: StreamTimeouts::default(),
        }
    }
}
