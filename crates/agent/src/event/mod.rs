//! What happens in a run, as data: the only way out of the agent. Terminal, page, bridge and RPC need nothing else.
//!
//! Names and fields are a contract for other programs: fields are added, never renamed.

mod log;

use relaycode_llm::Message;
use relaycode_tools::{Goal, HostAnswer, ProposedPlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use log::{EventLog, EventPoll};

use crate::compaction::{CompactionAction, CompactionReason};
use crate::question::AgentQuestion;
use crate::stream_rules::TriggeredRule;

/// An event with its place: 1 is the first of a session's process. Messages that the session had before come first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SequencedEvent {
    pub seq: u64,
    #[serde(flatten)]
    pub event: AgentEvent,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum AgentEvent {
    /// A prompt is being worked on.
    AgentStart { session_id: String, model: String, thinking: String, cwd: String, tools: Vec<String> },
    /// It is done, whatever came of it.
    AgentEnd {
        reason: EndReason,
        /// Why, unless the model was done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        usage: RunUsage,
    },
    /// The model is asked.
    TurnStart { turn: u64 },
    /// It has answered, and its tools have run.
    TurnEnd { turn: u64 },
    /// The model begins to answer.
    MessageStart,
    /// More of its answer; all of it comes again with `message_end`.
    MessageUpdate { update: MessageUpdate },
    /// A message is in the session.
    MessageEnd {
        entry_id: String,
        /// As it is in the session file.
        #[schemars(with = "serde_json::Map<String, Value>")]
        message: Box<Message>,
    },
    /// A call begins.
    ToolExecutionStart { tool_call_id: String, tool_name: String, args: Value },
    /// Live output; only the newest counts.
    ToolExecutionUpdate { tool_call_id: String, update: Value },
    /// Its result is in the session: the next `message_end` of a tool result.
    ToolExecutionEnd {
        tool_call_id: String,
        tool_name: String,
        is_error: bool,
        /// What people see.
        card: Value,
        duration_ms: u64,
    },
    /// A request got no answer and is sent again; nothing of an answer was seen yet.
    RequestRetry { attempt: u32, max_attempts: u32, delay_ms: u64, error_message: String },
    /// An answer failed, and the turn is tried again.
    AutoRetryStart { attempt: u32, max_attempts: u32, delay_ms: u64, error_message: String },
    /// The turn has its answer after all, or is given up.
    AutoRetryEnd {
        success: bool,
        attempt: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        final_error: Option<String>,
    },
    /// Another key of the provider is used from now on, the `key`th of `of`, since this was said of the one before.
    CredentialSwitched { provider: String, key: usize, of: usize, error_message: String },
    /// Another model goes on, since the first one fails.
    RetryFallbackApplied { from: String, to: String, role: String },
    /// It has answered.
    RetryFallbackSucceeded { model: String, role: String },
    /// What waits to be said to the model.
    QueueUpdate { steering: Vec<String>, follow_up: Vec<String> },
    /// Somebody has to answer.
    QuestionAsked { question: AgentQuestion },
    /// It is decided, by whom ever; other clients withdraw it.
    QuestionAnswered { id: String, answer: HostAnswer },
    /// The model went back to a mark: what was said after it is no longer part of the conversation, this report is.
    ConversationRewound { entry_id: String, report: String },
    /// The goal is another, or its status is.
    GoalChanged { goal: Goal },
    /// The model was told to go on towards its goal, for the `round`th time of `most`.
    GoalContinued { round: u64, most: u64 },
    /// Another mode holds from now on: `plan`, or `none`.
    ModeChanged {
        mode: String,
        /// For `plan`: where the plan lies, as `planFile`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
        /// What was said before is no longer part of the conversation.
        is_fresh: bool,
    },
    /// A plan is whole; somebody is asked about it next.
    PlanProposed {
        #[serde(flatten)]
        proposed: ProposedPlan,
    },
    /// Room is made in the conversation.
    AutoCompactionStart { reason: CompactionReason, tokens_before: u64 },
    /// It was made, or not.
    AutoCompactionEnd {
        reason: CompactionReason,
        action: CompactionAction,
        tokens_before: u64,
        tokens_after: u64,
        /// The session's entry that says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        entry_id: Option<String>,
        /// Why no model summed it up, or why nothing was done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error_message: Option<String>,
        /// The request that was too long is sent again.
        will_retry: bool,
        duration_ms: u64,
    },
    /// A model with a larger window goes on.
    ContextPromoted { from: String, to: String },
    /// A compaction does not count any more.
    CompactionUndone { entry_id: String, tokens: u64 },
    /// The conversation goes on from another place.
    ConversationMoved {
        /// `None`: from the very beginning.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        entry_id: Option<String>,
        /// What is to be known of the way that was left.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
    },
    /// The model is done, and the project's own check runs on what it changed.
    ProjectCheckStart { command: String },
    /// The check has ended.
    ProjectCheckEnd {
        command: String,
        /// `ended with code 1`.
        result: String,
        /// How many errors it counted; none: it could not judge.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        errors: Option<u64>,
        /// Those that were not there before, if that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        new_errors: Option<u64>,
        /// The model was told, and goes on.
        told: bool,
    },
    /// The session has a title, or a better one.
    SessionTitled { title: String },
    /// What the model wrote matches rules: it is told them.
    TtsrTriggered {
        rules: Vec<TriggeredRule>,
        /// Its answer was stopped, and it answers again.
        interrupted: bool,
    },
    /// Something people should know.
    Notice { level: NoticeLevel, text: String },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum MessageUpdate {
    TextDelta {
        content_index: usize,
        delta: String,
    },
    ThinkingDelta {
        content_index: usize,
        delta: String,
    },
    /// The tool's name is known.
    ToolcallStart {
        content_index: usize,
        tool_name: String,
    },
    /// JSON text.
    ToolcallDelta {
        content_index: usize,
        delta: String,
    },
}

/// Why a run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The model had nothing more to do.
    Done,
    /// Its answer reached the output limit.
    Length,
    /// The user ended it.
    Aborted,
    /// The model gave no answer.
    ModelFailed,
    /// Longer than the model can read.
    ContextOverflow,
    TurnLimit,
    TimeLimit,
    CostLimit,
    /// The model repeated itself.
    Repetition,
    /// The conversation was summed up, and the user has to say how to go on.
    Compacted,
    /// The session cannot be written.
    SessionFailed,
    /// A tool says that nothing can go on.
    ToolFailed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoticeLevel {
    Info,
    Warning,
}

/// What a run has used.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunUsage {
    pub turns: u64,
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// US dollars.
    pub cost: f64,
    /// What the model would read next.
    pub context_tokens: u64,
}

impl RunUsage {
    pub(crate) fn add(&mut self, usage: &relaycode_llm::TokenUsage) {
        self.input += usage.input;
        self.output += usage.output;
        self.cache_read += usage.cache_read;
        self.cache_write += usage.cache_write;
        self.cost += usage.cost.total;
    }
}

impl AgentEvent {
    /// Bytes that keeping it takes, roughly.
    pub(crate) fn weight(&self) -> usize {
        /// An event without its texts.
        const BARE: usize = 200;
        let texts = match self {
            AgentEvent::MessageUpdate { update } => match update {
                MessageUpdate::TextDelta { delta, .. }
                | MessageUpdate::ThinkingDelta { delta, .. }
                | MessageUpdate::ToolcallDelta { delta, .. } => delta.len(),
                MessageUpdate::ToolcallStart { tool_name, .. } => tool_name.len(),
            },
            AgentEvent::MessageEnd { message, .. } => message_bytes(message),
            AgentEvent::ToolExecutionStart { args: value, .. }
            | AgentEvent::ToolExecutionUpdate { update: value, .. }
            | AgentEvent::ToolExecutionEnd { card: value, .. } => value_bytes(value),
            AgentEvent::ConversationRewound { report, .. } => report.len(),
            AgentEvent::PlanProposed { proposed } => proposed.plan.len(),
            AgentEvent::GoalChanged { goal } => {
                goal.objective.len() + goal.evidence.as_ref().map_or(0, String::len)
            }
            AgentEvent::ConversationMoved { summary, .. } => summary.as_ref().map_or(0, String::len),
            AgentEvent::QueueUpdate { steering, follow_up } => {
                steering.iter().chain(follow_up).map(String::len).sum()
            }
            AgentEvent::Notice { text, .. } => text.len(),
            AgentEvent::QuestionAsked { question } => {
                question.text.len() + question.options.iter().map(String::len).sum::<usize>()
            }
            _ => 0,
        };
        BARE + texts
    }

    /// The session's entry that says the same, for events that are read again from there.
    pub(crate) fn entry(&self) -> Option<&str> {
        match self {
            AgentEvent::MessageEnd { entry_id, .. } => Some(entry_id),
            _ => None,
        }
    }
}

fn message_bytes(message: &Message) -> usize {
    use relaycode_llm::message::{AssistantContent, UserContent};
    let piece = |piece: &UserContent| match piece {
        UserContent::Text(text) => text.text.len(),
        UserContent::Image(image) => image.data.len(),
    };
    let own = match message {
        Message::Assistant(answer) => answer
            .content
            .iter()
            .map(|content| match content {
                AssistantContent::Text(text) => text.text.len(),
                AssistantContent::Thinking(thinking) => {
                    thinking.thinking.len() + thinking.thinking_signature.as_ref().map_or(0, String::len)
                }
                AssistantContent::ToolCall(call) => call.arguments.values().map(value_bytes).sum(),
            })
            .sum(),
        Message::ToolResult(result) => result.details.as_ref().map_or(0, value_bytes),
        Message::User(_) | Message::Developer(_) => 0,
    };
    own + message.pieces().iter().map(piece).sum::<usize>()
}

fn value_bytes(value: &Value) -> usize {
    const ONE: usize = 32;
    match value {
        Value::String(text) => ONE + text.len(),
        Value::Array(items) => ONE + items.iter().map(value_bytes).sum::<usize>(),
        Value::Object(fields) => {
            ONE + fields.iter().map(|(name, value)| name.len() + value_bytes(value)).sum::<usize>()
        }
        _ => ONE,
    }
}
