//! The limits for reading and planning. Every limit is a named default here, and every refusal because of
//! one names it, so that a user knows what to raise.

use super::work_budget::{StopFlag, WorkMeter};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanLimits {
    /// Bytes of response text.
    pub text_bytes: usize,
    /// Files per proposal.
    pub files: usize,
    /// Bytes of one file, before or after the change.
    pub file_bytes: usize,
    /// Hunks over all files.
    pub hunks: usize,
    /// Bytes of all files together, before and after the change: a plan holds both.
    pub total_bytes: usize,
    /// Steps of work on all files together, see [`WorkBudget`](super::work_budget::WorkBudget).
    pub work: usize,
    /// Which plans share the steps of `work`.
    pub meter: WorkMeter,
    /// Looked at while planning.
    pub stop: StopFlag,
}

pub const TEXT_BYTES: usize = 4 * 1024 * 1024;
pub const FILES: usize = 200;
pub const FILE_BYTES: usize = 1024 * 1024;
pub const HUNKS: usize = 2_000;
pub const TOTAL_BYTES: usize = 2 * FILES * FILE_BYTES;
/// About half a second of processor time.
pub const WORK: usize = 150_000_000;
/// Most bytes that are kept about places where hunks could belong, over all files.
pub const PLACE_BYTES: usize = 32 * 1024 * 1024;

impl Default for PlanLimits {
    fn default() -> Self {
        PlanLimits {
            text_bytes: TEXT_BYTES,
            files: FILES,
            file_bytes: FILE_BYTES,
            hunks: HUNKS,
            total_bytes: TOTAL_BYTES,
            work: WORK,
            meter: WorkMeter::default(),
            stop: StopFlag::default(),
        }
    }
}
