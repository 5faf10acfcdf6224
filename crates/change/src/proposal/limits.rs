//! The limits for reading and planning. Every limit is a named default here, and every refusal because of
//! one names it, so that a user knows what to raise.

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
}

pub const TEXT_BYTES: usize = 4 * 1024 * 1024;
pub const FILES: usize = 200;
pub const FILE_BYTES: usize = 1024 * 1024;
pub const HUNKS: usize = 2_000;

impl Default for PlanLimits {
    fn default() -> Self {
        PlanLimits { text_bytes: TEXT_BYTES, files: FILES, file_bytes: FILE_BYTES, hunks: HUNKS }
    }
}
