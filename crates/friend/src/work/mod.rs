//! A friend works on the project. One with hands gets a scratch copy and changes files there; what it did
//! becomes one proposal. One without (a model server) is shown files and answers in relay's own form, which
//! becomes a proposal, too. Either way nothing is written here: whoever asked takes the proposal through the
//! door.
//!
//! A friend that failed has done nothing: half of its work is not offered. A friend with hands might reach beyond
//! its copy; so the project is compared around its turn, and what changed there is told, also after a failure.

pub mod saved_patch;
pub mod scratch;
mod work_prompt;

use std::time::{Duration, Instant};

use relaycode_change::proposal::Proposal;
use relaycode_change::proposal::limits::PlanLimits;
use relaycode_change::proposal::path::RelPath;
use relaycode_change::response::{self, ResponseError};
use relaycode_door::{Consent, Digest, Door, InstructionsError, Submission, SubmissionOrigin};
use relaycode_project::access::Access;
use relaycode_project::git::Git;

use crate::friend::Friend;
use crate::friend::answer::FriendAnswer;
use crate::friend::depth;
use crate::friend::depth::RelayDepthError;
use crate::friend::event::FriendEvent;
use crate::friend::failure::FriendFailure;
use crate::friend::friend_context::FriendContext;
use crate::friend::turn;
use crate::friend::turn::{FriendTurn, TurnMemory, TurnTask};
use crate::prompt::limits::{PromptSizeError, PromptSizeLimit};
use crate::tree_check::{TreeCheck, TreeCheckReport};
use crate::work::scratch::{ScratchCaps, ScratchCopy, ScratchError, ScratchOptions, ScratchProgress};

/// What a friend is asked to do to the project.
#[derive(Debug, Clone)]
pub struct WorkRequest {
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
    pub memory: TurnMemory,
    /// How long it may take in all; the copying is not counted.
    pub total: Duration,
    /// How long it may show no sign of life.
    pub idle: Duration,
    /// How much is copied.
    pub caps: ScratchCaps,
    /// How much of an answer is read.
    pub limits: PlanLimits,
    /// Whether the project is compared afterwards. A friend without hands changes nothing in any case.
    pub check_tree: bool,
}

/// What is heard while a friend works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkEvent {
    /// The project is being copied.
    Copying(ScratchProgress),
    /// It is copied; what is not in the copy, a sentence each.
    Copied {
        /// Files and links.
        files: usize,
        /// What is not there.
        left_out: Vec<String>,
    },
    /// The friend.
    Friend(FriendEvent),
}

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WorkOutcome {
    /// The friend's name.
    pub friend: String,
    /// What it said; places in its copy are those of the project.
    pub answer: FriendAnswer,
    /// What it wants changed; `None`: nothing.
    pub proposal: Option<Proposal>,
    /// What of the project it did not see, and what of its work is not in the proposal; a sentence each, with
    /// names of files.
    pub left_out: Vec<String>,
    /// What was changed in the project itself while it worked: by the friend, or by somebody else. Nothing, if nobody
    /// wanted to know.
    pub tree_check: TreeCheckReport,
    /// How long it took, the copying included.
    pub took: Duration,
}

/// Why nothing came of it. The project is as it was, unless it is [`WorkError::ProjectChanged`].
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
    Limit(#[from] PromptSizeError),
    /// relay stands too deep in relays.
    #[error(transparent)]
    Depth(#[from] RelayDepthError),
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
        failure: FriendFailure,
        /// How many changes it had made by then.
        changed: usize,
    },
    /// It answered with something that cannot be read as a change.
    #[error("{friend}'s answer cannot be read: {source}")]
    Unreadable {
        /// The friend.
        friend: String,
        /// The answer.
        answer: Box<FriendAnswer>,
        /// Why.
        source: ResponseError,
    },
    /// Nothing came of it, and yet the project is not as it was, or nobody knows.
    #[error("{error}")]
    ProjectChanged {
        /// Why nothing came of it.
        error: Box<WorkError>,
        /// What was changed while the friend worked: by it, or by somebody else.
        tree_check: TreeCheckReport,
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
    working: &WorkRequest,
    door: &Door,
    world: &FriendContext<'_>,
    hear: &mut dyn FnMut(WorkEvent),
) -> Result<WorkOutcome, WorkError> {
    let began = Instant::now();
    if working.prompt.trim().is_empty() {
        return Err(WorkError::NoPrompt);
    }
    if let Some(context) = &working.context {
        PromptSizeLimit::Context.check(context.len() as u64, Vec::new)?;
    }
    depth::check_depth(world.depth)?;
    // Before anything is copied for somebody who is not there.
    friend.check_installed(world).map_err(|failure| WorkError::Friend { failure, changed: 0 })?;
    let mut worked = if friend.abilities().writes_files {
        if !working.access.may_write() {
            return Err(WorkError::Access { access: working.access });
        }
        work_in_copy(friend, working, door, world, hear)?
    } else {
        work_by_answer(friend, working, door, world, hear)?
    };
    worked.friend = friend.name().to_string();
    worked.took = began.elapsed();
    Ok(worked)
}

/// The friend changes files in a copy.
fn work_in_copy(
    friend: &dyn Friend,
    working: &WorkRequest,
    door: &Door,
    world: &FriendContext<'_>,
    hear: &mut dyn FnMut(WorkEvent),
) -> Result<WorkOutcome, WorkError> {
    let home = world.home.as_deref().ok_or(relaycode_durable::private_files::PrivateFileError::NoHome);
    let home = home.map_err(ScratchError::from)?;
    let git = door.git();
    let making =
        ScratchOptions { root: &door.root, git: &git, home, caps: working.caps, stop: world.stop_requested };
    let scratch = ScratchCopy::create(&making, &mut |progress| hear(WorkEvent::Copying(progress)))?;
    let watch = working.check_tree.then(|| TreeCheck::begin(&door.root, Some(&git), world.stop_requested));
    let watch = watch.transpose().map_err(|_| ScratchError::Cancelled)?;
    hear(WorkEvent::Copied { files: scratch.file_count(), left_out: scratch.left_out().to_vec() });
    let prompt = work_prompt::copy_prompt(working, &scratch);
    PromptSizeLimit::Prompt.check(prompt.len() as u64, Vec::new)?;
    let turn = working.to_turn(prompt, scratch.directory().to_path_buf(), working.access);
    let answered = friend.run_turn(&turn, world, &mut |event| hear(WorkEvent::Friend(event)));
    // Before anything of it goes in: afterwards relay's own writing would show.
    let looked = watch.map(|watch| watch.finish(world.stop_requested)).unwrap_or_default();
    let worked = answered.map_or_else(
        |failure| {
            // How much that was is worth a word, not a failure of its own.
            let changed =
                scratch.changes(&git, world.stop_requested).map_or(0, |found| found.operations.len());
            Err(WorkError::Friend { failure, changed })
        },
        |answer| outcome_from_copy(working, &scratch, answer, &git, world),
    );
    match worked {
        Ok(worked) => Ok(WorkOutcome { tree_check: looked, ..worked }),
        Err(error) if looked.is_unchanged() => Err(error),
        Err(error) => Err(WorkError::ProjectChanged { error: Box::new(error), tree_check: looked }),
    }
}

/// What a friend did in its copy.
fn outcome_from_copy(
    working: &WorkRequest,
    scratch: &ScratchCopy,
    mut answer: FriendAnswer,
    git: &Git<'_>,
    world: &FriendContext<'_>,
) -> Result<WorkOutcome, WorkError> {
    let difference = scratch.changes(git, world.stop_requested)?;
    answer.text = scratch.rewrite_paths(&answer.text);
    let mut left_out = scratch.left_out().to_vec();
    left_out.extend(difference.left_out);
    let proposal = (!difference.operations.is_empty())
        .then(|| work_prompt::proposal_from_copy(working, &answer.text, difference.operations));
    Ok(WorkOutcome { answer, proposal, left_out, ..WorkOutcome::default() })
}

/// The friend answers with a change in relay's own form.
fn work_by_answer(
    friend: &dyn Friend,
    working: &WorkRequest,
    door: &Door,
    world: &FriendContext<'_>,
    hear: &mut dyn FnMut(WorkEvent),
) -> Result<WorkOutcome, WorkError> {
    let prompt = work_prompt::patch_prompt(friend.name(), working, door)?;
    PromptSizeLimit::Prompt.check(prompt.len() as u64, Vec::new)?;
    // It has no hands, so that there is nothing to give it.
    let turn = working.to_turn(prompt, door.root.clone(), Access::ReadOnly);
    let answered = friend.run_turn(&turn, world, &mut |event| hear(WorkEvent::Friend(event)));
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
        proposal.control.git_commit_msg = Some(work_prompt::commit_message(&working.prompt));
    }
    Ok(WorkOutcome { answer, proposal: (!says_nothing).then_some(proposal), ..WorkOutcome::default() })
}

impl WorkRequest {
    fn to_turn(&self, prompt: String, directory: std::path::PathBuf, access: Access) -> FriendTurn {
        FriendTurn {
            task: TurnTask::Prompt(prompt),
            directory,
            access,
            model: self.model.clone(),
            schema: None,
            memory: self.memory.clone(),
            limits: turn::TurnLimits::new(self.total, self.idle),
        }
    }
}

impl WorkOutcome {
    /// What goes through the door; `None` if the friend wants nothing changed. `now` is ISO 8601 in UTC.
    pub fn submission(
        &self,
        consent: Consent,
        limits: PlanLimits,
        syntax: bool,
        now: String,
    ) -> Option<Submission<'_>> {
        Some(Submission {
            proposal: self.proposal.as_ref()?,
            answer: Digest::of(self.answer.text.as_bytes()),
            origin: SubmissionOrigin::Friend,
            author: Some(self.friend.clone()),
            consent,
            limits,
            syntax,
            group: None,
            now,
        })
    }
}
