//! Why a session cannot be used, and what to do.

use std::path::PathBuf;

use relaycode_durable::private_files::PrivateFileError;

/// Why a session cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FriendSessionError {
    /// This can be no name.
    #[error(
        "`{0}` is no name of a session; use up to 64 letters, digits, `-`, `_` and `.`, and begin with a letter or digit"
    )]
    BadName(String),
    /// It is with another friend.
    #[error(
        "the session {name} is with {friend}, not with {wanted}; use another name, or `relay friends forget {name}`"
    )]
    OtherFriend {
        /// What it is called.
        name: String,
        /// With whom it is.
        friend: String,
        /// Who was to be asked.
        wanted: String,
    },
    /// It is of another project.
    #[error(
        "the session {name} belongs to {}, not to this project; use another name, or `relay friends forget {name}`",
        project.display()
    )]
    OtherProject {
        /// What it is called.
        name: String,
        /// The project that it is of.
        project: PathBuf,
    },
    /// Somebody else writes sessions all the time.
    #[error("another relay has kept the sessions locked for {0} s; try again")]
    Busy(u64),
    /// Files of the user's own cannot be used.
    #[error(transparent)]
    Own(#[from] PrivateFileError),
}
