//! What a friend is asked: one request, made once from the command line and handed on by reference to the friend.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use relaycode_exec::Deadlines;
use relaycode_project::access::Access;
use serde_json::Value;

use crate::ask::verdict;

/// The longest that anybody is waited for. Points in time farther away cannot be reckoned with.
const MAX_WAIT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Beyond the turn's own limit: the keeper ends a program then, also if relay stands still.
const KEEPER_MARGIN: Duration = Duration::from_secs(5);

/// Between being asked to end (SIGTERM) and being ended (SIGKILL).
pub(crate) const GRACE: Duration = Duration::from_millis(500);

/// What a friend is asked, by `ask`, `review` and `do` alike.
#[derive(Debug, Clone)]
pub struct AskRequest {
    /// What the user wants, in their words. What is sent is made of it, of the context and of the difference.
    pub prompt: String,
    /// What goes with it ([`crate::prompt::user_context`]).
    pub context: Option<String>,
    pub diff: AskDiff,
    /// Where the friend works: the project, or a copy of it. Without links.
    pub directory: PathBuf,
    pub access: Access,
    /// The model, as the friend names it; `None`: as it is configured.
    pub model: Option<String>,
    pub format: AnswerFormat,
    /// What it remembers, and whether it remembers this.
    pub memory: TurnMemory,
    pub limits: TurnLimits,
    /// The project's check, which the user trusts: who works in a copy may run it there, exactly so.
    pub check: Option<String>,
    /// Whether somebody reads its words as they come. An answer that breaks off is asked for again only if nobody does.
    pub live_text: bool,
    /// Whether the project is compared afterwards. Whoever asks several friends at once compares once, around all of
    /// them.
    pub check_tree: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskDiff {
    /// None.
    None,
    /// The uncommitted work, or else the last commit.
    Latest,
    Review(ReviewScope),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReviewScope {
    /// What is reviewed instead of what is checked out: a branch, a commit, or a range (`a..b`, `a...b`) whose beginning is the
    /// base.
    pub of: Option<String>,
    /// What the branch is compared with; `None`: what is found ([`relaycode_project::git::Git::default_base`]).
    pub base: Option<String>,
    /// Only these files and directories: relative to the project's root, or absolute. Empty: all.
    pub paths: Vec<String>,
    /// Whether the uncommitted work is reviewed with what is committed.
    pub uncommitted: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum AnswerFormat {
    Text,
    Json(Value),
    Verdict,
}

impl AskRequest {
    /// A question about the project in this directory, without anything beside it: read-only, in words, not remembered, and
    /// not compared afterwards.
    pub fn new(prompt: impl Into<String>, directory: PathBuf, limits: TurnLimits) -> AskRequest {
        AskRequest {
            prompt: prompt.into(),
            context: None,
            diff: AskDiff::None,
            directory,
            access: Access::ReadOnly,
            model: None,
            format: AnswerFormat::Text,
            memory: TurnMemory::None,
            limits,
            check: None,
            live_text: false,
            check_tree: false,
        }
    }

    pub fn schema(&self) -> Option<&Value> {
        match &self.format {
            AnswerFormat::Text => None,
            AnswerFormat::Json(schema) => Some(schema),
            AnswerFormat::Verdict => Some(&verdict::VERDICT_SCHEMA),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum TurnMemory {
    /// Nothing before, nothing after.
    #[default]
    None,
    /// Nothing before; it can be taken up again afterwards ([`crate::FriendAnswer::session`]).
    Begin,
    /// What was said in this session of the friend's own, by its id.
    Resume(String),
    /// This, which relay kept for a friend that keeps nothing itself ([`crate::friend::SessionSupport::Replayed`]): it is
    /// said again, the oldest first. What comes of this turn can be taken up again, too.
    Replay(Vec<PromptExchange>),
}

/// What was asked once, and what was answered.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PromptExchange {
    /// The prompt, whole.
    pub asked: String,
    /// The answer, whole.
    pub answered: String,
}

impl PromptExchange {
    /// Bytes of both.
    pub fn len(&self) -> usize {
        self.asked.len() + self.answered.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnLimits {
    pub started_at: Instant,
    /// How long it may take in all.
    pub total: Duration,
    /// How long it may show no sign of life.
    pub idle: Duration,
}

impl TurnLimits {
    /// From now on; a year at most.
    pub fn new(total: Duration, idle: Duration) -> TurnLimits {
        TurnLimits { started_at: Instant::now(), total: total.min(MAX_WAIT), idle: idle.min(MAX_WAIT) }
    }

    #[must_use]
    pub fn restarted(&self) -> TurnLimits {
        TurnLimits::new(self.total, self.idle)
    }

    pub fn remaining(&self) -> Duration {
        self.total.saturating_sub(self.started_at.elapsed())
    }

    /// How long a program may run that does what is left of the turn. Whoever talks with it ends it earlier: this is
    /// for the case that relay itself stands still.
    pub(crate) fn deadlines(&self) -> Deadlines {
        Deadlines { total: Some(self.remaining() + KEEPER_MARGIN), idle: None, grace: GRACE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_long_is_asked_for_the_end_is_a_point_in_time() {
        let limits = TurnLimits::new(Duration::MAX, Duration::from_secs(u64::MAX));
        assert_eq!((limits.total, limits.idle), (MAX_WAIT, MAX_WAIT));
        assert!(Instant::now().checked_add(limits.total + limits.idle).is_some());
        assert!(limits.deadlines().total.is_some_and(|total| total > limits.remaining()));
        let short = TurnLimits::new(Duration::ZERO, Duration::ZERO);
        assert_eq!((short.remaining(), short.deadlines().total), (Duration::ZERO, Some(KEEPER_MARGIN)));
    }
}
