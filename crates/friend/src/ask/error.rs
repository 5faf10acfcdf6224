//! Why nobody was asked, or what came of it when a friend failed.

use std::path::PathBuf;
use std::time::Duration;

use relaycode_project::access::Access;
use relaycode_project::git::{BaseReason, DiffBase, GitError, OmittedFile};

use super::AskOutcome;
use crate::friend::depth::RelayDepthError;
use crate::friend::failure::FriendFailure;
use crate::prompt::diff;
use crate::prompt::diff::SentSummary;
use crate::prompt::limits::{NAMED_FILES, PromptSizeError};
use crate::prompt::schema::SchemaError;
use crate::prompt::user_context::ContextError;
use crate::tree_check::TreeCheckReport;

/// Why there is no answer. Unless it is [`AskError::Friend`] or [`AskError::Abstained`], nothing was sent to
/// anybody.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// There is no prompt.
    #[error("a prompt is needed")]
    NoPrompt,
    /// There is no time.
    #[error("the time limits have to be greater than zero")]
    ZeroTimeout,
    /// The project is no directory.
    #[error("{} is no directory", path.display())]
    NotADirectory {
        /// What was named.
        path: PathBuf,
    },
    /// The friend cannot work with this access, or nobody has tested that it does so safely.
    #[error("{friend} cannot work with the access `{access}`; it can with {}", listed(can))]
    AccessNotSupported {
        /// The friend.
        friend: String,
        /// What was wanted.
        access: Access,
        /// What it can.
        can: &'static [Access],
    },
    /// The context cannot be used.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// The schema cannot be used.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// A verdict has a form of its own.
    #[error("a verdict has a schema of its own; leave out one of the two")]
    SchemaAndVerdict,
    /// Something is too large.
    #[error(transparent)]
    Limit(#[from] PromptSizeError),
    /// relay stands too deep in relays.
    #[error(transparent)]
    Depth(#[from] RelayDepthError),
    /// git cannot say what to review.
    #[error(transparent)]
    Git(#[from] GitError),
    /// There is no difference to review.
    #[error(
        "there is nothing to review{}: nothing was committed since {base} ({}), and {}",
        if *paths { " in these files" } else { "" }, why.describe(), uncommitted(left_out)
    )]
    NothingToReview {
        /// What was compared with.
        base: String,
        /// Why with that.
        why: BaseReason,
        /// Only some files were wanted.
        paths: bool,
        /// New files that are not sent.
        left_out: Vec<OmittedFile>,
    },
    /// The friend answered and gave no verdict.
    #[error("{friend} gave no verdict: it abstained{}", if summary.is_empty() { String::new() } else { format!(": {summary}") })]
    Abstained {
        /// The friend.
        friend: String,
        /// Why, in its words. Foreign text.
        summary: String,
        /// Its answer, and what else there is to say.
        outcome: Box<AskOutcome>,
    },
    /// The friend failed.
    #[error("{}", .0.failure)]
    Friend(Box<AskFailure>),
}

impl AskError {
    /// The same, with what the difference was compared with if that is too large.
    pub(crate) fn with_base(mut self, base: &DiffBase) -> AskError {
        if let AskError::Limit(over) = &mut self {
            over.since = Some(diff::describe_base(base));
        }
        self
    }

    /// The friend's failure, if it is one.
    pub fn failure(&self) -> Option<&FriendFailure> {
        match self {
            AskError::Friend(failed) => Some(&failed.failure),
            _ => None,
        }
    }
}

/// A friend that failed, and what there is to say in spite of that.
#[derive(Debug)]
pub struct AskFailure {
    /// Why there is no answer.
    pub failure: FriendFailure,
    /// What was sent.
    pub sent: SentSummary,
    /// What was changed while it ran.
    pub tree_check: TreeCheckReport,
    /// How long it took.
    pub took: Duration,
}

fn uncommitted(left_out: &[OmittedFile]) -> String {
    if left_out.is_empty() {
        return "nothing is uncommitted".to_string();
    }
    let one = |file: &OmittedFile| format!("{} ({})", file.path, file.why);
    let mut named: Vec<String> = left_out.iter().take(NAMED_FILES).map(one).collect();
    let more = left_out.len() - named.len();
    if more > 0 {
        named.push(format!("{more} more"));
    }
    format!("nothing that can be sent is uncommitted: not {}", named.join(", "))
}

fn listed(can: &[Access]) -> String {
    match can {
        [] => "none".to_string(),
        can => can.iter().map(|access| access.name()).collect::<Vec<_>>().join(", "),
    }
}
