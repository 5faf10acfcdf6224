//! `git.autoGitBranch`: a branch for every change.

use relaycode_ledger::record::Record;
use relaycode_project::{config::BranchTemplate, git::GitError};

use crate::door::Door;

/// Makes a branch for the change at the commit that is checked out, and checks it out. Neither the index
/// nor a file is touched: the change is in the working tree and stays there.
pub(crate) fn create_change_branch(door: &Door, record: &Record) -> Result<String, GitError> {
    let git = door.git();
    let settings = &door.config().git;
    let id = record.uuid.to_string();
    let rest = match settings.git_branch_template {
        BranchTemplate::Uuid => id.as_str(),
        BranchTemplate::GitCommitMsg => record.git_commit_msg.as_deref().unwrap_or(&id),
    };
    let name = git.free_branch_name(&settings.git_branch_prefix, rest)?;
    git.create_branch_here(&name)?;
    Ok(name)
}
