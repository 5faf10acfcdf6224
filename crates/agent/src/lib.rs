//! The agent: a conversation with a model that has tools.
//!
//! [`Agent`] asks the model, carries out its calls and asks again. Every word goes through the session first;
//! [`event`]s are the only way out, numbered, for any number of clients. This crate knows no tool by name, no provider and
//! nothing about how anything is shown; it never prints and never reads the environment.
//!
//! | module | for |
//! |---|---|
//! | `run` | [`Agent`]: the loop; asking with retries (`answer`), calls (`calls`), models that fill in (`model_chain`), `repetition`, going back to a mark (`rewind`) |
//! | `handle` | [`AgentHandle`]: events for clients, steering, questions, ending a run |
//! | [`event`] | what happens, as data; the log that keeps it |
//! | `transcript` | the session and what the model gets of it |
//! | [`queue`] | what people say while the agent works |
//! | [`question`] | questions to people |
//! | [`settings`] | limits, queues, retries |
//! | [`prompt`] | the system prompt, instructions and rules of user and project |

pub mod event;
mod handle;
pub mod prompt;
pub mod question;
pub mod queue;
mod run;
pub mod settings;
mod transcript;

pub use event::{AgentEvent, EndReason, RunUsage, SequencedEvent};
pub use handle::{AgentHandle, EventRead, EventReader};
pub use queue::{InterruptMode, QueueMode, UserPrompt};
pub use run::{Agent, AgentError, AgentParts, MAX_CALLS, RunOutcome};
pub use settings::{AgentModel, AgentSettings, AutoRetrySettings, RunLimits};
