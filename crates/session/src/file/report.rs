//! What was odd about a session file when it was opened. Nothing of it keeps a session from opening.

use std::fmt;

/// At most so many oddities are listed; the rest is counted.
pub const LISTED_MOST: usize = 1000;

/// Everything that was odd.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// What, in the order of the file.
    pub oddities: Vec<Oddity>,
    /// How many more there were.
    pub more: u64,
}

/// One thing that was odd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oddity {
    /// Where in the file it begins.
    pub offset: u64,
    /// How many bytes it has.
    pub len: u64,
    /// What it is.
    pub what: What,
}

/// What can be odd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
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
    Joined {
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
    Repeated {
        /// The entry.
        id: String,
    },
    /// Another entry of the same name; it goes by a name of its own.
    SameName {
        /// The name that both have.
        id: String,
        /// The name that the second has now.
        now: String,
    },
}

impl Report {
    /// Nothing was odd.
    pub fn is_empty(&self) -> bool {
        self.oddities.is_empty() && self.more == 0
    }

    pub(crate) fn add(&mut self, offset: u64, len: u64, what: What) {
        if self.oddities.len() < LISTED_MOST {
            self.oddities.push(Oddity { offset, len, what });
        } else {
            self.more += 1;
        }
    }

    /// How many bytes could not be read as entries.
    pub fn lost_bytes(&self) -> u64 {
        let lost =
            |oddity: &&Oddity| matches!(oddity.what, What::TornTail | What::Unreadable(_) | What::Prefix);
        self.oddities.iter().filter(lost).map(|oddity| oddity.len).sum()
    }
}

impl fmt::Display for Oddity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: ", self.offset)?;
        match &self.what {
            What::TornTail => {
                write!(
                    f,
                    "the file ends in the middle of a line ({} bytes); the next writer moves them aside",
                    self.len
                )
            }
            What::Unreadable(why) => write!(f, "{} bytes were skipped: {why}", self.len),
            What::Prefix => write!(f, "{} bytes before an entry on the same line were skipped", self.len),
            What::NoHeader => {
                write!(f, "the header is missing or damaged; it was made up from the file's name")
            }
            What::LateHeader => write!(f, "a header in the middle of the file was passed over"),
            What::Joined { id, parent } => {
                write!(
                    f,
                    "{id} followed {parent}, which cannot be read; it now follows the entry before the damage"
                )
            }
            What::Orphan { id, parent } => {
                write!(f, "{id} follows {parent}, which is not there; it stands on its own")
            }
            What::BeforeParent { id } => write!(f, "{id} stands before the entry that it follows"),
            What::Cycle { id } => write!(f, "{id} follows itself; it stands on its own"),
            What::Repeated { id } => write!(f, "{id} is there twice; the second was ignored"),
            What::SameName { id, now } => write!(f, "another entry is called {id} too; it goes by {now}"),
        }
    }
}
