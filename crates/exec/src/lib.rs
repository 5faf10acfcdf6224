//! The one process runner.
//!
//! Every child runs under a *keeper*: the same binary, started as `relay __keep`, which holds one end
//! of a socket to relay. When relay dies, for whatever reason, or says so, or the deadline passes, the
//! keeper ends every descendant, also those that left their process group. What a job prints is capped,
//! with its beginning and its end kept. This crate does not know what it runs.

pub mod job;
pub mod outcome;
mod run;

pub use job::{Deadlines, Environment, Input, Job, Kept, Output, Program};
pub use outcome::{Captured, End, ExecError, Finished};
pub use run::Runner;

/// The first argument with which the binary becomes a keeper.
pub const KEEP: &str = "__keep";
