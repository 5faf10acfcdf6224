//! Which difference goes to a friend, and what is said about it.
//!
//! An ask takes what there is: uncommitted work, else the last commit, else nothing; that git cannot say is no
//! reason not to ask, but it is told. A review is strict: what the branch added to its base. If there is nothing of
//! that, the uncommitted work is what the user wants reviewed; if there is both, the uncommitted work is left out
//! unless it is asked for, and that is told, too.

use relaycode_project::git::{DiffBase, DiffRange, Git, GitDiff, GitError, OmittedFile};
use relaycode_text::plural::pluralize;

use crate::prompt::limits::{DIFF_BYTES, NAMED_FILES, PromptSizeLimit};
use crate::{AskError, EventSink, FriendEvent};

const OWN_REVIEW_SEES_LESS: &str =
    "there is uncommitted work: its own review sees edits of files that git knows, and no new files";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentSummary {
    pub scope: SentDiffScope,
    /// Its bytes.
    pub bytes: u64,
    pub files: usize,
    /// Files in it that git has not been told of.
    pub untracked: usize,
    /// New files that are not in it, and why.
    pub left_out: Vec<OmittedFile>,
    /// There is uncommitted work that is not in it, or that a friend which compares by itself sees only in part.
    pub uncommitted_left_out: bool,
    /// Bytes of the context.
    pub context: usize,
    /// The whole prompt, as it was sent; `None` where a friend looked for itself.
    pub prompt: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SentDiffScope {
    NotRequested,
    Uncommitted,
    /// The last commit: there is no uncommitted work.
    LastCommit,
    Branch {
        base: DiffBase,
        /// The uncommitted work is in it, too.
        with_uncommitted: bool,
        /// How many commits it added; `None`: git could not say.
        commits: Option<u64>,
    },
    /// What a branch or a range that need not be checked out adds to its base.
    Range {
        base: DiffBase,
        tip: DiffBase,
        /// As above.
        commits: Option<u64>,
    },
    /// The uncommitted work: the branch added nothing to its base.
    UncommittedOnly {
        base: DiffBase,
    },
    /// None was sent: the friend compared with the base by itself.
    FriendOwnDiff {
        base: DiffBase,
    },
    Empty,
    /// git could not say; why.
    Unavailable(String),
}

impl SentSummary {
    pub(crate) fn new(which: SentDiffScope, diff: &GitDiff) -> SentSummary {
        SentSummary {
            scope: which,
            bytes: diff.bytes(),
            files: diff.files.len(),
            untracked: diff.files.iter().filter(|part| part.untracked).count(),
            left_out: diff.omitted.clone(),
            uncommitted_left_out: false,
            context: 0,
            prompt: None,
        }
    }

    /// Of a friend that compares with the base by itself. `left_out`: there is uncommitted work.
    pub(crate) fn for_own_review(base: &DiffBase, left_out: bool) -> SentSummary {
        let scope = SentDiffScope::FriendOwnDiff { base: base.clone() };
        SentSummary { uncommitted_left_out: left_out, ..SentSummary::new(scope, &GitDiff::default()) }
    }

    /// Which difference it is, for a person: a line without its end; `None` if no difference was wanted. Names in it
    /// are foreign text.
    pub fn summary_line(&self) -> Option<String> {
        let new = match self.untracked {
            0 => String::new(),
            count => format!(", {count} of them new to git"),
        };
        let size = format!("{}{new}, {} bytes", pluralize(self.files as u64, "file"), self.bytes);
        // What is left out differs, too.
        let all = self.left_out.is_empty();
        Some(match &self.scope {
            SentDiffScope::NotRequested => return None,
            SentDiffScope::Uncommitted => format!("the uncommitted work: {size}"),
            SentDiffScope::LastCommit => {
                let what = if all { "nothing" } else { "nothing that can be sent" };
                format!("the last commit, because {what} is uncommitted: {size}")
            }
            SentDiffScope::Branch { base, with_uncommitted: work, commits } => {
                let commits = commits.map(|count| pluralize(count, "commit") + ", ").unwrap_or_default();
                let and = if *work { ", and the uncommitted work" } else { "" };
                format!("what was committed since {}{and}: {commits}{size}", describe_base(base))
            }
            SentDiffScope::Range { base, tip, commits } => {
                let commits = commits.map(|count| pluralize(count, "commit") + ", ").unwrap_or_default();
                format!("what {} adds to {}: {commits}{size}", tip.name, describe_base(base))
            }
            SentDiffScope::UncommittedOnly { base } => {
                let base = describe_base(base);
                format!("the uncommitted work, because nothing was committed since {base}: {size}")
            }
            SentDiffScope::FriendOwnDiff { base } => {
                format!("no difference; it compares with {} by itself", describe_base(base))
            }
            SentDiffScope::Empty if all => "no difference: there is none".to_string(),
            SentDiffScope::Empty => "no difference: there is none that can be sent".to_string(),
            SentDiffScope::Unavailable(why) => format!("no difference: {why}"),
        })
    }

    /// What a person should know of what was not sent: sentences without their end. Names in them are foreign text.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.uncommitted_left_out {
            remarks.push(match &self.scope {
                SentDiffScope::FriendOwnDiff { .. } => OWN_REVIEW_SEES_LESS.to_string(),
                _ => "uncommitted work is not in it; `--uncommitted` sends it, too".to_string(),
            });
        }
        let named = self.left_out.iter().take(NAMED_FILES);
        remarks.extend(named.map(|file| format!("{} is not in it: {}", file.path, file.why)));
        match self.left_out.len().saturating_sub(NAMED_FILES) {
            0 => {}
            1 => remarks.push("1 more new file is not in it".to_string()),
            more => remarks.push(format!("{more} more new files are not in it")),
        }
        remarks
    }

    /// Says it to who listens, if a difference was wanted.
    pub(crate) fn report(&self, hear: &mut EventSink<'_>) {
        if let Some(what) = self.summary_line() {
            hear(FriendEvent::Sending { summary: what, remarks: self.remarks() });
        }
    }
}

pub(crate) fn describe_base(base: &DiffBase) -> String {
    format!("{} ({})", base.name, base.reason.describe())
}

/// The difference for an ask, and what there is to say about it. It may be too large: [`check_diff_size`].
///
/// # Errors
/// Only if it is far too large; that git cannot say is in [`SentSummary::scope`].
pub(crate) fn diff_for_ask(git: &Git<'_>) -> Result<(GitDiff, SentSummary), AskError> {
    let uncommitted = (DiffRange::Uncommitted, SentDiffScope::Uncommitted);
    let last_commit = (DiffRange::LastCommit, SentDiffScope::LastCommit);
    let (mut left_out, none) = (Vec::new(), GitDiff::default());
    for (range, which) in [uncommitted, last_commit] {
        match git.diff(range, &[], DIFF_BYTES) {
            Ok(diff) if diff.is_empty() => left_out.extend(diff.omitted),
            Ok(diff) => {
                let mut sent = SentSummary::new(which, &diff);
                sent.left_out.extend(left_out);
                return Ok((diff, sent));
            }
            Err(error @ (GitError::LimitExceeded { .. } | GitError::ManyNewFiles { .. })) => {
                return Err(error.into());
            }
            // There is none before the first one.
            Err(GitError::NoCommits { .. }) => break,
            Err(error) => {
                let sent = SentSummary::new(SentDiffScope::Unavailable(error.to_string()), &none);
                return Ok((none, sent));
            }
        }
    }
    let sent = SentSummary { left_out, ..SentSummary::new(SentDiffScope::Empty, &none) };
    Ok((none, sent))
}

/// The difference for a review, and what there is to say about it. It may be too large: [`check_diff_size`].
///
/// # Errors
/// If git cannot say, or there is nothing to review.
pub(crate) fn diff_for_review(
    git: &Git<'_>,
    base: &DiffBase,
    paths: &[&str],
    work: bool,
) -> Result<(GitDiff, SentSummary), AskError> {
    let nothing = |diff: GitDiff| AskError::NothingToReview {
        base: base.name.clone(),
        why: base.reason,
        paths: !paths.is_empty(),
        left_out: diff.omitted,
    };
    // Only for a line about it: that it cannot be found out is no reason not to review.
    let commits = || git.commits_since(base).ok();
    let range = if work { DiffRange::SinceBaseUncommitted(base) } else { DiffRange::SinceBase(base) };
    let diff = git.diff(range, paths, DIFF_BYTES)?;
    if !diff.is_empty() {
        let base = base.clone();
        let scope = SentDiffScope::Branch { base, with_uncommitted: work, commits: commits() };
        let mut sent = SentSummary::new(scope, &diff);
        // Nor is this, which is only for a remark.
        sent.uncommitted_left_out =
            !work && matches!(git.has_uncommitted(paths), Ok(true) | Err(GitError::ManyNewFiles { .. }));
        return Ok((diff, sent));
    }
    if work {
        return Err(nothing(diff));
    }
    let diff = git.diff(DiffRange::Uncommitted, paths, DIFF_BYTES)?;
    if diff.is_empty() {
        return Err(nothing(diff));
    }
    let sent = SentSummary::new(SentDiffScope::UncommittedOnly { base: base.clone() }, &diff);
    Ok((diff, sent))
}

/// The difference for a review of commits that need not be checked out, and what there is to say about it.
///
/// # Errors
/// As [`diff_for_review`].
pub(crate) fn diff_for_range(
    git: &Git<'_>,
    base: &DiffBase,
    tip: &DiffBase,
    paths: &[&str],
) -> Result<(GitDiff, SentSummary), AskError> {
    let diff = git.diff(DiffRange::Between { base, tip }, paths, DIFF_BYTES)?;
    if diff.is_empty() {
        let (base, tip) = (describe_base(base), tip.name.clone());
        return Err(AskError::EmptyRange { base, tip, paths: !paths.is_empty() });
    }
    let commits = git.commits_between(base, &tip.commit).ok();
    let scope = SentDiffScope::Range { base: base.clone(), tip: tip.clone(), commits };
    let sent = SentSummary::new(scope, &diff);
    Ok((diff, sent))
}

pub(crate) fn check_diff_size(diff: &GitDiff) -> Result<(), AskError> {
    Ok(PromptSizeLimit::Diff.check(diff.bytes(), || diff.largest(NAMED_FILES))?)
}
