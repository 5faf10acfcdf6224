//! What a model can call: the [`Tool`] trait, the [`Host`] that a tool may ask for what only the wiring has, the list of
//! tools, and the tools themselves.
//!
//! A tool gets a [`ToolInvocation`] and answers with a [`ToolOutput`] (what the model reads, a [`ToolCard`] for people,
//! details that the session keeps) or a [`ToolError`]. Every change of project files goes through the door, with the origin
//! `agent` and the group of the turn. This crate knows neither the loop that calls tools nor any screen; it never prints and
//! never reads the environment.
//!
//! | module | for |
//! |---|---|
//! | [`tool`] | the trait, a call, its output, its error |
//! | [`card`] | what people see of a call, as data |
//! | [`host`] | what a tool asks for: questions, approvers, live output |
//! | [`workspace`] | what the tools of one session share |
//! | [`registry`] | the one list of tools |
//! | `builtin` | the tools themselves, one file or folder each |
//! | `schema` | schemas and descriptions for models, arguments from them |
//! | [`jobs`] | commands in the background |
//! | `command_recorder` | what the commands of a turn change, recorded with its edits |
//! | `changes` | how a tool changes files: through the door, and what the model reads of it |
//! | `file_text`, `generated` | files as models read them, and which ones are not edited |
//! | [`KeptContext`] | what a model must not lose when its conversation is summed up |
//! | `walk`, `suffix`, [`internal_urls`] | where files are looked for; paths that lead nowhere; addresses of what is no file |

mod builtin;
pub mod card;
mod changes;
mod command_recorder;
mod file_text;
#[cfg(test)]
mod fixture;
mod generated;
pub mod host;
pub mod internal_urls;
pub mod jobs;
mod kept_context;
pub mod registry;
mod schema;
mod suffix;
pub mod tool;
mod walk;
pub mod workspace;

pub use builtin::bash::{InterceptorRule, InterceptorRuleError};
pub use builtin::exit_plan::PLAN_OPTIONS;
pub use builtin::goal::{Goal, GoalError, GoalStatus, MAX_GOAL_BYTES};
pub use builtin::read::image_type;
pub use builtin::todo_write::{TodoItem, TodoPhase, TodoStatus};
pub use card::{CardBody, CardDiff, CardExit, CardImage, ToolCard};
pub use changes::card_body;
pub use host::{
    Host, HostAnswer, HostQuestion, QuestionAbout, SummaryDecision, SummaryProposal, ToolProgress,
};
pub use internal_urls::{ConversationHistory, VirtualFiles};
pub use jobs::{BackgroundJobs, JobCancel, JobSnapshot, JobStatus};
pub use kept_context::{KeptContext, describe_open_edits, kept_contexts};
pub use tool::{Tool, ToolConcurrency, ToolError, ToolInvocation, ToolOutput, TouchedFiles};
pub use workspace::{
    CheckpointState, CommandSurroundings, ConversationMark, EditMode, PlanDecision, PlanFileError,
    PlanVerdict, ProjectCheckOutcome, ProposedPlan, RewindRequest, ToolSettings, ToolWarnings, ToolWorkspace,
};
