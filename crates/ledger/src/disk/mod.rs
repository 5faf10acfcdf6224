//! The project's directory and `.relaycode/` as files: safe paths, the planner's tree, moves, probing, digests, locks.

pub mod digest;
pub mod instance_lock;
pub(crate) mod moves;
pub mod paths;
pub(crate) mod probe;
pub mod state_dir;
pub mod tree;
