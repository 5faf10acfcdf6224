//! Why a session cannot be used, and what to do.

use std::path::PathBuf;

use relaycode_durable::private_files::PrivateFileError;

#[derive(Debug, thiserror::Error)]
pub enum FriendSessionError {
    #[error(
        "`{0}` is not a valid session name; use up to 64 letters, digits, `-`, `_` and `.`, and begin with a letter or digit"
    )]
    BadName(String),
    #[error(
        "the session {name} is with {friend}, not with {wanted}; use another name, or `relay friends forget {name}`"
    )]
    OtherFriend { name: String, friend: String, wanted: String },
    #[error("this project has no session {name}, and several others do: {}", listed(projects))]
    OtherProjects { name: String, projects: Vec<PathBuf> },
    /// Somebody else writes sessions all the time.
    #[error("another relay has kept the sessions locked for {0} s; try again")]
    Busy(u64),
    #[error(transparent)]
    Own(#[from] PrivateFileError),
}

fn listed(projects: &[PathBuf]) -> String {
    projects.iter().map(|project| project.display().to_string()).collect::<Vec<_>>().join(", ")
}
