//! The bounds within which relay reads and plans. Every limit is a named default here, and every
//! refusal that comes from one says its name, so that a user knows what to raise.

/// How much of a response relay is willing to read and plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanLimits {
    /// Bytes of response text.
    pub text_bytes: usize,
    /// Files that one proposal may touch.
    pub files: usize,
    /// Bytes of one file, before or after the change.
    pub file_bytes: usize,
    /// Hunks over all files.
    pub hunks: usize,
}

/// 4 MiB of response text.
pub const TEXT_BYTES: usize = 4 * 1024 * 1024;
/// 200 files in one proposal.
pub const FILES: usize = 200;
/// 1 MiB for one file.
pub const FILE_BYTES: usize = 1024 * 1024;
/// 2 000 hunks in one proposal.
pub const HUNKS: usize = 2_000;

impl Default for PlanLimits {
    fn default() -> Self {
        PlanLimits { text_bytes: TEXT_BYTES, files: FILES, file_bytes: FILE_BYTES, hunks: HUNKS }
    }
}
