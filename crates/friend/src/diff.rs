//! Which difference goes to a friend, and what is said about it.
//!
//! An ask takes what there is: uncommitted work, else the last commit, else nothing; that git cannot say is no
//! reason not to ask, but it is told. A review is strict: what the branch added to its base. If there is nothing of
//! that, the uncommitted work is what the user wants reviewed; if there is both, the uncommitted work is left out
//! unless it is asked for, and that is told, too.

use relaycode_project::git::{Base, Diff, Git, GitError, LeftOut, Range};

use crate::ask::AskError;
use crate::limits::{DIFF, NAMED, What};

/// What went to a friend beside the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// Which difference.
    pub which: Which,
    /// Its bytes.
    pub bytes: u64,
    /// Files in it.
    pub files: usize,
    /// Files in it that git has not been told of.
    pub untracked: usize,
    /// New files that are not in it, and why.
    pub left_out: Vec<LeftOut>,
    /// There is uncommitted work that is not in it. Whether a friend that compares by itself looks at that is its
    /// own affair.
    pub work_left_out: bool,
    /// Bytes of the context.
    pub context: usize,
    /// Bytes of the whole prompt; 0 where a friend looked for itself.
    pub prompt: usize,
}

/// Which difference was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// Nobody wanted one.
    NotWanted,
    /// The uncommitted work.
    Uncommitted,
    /// The last commit: there is no uncommitted work.
    LastCommit,
    /// What the branch added to its base.
    Branch {
        /// The base.
        base: Base,
        /// The uncommitted work is in it, too.
        work: bool,
    },
    /// The uncommitted work: the branch added nothing to its base.
    WorkOnly {
        /// The base.
        base: Base,
    },
    /// None was sent: the friend compared with the base by itself.
    Own {
        /// The base.
        base: Base,
    },
    /// There is nothing to compare.
    Nothing,
    /// git could not say; why.
    Unknown(String),
}

impl Sent {
    pub(crate) fn new(which: Which, diff: &Diff) -> Sent {
        Sent {
            which,
            bytes: diff.bytes(),
            files: diff.parts.len(),
            untracked: diff.parts.iter().filter(|part| part.untracked).count(),
            left_out: diff.left_out.clone(),
            work_left_out: false,
            context: 0,
            prompt: 0,
        }
    }

    /// What was sent, for a person: a line without its end; `None` if no difference was wanted. Names in it are
    /// foreign text.
    pub fn line(&self) -> Option<String> {
        let (files, bytes) = (self.files, self.bytes);
        let s = if files == 1 { "" } else { "s" };
        let new = if self.untracked > 0 {
            format!(", {} of them new to git", self.untracked)
        } else {
            String::new()
        };
        let size = format!("{files} file{s}{new}, {bytes} bytes");
        Some(match &self.which {
            Which::NotWanted => return None,
            Which::Uncommitted => format!("the uncommitted work: {size}"),
            Which::LastCommit => format!("the last commit, because nothing is uncommitted: {size}"),
            Which::Branch { base, work: false } => {
                format!("what was committed since {}: {size}", since(base))
            }
            Which::Branch { base, work: true } => {
                format!("what was committed since {}, and the uncommitted work: {size}", since(base))
            }
            Which::WorkOnly { base } => {
                format!("the uncommitted work, because nothing was committed since {}: {size}", since(base))
            }
            Which::Own { base } => format!("no difference; it compares with {} by itself", since(base)),
            Which::Nothing => "no difference: there is none".to_string(),
            Which::Unknown(why) => format!("no difference: {why}"),
        })
    }

    /// What a person should know of what was not sent: sentences without their end. Names in them are foreign text.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.work_left_out {
            remarks.push("there is uncommitted work, which is not in it".to_string());
        }
        let named = self.left_out.iter().take(NAMED);
        remarks.extend(named.map(|file| format!("{} is not in it: {}", file.path, file.why)));
        let more = self.left_out.len().saturating_sub(NAMED);
        if more > 0 {
            remarks.push(format!("{more} more new files are not in it"));
        }
        remarks
    }
}

fn since(base: &Base) -> String {
    format!("{} ({})", base.name, base.why.words())
}

/// The difference for an ask, and what there is to say about it.
///
/// # Errors
/// Only if it is too large; that git cannot say is in [`Sent::which`].
pub(crate) fn for_ask(git: &Git<'_>) -> Result<(Diff, Sent), AskError> {
    for (range, which) in [(Range::Uncommitted, Which::Uncommitted), (Range::LastCommit, Which::LastCommit)] {
        let diff = match git.diff(range, &[], DIFF) {
            Ok(diff) if diff.is_empty() => continue,
            Ok(diff) => diff,
            Err(error @ GitError::TooMuch { .. }) => return Err(error.into()),
            // There is none before the first one.
            Err(GitError::NoCommits { .. }) => break,
            Err(error) => {
                let none = Diff::default();
                let sent = Sent::new(Which::Unknown(error.to_string()), &none);
                return Ok((none, sent));
            }
        };
        fits(&diff)?;
        let sent = Sent::new(which, &diff);
        return Ok((diff, sent));
    }
    let none = Diff::default();
    let sent = Sent::new(Which::Nothing, &none);
    Ok((none, sent))
}

/// The difference for a review, and what there is to say about it. It may be too large: [`fits`].
///
/// # Errors
/// If git cannot say, or there is nothing to review.
pub(crate) fn for_review(
    git: &Git<'_>,
    base: &Base,
    paths: &[&str],
    work: bool,
) -> Result<(Diff, Sent), AskError> {
    let nothing =
        || AskError::NothingToReview { base: base.name.clone(), why: base.why, paths: !paths.is_empty() };
    if work {
        let diff = git.diff(Range::SinceWithWork(base), paths, DIFF)?;
        if diff.is_empty() {
            return Err(nothing());
        }
        let sent = Sent::new(Which::Branch { base: base.clone(), work: true }, &diff);
        return Ok((diff, sent));
    }
    let diff = git.diff(Range::Since(base), paths, DIFF)?;
    if !diff.is_empty() {
        let mut sent = Sent::new(Which::Branch { base: base.clone(), work: false }, &diff);
        // Only for a remark: that it cannot be found out is no reason not to review.
        sent.work_left_out = git.has_uncommitted(paths).unwrap_or(false);
        return Ok((diff, sent));
    }
    let diff = git.diff(Range::Uncommitted, paths, DIFF)?;
    if diff.is_empty() {
        return Err(nothing());
    }
    let sent = Sent::new(Which::WorkOnly { base: base.clone() }, &diff);
    Ok((diff, sent))
}

/// Whether a difference is small enough.
pub(crate) fn fits(diff: &Diff) -> Result<(), AskError> {
    Ok(What::Diff.check(diff.bytes(), || diff.largest(NAMED))?)
}
