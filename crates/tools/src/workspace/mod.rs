//! What the tools of one session share: the project behind its door, other directories that may be read, what the model may do,
//! the group of the turn, the current directory, what the model was shown, and the artifacts of the session.

mod checkpoint;
mod paths;
mod planning;
mod project_check;
mod shell_session;
mod shown;
#[cfg(test)]
mod tests;
mod tool_rules;
mod virtual_files;
mod warnings;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use relaycode_door::Door;
use relaycode_project::access::Access;
use relaycode_project::fence::DirectoryListings;
use relaycode_project::permissions::ReadRestrictions;

use crate::builtin::bash::InterceptorRule;
use crate::builtin::goal::Goal;
use crate::builtin::todo_write::{TodoList, TodoPhase};
use crate::command_recorder::CommandRecorder;
use crate::internal_urls::{ConversationHistory, VirtualFiles};
use crate::jobs::BackgroundJobs;

pub use checkpoint::{CheckpointState, ConversationMark, RewindRequest};
pub use paths::{WorkspacePath, WorkspacePathError};
pub use planning::{
    MAX_PLAN_BYTES, PLAN_ADDRESS, PLAN_FILE, PlanDecision, PlanFileError, PlanState, PlanVerdict,
    ProposedPlan,
};
pub use project_check::ProjectCheckOutcome;
pub(crate) use shell_session::{ShellSession, ShellStateEnd};
pub use shown::{MAX_SHOWN_BYTES, MAX_SHOWN_FILES, ShownFiles};
pub use warnings::ToolWarnings;

/// Sentences about what nobody could be asked.
const MAX_UNANSWERED: usize = 50;

/// Shared by every call of a session, from several threads.
pub struct ToolWorkspace {
    /// The way to the project's files.
    pub door: Arc<Door>,
    /// Directories beside the project that may be read (`--add-dir`), without links.
    pub extra_directories: Vec<PathBuf>,
    /// The user's home directory, for `~`.
    pub user_home: Option<PathBuf>,
    pub access: Access,
    pub settings: ToolSettings,
    /// Where the session's artifacts are; `None`: the session is not kept.
    pub artifacts: Option<PathBuf>,
    /// What was said, for addresses such as `history://user`.
    pub history: Option<Arc<dyn ConversationHistory>>,
    /// The tools that the model has; `None`: all of the list.
    pub active_tools: Option<Vec<String>>,
    /// What commands need from whoever wires relay; `None`: no command runs.
    pub surroundings: Option<CommandSurroundings>,
    /// For the person.
    pub warnings: Arc<ToolWarnings>,
    /// Commands in the background. They end with this value.
    pub jobs: Arc<BackgroundJobs>,
    recorder: Arc<CommandRecorder>,
    shell: Mutex<ShellSession>,
    /// Where repositories were looked for.
    listings: Arc<DirectoryListings>,
    /// What was not done because nobody could be asked.
    unanswered: Mutex<Vec<String>>,
    check: Mutex<project_check::CheckMemory>,
    /// What holds for this prompt.
    rules: Mutex<Option<Arc<ReadRestrictions>>>,
    state: Mutex<WorkspaceState>,
    shown: Mutex<ShownFiles>,
    todos: Mutex<TodoList>,
    checkpoint: Mutex<CheckpointState>,
    planning: Mutex<PlanState>,
    goal: Mutex<Option<Goal>>,
    virtual_files: Mutex<Option<Arc<dyn VirtualFiles>>>,
}

/// What the environment says, which this crate does not read.
#[derive(Debug, Clone)]
pub struct CommandSurroundings {
    /// Where private directories for temporary files are made.
    pub scratch_dir: PathBuf,
    /// The user's own directory.
    pub relay_home: Option<PathBuf>,
    /// The user's variables.
    pub variables: BTreeMap<OsString, OsString>,
    /// Variables that no command gets: those that hold the keys of providers.
    pub secret_variables: Vec<OsString>,
}

/// What changes while a session runs.
#[derive(Debug)]
struct WorkspaceState {
    group: Option<String>,
    title: Option<String>,
    current_directory: PathBuf,
}

/// What the user set for tools.
#[derive(Debug, Clone)]
pub struct ToolSettings {
    /// `agent.editMode`: the language that `edit` takes.
    pub edit_mode: EditMode,
    /// `agent.readDefaultLimit`: lines of a read that names none.
    pub read_lines: usize,
    /// `agent.readSummarize`: long files without the bodies of what they declare.
    pub read_summarize: bool,
    /// `agent.readHashLines`: show anchors.
    pub anchors: bool,
    /// `agent.askTimeout`: when a question answers itself; `None`: never.
    pub ask_timeout: Option<Duration>,
    /// `agent.bashOutputBytes`: the end of an output that the model reads.
    pub bash_output_bytes: usize,
    /// `agent.bashInterceptor`: refuse commands for which there is a better tool.
    pub bash_interceptor: bool,
    /// `agent.bashInterceptorRules`: more of them.
    pub interceptor_rules: Vec<InterceptorRule>,
    /// `agent.bashStartup`: commands know the aliases and functions of the user's own bash.
    pub bash_startup: bool,
    /// `agent.bashCi`: commands see `CI=1`.
    pub bash_ci: bool,
    /// `agent.asyncEnabled`: commands may run in the background.
    pub async_enabled: bool,
    /// `agent.bashAutoBackground`: a command goes on there after so long.
    pub auto_background: Option<Duration>,
    /// `agent.asyncPollWaitDuration`
    pub poll_wait: Duration,
}

/// The languages that `edit` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EditMode {
    /// Anchors from `read` and `search`.
    #[default]
    Hashline,
    /// Old text and new text.
    Replace,
    /// Hunks of a unified diff.
    Patch,
    /// `*** Begin Patch`.
    ApplyPatch,
}

impl Default for ToolSettings {
    fn default() -> ToolSettings {
        ToolSettings {
            edit_mode: EditMode::default(),
            read_lines: 3_000,
            read_summarize: true,
            anchors: true,
            ask_timeout: Some(Duration::from_secs(30)),
            bash_output_bytes: 50 << 10,
            bash_interceptor: false,
            interceptor_rules: Vec::new(),
            bash_startup: false,
            bash_ci: true,
            async_enabled: true,
            auto_background: None,
            poll_wait: Duration::from_secs(30),
        }
    }
}

impl ToolWorkspace {
    /// A workspace that begins in the project's root, with the access `workspace`.
    pub fn new(door: Door) -> ToolWorkspace {
        let state = WorkspaceState { group: None, title: None, current_directory: door.root.clone() };
        let door = Arc::new(door);
        ToolWorkspace {
            recorder: Arc::new(CommandRecorder::new(door.clone())),
            door,
            surroundings: None,
            jobs: Arc::default(),
            warnings: Arc::default(),
            shell: Mutex::default(),
            listings: Arc::default(),
            unanswered: Mutex::default(),
            check: Mutex::default(),
            rules: Mutex::default(),
            extra_directories: Vec::new(),
            user_home: None,
            access: Access::Workspace,
            settings: ToolSettings::default(),
            artifacts: None,
            history: None,
            active_tools: None,
            state: Mutex::new(state),
            shown: Mutex::default(),
            todos: Mutex::default(),
            checkpoint: Mutex::default(),
            planning: Mutex::default(),
            goal: Mutex::default(),
            virtual_files: Mutex::default(),
        }
    }

    /// The project's directory, without links.
    pub fn root(&self) -> &Path {
        &self.door.root
    }

    /// What relative paths are relative to.
    pub fn current_directory(&self) -> PathBuf {
        self.state().current_directory.clone()
    }

    pub fn set_current_directory(&self, directory: PathBuf) {
        self.state().current_directory = directory;
    }

    /// Whether the model has this tool.
    pub(crate) fn offers(&self, name: &str) -> bool {
        let is_active = self.active_tools.as_ref().is_none_or(|all| all.iter().any(|tool| tool == name));
        is_active && crate::registry::by_name(name).is_some_and(|tool| tool.is_offered(self))
    }

    /// The group of changes that the present turn makes.
    pub fn group(&self) -> Option<String> {
        self.state().group.clone()
    }

    /// What the group is called in the log: the prompt.
    pub fn title(&self) -> Option<String> {
        self.state().title.clone()
    }

    pub fn set_group(&self, group: Option<String>, title: Option<String>) {
        self.recorder.set_group(group.clone());
        self.forget_rules();
        let mut state = self.state();
        (state.group, state.title) = (group, title);
        drop(state);
        // A mark is of its prompt.
        *self.checkpoint() = CheckpointState::None;
    }

    /// What is to be done, for people.
    pub fn todo_phases(&self) -> Vec<TodoPhase> {
        self.todos().phases().to_vec()
    }

    /// The user's list in place of the one there is.
    ///
    /// # Errors
    /// If it is longer than a list may be: a sentence.
    pub fn set_todo_phases(&self, phases: Vec<TodoPhase>) -> Result<(), String> {
        let list = TodoList::of_user(phases)?;
        *self.todos() = list;
        Ok(())
    }

    /// What is to be done.
    pub(crate) fn todos(&self) -> MutexGuard<'_, TodoList> {
        self.todos.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where to go back to, if a mark was set.
    pub fn checkpoint(&self) -> MutexGuard<'_, CheckpointState> {
        self.checkpoint.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn goal_slot(&self) -> MutexGuard<'_, Option<Goal>> {
        self.goal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn plan_state(&self) -> MutexGuard<'_, PlanState> {
        self.planning.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The model knows nothing of what was shown and planned before.
    pub fn forget_conversation(&self) {
        *self.shown() = ShownFiles::default();
        *self.todos() = TodoList::default();
        *self.checkpoint() = CheckpointState::None;
    }

    /// The prompt is done: what its commands changed is complete, unless one goes on in the background.
    pub fn end_turn(&self) {
        self.recorder.end_turn();
    }

    /// What was not done since the last look, because nobody could be asked: sentences.
    pub fn take_unanswered(&self) -> Vec<String> {
        std::mem::take(&mut self.unanswered.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn note_unanswered(&self, sentence: String) {
        let mut all = self.unanswered.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < MAX_UNANSWERED && !all.contains(&sentence) {
            all.push(sentence);
        }
    }

    pub(crate) fn recorder(&self) -> &Arc<CommandRecorder> {
        &self.recorder
    }

    /// What the shell of this session keeps from one command to the next.
    pub(crate) fn shell(&self) -> MutexGuard<'_, ShellSession> {
        self.shell.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the look for repositories before the last command found.
    pub(crate) fn listings(&self) -> &Arc<DirectoryListings> {
        &self.listings
    }

    /// What the model was shown.
    pub fn shown(&self) -> MutexGuard<'_, ShownFiles> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, WorkspaceState> {
        // Every change of the state is one assignment, so that a panic elsewhere leaves it whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ToolWorkspace {
    fn drop(&mut self) {
        // Before the recorder and the directories for temporary files go.
        self.jobs.end_all();
        self.recorder.close();
    }
}
