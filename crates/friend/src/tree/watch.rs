//! One look at a project before something runs in it, and one afterwards: what was changed, and what of that cannot be
//! said. The second look is taken also when everything was broken off, for a while: that is when it matters.

use std::cell::Cell;
use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use relaycode_project::git::Git;

use super::{Difference, Snapshot, TreeError};

/// How long the project is looked at when somebody has already broken everything off.
const LAST_LOOK: Duration = Duration::from_secs(1);

/// How a project looked before something ran in it.
#[derive(Debug)]
pub struct Watch(Before);

#[derive(Debug)]
enum Before {
    /// It could not be looked at; why.
    Blind(String),
    /// So.
    Seen(Box<Snapshot>),
}

/// What the second look showed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Looked {
    /// What was changed meanwhile, by whomever.
    pub changed: Vec<Difference>,
    /// What cannot be said; `None`: everything was looked at.
    pub unseen: Option<Unseen>,
}

impl Looked {
    /// Everything was looked at, and nothing was changed.
    pub fn is_unchanged(&self) -> bool {
        self.changed.is_empty() && self.unseen.is_none()
    }

    /// Somebody has to look: something was changed, or whoever ran there may have hidden it. A place that could not
    /// be looked into from the beginning is no reason: its permissions are compared.
    pub fn needs_a_look(&self) -> bool {
        !self.changed.is_empty() || matches!(self.unseen, Some(Unseen::Lost(_)))
    }

    /// What cannot be said, as a sentence.
    pub fn unchecked(&self) -> Option<String> {
        self.unseen.as_ref().map(Unseen::to_string)
    }
}

/// What cannot be said of changes. Foreign text is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unseen {
    /// Nothing: it could not be looked at in the first place; why. Nobody who ran in it had a part in that.
    Blind(String),
    /// Nothing: it could not be looked at again; why. Whoever ran in it may have caused that.
    Lost(String),
    /// Places that could not be looked into, before or afterwards; of the rest everything is known.
    Partly(Vec<String>),
}

impl Watch {
    /// Looks at the project at `root`; for the rest see [`Snapshot::take`].
    ///
    /// # Errors
    /// [`TreeError::Stopped`], and no other.
    pub fn begin(root: &Path, git: Option<&Git<'_>>, stop: &dyn Fn() -> bool) -> Result<Watch, TreeError> {
        match Snapshot::take(root, git, stop) {
            Ok(snapshot) => Ok(Watch(Before::Seen(Box::new(snapshot)))),
            Err(TreeError::Stopped) => Err(TreeError::Stopped),
            Err(error) => Ok(Watch(Before::Blind(error.to_string()))),
        }
    }

    /// Looks again. When `stop` says so, for a moment more.
    pub fn end(self, stop: &dyn Fn() -> bool) -> Looked {
        self.end_within(LAST_LOOK, stop)
    }

    pub(super) fn end_within(self, last: Duration, stop: &dyn Fn() -> bool) -> Looked {
        let snapshot = match self.0 {
            Before::Blind(why) => return Looked { changed: Vec::new(), unseen: Some(Unseen::Blind(why)) },
            Before::Seen(snapshot) => snapshot,
        };
        let stopped: Cell<Option<Instant>> = Cell::new(None);
        let stop = || {
            if stopped.get().is_none() && stop() {
                stopped.set(Some(Instant::now()));
            }
            stopped.get().is_some_and(|since| since.elapsed() > last)
        };
        match snapshot.look_again(&stop) {
            Err(error) => Looked { changed: Vec::new(), unseen: Some(Unseen::Lost(error.to_string())) },
            Ok((changed, again)) => {
                let mut places = snapshot.unread().to_vec();
                places.extend(again);
                places.sort_unstable();
                places.dedup();
                Looked { changed, unseen: (!places.is_empty()).then_some(Unseen::Partly(places)) }
            }
        }
    }
}

impl fmt::Display for Unseen {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unseen::Blind(why) => to.write_str(why),
            Unseen::Lost(why) => write!(to, "the second look failed: {why}"),
            Unseen::Partly(places) => match places.as_slice() {
                [first] => write!(to, "{first} cannot be looked into"),
                [first, rest @ ..] => write!(to, "{first} and {} more cannot be looked into", rest.len()),
                [] => to.write_str("some places cannot be looked into"),
            },
        }
    }
}
