//! The look at the project around a friend's work: its place is the copy, and what changed in the project itself
//! while it worked is told, whoever it was.

use std::cell::Cell;
use std::path::Path;
use std::time::{Duration, Instant};

use relaycode_project::git::Git;

use crate::tree::{Difference, Snapshot, TreeError};

/// How long the project is looked at when somebody has already broken everything off.
const LAST_LOOK: Duration = Duration::from_secs(1);

/// How the project looked before.
pub(super) enum Watch {
    /// Nobody wants to know.
    Off,
    /// It could not be looked at; why.
    Blind(String),
    /// So.
    On(Box<Snapshot>),
}

/// What is known of the project afterwards.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) changed: Vec<Difference>,
    /// Why that could not be found out.
    pub(super) unchecked: Option<String>,
}

impl Watch {
    /// Looks at the project; `None` if somebody broke it off.
    pub(super) fn begin(wanted: bool, root: &Path, git: &Git<'_>, stop: &dyn Fn() -> bool) -> Option<Watch> {
        if !wanted {
            return Some(Watch::Off);
        }
        match Snapshot::take(root, Some(git), stop) {
            Ok(snapshot) => Some(Watch::On(Box::new(snapshot))),
            Err(TreeError::Stopped) => None,
            Err(error) => Some(Watch::Blind(error.to_string())),
        }
    }

    /// Looks again; after a stop only for a while.
    pub(super) fn end(self, stop: &dyn Fn() -> bool) -> Seen {
        let snapshot = match self {
            Watch::Off => return Seen::default(),
            Watch::Blind(why) => return Seen { unchecked: Some(why), ..Seen::default() },
            Watch::On(snapshot) => snapshot,
        };
        let stopped: Cell<Option<Instant>> = Cell::new(None);
        let stop = || {
            if stopped.get().is_none() && stop() {
                stopped.set(Some(Instant::now()));
            }
            stopped.get().is_some_and(|since| since.elapsed() > LAST_LOOK)
        };
        match snapshot.compare(&stop) {
            Err(error) => Seen { unchecked: Some(error.to_string()), ..Seen::default() },
            Ok(changed) => {
                let unread = snapshot.unread();
                let unchecked = unread.first().map(|first| match unread.len() {
                    1 => format!("{first} cannot be looked into"),
                    count => format!("{first} and {} more cannot be looked into", count - 1),
                });
                Seen { changed, unchecked }
            }
        }
    }
}
