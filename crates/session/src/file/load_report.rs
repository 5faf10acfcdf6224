//! Problems found when a session file was opened. None of them keeps a session from opening.

use std::fmt;

/// Most problems listed; the rest are counted.
pub const MAX_LISTED_ISSUES: usize = 1000;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoadReport {
    /// In the order of the file.
    pub issues: Vec<LoadIssue>,
    /// How many more there were.
    pub unlisted: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadIssue {
    /// Where in the file it begins.
    pub offset: u64,
    /// In bytes.
    pub len: u64,
    pub kind: LoadIssueKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadIssueKind {
    /// The file ends in the middle of a line. The next writer moves that rest aside.
    TornTail,
    /// A line that cannot be read; it is skipped.
    Unreadable(&'static str),
    /// Bytes before an entry on the same line; the entry counts.
    Prefix,
    /// No readable header; one was generated.
    NoHeader,
    /// A header that is not on the first line.
    LateHeader,
    /// An entry whose parent was on an unreadable line; it was attached to the entry before that line.
    Rejoined {
        id: String,
        /// The parent it names.
        parent: String,
    },
    /// An entry whose parent is missing; it became a root.
    Orphan {
        id: String,
        /// The parent it names.
        parent: String,
    },
    /// An entry before its parent.
    BeforeParent { id: String },
    /// An entry that is its own ancestor; it became a root.
    Cycle { id: String },
    /// The same line twice; the second is ignored.
    DuplicateLine { id: String },
    /// Another entry with the same id; it got a new one.
    DuplicateId {
        /// The id of both.
        id: String,
        /// The second entry's new id.
        new_id: String,
    },
}

impl LoadReport {
    pub fn is_empty(&self) -> bool {
        self.issues.is_empty() && self.unlisted == 0
    }

    pub(crate) fn add(&mut self, offset: u64, len: u64, what: LoadIssueKind) {
        if self.issues.len() < MAX_LISTED_ISSUES {
            self.issues.push(LoadIssue { offset, len, kind: what });
        } else {
            self.unlisted += 1;
        }
    }

    /// Bytes that could not be read as entries.
    pub fn lost_bytes(&self) -> u64 {
        let lost = |oddity: &&LoadIssue| {
            matches!(
                oddity.kind,
                LoadIssueKind::TornTail | LoadIssueKind::Unreadable(_) | LoadIssueKind::Prefix
            )
        };
        self.issues.iter().filter(lost).map(|oddity| oddity.len).sum()
    }
}

impl fmt::Display for LoadIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: ", self.offset)?;
        match &self.kind {
            LoadIssueKind::TornTail => {
                write!(
                    f,
                    "the file ends in the middle of a line ({} bytes); the next writer moves them aside",
                    self.len
                )
            }
            LoadIssueKind::Unreadable(why) => write!(f, "{} bytes were skipped: {why}", self.len),
            LoadIssueKind::Prefix => {
                write!(f, "{} bytes before an entry on the same line were skipped", self.len)
            }
            LoadIssueKind::NoHeader => {
                write!(f, "the header is missing or damaged; it was made up from the file's name")
            }
            LoadIssueKind::LateHeader => write!(f, "a header in the middle of the file was passed over"),
            LoadIssueKind::Rejoined { id, parent } => {
                write!(
                    f,
                    "{id} followed {parent}, which cannot be read; it now follows the entry before the damage"
                )
            }
            LoadIssueKind::Orphan { id, parent } => {
                write!(f, "{id} follows {parent}, which is not there; it stands on its own")
            }
            LoadIssueKind::BeforeParent { id } => write!(f, "{id} stands before the entry that it follows"),
            LoadIssueKind::Cycle { id } => write!(f, "{id} follows itself; it stands on its own"),
            LoadIssueKind::DuplicateLine { id } => write!(f, "{id} is there twice; the second was ignored"),
            LoadIssueKind::DuplicateId { id, new_id: now } => {
                write!(f, "another entry is called {id} too; it goes by {now}")
            }
        }
    }
}
