//! A friend works on the project. One with hands gets a scratch copy and changes files there; what it did
//! becomes one proposal. One without (a model server) is shown files and answers in relay's own form, which
//! becomes a proposal, too. Either way nothing is written here: whoever asked takes the proposal through the
//! door.
//!
//! A friend that failed has done nothing: half of its work is not offered. A friend with hands might reach beyond
//! its copy; so the project is compared around its turn, and what changed there is told, also after a failure.

pub mod keep;
mod told;

use std::time::{Duration, Instant};

use relaycode_change::limits::Limits;
use relaycode_change::path::RelPath;
use relaycode_change::proposal::Proposal;
use relaycode_change::response::{self, ResponseError};
use relaycode_door::{Consent, Digest, Door, InstructionsError, Origin, Submission};
use relaycode_project::access::Access;
use relaycode_project::git::Git;

use crate::answer::Answer;
use crate::depth::{self, TooDeep};
use crate::event::Event;
use crate::failure::Failure;
use crate::friend::Friend;
use crate::limits::{Over, What};
use crate::scratch::{Caps, Making, Progress, Scratch, ScratchError};
use crate::tree::{Looked, Watch};
use crate::turn::{self, Memory, Task, Turn};
use crate::world::World;

/// What a friend is asked to do to the project.
#[derive(Debug, Clone)]
pub struct Working {
    /// What the user wants.
    pub prompt: String,
    /// What goes with it.
    pub context: Option<String>,
    /// Files that the user named: shown to a friend that cannot look for itself, named to the others.
    pub files: Vec<RelPath>,
    /// What it may do in its copy.
    pub access: Access,
    /// The model, as the friend names it.
    pub model: Option<String>,
    /// What it remembers.
    pub memory: Memory,
    /// How long it may take in all; the copying is not counted.
    pub total: Duration,
    /// How long it may show no sign of life.
    pub idle: Duration,
    /// How much is copied.
    pub caps: Caps,
    /// How much of an answer is read.
    pub limits: Limits,
    /// Whether the project is compared afterwards. A friend without hands changes nothing in any case.
    pub check_tree: bool,
}

/// What is heard while a friend works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// The project is being copied.
    Copying(Progress),
    /// It is copied; what is not in the copy, a sentence each.
    Copied {
        /// Files and links.
        files: usize,
        /// What is not there.
        left_out: Vec<String>,
    },
    /// The friend.
    Friend(Event),
}

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Worked {
    /// The friend's name.
    pub friend: String,
    /// What it said; places in its copy are those of the project.
    pub answer: Answer,
    /// What it wants changed; `None`: nothing.
    pub proposal: Option<Proposal>,
    /// What of the project it did not see, and what of its work is not in the proposal; a sentence each, with
    /// names of files.
    pub left_out: Vec<String>,
    /// What was changed in the project itself while it worked: by the friend, or by somebody else. Nothing, if nobody
    /// wanted to know.
    pub looked: Looked,
    /// How long it took, the copying included.
    pub took: Duration,
}

/// Why nothing came of it. The project is as it was, unless it is [`WorkError::Changed`].
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// Nothing was asked for.
    #[error("there is nothing to do: the prompt is empty")]
    NoPrompt,
    /// Who may not write cannot work.
    #[error(
        "work needs access `workspace`: with `{access}` a friend cannot change files, not even in its copy; use `relay ask`"
    )]
    Access {
        /// What was given.
        access: Access,
    },
    /// Something is too large.
    #[error(transparent)]
    Limit(#[from] Over),
    /// relay stands too deep in relays.
    #[error(transparent)]
    Depth(#[from] TooDeep),
    /// A file that the user named cannot be shown.
    #[error("{path} cannot be shown to {friend}: {why}")]
    File {
        /// The file.
        path: RelPath,
        /// The friend.
        friend: String,
        /// Why not.
        why: String,
    },
    /// There is nothing to tell it: the files are too much, or what belongs to them cannot be kept.
    #[error(transparent)]
    Instructions(#[from] InstructionsError),
    /// There is no copy to work in, or it cannot be read any more.
    #[error(transparent)]
    Scratch(#[from] ScratchError),
    /// The friend failed. Whatever it had changed in its copy is gone with it.
    #[error("{failure}{}", dropped(*.changed))]
    Friend {
        /// Why.
        failure: Failure,
        /// How many changes it had made by then.
        changed: usize,
    },
    /// It answered with something that cannot be read as a change.
    #[error("{friend}'s answer cannot be read: {source}")]
    Unreadable {
        /// The friend.
        friend: String,
        /// The answer.
        answer: Box<Answer>,
        /// Why.
        source: ResponseError,
    },
    /// Nothing came of it, and yet the project is not as it was, or nobody knows.
    #[error("{error}")]
    Changed {
        /// Why nothing came of it.
        error: Box<WorkError>,
        /// What was changed while the friend worked: by it, or by somebody else.
        looked: Looked,
    },
}

fn dropped(changed: usize) -> String {
    match changed {
        0 => String::new(),
        1 => "; 1 change in its copy was dropped".to_string(),
        count => format!("; {count} changes in its copy were dropped"),
    }
}

/// Lets a friend work on the project behind `door`. Nothing is written to the project.
///
/// # Errors
/// Why nothing came of it.
pub fn work(
    friend: &dyn Friend,
    working: &Working,
    door: &Door,
    world: &World<'_>,
    hear: &mut dyn FnMut(Heard),
) -> Result<Worked, WorkError> {
    let began = Instant::now();
    if working.prompt.trim().is_empty() {
        return Err(WorkError::NoPrompt);
    }
    if let Some(context) = &working.context {
        What::Context.check(context.len() as u64, Vec::new)?;
    }
    depth::check(world.depth)?;
    // Before anything is copied for somebody who is not there.
    friend.at_hand(world).map_err(|failure| WorkError::Friend { failure, changed: 0 })?;
    let mut worked = if friend.abilities().writes_files {
        if !working.access.may_write() {
            return Err(WorkError::Access { access: working.access });
        }
        in_a_copy(friend, working, door, world, hear)?
    } else {
        by_answer(friend, working, door, world, hear)?
    };
    worked.friend = friend.name().to_string();
    worked.took = began.elapsed();
    Ok(worked)
}

/// The friend changes files in a copy.
fn in_a_copy(
    friend: &dyn Friend,
    working: &Working,
    door: &Door,
    world: &World<'_>,
    hear: &mut dyn FnMut(Heard),
) -> Result<Worked, WorkError> {
    let home = world.home.as_deref().ok_or(relaycode_durable::own::OwnError::NoHome);
    let home = home.map_err(ScratchError::from)?;
    let git = door.git();
    let making = Making { root: &door.root, git: &git, home, caps: working.caps, stop: world.stop };
    let scratch = Scratch::make(&making, &mut |progress| hear(Heard::Copying(progress)))?;
    let watch = working.check_tree.then(|| Watch::begin(&door.root, Some(&git), world.stop));
    let watch = watch.transpose().map_err(|_| ScratchError::Stopped)?;
    hear(Heard::Copied { files: scratch.files(), left_out: scratch.left_out().to_vec() });
    let prompt = told::envelope(working, &scratch);
    What::Prompt.check(prompt.len() as u64, Vec::new)?;
    let turn = working.turn(prompt, scratch.directory().to_path_buf(), working.access);
    let answered = friend.turn(&turn, world, &mut |event| hear(Heard::Friend(event)));
    // Before anything of it goes in: afterwards relay's own writing would show.
    let looked = watch.map(|watch| watch.end(world.stop)).unwrap_or_default();
    let worked = answered.map_or_else(
        |failure| {
            // How much that was is worth a word, not a failure of its own.
            let changed = scratch.difference(&git, world.stop).map_or(0, |found| found.operations.len());
            Err(WorkError::Friend { failure, changed })
        },
        |answer| done(working, &scratch, answer, &git, world),
    );
    match worked {
        Ok(worked) => Ok(Worked { looked, ..worked }),
        Err(error) if looked.is_unchanged() => Err(error),
        Err(error) => Err(WorkError::Changed { error: Box::new(error), looked }),
    }
}

/// What a friend did in its copy.
fn done(
    working: &Working,
    scratch: &Scratch,
    mut answer: Answer,
    git: &Git<'_>,
    world: &World<'_>,
) -> Result<Worked, WorkError> {
    let difference = scratch.difference(git, world.stop)?;
    answer.text = scratch.in_the_project(&answer.text);
    let mut left_out = scratch.left_out().to_vec();
    left_out.extend(difference.left_out);
    let proposal = (!difference.operations.is_empty())
        .then(|| told::proposal(working, &answer.text, difference.operations));
    Ok(Worked { answer, proposal, left_out, ..Worked::default() })
}

/// The friend answers with a change in relay's own form.
fn by_answer(
    friend: &dyn Friend,
    working: &Working,
    door: &Door,
    world: &World<'_>,
    hear: &mut dyn FnMut(Heard),
) -> Result<Worked, WorkError> {
    let prompt = told::instructions(friend.name(), working, door)?;
    What::Prompt.check(prompt.len() as u64, Vec::new)?;
    // It has no hands, so that there is nothing to give it.
    let turn = working.turn(prompt, door.root.clone(), Access::ReadOnly);
    let answered = friend.turn(&turn, world, &mut |event| hear(Heard::Friend(event)));
    let answer = answered.map_err(|failure| WorkError::Friend { failure, changed: 0 })?;
    let mut proposal = match response::read(&answer.text, &working.limits) {
        Ok(proposal) => proposal,
        Err(source) => {
            let (friend, answer) = (friend.name().to_string(), Box::new(answer));
            return Err(WorkError::Unreadable { friend, answer, source });
        }
    };
    let says_nothing = proposal.operations.is_empty() && !proposal.unread.iter().any(|block| block.broken);
    if proposal.control.git_commit_msg.is_none() {
        proposal.control.git_commit_msg = Some(told::message(&working.prompt));
    }
    Ok(Worked { answer, proposal: (!says_nothing).then_some(proposal), ..Worked::default() })
}

impl Working {
    fn turn(&self, prompt: String, directory: std::path::PathBuf, access: Access) -> Turn {
        Turn {
            task: Task::Prompt(prompt),
            directory,
            access,
            model: self.model.clone(),
            schema: None,
            memory: self.memory.clone(),
            limits: turn::Limits::new(self.total, self.idle),
        }
    }
}

impl Worked {
    /// What goes through the door; `None` if the friend wants nothing changed. `now` is ISO 8601 in UTC.
    pub fn submission(
        &self,
        consent: Consent,
        limits: Limits,
        syntax: bool,
        now: String,
    ) -> Option<Submission<'_>> {
        Some(Submission {
            proposal: self.proposal.as_ref()?,
            answer: Digest::of(self.answer.text.as_bytes()),
            origin: Origin::Friend,
            author: Some(self.friend.clone()),
            consent,
            limits,
            syntax,
            group: None,
            now,
        })
    }
}
