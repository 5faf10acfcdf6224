//! What a plan says: per file the bytes before and after, per hunk how it matched, findings, and
//! for a refusal every reason at once, so that a repair prompt can name them all.

use serde::Serialize;

use crate::proposal::path::RelPath;
use crate::proposal::{GitFileMode, Hunk, ProposalNote};

/// A proposal resolved against a tree. Nothing has been written.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// Every file that the proposal touches, in the order of the response.
    pub files: Vec<FilePlan>,
    /// What a person may want to look at before it is applied.
    pub findings: Vec<PlanFinding>,
    /// Remarks, from reading and from planning.
    pub notes: Vec<ProposalNote>,
}

/// One file of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FilePlan {
    /// The file's name after the change (for a deletion, before it).
    pub path: RelPath,
    /// Its name before, if the plan renames it.
    pub renamed_from: Option<RelPath>,
    /// What happens to it.
    pub change: FileChangeKind,
    /// Its bytes before; `None` if it did not exist.
    #[serde(skip)]
    pub before: Option<Vec<u8>>,
    /// Its bytes after; `None` if it goes.
    #[serde(skip)]
    pub after: Option<Vec<u8>>,
    /// Its mode before.
    pub mode_before: Option<GitFileMode>,
    /// Its mode after.
    pub mode_after: Option<GitFileMode>,
    /// Lines that come in.
    pub added: usize,
    /// Lines that go.
    pub removed: usize,
    /// The dialect it was written in, if content was.
    pub dialect: Option<&'static str>,
    /// How each hunk matched, in the order of the response.
    pub hunks: Vec<HunkReport>,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum FileChangeKind {
    /// It is new.
    Added,
    /// Its content or mode changes.
    Modified,
    /// It goes.
    Deleted,
    /// It moves, and may change as well.
    Renamed,
    /// Everything the proposal wants is already there.
    Unchanged,
}

impl FileChangeKind {
    /// The letter that stands before the path in lists.
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

/// How one hunk matched.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HunkReport {
    /// Line of the response where the hunk begins.
    pub line: usize,
    /// What became of it.
    pub state: HunkState,
    /// The rung of the ladder on which it matched (`exact`, `indent`, `near` …).
    pub rung: &'static str,
    /// How the place was chosen where several matched (`line hint`, `scope`, `order`).
    pub chosen_by: Option<&'static str>,
    /// The line of the file that the response claimed.
    pub claimed: Option<usize>,
    /// The line of the file (before the change) where it matched.
    pub used: usize,
    /// It only adds lines, and they already stand right there: carried out, they stand there twice.
    pub repeats: bool,
    /// The next best place, where there was one.
    pub runner_up: Option<RunnerUpPlace>,
    /// For a near match: what the file says and what the response says.
    pub differences: Vec<HunkDifference>,
}

/// What became of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum HunkState {
    /// It changes the file.
    Applied,
    /// Its result already stands there.
    AlreadyIn,
}

/// The second best place for a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunnerUpPlace {
    /// Line of the file.
    pub line: usize,
    /// Likeness, 0 to 1.
    pub score: f64,
}

/// A line that differs between the file and what the response believes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HunkDifference {
    /// Line of the file.
    pub line: usize,
    /// What the file says there (empty: nothing).
    pub file: String,
    /// What the response says (empty: nothing).
    pub answer: String,
}

/// Something that a person may want to look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanFinding {
    /// What kind it is.
    pub kind: FindingKind,
    /// The file.
    pub path: RelPath,
    /// A line of the file after the change, where that makes sense.
    pub line: Option<usize>,
    /// A sentence for the user.
    pub text: String,
}

/// The kinds of findings, under the stable names that `--allow` will take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// A hunk matched only nearly.
    Near,
    /// Text that stands for code that was left out.
    Placeholder,
    /// Much of a file, or many files, would go.
    MassDeletion,
    /// Invisible or bidirectional characters come in.
    Hidden,
    /// The file parsed before and does not afterwards.
    Syntax,
    /// A check was skipped; the text says which and why.
    Skipped,
}

impl FindingKind {
    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::Near => "near",
            FindingKind::Placeholder => "placeholder",
            FindingKind::MassDeletion => "mass-deletion",
            FindingKind::Hidden => "hidden",
            FindingKind::Syntax => "syntax",
            FindingKind::Skipped => "skipped",
        }
    }
}

/// A proposal that cannot be planned. Everything that stands against it is listed.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanRefusal {
    /// The reasons, in the order of the response.
    pub refusals: Vec<RefusalEntry>,
    /// The hunks that do fit or are already in, per file: the repair prompt tells the author to
    /// repeat the former and leave out the latter.
    pub fitting: Vec<FittingHunk>,
    /// Remarks, from reading and from planning.
    pub notes: Vec<ProposalNote>,
}

/// A hunk of a refused proposal that is not the problem.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FittingHunk {
    /// The file.
    pub path: RelPath,
    /// Its number within that file's hunks, from 1.
    pub hunk: usize,
    /// How it matched.
    pub report: HunkReport,
}

/// One reason why a proposal cannot be planned.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RefusalEntry {
    /// The file, where the reason is about one.
    pub path: Option<RelPath>,
    /// Line of the response, 0 if it is about all of it.
    pub line: usize,
    /// The reason.
    #[serde(flatten)]
    pub reason: RefusalReason,
}

/// Why something was refused.
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
        /// The hunk itself.
        #[serde(skip)]
        wanted: Box<Hunk>,
        /// The most similar place, if any is similar at all.
        nearest: Option<NearestPlace>,
    },
    /// A hunk's text is in the file more than once and nothing tells which is meant.
    #[serde(rename_all = "camelCase")]
    Ambiguous {
        /// Its number within that file's hunks, from 1.
        hunk: usize,
        /// How many hunks the file has.
        of: usize,
        /// The hunk itself.
        #[serde(skip)]
        wanted: Box<Hunk>,
        /// The lines of the file where it matches, at most [`PLACES_LISTED`] of them.
        places: Vec<usize>,
        /// How many places there are in all.
        count: usize,
        /// The rung on which they match.
        rung: &'static str,
    },
    /// A hunk cannot be carried out for a reason of its own (overlap, indentation that cannot be
    /// translated, a three-way conflict); the text says which.
    #[serde(rename_all = "camelCase")]
    Hunk {
        /// Its number within that file's hunks, from 1.
        hunk: usize,
        /// How many hunks the file has.
        of: usize,
        /// The hunk itself.
        #[serde(skip)]
        wanted: Box<Hunk>,
        /// A sentence for the user.
        text: String,
    },
    /// The operation does not fit the tree or the other operations (missing file, file exists,
    /// written twice …); the text says which.
    Conflict {
        /// A sentence for the user.
        text: String,
    },
    /// The file's bytes cannot be decoded, or the new text cannot be written in its encoding.
    Encoding {
        /// A sentence for the user.
        text: String,
    },
    /// A limit was reached; the text names it.
    Limit {
        /// A sentence for the user.
        text: String,
    },
    /// A block of the response that set out to be a change could not be read.
    Unread {
        /// A sentence for the user.
        text: String,
    },
    /// The response contains nothing to do.
    Nothing {
        /// A sentence for the user.
        text: String,
    },
}

/// At most so many places are listed for an ambiguous hunk.
pub const PLACES_LISTED: usize = 10;

/// The place in the file that looks most like what a hunk wanted.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NearestPlace {
    /// First line of the place, 1-based.
    pub line: usize,
    /// The lines that stand there.
    pub text: Vec<String>,
    /// Index into the hunk's `before` of the first line that differs.
    pub first_difference: usize,
    /// Likeness, 0 to 1.
    pub score: f64,
}
