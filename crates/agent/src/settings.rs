//! How a run goes: limits, queues, retries. Whoever wires the agent fills this in from the user's configuration.

use std::time::Duration;

use relaycode_llm::Model;
use relaycode_llm::request::{Auth, ThinkingLevel};
use relaycode_llm::stream::StreamTimeouts;
use relaycode_llm::stream::retry::RetryBudget;

use crate::queue::{InterruptMode, QueueMode};

/// A model that can be asked.
#[derive(Debug, Clone)]
pub struct AgentModel {
    pub model: Model,
    pub auth: Auth,
    pub thinking: ThinkingLevel,
}

#[derive(Debug, Clone)]
pub struct AgentSettings {
    pub limits: RunLimits,
    pub steering_mode: QueueMode,
    pub follow_up_mode: QueueMode,
    pub interrupt_mode: InterruptMode,
    /// Calls of tools that only look, at the same time.
    pub parallel_tools: usize,
    /// After so many repetitions of the same calls with the same results the model is told; after twice as many the run ends.
    pub repeat_limit: usize,
    pub retry: AutoRetrySettings,
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
            parallel_tools: 8,
            repeat_limit: 5,
            retry: AutoRetrySettings::default(),
            request_budget: RetryBudget::default(),
            timeouts: StreamTimeouts::default(),
        }
    }
}
