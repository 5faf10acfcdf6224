//! Why nobody was asked, or what came of it when a friend failed.

use std::path::PathBuf;
use std::time::Duration;

use relaycode_project::access::Access;
use relaycode_project::git::{Base, GitError, LeftOut, Why};

use super::Asked;
use crate::context::ContextError;
use crate::depth::TooDeep;
use crate::diff::{self, Sent};
use crate::failure::Failure;
use crate::limits::{NAMED, Over};
use crate::schema::SchemaError;
use crate::tree::Looked;

/// Why there is no answer. Unless it is [`AskError::Friend`] or [`AskError::Abstained`], nothing was sent to
/// anybody.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// There is no prompt.
    #[error("a prompt is needed")]
    NoPrompt,
    /// There is no time.
    #[error("the time limits have to be greater than zero")]
    NoTime,
    /// The project is no directory.
    #[error("{} is no directory", path.display())]
    NotADirectory {
        /// What was named.
        path: PathBuf,
    },
    /// The friend cannot work with this access, or nobody has tested that it does so safely.
    #[error("{friend} cannot work with the access `{access}`; it can with {}", listed(can))]
    Access {
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
    Limit(#[from] Over),
    /// relay stands too deep in relays.
    #[error(transparent)]
    Depth(#[from] TooDeep),
    /// git cannot say what to review.
    #[error(transparent)]
    Git(#[from] GitError),
    /// There is no difference to review.
    #[error(
        "there is nothing to review{}: nothing was committed since {base} ({}), and {}",
        if *paths { " in these files" } else { "" }, why.words(), uncommitted(left_out)
    )]
    NothingToReview {
        /// What was compared with.
        base: String,
        /// Why with that.
        why: Why,
        /// Only some files were wanted.
        paths: bool,
        /// New files that are not sent.
        left_out: Vec<LeftOut>,
    },
    /// The friend answered and gave no verdict.
    #[error("{friend} gave no verdict: it abstained{}", if summary.is_empty() { String::new() } else { format!(": {summary}") })]
    Abstained {
        /// The friend.
        friend: String,
        /// Why, in its words. Foreign text.
        summary: String,
        /// Its answer, and what else there is to say.
        asked: Box<Asked>,
    },
    /// The friend failed.
    #[error("{}", .0.failure)]
    Friend(Box<Failed>),
}

impl AskError {
    /// The same, with what the difference was compared with if that is too large.
    pub(crate) fn since(mut self, base: &Base) -> AskError {
        if let AskError::Limit(over) = &mut self {
            over.since = Some(diff::since(base));
        }
        self
    }

    /// The friend's failure, if it is one.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            AskError::Friend(failed) => Some(&failed.failure),
            _ => None,
        }
    }
}

/// A friend that failed, and what there is to say in spite of that.
#[derive(Debug)]
pub struct Failed {
    /// Why there is no answer.
    pub failure: Failure,
    /// What was sent.
    pub sent: Sent,
    /// What was changed while it ran.
    pub looked: Looked,
    /// How long it took.
    pub took: Duration,
}

fn uncommitted(left_out: &[LeftOut]) -> String {
    if left_out.is_empty() {
        return "nothing is uncommitted".to_string();
    }
    let one = |file: &LeftOut| format!("{} ({})", file.path, file.why);
    let mut named: Vec<String> = left_out.iter().take(NAMED).map(one).collect();
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
