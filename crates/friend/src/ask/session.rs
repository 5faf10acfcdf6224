//! What asks and reviews have in common once everything is checked: the look at the project before, the turn, what
//! makes an answer one, and the look afterwards.

use std::path::Path;

use relaycode_project::access::Access;
use relaycode_project::git::Git;

use super::{AskError, Asked, Failed, is_blank};
use crate::answer::Answer;
use crate::diff::Sent;
use crate::event::Event;
use crate::failure::Failure;
use crate::friend::Friend;
use crate::schema::{Schema, extract};
use crate::tree;
use crate::turn::{Limits, Memory, Task, Turn};
use crate::world::World;

/// One friend, one project, one deadline.
pub(crate) struct Session<'a> {
    pub(crate) friend: &'a dyn Friend,
    pub(crate) world: &'a World<'a>,
    pub(crate) root: &'a Path,
    pub(crate) access: Access,
    pub(crate) model: Option<&'a str>,
    pub(crate) schema: Option<&'a Schema>,
    pub(crate) memory: &'a Memory,
    pub(crate) limits: Limits,
}

/// How the project looked before; `None`: nobody wants to know.
pub(crate) type Watch = Option<tree::Watch>;

impl Session<'_> {
    /// Looks at the project, if it shall be compared afterwards.
    ///
    /// # Errors
    /// If somebody broke it off, or there is no time left.
    pub(crate) fn watch(&self, wanted: bool, git: &Git<'_>) -> Result<Watch, Failure> {
        if !wanted || self.access.may_write() {
            return Ok(None);
        }
        let stop = || (self.world.stop)() || self.limits.left().is_zero();
        match tree::Watch::begin(self.root, Some(git), &stop) {
            Ok(watch) => Ok(Some(watch)),
            Err(_) if (self.world.stop)() => Err(self.cancelled()),
            Err(_) => Err(self.late()),
        }
    }

    /// Lets the friend do something, in what is left of the time.
    pub(crate) fn turn(&self, task: Task, hear: &mut dyn FnMut(Event)) -> Result<Answer, Failure> {
        if (self.world.stop)() {
            return Err(self.cancelled());
        }
        if self.limits.left().is_zero() {
            return Err(self.late());
        }
        let turn = Turn {
            task,
            directory: self.root.to_path_buf(),
            access: self.access,
            model: self.model.map(str::to_string),
            schema: self.schema.map(|schema| schema.value().clone()),
            memory: self.memory.clone(),
            limits: self.limits,
        };
        let answer = self.friend.turn(&turn, self.world, hear)?;
        self.judged(answer)
    }

    /// An answer, if it is one.
    fn judged(&self, mut answer: Answer) -> Result<Answer, Failure> {
        let friend = self.friend.name().to_string();
        let Some(schema) = self.schema else {
            if is_blank(&answer.text) {
                return Err(Failure::NoAnswer { friend, said: String::new() });
            }
            answer.value = None;
            return Ok(answer);
        };
        if answer.value.is_none() && is_blank(&answer.text) {
            return Err(Failure::NoAnswer { friend, said: String::new() });
        }
        // What the friend read from its answer itself is held to the schema like everything else.
        let value = answer.value.take().map_or_else(|| extract(&answer.text, schema), Ok);
        let value = value.and_then(|value| {
            schema.check(&value).map_err(|fault| fault.to_string())?;
            Ok(value)
        });
        match value {
            Err(fault) => Err(Failure::NotByTheSchema { friend, fault, text: answer.text }),
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
    pub(crate) fn end(
        &self,
        answer: Result<Answer, Failure>,
        watch: Result<Watch, Failure>,
        sent: Sent,
    ) -> Result<Asked, AskError> {
        let (answer, watch) = match watch {
            Ok(watch) => (answer, watch),
            Err(failure) => (Err(failure), None),
        };
        // Also after the time is over, and a while after a stop.
        let looked = watch.map(|watch| watch.end(self.world.stop)).unwrap_or_default();
        let took = self.limits.began.elapsed();
        match answer {
            Ok(answer) => Ok(Asked { answer, sent, looked, took }),
            Err(failure) => Err(AskError::Friend(Box::new(Failed { failure, sent, looked, took }))),
        }
    }

    pub(crate) fn cancelled(&self) -> Failure {
        Failure::Cancelled { friend: self.friend.name().to_string() }
    }

    pub(crate) fn late(&self) -> Failure {
        let friend = self.friend.name().to_string();
        Failure::TimedOut { friend, after: self.limits.total, idle: false, said: String::new() }
    }
}
