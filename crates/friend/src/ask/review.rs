//! Have a friend review what a branch adds, or what is not committed yet.
//!
//! A friend's own review comes first where it has one and nothing is wanted that it cannot do: a prompt, some files,
//! a form, a verdict, uncommitted work. If it fails, the difference goes to the friend as a prompt, in what is left
//! of the same time, and that is told. A difference that is empty or that git cannot give is an error: a failed
//! review never reads as a pass.

use std::path::{Component, Path};

use relaycode_project::git::{DiffBase, Git, GitDiff, GitError};
use serde_json::Value;

use super::AskRun;
use super::verdict::{ReviewVerdict, VerdictError};
use crate::prompt::diff::{self, SentDiffScope, SentSummary};
use crate::{
    AnswerFormat, AskDiff, AskError, AskRequest, EventSink, FriendAnswer, FriendEvent, FriendFailure,
    FriendTurn, ReviewScope, TurnMemory, TurnResult,
};

/// What is asked when nobody says.
pub const PROMPT: &str = "Review the following changes.";

/// What is reviewed, and what it is compared with. It may be too large to be sent.
pub(super) fn diff_for_scope(
    scope: &ReviewScope,
    root: &Path,
    git: &Git<'_>,
) -> Result<(DiffBase, GitDiff, SentSummary), AskError> {
    let paths = git_paths(&scope.paths, root)?;
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    if let Some(of) = &scope.of {
        let (from, tip) = split_range(of);
        let tip = git.resolve_base(tip)?;
        let base = match from.or(scope.base.as_deref()) {
            Some(name) => git.resolve_base(name)?,
            None => git.default_base_of(&tip.name)?,
        };
        let (diff, sent) = diff::diff_for_range(git, &base, &tip, &paths)?;
        return Ok((base, diff, sent));
    }
    let base = match &scope.base {
        Some(name) => git.resolve_base(name)?,
        None => git.default_base()?,
    };
    let (diff, sent) = diff::diff_for_review(git, &base, &paths, scope.uncommitted)?;
    Ok((base, diff, sent))
}

/// The beginning of a range, if it is one, and its end. Either may be left out, and is then what is usual: the base that is
/// found, and what is checked out.
fn split_range(of: &str) -> (Option<&str>, &str) {
    let Some((from, to)) = of.split_once("...").or_else(|| of.split_once("..")) else { return (None, of) };
    (Some(from).filter(|from| !from.is_empty()), if to.is_empty() { "HEAD" } else { to })
}

impl AskRun<'_> {
    pub(super) fn can_review_itself(
        &self,
        base: &DiffBase,
        sent: &SentSummary,
        git: &Git<'_>,
        hear: &mut EventSink<'_>,
    ) -> Result<bool, AskError> {
        let could = self.friend.abilities().review
            && is_plain(self.request)
            && matches!(sent.scope, SentDiffScope::Branch { .. });
        let can = could && git.is_ref_name(base)?;
        if could && !can {
            let why = format!("its own review compares with branches and tags, and {} is neither", base.name);
            hear(FriendEvent::Fallback(why));
        }
        Ok(can)
    }

    /// The friend's own review; if that fails in a way that may be its own fault, the difference as a prompt.
    pub(super) fn run_own_review(
        &mut self,
        base: &DiffBase,
        fallback: Result<SentSummary, AskError>,
        hear: &mut EventSink<'_>,
    ) -> TurnResult {
        self.check_expired()?;
        // By its name, which was looked up: codex compares with branches and tags, and with no commit.
        let turn = &mut FriendTurn { request: self.request, world: self.world, fence: None, hear };
        let own = self.friend.run_review(&base.name, turn);
        let failure = match own.and_then(|answer| self.check_answer(answer)) {
            Err(failure) if allows_fallback(&failure) => failure,
            ended => return ended,
        };
        hear(FriendEvent::AnswerRestarted);
        match fallback {
            Ok(sent) => {
                let why = format!("its own review failed ({failure}); the difference is sent to it");
                hear(FriendEvent::Fallback(why));
                self.report_sending(sent, hear);
                self.run_prompt(hear)
            }
            // Too large to be sent: what the friend said is why there is no review.
            Err(error) => {
                hear(FriendEvent::Fallback(format!("the difference cannot be sent instead: {error}")));
                Err(failure)
            }
        }
    }

    /// The answer with what it comes to, if a verdict was wanted. There is no answer without one then.
    pub(super) fn with_verdict(&self, mut answer: FriendAnswer) -> TurnResult {
        if self.request.format != AnswerFormat::Verdict {
            return Ok(answer);
        }
        let friend = self.friend.name().to_string();
        let value = answer.value.as_ref().unwrap_or(&Value::Null);
        match ReviewVerdict::from_json(value, &self.request.directory) {
            Ok(verdict) => {
                answer.remarks.extend(verdict.remarks.iter().cloned());
                answer.verdict = Some(verdict);
                Ok(answer)
            }
            Err(VerdictError::Abstained(summary)) => {
                Err(FriendFailure::Abstained { friend, summary, text: answer.text })
            }
            Err(VerdictError::Malformed(fault)) => {
                Err(FriendFailure::SchemaMismatch { friend, fault, text: answer.text })
            }
        }
    }
}

/// Whether nothing is wanted that goes beyond a review of what was committed.
fn is_plain(request: &AskRequest) -> bool {
    let whole = |scope: &ReviewScope| scope.paths.is_empty() && !scope.uncommitted;
    request.prompt == PROMPT
        && request.context.is_none()
        && request.format == AnswerFormat::Text
        && request.memory == TurnMemory::None
        && matches!(&request.diff, AskDiff::Review(scope) if whole(scope))
}

/// Whether the same friend may do better when it is asked another way. Not after a refusal of ours, when its time
/// is over or somebody broke it off, nor where every way needs what is missing.
fn allows_fallback(failure: &FriendFailure) -> bool {
    use FriendFailure::*;
    match failure {
        Unsupported { .. } | NoAnswer { .. } | SchemaMismatch { .. } | Failed { .. } => true,
        AnswerTooLarge { .. } | InputStalled { .. } | Exec { .. } => true,
        NotInstalled { .. } | TooOld { .. } | UnknownVersion { .. } | NotSignedIn { .. } => false,
        AccessMismatch { .. } | UnknownSession { .. } | Abstained { .. } | Unreachable { .. } => false,
        TimedOut { .. } | Cancelled { .. } => false,
    }
}

/// Paths of the project as git takes them; the project itself is no limit.
fn git_paths(given: &[String], root: &Path) -> Result<Vec<String>, AskError> {
    let mut paths = Vec::new();
    for path in given {
        let below = Path::new(path).strip_prefix(root).unwrap_or(Path::new(path));
        let mut parts = Vec::new();
        for component in below.components() {
            match component {
                Component::Normal(part) => parts.extend(part.to_str()),
                Component::CurDir => {}
                _ => return Err(GitError::BadPath { path: path.clone() }.into()),
            }
        }
        if path.is_empty() {
            return Err(GitError::BadPath { path: path.clone() }.into());
        }
        if parts.is_empty() {
            return Ok(Vec::new());
        }
        paths.push(parts.join("/"));
    }
    Ok(paths)
}
