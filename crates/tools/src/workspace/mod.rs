//! What the tools of one session share: the project behind its door, other directories that may be read, what the model may do,
//! the group of the turn, the current directory, what the model was shown, and the artifacts of the session.

mod checkpoint;
mod paths;
mod shown;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use relaycode_door::Door;
use relaycode_project::access::Access;

use crate::builtin::todo_write::TodoList;

pub use checkpoint::{CheckpointState, ConversationMark, RewindRequest};
pub use paths::{WorkspacePath, WorkspacePathError};
pub use shown::{MAX_SHOWN_BYTES, MAX_SHOWN_FILES, ShownFiles};

/// Shared by every call of a session, from several threads.
pub struct ToolWorkspace {
    /// The way to the project's files.
    pub door: Door,
    /// Directories beside the project that may be read (`--add-dir`), without links.
    pub extra_directories: Vec<PathBuf>,
    /// The user's home directory, for `~`.
    pub user_home: Option<PathBuf>,
    pub access: Access,
    pub settings: ToolSettings,
    /// Where the session's artifacts are; `None`: the session is not kept.
    pub artifacts: Option<PathBuf>,
    state: Mutex<WorkspaceState>,
    shown: Mutex<ShownFiles>,
    todos: Mutex<TodoList>,
    checkpoint: Mutex<CheckpointState>,
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
        }
    }
}

impl ToolWorkspace {
    /// A workspace that begins in the project's root, with the access `workspace`.
    pub fn new(door: Door) -> ToolWorkspace {
        let state = WorkspaceState { group: None, title: None, current_directory: door.root.clone() };
        ToolWorkspace {
            door,
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

    /// What the model was shown.
    pub fn shown(&self) -> MutexGuard<'_, ShownFiles> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, WorkspaceState> {
        // Every change of the state is one assignment, so that a panic elsewhere leaves it whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
