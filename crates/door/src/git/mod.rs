//! What the door does with git: which files a commit takes, and a branch per change.

pub(crate) mod auto_branch;
pub mod commit_plan;
