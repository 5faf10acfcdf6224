//! Planning: while it goes on, nothing changes but the plan, whatever the access, the rules and the answers of people say.
//!
//! The plan is one file beside the session, outside of the project: tools write it at [`PLAN_ADDRESS`], no command sees it. What
//! the model did not write or read itself is not replaced, so that a person can edit the plan meanwhile.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use relaycode_door::Digest;
use relaycode_durable::fs::{if_found, is_link, is_not_regular, is_too_long};
use relaycode_durable::{Fs, FsDir, RealFs, atomic};
use relaycode_project::access::Access;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CheckpointState, ToolWorkspace};
use crate::tool::{Tool, ToolConcurrency, ToolError};

/// How tools name the plan.
pub const PLAN_ADDRESS: &str = "plan://";
/// Its name beside the session.
pub const PLAN_FILE: &str = "plan.md";
/// Bytes of a plan.
pub const MAX_PLAN_BYTES: u64 = 256 << 10;
const SCRATCH: &str = ".plan.md.new";
/// Tools that could change something, and keep to the plan by themselves: what they change goes through `changes`, a fence, or
/// is no file.
const KEEP_TO_PLAN: [&str; 10] =
    ["write", "edit", "bash", "job", "todo_write", "ask", "checkpoint", "rewind", "goal", "exit_plan"];

/// Whether the agent plans, and what came of it.
#[derive(Debug, Default)]
pub struct PlanState {
    is_on: bool,
    /// It plans or did so in this session: how to end it stays offered, for the sake of prompt caches.
    was_on: bool,
    /// What the model knows of the file.
    seen: Option<Digest>,
    decision: Option<PlanDecision>,
}

/// A plan as somebody is to approve it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProposedPlan {
    pub title: String,
    pub plan: String,
    pub plan_file: PathBuf,
    /// Somebody else wrote it since the model did.
    pub is_edited: bool,
}

/// What a person said to a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanVerdict {
    Approved,
    /// Without what was said before.
    ApprovedFresh,
    Rejected,
    /// There is nobody to ask.
    Unanswered,
}

/// Planning is over, or waits for somebody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanDecision {
    pub proposed: ProposedPlan,
    pub verdict: PlanVerdict,
}

/// Why there is no plan to read, or none can be written.
#[derive(Debug, thiserror::Error)]
pub enum PlanFileError {
    #[error("this session is not kept, so there is no place for a plan")]
    NoPlace,
    #[error("the plan is {bytes} bytes long, the limit is {MAX_PLAN_BYTES}; shorten it")]
    TooLong { bytes: u64 },
    #[error("{} is not a regular text file; remove it", .0.display())]
    NotAFile(PathBuf),
    #[error("the plan file was changed by somebody else since you last saw it; read {PLAN_ADDRESS} first")]
    Unseen,
    #[error("{} cannot be used: {source}", path.display())]
    System { path: PathBuf, source: io::Error },
}

impl ToolWorkspace {
    /// Whether nothing but the plan may change.
    pub fn is_planning(&self) -> bool {
        self.plan_state().is_on
    }

    /// Whether how to end planning is offered.
    pub(crate) fn has_planned(&self) -> bool {
        self.plan_state().was_on
    }

    /// What commands may do: while the agent plans, look.
    pub(crate) fn command_access(&self) -> Access {
        if self.is_planning() { Access::ReadOnly } else { self.access }
    }

    /// Begins to plan. What runs in the background is ended, since it could change something; the lines of those commands.
    ///
    /// # Errors
    /// If there is no place for a plan.
    pub fn begin_planning(&self) -> Result<Vec<String>, PlanFileError> {
        self.plan_file().ok_or(PlanFileError::NoPlace)?;
        *self.plan_state() = PlanState { is_on: true, was_on: true, ..PlanState::default() };
        *self.checkpoint() = CheckpointState::None;
        Ok(self.jobs.cancel_all())
    }

    pub fn end_planning(&self) {
        *self.plan_state() = PlanState { was_on: true, ..PlanState::default() };
        *self.checkpoint() = CheckpointState::None;
    }

    /// What a person decided since the last look.
    pub fn take_plan_decision(&self) -> Option<PlanDecision> {
        self.plan_state().decision.take()
    }

    /// Whether somebody decided, so that calls that have not begun are of no use.
    pub fn is_plan_decided(&self) -> bool {
        self.plan_state().decision.is_some()
    }

    pub(crate) fn decide_plan(&self, decision: PlanDecision) {
        self.plan_state().decision = Some(decision);
    }

    /// Where the plan lies; `None`: the session is not kept.
    pub fn plan_file(&self) -> Option<PathBuf> {
        self.artifacts.as_ref().map(|directory| directory.join(PLAN_FILE))
    }

    /// The plan; `None` if there is none.
    ///
    /// # Errors
    /// If what is there cannot be one.
    pub fn read_plan(&self) -> Result<Option<String>, PlanFileError> {
        let path = self.plan_file().ok_or(PlanFileError::NoPlace)?;
        let fs = RealFs::default();
        let Some(directory) = self.open_plan_directory(&fs)? else { return Ok(None) };
        let failed = |source: io::Error| match source {
            error if is_too_long(&error) => PlanFileError::TooLong { bytes: MAX_PLAN_BYTES + 1 },
            error if is_link(&error) || is_not_regular(&error) => PlanFileError::NotAFile(path.clone()),
            source => PlanFileError::System { path: path.clone(), source },
        };
        let found = if_found(fs.read(&directory, PLAN_FILE, MAX_PLAN_BYTES)).map_err(failed)?;
        let Some((bytes, _)) = found else { return Ok(None) };
        let text = String::from_utf8(bytes).map_err(|_| PlanFileError::NotAFile(path.clone()))?;
        Ok(Some(text))
    }

    /// Where the plan lies; a link in its place leads nowhere.
    fn open_plan_directory(&self, fs: &RealFs) -> Result<Option<FsDir>, PlanFileError> {
        let path = self.artifacts.as_deref().ok_or(PlanFileError::NoPlace)?;
        let failed = |source| PlanFileError::System { path: path.to_path_buf(), source };
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(PlanFileError::NoPlace);
        };
        let Some(above) = if_found(fs.open_root(above)).map_err(failed)? else { return Ok(None) };
        if_found(fs.open_child(&above, name)).map_err(failed)
    }

    /// The plan, which the model knows from now on.
    pub(crate) fn show_plan(&self) -> Result<Option<String>, PlanFileError> {
        let text = self.read_plan()?;
        self.plan_state().seen = text.as_deref().map(|text| Digest::of(text.as_bytes()));
        Ok(text)
    }

    /// Whether the file is as the model knows it.
    pub(crate) fn knows_plan(&self, text: &str) -> bool {
        self.plan_state().seen == Some(Digest::of(text.as_bytes()))
    }

    /// Replaces the plan, if the model knows the one that is there.
    pub(crate) fn write_plan(&self, text: &str) -> Result<(), PlanFileError> {
        let (Some(directory), Some(path)) = (&self.artifacts, self.plan_file()) else {
            return Err(PlanFileError::NoPlace);
        };
        if text.len() as u64 > MAX_PLAN_BYTES {
            return Err(PlanFileError::TooLong { bytes: text.len() as u64 });
        }
        // What is no plan is replaced, never followed.
        if let Ok(Some(found)) = self.read_plan()
            && !self.knows_plan(&found)
        {
            return Err(PlanFileError::Unseen);
        }
        let failed = |source| PlanFileError::System { path: path.clone(), source };
        DirBuilder::new().mode(0o700).recursive(true).create(directory).map_err(failed)?;
        let fs = RealFs::default();
        let Some(directory) = self.open_plan_directory(&fs)? else { return Err(PlanFileError::NoPlace) };
        atomic::write(&fs, (&directory, SCRATCH), (&directory, PLAN_FILE), text.as_bytes())
            .map_err(|error| failed(error.source))?;
        self.plan_state().seen = Some(Digest::of(text.as_bytes()));
        Ok(())
    }

    /// While the agent plans: no change but of the plan.
    ///
    /// # Errors
    /// If it plans.
    pub(crate) fn check_not_planning(&self, what: &str) -> Result<(), ToolError> {
        if !self.is_planning() {
            return Ok(());
        }
        Err(ToolError::refused(format!(
            "{what} was not changed: while you plan, nothing changes but the plan. Write it with `write` to {PLAN_ADDRESS}, and call \
             `exit_plan` when it is ready"
        )))
    }

    /// Whether a tool may be called at all. What may change something and is not known to keep to the plan may not; a program's
    /// own tool only looks if the program says so.
    pub(crate) fn check_tool_of_plan(&self, tool: &dyn Tool) -> Result<(), ToolError> {
        let (name, only_looks) = (tool.name(), tool.concurrency() == ToolConcurrency::Shared);
        if !self.is_planning() || only_looks || KEEP_TO_PLAN.contains(&name) {
            return Ok(());
        }
        Err(ToolError::refused(format!(
            "`{name}` cannot be used while you plan, since it may change something"
        )))
    }
}
