//! The project's directory and `.relaycode/` as files: safe paths, the planner's tree, moves, probing, digests, locks.

pub mod digest;
pub mod instance_lock;
mod moves;
pub mod paths;
mod probe;
pub mod state_dir;
pub mod tree;

pub use digest::Digest;
pub(crate) use digest::DigestHasher;
pub(crate) use moves::{DirtyDirectories, SwapOutcome, if_directory, is_no_directory};
pub(crate) use paths::{LedgerRoot, PROJECT, PathEntry, PathResolver, ancestors, split_parent};
pub(crate) use probe::FileProbe;
pub(crate) use state_dir::{STATE_DIR_NAME, StateDir, StateSubdir};
