//! The one process runner.
//!
//! Every child runs under a *keeper*: the same binary, started as `relay __keep`, which holds one end
//! of a socket to relay. When relay dies, for whatever reason, or says so, or the deadline passes, the
//! keeper ends every descendant, also those that left their process group. What a job prints is capped,
//! with its beginning and its end kept. This crate does not know what it runs.

mod detach;
pub mod job;
mod keeper;
mod live;
pub mod outcome;
mod output;
mod runner;

pub use detach::{respawn_detached, spawn_detached};
pub use job::{CaptureLimits, Deadlines, Job, JobCommand, JobEnvironment, JobInput, JobOutput, SpillTarget};
pub use keeper::process::run_keeper;
pub use live::{LiveJob, ProcessEvent};
pub use outcome::{CapturedOutput, ExecError, ExitReason, JobOutcome};
pub use runner::Runner;

/// The first argument with which the binary becomes a keeper.
pub const KEEPER_ARGUMENT: &str = "__keep";
