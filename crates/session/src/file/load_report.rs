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
}

impl fmt::Display for LoadIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use LoadIssueKind::*;
        let LoadIssue { offset, len, kind } = self;
        write!(f, "byte {offset}: ")?;
        match kind {
            TornTail => write!(
                f,
                "the file ends in the middle of a line ({len} bytes); the next writer moves them aside"
            ),
            Unreadable(why) => write!(f, "{len} bytes were skipped: {why}"),
            Prefix => write!(f, "{len} bytes before an entry on the same line were skipped"),
            NoHeader => f.write_str("the header is missing or damaged; it was made up from the file's name"),
            LateHeader => f.write_str("a header in the middle of the file was passed over"),
            Rejoined { id, parent } => write!(
                f,
                "{id} followed {parent}, which cannot be read; it now follows the entry before the damage"
            ),
            Orphan { id, parent } => {
                write!(f, "{id} follows {parent}, which is not there; it stands on its own")
            }
            BeforeParent { id } => write!(f, "{id} stands before the entry that it follows"),
            Cycle { id } => write!(f, "{id} follows itself; it stands on its own"),
            DuplicateLine { id } => write!(f, "{id} is there twice; the second was ignored"),
            DuplicateId { id, new_id } => write!(f, "another entry is called {id} too; it goes by {new_id}"),
        }
    }
}
