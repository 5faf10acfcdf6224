//! What a friend is asked to do, once.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use relaycode_exec::Deadlines;
use relaycode_project::access::Access;
use serde_json::Value;

/// The longest that anybody is waited for. Points in time farther away cannot be reckoned with.
const MAX_WAIT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Beyond the turn's own limit: the keeper ends a program then, also if relay stands still.
const KEEPER_MARGIN: Duration = Duration::from_secs(5);

/// Between being asked to end (SIGTERM) and being ended (SIGKILL).
pub(crate) const GRACE: Duration = Duration::from_millis(500);

/// One thing that a friend is asked to do.
#[derive(Debug, Clone)]
pub struct FriendTurn {
    /// What.
    pub task: TurnTask,
    /// Where it works: the project, or a copy of it. Without links.
    pub directory: PathBuf,
    /// What it may do there.
    pub access: Access,
    /// The model, as the friend names it; `None`: as it is configured.
    pub model: Option<String>,
    /// The JSON schema that the answer has to follow.
    pub schema: Option<Value>,
    /// What it remembers, and whether it remembers this.
    pub memory: TurnMemory,
    /// When it has to be done.
    pub limits: TurnLimits,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnTask {
    /// This prompt, whole: with the envelope, the context and the difference that go with it.
    Prompt(String),
    /// The friend's own review of what is on this branch and not in `base`. Only for friends that can
    /// ([`crate::Abilities::review`]).
    Review {
        /// A branch or a commit; checked to exist.
        base: String,
    },
}

/// What a friend remembers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum TurnMemory {
    /// Nothing before, nothing after.
    #[default]
    None,
    /// Nothing before; it can be taken up again afterwards ([`crate::Answer::session`]).
    Begin,
    /// What was said in this session of the friend's own, by its id.
    Resume(String),
    /// This, which relay kept for a friend that keeps nothing itself ([`crate::friend::Sessions::Replayed`]): it is
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

    /// Nothing was said.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// When a turn has to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnLimits {
    /// When it began.
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

    /// What is left of the whole time.
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
