//! What asks and reviews have in common once everything is checked: the look at the project before, the turn, what
//! makes an answer one, and the look afterwards.

use std::path::Path;

use relaycode_project::access::Access;
use relaycode_project::git::Git;

use super::{AskError, AskFailure, AskOutcome, is_blank};
use crate::friend::Friend;
use crate::friend::answer::FriendAnswer;
use crate::friend::event::FriendEvent;
use crate::friend::failure::FriendFailure;
use crate::friend::friend_context::FriendContext;
use crate::friend::turn::{FriendTurn, TurnLimits, TurnMemory, TurnTask};
use crate::prompt::diff::SentSummary;
use crate::prompt::schema::{AnswerSchema, extract_json};
use crate::tree_check;

/// One friend, one project, one deadline.
pub(crate) struct AskRun<'a> {
    pub(crate) friend: &'a dyn Friend,
    pub(crate) world: &'a FriendContext<'a>,
    pub(crate) root: &'a Path,
    pub(crate) access: Access,
    pub(crate) model: Option<&'a str>,
    pub(crate) schema: Option<&'a AnswerSchema>,
    pub(crate) memory: &'a TurnMemory,
    pub(crate) limits: TurnLimits,
}

/// How the project looked before; `None`: nobody wants to know.
pub(crate) type OptionalTreeCheck = Option<tree_check::TreeCheck>;

impl AskRun<'_> {
    /// Looks at the project, if it shall be compared afterwards.
    ///
    /// # Errors
    /// If somebody broke it off, or there is no time left.
    pub(crate) fn begin_tree_check(
        &self,
        wanted: bool,
        git: &Git<'_>,
    ) -> Result<OptionalTreeCheck, FriendFailure> {
        if !wanted || self.access.may_write() {
            return Ok(None);
        }
        let stop = || (self.world.stop_requested)() || self.limits.remaining().is_zero();
        match tree_check::TreeCheck::begin(self.root, Some(git), &stop) {
            Ok(watch) => Ok(Some(watch)),
            Err(_) if (self.world.stop_requested)() => Err(self.cancelled_failure()),
            Err(_) => Err(self.timeout_failure()),
        }
    }

    /// Lets the friend do something, in what is left of the time.
    pub(crate) fn run_turn(
        &self,
        task: TurnTask,
        hear: &mut dyn FnMut(FriendEvent),
    ) -> Result<FriendAnswer, FriendFailure> {
        if (self.world.stop_requested)() {
            return Err(self.cancelled_failure());
        }
        if self.limits.remaining().is_zero() {
            return Err(self.timeout_failure());
        }
        let turn = FriendTurn {
            task,
            directory: self.root.to_path_buf(),
            access: self.access,
            model: self.model.map(str::to_string),
            schema: self.schema.map(|schema| schema.as_json().clone()),
            memory: self.memory.clone(),
            limits: self.limits,
        };
        let answer = self.friend.run_turn(&turn, self.world, hear)?;
        self.check_answer(answer)
    }

    /// An answer, if it is one.
    fn check_answer(&self, mut answer: FriendAnswer) -> Result<FriendAnswer, FriendFailure> {
        let friend = self.friend.name().to_string();
        let Some(schema) = self.schema else {
            if is_blank(&answer.text) {
                return Err(FriendFailure::NoAnswer { friend, said: String::new() });
            }
            answer.value = None;
            return Ok(answer);
        };
        if answer.value.is_none() && is_blank(&answer.text) {
            return Err(FriendFailure::NoAnswer { friend, said: String::new() });
        }
        // What the friend read from its answer itself is held to the schema like everything else.
        let value = answer.value.take().map_or_else(|| extract_json(&answer.text, schema), Ok);
        let value = value.and_then(|value| {
            schema.check(&value).map_err(|fault| fault.to_string())?;
            Ok(value)
        });
        match value {
            Err(fault) => Err(FriendFailure::SchemaMismatch { friend, fault, text: answer.text }),
            Ok(value) => {
                if serde_json::from_str(answer.text.trim()).ok().as_ref() != Some(&value) {
                    if !is_blank(&answer.text) {
                        answer.remarks.push("words around the JSON are left out".to_string());
                    }
                    answer.text = value.to_string();
                }
                answer.remarks.extend(schema.remarks().iter().cloned());
                answer.value = Some(value);
                Ok(answer)
            }
        }
    }

    /// Looks at the project again, and puts together what there is to say.
    pub(crate) fn finish(
        &self,
        answer: Result<FriendAnswer, FriendFailure>,
        watch: Result<OptionalTreeCheck, FriendFailure>,
        sent: SentSummary,
    ) -> Result<AskOutcome, AskError> {
        let (answer, watch) = match watch {
            Ok(watch) => (answer, watch),
            Err(failure) => (Err(failure), None),
        };
        // Also after the time is over, and a while after a stop.
        let looked = watch.map(|watch| watch.finish(self.world.stop_requested)).unwrap_or_default();
        let took = self.limits.started_at.elapsed();
        match answer {
            Ok(answer) => Ok(AskOutcome { answer, sent, tree_check: looked, took }),
            Err(failure) => {
                Err(AskError::Friend(Box::new(AskFailure { failure, sent, tree_check: looked, took })))
            }
        }
    }

    pub(crate) fn cancelled_failure(&self) -> FriendFailure {
        FriendFailure::Cancelled { friend: self.friend.name().to_string() }
    }

    pub(crate) fn timeout_failure(&self) -> FriendFailure {
        let friend = self.friend.name().to_string();
        FriendFailure::TimedOut { friend, after: self.limits.total, idle: false, said: String::new() }
    }
}
