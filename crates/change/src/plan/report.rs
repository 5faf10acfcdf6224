//! What a plan says: per file the bytes before and after, per hunk how it matched, findings, and
//! for a refusal every reason at once, so that a repair prompt can name them all.

use serde::Serialize;

use crate::proposal::path::RelPath;
use crate::proposal::{GitFileMode, Hunk, ProposalNote};

/// A proposal resolved against a tree. Nothing has been written.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// In the order of the response.
    pub files: Vec<FilePlan>,
    /// For a person to look at before it is applied.
    pub findings: Vec<PlanFinding>,
    /// Remarks from reading and from planning.
    pub notes: Vec<ProposalNote>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FilePlan {
    /// After the change (for a deletion, before it).
    pub path: RelPath,
    /// Before, if the plan renames it.
    pub renamed_from: Option<RelPath>,
    pub change: FileChangeKind,
    /// `None` if it did not exist.
    #[serde(skip)]
    pub before: Option<Vec<u8>>,
    #[serde(skip)]
    pub after: Option<Vec<u8>>,
    pub mode_before: Option<GitFileMode>,
    pub mode_after: Option<GitFileMode>,
    /// Lines.
    pub added: usize,
    /// Lines.
    pub removed: usize,
    /// If it has new content.
    pub dialect: Option<&'static str>,
    /// In the order of the response.
    pub hunks: Vec<HunkReport>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum FileChangeKind {
    Added,
    /// Content or mode.
    Modified,
    Deleted,
    /// It may change as well.
    Renamed,
    /// Everything the proposal wants is already there.
    Unchanged,
}

impl FileChangeKind {
    /// Shown before the path in lists.
    pub fn letter(self) -> char {
        match self {
            FileChangeKind::Added => 'A',
            FileChangeKind::Modified => 'M',
            FileChangeKind::Deleted => 'D',
            FileChangeKind::Renamed => 'R',
            FileChangeKind::Unchanged => '=',
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HunkReport {
    /// Line of the response.
    pub line: usize,
    pub state: HunkState,
    /// The rung on which it matched (`exact`, `indent`, `near` …).
    pub rung: &'static str,
    /// How one of several places was chosen (`line hint`, `scope`, `order`).
    pub chosen_by: Option<&'static str>,
    /// The line of the file that the response claimed.
    pub claimed: Option<usize>,
    /// The line of the file (before the change) where it matched.
    pub used: usize,
    /// Why a person should look, if the place or the result is not certain.
    pub doubt: Option<HunkDoubt>,
    /// The next best place, if there was one.
    pub runner_up: Option<RunnerUpPlace>,
    /// For a near match: the file's text and the response's.
    pub differences: Vec<HunkDifference>,
}

impl Plan {
    /// For a plan whose doubts somebody has settled.
    #[must_use]
    pub fn without_doubts(mut self) -> Plan {
        self.findings.retain(|finding| finding.kind != FindingKind::Near);
        for hunk in self.files.iter_mut().flat_map(|file| &mut file.hunks) {
            hunk.doubt = None;
            hunk.differences.clear();
        }
        self
    }
}

impl Plan {
    /// Every text that quotes the answer, for blacking something out: not what goes into files.
    pub fn edit_texts(&mut self, edit: &mut dyn FnMut(&mut String)) {
        let hunks = self.files.iter_mut().flat_map(|file| &mut file.hunks);
        hunks.flat_map(|hunk| &mut hunk.differences).for_each(|line| edit(&mut line.answer));
        self.findings.iter_mut().for_each(|finding| edit(&mut finding.text));
        self.notes.iter_mut().for_each(|note| edit(&mut note.text));
    }
}

impl PlanRefusal {
    /// Every text that quotes the answer, for blacking something out.
    pub fn edit_texts(&mut self, edit: &mut dyn FnMut(&mut String)) {
        for entry in &mut self.refusals {
            match &mut entry.reason {
                RefusalReason::NotFound { wanted, .. } | RefusalReason::Ambiguous { wanted, .. } => {
                    wanted.edit_texts(edit);
                }
                RefusalReason::Hunk { wanted, text, .. } => {
                    wanted.edit_texts(edit);
                    edit(text);
                }
                RefusalReason::Conflict { text }
                | RefusalReason::Encoding { text }
                | RefusalReason::Limit { text }
                | RefusalReason::Unread { text }
                | RefusalReason::Nothing { text } => edit(text),
            }
        }
        let fitting = self.fitting.iter_mut().flat_map(|hunk| &mut hunk.report.differences);
        fitting.for_each(|line| edit(&mut line.answer));
        self.notes.iter_mut().for_each(|note| edit(&mut note.text));
    }
}

impl FilePlan {
    /// Whether the place or the result of one of its hunks is uncertain.
    pub fn has_doubt(&self) -> bool {
        self.hunks.iter().any(|hunk| hunk.doubt.is_some() || !hunk.differences.is_empty())
    }
}

/// What is uncertain about a hunk that fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum HunkDoubt {
    /// It only adds lines, and they are already right there: applied, they are there twice.
    Repeats,
    /// It fits only with its layout forgiven, and its text is too short to exclude another place.
    LittleText,
    /// It fits only with another indentation than its own.
    OtherDepth,
    /// Its new lines are indented with blanks and the file's with tabs, or the other way round.
    MixedIndentation,
    /// It only adds lines below a line that it names: some tools put them at the end of the file instead.
    OnlyAdds,
    /// It fits to the letter, but outside of the lines that the author named.
    OutsideScope,
    /// Several places fit, and none is on the line that the author named: the nearest one is taken.
    NearestLine,
    /// Several places fit, and only the order in which the edits were sent says which is meant.
    ByOrder,
    /// It fits only with its layout or its line forgiven, and its result already stands on this line of the file
    /// (from 1).
    ResultStandsAt(usize),
    /// The old text is gone and the new text is there, but it may have been there before.
    PerhapsIn,
    /// The new text is on the line that the author named, but the old text stands on another one.
    OldTextElsewhere,
    /// It fits to the letter, and but for blanks at the ends of lines also on this line of the file (from 1): an answer
    /// easily loses such blanks on its way.
    AlsoFits(usize),
    /// The text of a tool call begins or ends with a line break and what replaces it does not: two lines become one.
    JoinsLines,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum HunkState {
    /// It changes the file.
    Applied,
    /// Its result is already there.
    AlreadyIn,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunnerUpPlace {
    /// Of the file.
    pub line: usize,
    /// Similarity, 0 to 1.
    pub score: f64,
}

/// A line that differs between the file and what the response believes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HunkDifference {
    /// Of the file.
    pub line: usize,
    /// Empty: nothing.
    pub file: String,
    /// Empty: nothing.
    pub answer: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanFinding {
    pub kind: FindingKind,
    pub path: RelPath,
    /// In the file after the change, if that makes sense.
    pub line: Option<usize>,
    /// A sentence for the user.
    pub text: String,
}

/// Under the stable names that `--allow` accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// A hunk matched only nearly.
    Near,
    /// Text that stands for code which was left out.
    Placeholder,
    /// The block for a whole file seems to be only a part of it.
    Fragment,
    /// A file would be replaced that the author may not have known as it is.
    Overwrite,
    /// Much of a file, or many files, would be deleted.
    MassDeletion,
    /// Invisible or bidirectional characters are added, or names with look-alike letters.
    Hidden,
    /// The file parsed before and does not afterwards.
    Syntax,
    /// The key that lets answers into this project would be written into a file.
    Key,
    /// A check was skipped; the text says which and why.
    Skipped,
}

impl FindingKind {
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::Near => "near",
            FindingKind::Placeholder => "placeholder",
            FindingKind::Fragment => "fragment",
            FindingKind::Overwrite => "overwrite",
            FindingKind::MassDeletion => "mass-deletion",
            FindingKind::Hidden => "hidden",
            FindingKind::Syntax => "syntax",
            FindingKind::Key => "key",
            FindingKind::Skipped => "skipped",
        }
    }
}

/// A proposal that cannot be planned, with every reason.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanRefusal {
    /// In the order of the response.
    pub refusals: Vec<RefusalEntry>,
    /// The hunks that fit or are already in, per file: the repair prompt asks the author to repeat the
    /// former and leave out the latter.
    pub fitting: Vec<FittingHunk>,
    /// Remarks from reading and from planning.
    pub notes: Vec<ProposalNote>,
}

/// A hunk of a refused proposal that is not the problem.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FittingHunk {
    pub path: RelPath,
    /// Its number within that file's hunks, from 1.
    pub hunk: usize,
    /// How it matched.
    pub report: HunkReport,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RefusalEntry {
    /// If the reason is about one file.
    pub path: Option<RelPath>,
    /// Line of the response, 0 if it is about all of it.
    pub line: usize,
    #[serde(flatten)]
    pub reason: RefusalReason,
}

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum RefusalReason {
    /// A hunk's text is not in the file.
    #[serde(rename_all = "camelCase")]
    NotFound {
        /// Its number within that file's hunks, from 1.
        hunk: usize,
        /// How many hunks the file has.
        of: usize,
        #[serde(skip)]
        wanted: Box<Hunk>,
        /// `None` if no place is similar at all.
        nearest: Option<NearestPlace>,
    },
    /// A hunk's text is in the file more than once and nothing tells which is meant.
    #[serde(rename_all = "camelCase")]
    Ambiguous {
        /// Its number within that file's hunks, from 1.
        hunk: usize,
        /// How many hunks the file has.
        of: usize,
        #[serde(skip)]
        wanted: Box<Hunk>,
        /// Lines of the file, at most [`PLACES_LISTED`] of them.
        places: Vec<usize>,
        /// How many places there are in all.
        count: usize,
        rung: &'static str,
    },
    /// A hunk cannot be applied for another reason (overlap, indentation that cannot be translated, a
    /// three-way conflict); the text says which.
    #[serde(rename_all = "camelCase")]
    Hunk {
        /// Its number within that file's hunks, from 1.
        hunk: usize,
        /// How many hunks the file has.
        of: usize,
        #[serde(skip)]
        wanted: Box<Hunk>,
        text: String,
    },
    /// The operation does not fit the tree or the other operations (missing file, file exists, written
    /// twice …); the text says which.
    Conflict { text: String },
    /// The file's bytes cannot be decoded, or the new text cannot be encoded.
    Encoding { text: String },
    /// A limit was reached; the text names it.
    Limit { text: String },
    /// A block that set out to be a change could not be read.
    Unread { text: String },
    /// The response contains nothing to do.
    Nothing { text: String },
}

impl RefusalReason {
    /// Of a file whose first `earlier` hunks came before these.
    pub(super) fn numbered_after(mut self, earlier: usize) -> RefusalReason {
        if let RefusalReason::NotFound { hunk, of, .. }
        | RefusalReason::Ambiguous { hunk, of, .. }
        | RefusalReason::Hunk { hunk, of, .. } = &mut self
        {
            (*hunk, *of) = (*hunk + earlier, *of + earlier);
        }
        self
    }
}

/// Most places listed for an ambiguous hunk.
pub const PLACES_LISTED: usize = 10;

/// The place in the file that looks most like what a hunk wanted.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NearestPlace {
    /// Its first line, from 1.
    pub line: usize,
    /// The lines there.
    pub text: Vec<String>,
    /// Index into the hunk's `before` of the first line that differs.
    pub first_difference: usize,
    /// Similarity, 0 to 1.
    pub score: f64,
}
