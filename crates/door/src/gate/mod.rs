//! What the project's commands said of a change.

mod check;
pub mod repair_prompt;
pub(crate) mod run;
mod verdict;

pub use check::ProjectCheck;
pub use run::{GATE_VARIABLE, GateFence};

use std::time::Duration;

use serde::{Serialize, Serializer};

/// The gate's verdict on a change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GateReport {
    /// Each command that ran, in order.
    pub steps: Vec<StepReport>,
    /// Errors that the linter counted before the change; `None`: it did not run or could not judge.
    pub errors_before: Option<u64>,
    /// … and after.
    pub errors_after: Option<u64>,
    /// Errors that were not there before, as far as they are listed.
    pub new_errors: Vec<Diagnostic>,
    /// How many new ones there are in all.
    pub new_count: u64,
    /// The linter failed without naming an error that relay understands: it may have judged nothing.
    pub unclear: bool,
    /// Files of the change that the commands changed as well (a formatter).
    pub reformatted: Vec<String>,
}

/// One command of the gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepReport {
    pub step: GateStep,
    pub command: String,
    pub result: StepResult,
    /// How long it took; in JSON in milliseconds.
    #[serde(rename = "tookMs", serialize_with = "milliseconds")]
    pub took: Duration,
    /// The end of what it printed, safe to keep: secrets are blacked out.
    pub output: String,
    /// Processes that it left behind, which were ended.
    pub left_behind: usize,
}

/// The commands that a project can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum GateStep {
    /// `patch.preCommand`
    PreCommand,
    /// `patch.linter`, before the change
    Baseline,
    /// `patch.postCommand`
    PostCommand,
    /// `patch.linter`, after the change
    Linter,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "end", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum StepResult {
    /// It ended by itself; 0 is well.
    Exited { code: i32 },
    /// A signal ended it.
    Signalled { signal: i32 },
    /// It took too long and was ended.
    TooLong,
    /// It was silent for too long and was ended.
    Silent,
    /// The user wanted it no longer.
    Stopped,
    /// It could not be started.
    CannotRun { text: String },
}

/// One error that a linter reported.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// The file, as the linter wrote it; empty if it named none.
    pub file: String,
    /// The line; 0 if it named none.
    pub line: u64,
    /// The linter's name for the rule; empty if it has none.
    pub code: String,
    pub message: String,
}

fn milliseconds<S: Serializer>(took: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(took.as_millis()).unwrap_or(u64::MAX))
}
