//! Why there is no answer.

use std::path::PathBuf;

use relaycode_project::access::Access;
use relaycode_project::git::{BaseReason, DiffBase, GitError, OmittedFile};

use crate::FriendFailure;
use crate::friend::depth::RelayDepthError;
use crate::prompt::diff;
use crate::prompt::limits::{NAMED_FILES, PromptSizeError};
use crate::prompt::schema::SchemaError;
use crate::prompt::user_context::ContextError;

/// Why there is no answer. Unless it is [`AskError::Friend`], nothing was sent.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    #[error("the prompt is empty")]
    NoPrompt,
    #[error("time limits must be greater than zero")]
    ZeroTimeout,
    #[error("{} is no directory", path.display())]
    NotADirectory { path: PathBuf },
    /// The friend cannot work with this access, or nobody has tested that it does so safely.
    #[error("{friend} cannot work with the access `{access}`; it can with {}", listed(can))]
    AccessNotSupported { friend: String, access: Access, can: &'static [Access] },
    #[error(transparent)]
    Context(#[from] ContextError),
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// Something is too large.
    #[error(transparent)]
    Limit(#[from] PromptSizeError),
    /// relay stands too deep in relays.
    #[error(transparent)]
    Depth(#[from] RelayDepthError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(
        "there is nothing to review{}: nothing was committed since {base} ({}), and {}",
        if *paths { " in these files" } else { "" }, why.describe(), uncommitted(left_out)
    )]
    NothingToReview {
        base: String,
        why: BaseReason,
        /// Only some files were wanted.
        paths: bool,
        left_out: Vec<OmittedFile>,
    },
    #[error(
        "there is nothing to review{}: `{tip}` adds nothing to {base}",
        if *paths { " in these files" } else { "" }
    )]
    EmptyRange {
        base: String,
        tip: String,
        /// Only some files were wanted.
        paths: bool,
    },
    #[error(transparent)]
    Friend(#[from] FriendFailure),
}

impl AskError {
    /// The same, with what the difference was compared with if that is too large.
    pub(crate) fn with_base(mut self, base: Option<&DiffBase>) -> AskError {
        if let AskError::Limit(over) = &mut self {
            over.since = base.map(diff::describe_base);
        }
        self
    }

    /// The friend's failure, if it is one.
    pub fn failure(&self) -> Option<&FriendFailure> {
        match self {
            AskError::Friend(failure) => Some(failure),
            _ => None,
        }
    }
}

fn uncommitted(left_out: &[OmittedFile]) -> String {
    if left_out.is_empty() {
        return "nothing is uncommitted".to_string();
    }
    let one = |file: &OmittedFile| format!("{} ({})", file.path, file.why);
    let mut named: Vec<String> = left_out.iter().take(NAMED_FILES).map(one).collect();
    let more = left_out.len() - named.len();
    named.extend((more > 0).then(|| format!("{more} more")));
    format!("nothing that can be sent is uncommitted: not {}", named.join(", "))
}

fn listed(can: &[Access]) -> String {
    match can {
        [] => "none".to_string(),
        can => can.iter().map(|access| access.name()).collect::<Vec<_>>().join(", "),
    }
}
