//! The one process runner.
//!
//! Every child runs under a *keeper*: the same binary, started as `relay __keep`, which holds one end
//! of a socket to relay. When relay dies, for whatever reason, or says so, or the deadline passes, the
//! keeper ends every descendant, also those that left their process group. What a job prints is capped,
//! with its beginning and its end kept. This crate does not know what it runs.

mod capture;
pub mod job;
mod keep;
mod keeper;
#[cfg_attr(not(target_os = "linux"), path = "kin_group.rs")]
mod kin;
mod leave;
mod live;
pub mod outcome;
mod run;
mod spill;
mod streams;
mod wire;

pub use job::{Deadlines, Environment, Input, Job, Kept, Output, Program, Spill};
pub use keep::keep;
pub use leave::{go_on, leave};
pub use live::{Live, Said};
pub use outcome::{Captured, End, ExecError, Finished};
pub use run::Runner;

/// The first argument with which the binary becomes a keeper.
pub const KEEP: &str = "__keep";
