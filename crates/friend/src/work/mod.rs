//! A friend works on the project. One with hands gets a scratch copy and changes files there; what it did
//! becomes one proposal. One without (a model server) is shown files and answers in relay's own form, which
//! becomes a proposal, too. Either way nothing is written here: whoever asked takes the proposal through the
//! door.
//!
//! A friend that failed has done nothing: half of its work is not offered. A friend with hands might reach beyond
//! its copy; so the project is compared around its turn, and what changed there is told, also after a failure.

pub mod fence;
pub mod saved_patch;
pub mod scratch;
mod work_prompt;

use std::path::Path;
use std::time::{Duration, Instant};

use relaycode_change::proposal::Proposal;
use relaycode_change::proposal::limits::PlanLimits;
use relaycode_change::proposal::path::RelPath;
use relaycode_change::response::{self, ResponseError};
use relaycode_door::{Door, InstructionsError};
use relaycode_durable::private_files::PrivateFileError;
use relaycode_project::access::Access;
use relaycode_project::git::Git;

use crate::friend::depth::{self, RelayDepthError};
use crate::prompt::limits::{PromptSizeError, PromptSizeLimit};
use crate::tree_check::{TreeCheck, TreeCheckReport};
use crate::work::fence::{CopySandbox, FriendFence};
use crate::work::scratch::{ScratchCaps, ScratchError, ScratchOptions, ScratchProgress};
use crate::{
    AskRequest, Friend, FriendAnswer, FriendContext, FriendEvent, FriendFailure, FriendTurn, ScratchCopy,
    TurnResult,
};

#[derive(Debug, Clone, Default)]
pub struct WorkOptions {
    /// Files that the user named: shown to a friend that cannot look for itself, named to the others.
    pub files: Vec<RelPath>,
    pub limits: PlanLimits,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkEvent {
    Copying(ScratchProgress),
    /// It is copied.
    Copied {
        files: usize,
        /// What is not in the copy, a sentence each.
        left_out: Vec<String>,
        /// What keeps the friend in it.
        sandbox: CopySandbox,
    },
    Friend(FriendEvent),
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct WorkOutcome {
    pub friend: String,
    /// What it said; places in its copy are those of the project.
    pub answer: FriendAnswer,
    /// What it wants changed; `None`: nothing.
    pub proposal: Option<Proposal>,
    /// What of the project it did not see, and what of its work is not in the proposal; a sentence each, with
    /// names of files.
    pub left_out: Vec<String>,
    /// What kept it in its copy.
    pub sandbox: CopySandbox,
    /// What was changed in the project itself while it worked: by the friend, or by somebody else. Nothing, if nobody
    /// wanted to know.
    pub tree_check: TreeCheckReport,
    /// How long it took, the copying included.
    pub took: Duration,
}

/// Why nothing came of it. The project is as it was, unless it is [`WorkError::ProjectChanged`].
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    #[error("there is nothing to do: the prompt is empty")]
    NoPrompt,
    #[error(
        "work needs access `workspace`: with `{access}` a friend cannot change files, not even in its copy; use `relay ask`"
    )]
    Access { access: Access },
    /// Something is too large.
    #[error(transparent)]
    Limit(#[from] PromptSizeError),
    /// relay stands too deep in relays.
    #[error(transparent)]
    Depth(#[from] RelayDepthError),
    #[error("{path} cannot be shown to {friend}: {why}")]
    File { path: RelPath, friend: String, why: String },
    /// There is nothing to tell it: the files are too much, or what belongs to them cannot be kept.
    #[error(transparent)]
    Instructions(#[from] InstructionsError),
    #[error(transparent)]
    Scratch(#[from] ScratchError),
    /// The friend failed. Whatever it had changed in its copy is gone with it.
    #[error("{failure}{}", dropped(*.changed))]
    Friend {
        failure: FriendFailure,
        /// How many changes it had made by then.
        changed: usize,
    },
    #[error("{friend}'s answer cannot be read: {source}")]
    Unreadable { friend: String, answer: Box<FriendAnswer>, source: ResponseError },
    /// Nothing came of it, and yet the project is not as it was, or nobody knows.
    #[error("{error}")]
    ProjectChanged {
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

/// Lets a friend work on the project behind `door`. Nothing is written to the project. The time of the request counts from
/// when its copy is made.
pub fn work(
    friend: &dyn Friend,
    request: &AskRequest,
    options: &WorkOptions,
    door: &Door,
    world: &FriendContext<'_>,
    hear: &mut dyn FnMut(WorkEvent),
) -> Result<WorkOutcome, WorkError> {
    let began = Instant::now();
    if request.prompt.trim().is_empty() {
        return Err(WorkError::NoPrompt);
    }
    if let Some(context) = &request.context {
        PromptSizeLimit::Context.check(context.len() as u64, Vec::new)?;
    }
    depth::check_depth(world.depth)?;
    // Before anything is copied for somebody who is not there.
    friend.check_installed(world).map_err(|failure| WorkError::Friend { failure, changed: 0 })?;
    let run = WorkRun { friend, request, options, door, world };
    let mut worked = if friend.abilities().writes_files {
        if !request.access.may_write() {
            return Err(WorkError::Access { access: request.access });
        }
        run.work_in_copy(hear)?
    } else {
        run.work_by_answer(hear)?
    };
    worked.friend = friend.name().to_string();
    worked.took = began.elapsed();
    Ok(worked)
}

struct WorkRun<'a> {
    friend: &'a dyn Friend,
    request: &'a AskRequest,
    options: &'a WorkOptions,
    door: &'a Door,
    world: &'a FriendContext<'a>,
}

impl WorkRun<'_> {
    fn work_in_copy(&self, hear: &mut dyn FnMut(WorkEvent)) -> Result<WorkOutcome, WorkError> {
        let (root, stop) = (&self.door.root, self.world.stop_requested);
        let home = self.world.home.as_deref().ok_or(PrivateFileError::NoHome).map_err(ScratchError::from)?;
        let git = self.door.git();
        let making = ScratchOptions { root, git: &git, home, caps: ScratchCaps::default(), stop };
        let scratch = ScratchCopy::create(&making, &mut |progress| hear(WorkEvent::Copying(progress)))?;
        let watch = self.request.check_tree.then(|| TreeCheck::begin(root, Some(&git), stop));
        let watch = watch.transpose().map_err(|_| ScratchError::Cancelled)?;
        let access = self.request.access;
        let (fence, sandbox) = fence::fence_for(self.friend, access, &scratch, root, self.world)?;
        hear(WorkEvent::Copied {
            files: scratch.file_count(),
            left_out: scratch.left_out().to_vec(),
            sandbox: sandbox.clone(),
        });
        let prompt = work_prompt::copy_prompt(self.request, &self.options.files, &scratch);
        let answered = self.run_prompt(&prompt, scratch.directory(), access, fence.as_ref(), hear)?;
        // Before anything of it goes in: afterwards relay's own writing would show.
        let looked = watch.map(|watch| watch.finish(stop)).unwrap_or_default();
        let worked = answered.map_or_else(
            |failure| {
                // How much that was is worth a word, not a failure of its own.
                let changed = scratch.changes(&git, stop).map_or(0, |found| found.operations.len());
                Err(WorkError::Friend { failure, changed })
            },
            |answer| self.outcome_from_copy(&scratch, answer, &git),
        );
        match worked {
            Ok(worked) => Ok(WorkOutcome { tree_check: looked, sandbox, ..worked }),
            Err(error) if looked.is_unchanged() => Err(error),
            Err(error) => Err(WorkError::ProjectChanged { error: Box::new(error), tree_check: looked }),
        }
    }

    fn outcome_from_copy(
        &self,
        scratch: &ScratchCopy,
        mut answer: FriendAnswer,
        git: &Git<'_>,
    ) -> Result<WorkOutcome, WorkError> {
        let difference = scratch.changes(git, self.world.stop_requested)?;
        answer.text = scratch.rewrite_paths(&answer.text);
        let mut left_out = scratch.left_out().to_vec();
        left_out.extend(difference.left_out);
        let proposal = (!difference.operations.is_empty()).then(|| {
            work_prompt::proposal_from_copy(&self.request.prompt, &answer.text, difference.operations)
        });
        Ok(WorkOutcome { answer, proposal, left_out, ..WorkOutcome::default() })
    }

    /// The friend answers with a change in relay's own form.
    fn work_by_answer(&self, hear: &mut dyn FnMut(WorkEvent)) -> Result<WorkOutcome, WorkError> {
        let friend = self.friend.name();
        let prompt = work_prompt::patch_prompt(friend, self.request, self.options, self.door)?;
        // It has no hands, so that there is nothing to give it.
        let answered = self.run_prompt(&prompt, &self.door.root, Access::ReadOnly, None, hear)?;
        let answer = answered.map_err(|failure| WorkError::Friend { failure, changed: 0 })?;
        let mut proposal = match response::read(&answer.text, &self.options.limits) {
            Ok(proposal) => proposal,
            Err(source) => {
                let (friend, answer) = (friend.to_string(), Box::new(answer));
                return Err(WorkError::Unreadable { friend, answer, source });
            }
        };
        let says_nothing =
            proposal.operations.is_empty() && !proposal.unread.iter().any(|block| block.broken);
        if proposal.control.git_commit_msg.is_none() {
            proposal.control.git_commit_msg = Some(work_prompt::commit_message(&self.request.prompt));
        }
        Ok(WorkOutcome { answer, proposal: (!says_nothing).then_some(proposal), ..WorkOutcome::default() })
    }

    fn run_prompt(
        &self,
        prompt: &str,
        directory: &Path,
        access: Access,
        fence: Option<&FriendFence>,
        hear: &mut dyn FnMut(WorkEvent),
    ) -> Result<TurnResult, WorkError> {
        PromptSizeLimit::Prompt.check(prompt.len() as u64, Vec::new)?;
        let (directory, limits) = (directory.to_path_buf(), self.request.limits.restarted());
        let request = AskRequest { directory, access, limits, ..self.request.clone() };
        let hear = &mut |event| hear(WorkEvent::Friend(event));
        let turn = &mut FriendTurn { request: &request, world: self.world, fence, hear };
        Ok(self.friend.run_prompt(prompt, turn))
    }
}
