//! The agent: a conversation with a model that has tools.
//!
//! [`Agent`] asks the model, carries out its calls and asks again. Every word goes through the session first;
//! [`event`]s are the only way out, numbered, for any number of clients. This crate knows no tool by name, no provider and
//! nothing about how anything is shown; it never prints and never reads the environment.
//!
//! | module | for |
//! |---|---|
//! | `run` | [`Agent`]: the loop; asking with retries (`answer`), calls (`calls`), models that fill in (`model_chain`), `repetition`, going back to a mark (`rewind`), a `goal`, `mode`s, rules that watch answers (`rule_watch`), leaks of the model's protocol (`leaks`), making room (`compaction`, `summarize`), another branch (`branch`), `handoff`, the session's `title` |
//! | [`compaction`] | making room: what is cut, what is kept word for word, what stands for the rest |
//! | `modes` | what holds for a while: planning |
//! | `handle` | [`AgentHandle`]: events for clients, steering, questions, ending a run |
//! | [`event`] | what happens, as data; the log that keeps it |
//! | `transcript` | the session and what the model gets of it |
//! | [`queue`] | what people say while the agent works |
//! | [`question`] | questions to people |
//! | [`settings`] | limits, queues, retries |
//! | [`stream_rules`] | rules that are matched while an answer comes |
//! | [`prompt`] | the system prompt, instructions and rules of user and project |

pub mod compaction;
pub mod event;
mod handle;
mod modes;
pub mod prompt;
pub mod question;
pub mod queue;
mod run;
pub mod settings;
pub mod stream_rules;
mod transcript;

pub use compaction::{CompactionAction, CompactionOutcome, CompactionReason, CompactionSettings};
pub use event::{AgentEvent, EndReason, RunUsage, SequencedEvent};
pub use handle::{AgentHandle, EventRead, EventReader};
pub use queue::{InterruptMode, QueueMode, QueueState, UserPrompt};
pub use run::{
    Agent, AgentError, AgentGoalError, AgentModeError, AgentParts, BranchMove, ContextPart, ContextReport,
    HandoffDocument, HandoffError, MAX_CALLS, ModeRequest, RunOutcome, SessionTitles, TOOL_THREAD,
    UserCallOutcome,
};
pub use settings::{AgentModel, AgentSettings, AutoRetrySettings, RunLimits};
