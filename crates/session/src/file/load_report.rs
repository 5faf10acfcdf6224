//! What was odd about a session file when it was opened. Nothing of it keeps a session from opening.

use std::fmt;

/// At most so many oddities are listed; the rest is counted.
pub const MAX_LISTED_ISSUES: usize = 1000;

/// Everything that was odd.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoadReport {
    /// What, in the order of the file.
    pub issues: Vec<LoadIssue>,
    /// How many more there were.
    pub unlisted: u64,
}

/// One thing that was odd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadIssue {
    /// Where in the file it begins.
    pub offset: u64,
    /// How many bytes it has.
    pub len: u64,
    /// What it is.
    pub kind: LoadIssueKind,
}

/// What can be odd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadIssueKind {
    /// The file ends in the middle of a line. The next writer moves it aside.
    TornTail,
    /// A line that cannot be read; it is skipped.
    Unreadable(&'static str),
    /// Bytes before an entry on the same line; the entry counts.
    Prefix,
    /// There is no header, or it cannot be read; another was made up.
    NoHeader,
    /// A header that is not on the first line.
    LateHeader,
    /// An entry whose parent was on an unreadable line; it follows the one before.
    Rejoined {
        /// The entry.
        id: String,
        /// The parent that it names.
        parent: String,
    },
    /// An entry whose parent is nowhere; it is a root.
    Orphan {
        /// The entry.
        id: String,
        /// The parent that it names.
        parent: String,
    },
    /// An entry that stands before its parent.
    BeforeParent {
        /// The entry.
        id: String,
    },
    /// An entry that follows itself; it is a root.
    Cycle {
        /// The entry.
        id: String,
    },
    /// The same line twice; the second is ignored.
    DuplicateLine {
        /// The entry.
        id: String,
    },
    /// Another entry of the same name; it goes by a name of its own.
    DuplicateId {
        /// The name that both have.
        id: String,
        /// The name that the second has now.
        new_id: String,
    },
}

impl LoadReport {
    /// Nothing was odd.
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

    /// How many bytes could not be read as entries.
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
