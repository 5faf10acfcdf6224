//! What the tools of one session share: the project behind its door, other directories that may be read, what the model may do,
//! the group of the turn, the current directory, what the model was shown, and the artifacts of the session.

mod checkpoint;
mod paths;
mod shell_session;
mod shown;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use relaycode_door::Door;
use relaycode_project::access::Access;

use crate::builtin::todo_write::TodoList;
use crate::command_recorder::CommandRecorder;
use crate::jobs::BackgroundJobs;

pub use checkpoint::{CheckpointState, ConversationMark, RewindRequest};
pub use paths::{WorkspacePath, WorkspacePathError};
pub(crate) use shell_session::{ShellSession, ShellStateEnd};
pub use shown::{MAX_SHOWN_BYTES, MAX_SHOWN_FILES, ShownFiles};

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
    /// What commands need from whoever wires relay; `None`: no command runs.
    pub surroundings: Option<CommandSurroundings>,
    /// Commands in the background. They end with this value.
    pub jobs: Arc<BackgroundJobs>,
    recorder: Arc<CommandRecorder>,
    shell: Mutex<ShellSession>,
    /// What was not done because nobody could be asked.
    unanswered: Mutex<Vec<String>>,
    state: Mutex<WorkspaceState>,
    shown: Mutex<ShownFiles>,
    todos: Mutex<TodoList>,
    checkpoint: Mutex<CheckpointState>,
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSettings {
    /// `edit.mode`: the language that `edit` takes.
    pub edit_mode: EditMode,
    /// `read.defaultLimit`: lines of a read that names none.
    pub read_lines: usize,
    /// `readHashLines`: show anchors.
    pub anchors: bool,
    /// `ask.timeout`: when a question answers itself; `None`: never.
    pub ask_timeout: Option<Duration>,
    /// `agent.bashOutputBytes`: the end of an output that the model reads.
    pub bash_output_bytes: usize,
    /// `agent.bashInterceptor`: refuse commands for which there is a better tool.
    pub bash_interceptor: bool,
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
            anchors: true,
            ask_timeout: Some(Duration::from_secs(30)),
            bash_output_bytes: 50 << 10,
            bash_interceptor: false,
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
            shell: Mutex::default(),
            unanswered: Mutex::default(),
            extra_directories: Vec::new(),
            user_home: None,
            access: Access::Workspace,
            settings: ToolSettings::default(),
            artifacts: None,
            state: Mutex::new(state),
            shown: Mutex::default(),
            todos: Mutex::default(),
            checkpoint: Mutex::default(),
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
        let mut state = self.state();
        (state.group, state.title) = (group, title);
        drop(state);
        // A mark is of its prompt.
        *self.checkpoint() = CheckpointState::None;
    }

    /// What is to be done.
    pub(crate) fn todos(&self) -> MutexGuard<'_, TodoList> {
        self.todos.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where to go back to, if a mark was set.
    pub fn checkpoint(&self) -> MutexGuard<'_, CheckpointState> {
        self.checkpoint.lock().unwrap_or_else(PoisonError::into_inner)
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
