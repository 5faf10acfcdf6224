//! What was understood of a response: operations, control block, reasoning, and every block that
//! was not understood. A proposal knows nothing of the project yet; a [`crate::plan`] does.
//!
//! Line numbers (`line`) are 1-based lines of the *response*, so that every message can point at
//! the place in the answer it talks about. Equality of meaning ignores them: see
//! [`Proposal::without_positions`].

pub mod limits;
pub mod path;

use serde::Serialize;

use crate::proposal::path::RelPath;

/// Everything that was read from one response.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Proposal {
    /// The closing control block, all fields optional; `present` says whether there was one.
    pub control: ControlBlock,
    /// What the answer wants done, in the order of the answer.
    pub operations: Vec<Operation>,
    /// All text outside of blocks that were understood, paragraph by paragraph.
    pub reasoning: Vec<String>,
    /// Blocks that were not turned into operations, and why.
    pub unread: Vec<UnreadBlock>,
    /// Things a person should know, none of which stops a plan.
    pub notes: Vec<ProposalNote>,
}

/// The control block at the end of a response.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ControlBlock {
    /// Whether the response had a control block at all.
    pub present: bool,
    /// The project the author meant, as written (key included, if there is one).
    pub project_id: Option<String>,
    /// The id of this change, if it is a valid UUID; a bad one is dropped and noted.
    pub uuid: Option<String>,
    /// Message for the commit; a list or several lines become one text.
    pub git_commit_msg: Option<String>,
    /// What the user had asked for, in the author's words.
    pub prompt_summary: Option<String>,
    /// What the author says it changed; compared with the operations, a difference is a note.
    pub change_summary: Vec<SummaryItem>,
}

/// One row of `changeSummary`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SummaryItem {
    /// `edit`, `new`, `delete`, `rename`, or whatever else was written.
    pub verb: String,
    /// The path as written.
    pub path: String,
}

/// One thing to do, and where in the response it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    /// Line of the response where the operation's block begins.
    pub line: usize,
    /// What to do.
    #[serde(flatten)]
    pub action: FileAction,
}

/// What an operation does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum FileAction {
    /// Create or change a file.
    Write {
        /// The file.
        path: RelPath,
        /// How its content changes.
        edit: FileEdit,
        /// The mode the author asks for; `None` leaves it as it is.
        mode: Option<GitFileMode>,
    },
    /// Remove a file.
    Delete {
        /// The file.
        path: RelPath,
    },
    /// Move a file. A later `Write` to `to` edits what was moved.
    Rename {
        /// The file as it is called now.
        from: RelPath,
        /// Its new name.
        to: RelPath,
    },
    /// Put exactly these bytes where exactly those were. No dialect yields it: it comes from whoever
    /// holds both, such as a copy of the project that somebody worked in. If the file is no longer as
    /// it was, the two changes are merged, or refused.
    Exact {
        /// The file.
        path: RelPath,
        /// What the author found there; `None`: nothing.
        #[serde(skip)]
        before: Option<ExactImage>,
        /// What the author left there; `None`: nothing.
        #[serde(skip)]
        after: Option<ExactImage>,
    },
}

/// A file as it is at one time.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ExactImage {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its mode.
    pub mode: GitFileMode,
}

impl FileAction {
    /// The path that the operation is about (for a rename, the new name).
    pub fn path(&self) -> &RelPath {
        match self {
            FileAction::Write { path, .. } | FileAction::Delete { path } | FileAction::Exact { path, .. } => {
                path
            }
            FileAction::Rename { to, .. } => to,
        }
    }
}

/// The two file modes that a change can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum GitFileMode {
    /// An ordinary file (git's 100644).
    Regular,
    /// An executable file (git's 100755).
    Executable,
}

/// How a file's content changes, in the dialect it was written in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileEdit {
    /// Name of the dialect, one of [`crate::dialect::all`].
    pub dialect: &'static str,
    /// The change itself.
    pub body: EditBody,
    /// The text of the file that the author looked at, where the dialect brings it.
    pub seen: Option<String>,
}

/// The change itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum EditBody {
    /// The whole new text of the file, lines ending in `\n`.
    Whole {
        /// The text.
        text: String,
        /// The author says that the file is new: an existing one is a refusal.
        must_be_new: bool,
    },
    /// Pieces to find and replace. Empty only for a change of mode alone.
    Hunks(Vec<Hunk>),
}

/// One piece to find and what to put there. Lines carry no line ending.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    /// Line of the response where the hunk begins.
    pub line: usize,
    /// The lines that the author believes to be in the file. Empty: a pure insertion.
    pub before: Vec<String>,
    /// The lines to stand there afterwards.
    pub after: Vec<String>,
    /// Which lines of `before` are which lines of `after`, where the dialect says so (the context
    /// lines of a diff), as increasing `(before, after)` indexes; `None`: not said.
    pub kept: Option<Vec<(usize, usize)>>,
    /// The 1-based line of the old file where `before` is said to begin; 0 only for an insertion
    /// at the very top.
    pub claimed: Option<usize>,
    /// The last line (inclusive) of the range that the author allows, where the dialect has one.
    pub claimed_end: Option<usize>,
    /// Lines that stand somewhere above the place, outermost first (`@@ class A`).
    pub scope: Vec<String>,
    /// The author says that `before` reaches to the end of the file.
    pub at_end: bool,
    /// Whether the new text ends in a newline, where the dialect says so (`\ No newline`).
    pub final_newline: Option<bool>,
}

/// A block that did not become an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UnreadBlock {
    /// Line of the response where the block begins.
    pub line: usize,
    /// Why it was not understood, as a sentence for the user.
    pub reason: String,
    /// The block set out to be a change but is damaged (cut off, bad path, bad JSON): the proposal
    /// must not be applied without it. `false`: an example, a shell command, a quotation.
    pub broken: bool,
}

/// A remark on the response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposalNote {
    /// Line of the response, 0 if it is about all of it.
    pub line: usize,
    /// The remark, as a sentence for the user.
    pub text: String,
}

impl Proposal {
    /// The same proposal with every response line set to 0, for comparing meaning.
    #[must_use]
    pub fn without_positions(mut self) -> Proposal {
        for operation in &mut self.operations {
            operation.line = 0;
            if let FileAction::Write { edit: FileEdit { body: EditBody::Hunks(hunks), .. }, .. } =
                &mut operation.action
            {
                for hunk in hunks {
                    hunk.line = 0;
                }
            }
        }
        for unread in &mut self.unread {
            unread.line = 0;
        }
        for note in &mut self.notes {
            note.line = 0;
        }
        self
    }
}
