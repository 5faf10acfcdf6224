//! The one process runner.
//!
//! Every child runs under a *keeper*: the same binary, started as `relay __keep`, which holds one end
//! of a socket to relay. When relay dies, for whatever reason, or says so, or the deadline passes, the
//! keeper ends every descendant, also those that left their process group; when the keeper is killed, relay does. A job's
//! `PATH` holds absolute entries only, whoever's job it is. What a job prints is capped,
//! with its beginning and its end kept. This crate does not know what it runs.
//!
//! | module | what it is for |
//! |---|---|
//! | `job` | what to run, where, with what, for how long, and what to keep of its output |
//! | `outcome` | how it ended, and what it printed |
//! | `runner` | relay's side: one loop, no threads |
//! | `live` | the same loop a step at a time, for a conversation with a job |
//! | `keeper` | `handle` relay's hold on it, `own_children` whom relay started itself, `protocol` the messages between them, `process` the keeper's own side |
//! | `output` | the streams, what is kept of them in memory, and the file for the rest |
//! | `fence` | what a command may touch: the order to the stage that enters the fence, and its report |
//! | `private_dir` | a directory of its own for a program's files, which goes with the job |
//! | `detach` | the one exception: a process that outlives relay |
//! | `sys` | what differs by system: who descends from a process, and more |

mod detach;
mod fence;
pub mod job;
mod keeper;
mod live;
pub mod outcome;
mod output;
mod private_dir;
mod runner;
mod sys;

pub use detach::{respawn_detached, spawn_detached};
pub use fence::{
    FENCE_ARGUMENT, FENCE_FAILED_CODE, FenceAccess, FenceChannel, FenceEnd, FenceLayer, FenceLevel,
    FenceProbe, FenceReport, FenceSpec, JobFence, probe_fence, run_fence,
};
pub use job::{CaptureLimits, Deadlines, Job, JobCommand, JobEnvironment, JobInput, JobOutput, SpillTarget};
pub use keeper::process::run_keeper;
pub use live::{LiveJob, ProcessEvent};
pub use outcome::{CapturedOutput, ExecError, ExitReason, JobOutcome};
pub use private_dir::PrivateDir;
pub use runner::Runner;

/// How many keepers with this label ([`Runner::with_label`]) this process descends from, whatever its environment says;
/// `None` where the system does not tell.
pub fn count_keeper_ancestors(label: &str) -> Option<u32> {
    sys::count_keeper_ancestors(label)
}

/// The first argument with which the binary becomes a keeper.
pub const KEEPER_ARGUMENT: &str = "__keep";
