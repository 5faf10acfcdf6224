//! What was understood of a response: operations, control block, reasoning, and every block that was not
//! understood. A proposal knows nothing about the project; a [`crate::plan`] does.
//!
//! Line numbers (`line`) are lines of the *response*, from 1, so that every message can point at its place
//! in the answer. Comparing meaning ignores them: see [`Proposal::without_positions`].

pub mod limits;
pub mod path;
pub mod work_budget;

use serde::Serialize;

use crate::proposal::path::RelPath;

/// Everything that was read from one response.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Proposal {
    /// All fields are optional; `present` says whether there was one.
    pub control: ControlBlock,
    /// In the order of the answer.
    pub operations: Vec<Operation>,
    /// All text outside of understood blocks, paragraph by paragraph.
    pub reasoning: Vec<String>,
    /// Blocks that did not become operations, and why.
    pub unread: Vec<UnreadBlock>,
    /// Things a person should know, none of which stops a plan.
    pub notes: Vec<ProposalNote>,
}

/// The control block at the end of a response.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ControlBlock {
    /// Whether there was one at all.
    pub present: bool,
    /// As written (with its key, if there is one).
    pub project_id: Option<String>,
    /// The id of this change, if it is a valid UUID; an invalid one is dropped and noted.
    pub uuid: Option<String>,
    /// A list or several lines become one text. Without a control block, the subject of a mailed patch.
    pub git_commit_msg: Option<String>,
    /// What the user had asked for, in the author's words.
    pub prompt_summary: Option<String>,
    /// What the author says it changed; a difference from the operations is a note.
    pub change_summary: Vec<SummaryItem>,
}

/// One row of `changeSummary`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SummaryItem {
    /// `edit`, `new`, `delete`, `rename`, or anything else that was written.
    pub verb: String,
    /// As written.
    pub path: String,
}

/// One thing to do, and its place in the response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    /// Where its block begins in the response.
    pub line: usize,
    #[serde(flatten)]
    pub action: FileAction,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum FileAction {
    /// Create or change a file.
    Write {
        path: RelPath,
        edit: FileEdit,
        /// `None` leaves it unchanged.
        mode: Option<GitFileMode>,
    },
    Delete {
        path: RelPath,
        /// The lines that the author believes to be in the file, if the answer has them.
        #[serde(skip_serializing_if = "Option::is_none")]
        old: Option<Vec<String>>,
    },
    /// A later `Write` to `to` edits the moved file.
    Rename {
        /// The present name.
        from: RelPath,
        to: RelPath,
    },
    /// Put exactly these bytes where exactly those were. No dialect yields it: it comes from a caller that
    /// holds both, such as a copy of the project that somebody worked in. If the file has changed since,
    /// the two changes are merged, or refused.
    Exact {
        path: RelPath,
        /// What the author found there; `None`: no file.
        #[serde(skip)]
        before: Option<ExactImage>,
        /// What the author left there; `None`: no file.
        #[serde(skip)]
        after: Option<ExactImage>,
    },
}

/// A file at one point in time.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ExactImage {
    pub bytes: Vec<u8>,
    pub mode: GitFileMode,
}

impl FileAction {
    /// For a rename, the new name.
    pub fn path(&self) -> &RelPath {
        match self {
            FileAction::Write { path, .. }
            | FileAction::Delete { path, .. }
            | FileAction::Exact { path, .. } => path,
            FileAction::Rename { to, .. } => to,
        }
    }
}

/// The file modes that a change can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum GitFileMode {
    /// git's 100644.
    Regular,
    /// git's 100755.
    Executable,
}

/// How a file's content changes, in the dialect it was written in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileEdit {
    /// One of [`crate::dialect::all`].
    pub dialect: &'static str,
    pub body: EditBody,
    /// The text of the file that the author looked at, if the dialect includes it.
    pub seen: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum EditBody {
    /// The whole new text of the file, its lines ending in a line feed.
    Whole {
        text: String,
        /// The author says that the file is new: an existing one is a refusal.
        must_be_new: bool,
    },
    /// Pieces to find and replace. Empty only for a mere change of mode.
    Hunks(Vec<Hunk>),
}

/// One piece to find and its replacement. Lines have no line ending.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    /// Where it begins in the response.
    pub line: usize,
    /// The lines that the author believes to be in the file. Empty: a pure insertion.
    pub before: Vec<String>,
    /// Their replacement.
    pub after: Vec<String>,
    /// Which lines of `before` are which lines of `after`, if the dialect says so (the context lines of a
    /// diff), as increasing `(before, after)` indexes.
    pub kept: Option<Vec<(usize, usize)>>,
    /// The line of the old file (from 1) where `before` is said to begin; 0 only for an insertion at the
    /// very top.
    pub claimed: Option<usize>,
    /// The last line (inclusive) of the range that the author allows, if the dialect has one.
    pub claimed_end: Option<usize>,
    /// Lines somewhere above the place, outermost first (`@@ class A`).
    pub scope: Vec<String>,
    /// The author says that `before` reaches to the end of the file.
    pub at_end: bool,
    /// Whether the new text ends in a newline, if the dialect says so (`\ No newline`).
    pub final_newline: Option<bool>,
    /// The same to the character, if the text may begin and end inside of a line. An insertion below a line that is
    /// only numbered has an empty one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Box<TextSpan>>,
    /// The hunk before it stands in another block of the answer, so that the order of the two says nothing.
    #[serde(skip)]
    pub begins_block: bool,
}

/// Text to find and its replacement, as tools take them: exactly these characters, and only once in the file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TextSpan {
    pub old: String,
    pub new: String,
    /// However often it stands there, every one is replaced.
    pub every: bool,
}

impl Hunk {
    /// All of its text, for blacking something out.
    pub(crate) fn edit_texts(&mut self, edit: &mut dyn FnMut(&mut String)) {
        for lines in [&mut self.before, &mut self.after, &mut self.scope] {
            lines.iter_mut().for_each(&mut *edit);
        }
        if let Some(span) = &mut self.span {
            edit(&mut span.old);
            edit(&mut span.new);
        }
    }
}

impl TextSpan {
    /// Whether the texts can also be taken for whole lines: they begin and end alike, or lines go.
    pub fn is_lines(&self) -> bool {
        let TextSpan { old, new, every } = self;
        let starts =
            old.starts_with('\n') == new.starts_with('\n') || (new.is_empty() && !old.starts_with('\n'));
        let ends = old.ends_with('\n') == new.ends_with('\n') || (new.is_empty() && old.ends_with('\n'));
        !every && starts && ends
    }

    /// As a hunk that begins on `line` of the response.
    pub fn into_hunk(self, line: usize) -> Hunk {
        let lines =
            |text: &str| text.strip_suffix('\n').unwrap_or(text).split('\n').map(str::to_owned).collect();
        let gone = self.new.is_empty() && self.old.ends_with('\n');
        let after = if gone { Vec::new() } else { lines(&self.new) };
        Hunk { line, before: lines(&self.old), after, span: Some(Box::new(self)), ..Hunk::default() }
    }
}

/// A block that did not become an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UnreadBlock {
    /// Where it begins in the response.
    pub line: usize,
    /// A sentence for the user.
    pub reason: String,
    /// The block set out to be a change but is damaged (cut off, bad path, bad JSON): the proposal must not
    /// be applied without it. `false`: an example, a shell command, a quotation.
    pub broken: bool,
}

/// A remark on the response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposalNote {
    /// Line of the response, 0 if it is about all of it.
    pub line: usize,
    /// A sentence for the user.
    pub text: String,
}

impl Proposal {
    /// Every text that is about the change, for blacking something out: not what goes into files, and not the name of
    /// the project.
    pub fn edit_texts(&mut self, edit: &mut dyn FnMut(&mut String)) {
        let control = &mut self.control;
        control.git_commit_msg.iter_mut().for_each(&mut *edit);
        control.prompt_summary.iter_mut().for_each(&mut *edit);
        control.change_summary.iter_mut().flat_map(|row| [&mut row.verb, &mut row.path]).for_each(&mut *edit);
        self.reasoning.iter_mut().for_each(&mut *edit);
        self.unread.iter_mut().for_each(|block| edit(&mut block.reason));
        self.notes.iter_mut().for_each(|note| edit(&mut note.text));
    }

    /// With every response line set to 0, for comparing meaning.
    #[must_use]
    pub fn without_positions(mut self) -> Proposal {
        for operation in &mut self.operations {
            operation.line = 0;
            if let FileAction::Write { edit: FileEdit { body: EditBody::Hunks(hunks), .. }, .. } =
                &mut operation.action
            {
                for hunk in hunks {
                    hunk.line = 0;
                    hunk.begins_block = false;
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
