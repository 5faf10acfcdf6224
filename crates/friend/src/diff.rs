//! Which difference goes to a friend, and what is said about it.
//!
//! An ask takes what there is: uncommitted work, else the last commit, else nothing; that git cannot say is no
//! reason not to ask, but it is told. A review is strict: what the branch added to its base. If there is nothing of
//! that, the uncommitted work is what the user wants reviewed; if there is both, the uncommitted work is left out
//! unless it is asked for, and that is told, too.

use relaycode_project::git::{Base, Diff, Git, GitError, LeftOut, Range};

use crate::ask::AskError;
use crate::event::Event;
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
    /// There is uncommitted work that is not in it, or that a friend which compares by itself sees only in part.
    pub work_left_out: bool,
    /// Bytes of the context.
    pub context: usize,
    /// The whole prompt, as it was sent; `None` where a friend looked for itself.
    pub prompt: Option<String>,
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
        /// How many commits it added; `None`: git could not say.
        commits: Option<u64>,
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
            prompt: None,
        }
    }

    /// Which difference it is, for a person: a line without its end; `None` if no difference was wanted. Names in it
    /// are foreign text.
    pub fn line(&self) -> Option<String> {
        let new = match self.untracked {
            0 => String::new(),
            count => format!(", {count} of them new to git"),
        };
        let size = format!("{}{new}, {} bytes", number(self.files as u64, "file"), self.bytes);
        // What is left out differs, too.
        let all = self.left_out.is_empty();
        Some(match &self.which {
            Which::NotWanted => return None,
            Which::Uncommitted => format!("the uncommitted work: {size}"),
            Which::LastCommit if all => format!("the last commit, because nothing is uncommitted: {size}"),
            Which::LastCommit => {
                format!("the last commit, because nothing that can be sent is uncommitted: {size}")
            }
            Which::Branch { base, work, commits } => {
                let commits = commits.map(|count| number(count, "commit") + ", ").unwrap_or_default();
                let and = if *work { ", and the uncommitted work" } else { "" };
                format!("what was committed since {}{and}: {commits}{size}", since(base))
            }
            Which::WorkOnly { base } => {
                format!("the uncommitted work, because nothing was committed since {}: {size}", since(base))
            }
            Which::Own { base } => format!("no difference; it compares with {} by itself", since(base)),
            Which::Nothing if all => "no difference: there is none".to_string(),
            Which::Nothing => "no difference: there is none that can be sent".to_string(),
            Which::Unknown(why) => format!("no difference: {why}"),
        })
    }

    /// What a person should know of what was not sent: sentences without their end. Names in them are foreign text.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.work_left_out {
            let said = match &self.which {
                Which::Own { .. } => {
                    "there is uncommitted work: its own review sees edits of files that git knows, and no new files"
                }
                _ => "uncommitted work is not in it; `--uncommitted` sends it, too",
            };
            remarks.push(said.to_string());
        }
        let named = self.left_out.iter().take(NAMED);
        remarks.extend(named.map(|file| format!("{} is not in it: {}", file.path, file.why)));
        match self.left_out.len().saturating_sub(NAMED) {
            0 => {}
            1 => remarks.push("1 more new file is not in it".to_string()),
            more => remarks.push(format!("{more} more new files are not in it")),
        }
        remarks
    }

    /// Says it to who listens, if a difference was wanted.
    pub(crate) fn tell(&self, hear: &mut dyn FnMut(Event)) {
        if let Some(what) = self.line() {
            hear(Event::Sending { what, remarks: self.remarks() });
        }
    }
}

/// A base with why it is this one.
pub(crate) fn since(base: &Base) -> String {
    format!("{} ({})", base.name, base.why.words())
}

fn number(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The difference for an ask, and what there is to say about it.
///
/// # Errors
/// Only if it is too large; that git cannot say is in [`Sent::which`].
pub(crate) fn for_ask(git: &Git<'_>) -> Result<(Diff, Sent), AskError> {
    let mut left_out = Vec::new();
    for (range, which) in [(Range::Uncommitted, Which::Uncommitted), (Range::LastCommit, Which::LastCommit)] {
        let diff = match git.diff(range, &[], DIFF) {
            Ok(diff) if diff.is_empty() => {
                left_out.extend(diff.left_out);
                continue;
            }
            Ok(diff) => diff,
            Err(error @ (GitError::TooMuch { .. } | GitError::ManyNewFiles { .. })) => {
                return Err(error.into());
            }
            // There is none before the first one.
            Err(GitError::NoCommits { .. }) => break,
            Err(error) => {
                let none = Diff::default();
                let sent = Sent::new(Which::Unknown(error.to_string()), &none);
                return Ok((none, sent));
            }
        };
        fits(&diff)?;
        let mut sent = Sent::new(which, &diff);
        sent.left_out.extend(left_out);
        return Ok((diff, sent));
    }
    let none = Diff::default();
    let sent = Sent { left_out, ..Sent::new(Which::Nothing, &none) };
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
    let nothing = |diff: Diff| AskError::NothingToReview {
        base: base.name.clone(),
        why: base.why,
        paths: !paths.is_empty(),
        left_out: diff.left_out,
    };
    // Only for a line about it: that it cannot be found out is no reason not to review.
    let commits = || git.commits_since(base).ok();
    if work {
        let diff = git.diff(Range::SinceWithWork(base), paths, DIFF)?;
        if diff.is_empty() {
            return Err(nothing(diff));
        }
        let sent = Sent::new(Which::Branch { base: base.clone(), work: true, commits: commits() }, &diff);
        return Ok((diff, sent));
    }
    let diff = git.diff(Range::Since(base), paths, DIFF)?;
    if !diff.is_empty() {
        let mut sent =
            Sent::new(Which::Branch { base: base.clone(), work: false, commits: commits() }, &diff);
        // Nor is this, which is only for a remark.
        sent.work_left_out =
            matches!(git.has_uncommitted(paths), Ok(true) | Err(GitError::ManyNewFiles { .. }));
        return Ok((diff, sent));
    }
    let diff = git.diff(Range::Uncommitted, paths, DIFF)?;
    if diff.is_empty() {
        return Err(nothing(diff));
    }
    let sent = Sent::new(Which::WorkOnly { base: base.clone() }, &diff);
    Ok((diff, sent))
}

/// Whether a difference is small enough.
pub(crate) fn fits(diff: &Diff) -> Result<(), AskError> {
    Ok(What::Diff.check(diff.bytes(), || diff.largest(NAMED))?)
}
