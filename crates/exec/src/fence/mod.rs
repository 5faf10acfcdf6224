//! The fence: what a command may touch, said by the kernel and not by a list of words.
//!
//! The same binary, started with [`FENCE_ARGUMENT`] and an empty environment, enters the fence and then becomes the command.
//! Whoever starts it stays outside, where the command can neither signal nor read it. What the stage is to do, and
//! what came of it, is in a file in memory between the two ([`FenceChannel`]). There are three levels ([`FenceLevel`]);
//! what each of them stops is measured by `proofs/fence`. A fence that cannot be built is an error: the command does not run.
//!
//! | module | what it is for |
//! |---|---|
//! | `spec` | what a command may touch |
//! | `environment` | variables that no command in a fence has |
//! | `channel` | the order and the report, in a file in memory |
//! | `probe` | which level this machine allows, and why not a better one |
//!
//! The stage itself differs by system: `sys`.

mod channel;
mod environment;
mod probe;
mod spec;

pub(crate) use channel::START_PROGRAM;
pub use channel::{FENCE_FAILED_CODE, FenceChannel, FenceEnd, FenceReport};
pub(crate) use environment::is_scrubbed;
pub use probe::{FenceProbe, probe_fence};
pub use spec::{FenceAccess, FenceLayer, FenceLevel, FenceSpec, JobFence};

use std::process::ExitCode;

/// The first argument with which the binary enters a fence and becomes a command.
pub const FENCE_ARGUMENT: &str = "__fence";

/// Enters the fence and becomes the command. To be called before anything else, when the first argument is
/// [`FENCE_ARGUMENT`], with the arguments behind it.
pub fn run_fence(arguments: &[std::ffi::OsString]) -> ExitCode {
    crate::sys::run_fence(arguments)
}
