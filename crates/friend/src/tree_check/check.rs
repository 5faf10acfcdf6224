//! One look at a project before something runs in it, and one afterwards: what was changed, and what of that cannot be
//! said. The second look is taken also when everything was broken off, for a while: that is when it matters.

use std::cell::Cell;
use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use relaycode_project::git::Git;

use super::{ObservedChange, TreeCheckError, TreeCheckSnapshot};

/// How long the project is looked at when somebody has already broken everything off.
const LAST_LOOK: Duration = Duration::from_secs(1);

/// How a project looked before something ran in it.
#[derive(Debug)]
pub struct TreeCheck(TreeCheckBaseline);

#[derive(Debug)]
enum TreeCheckBaseline {
    /// It could not be looked at; why.
    Unavailable(String),
    /// So.
    Taken(Box<TreeCheckSnapshot>),
}

/// What the second look showed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TreeCheckReport {
    /// What was changed meanwhile, by whomever.
    pub changes: Vec<ObservedChange>,
    /// What cannot be said; `None`: everything was looked at.
    pub gap: Option<TreeCheckGap>,
}

impl TreeCheckReport {
    /// Everything was looked at, and nothing was changed.
    pub fn is_unchanged(&self) -> bool {
        self.changes.is_empty() && self.gap.is_none()
    }

    /// Somebody has to look: something was changed, or whoever ran there may have hidden it. A place that could not
    /// be looked into from the beginning is no reason: its permissions are compared.
    pub fn needs_attention(&self) -> bool {
        !self.changes.is_empty() || matches!(self.gap, Some(TreeCheckGap::RescanFailed(_)))
    }

    /// What cannot be said, as a sentence.
    pub fn gap_message(&self) -> Option<String> {
        self.gap.as_ref().map(TreeCheckGap::to_string)
    }
}

/// What cannot be said of changes. Foreign text is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeCheckGap {
    /// Nothing: it could not be looked at in the first place; why. Nobody who ran in it had a part in that.
    NoBaseline(String),
    /// Nothing: it could not be looked at again; why. Whoever ran in it may have caused that.
    RescanFailed(String),
    /// Places that could not be looked into, before or afterwards; of the rest everything is known.
    PartlyUnread(Vec<String>),
}

impl TreeCheck {
    /// Looks at the project at `root`; for the rest see [`TreeCheckSnapshot::take`].
    ///
    /// # Errors
    /// [`TreeCheckError::Cancelled`], and no other.
    pub fn begin(
        root: &Path,
        git: Option<&Git<'_>>,
        stop: &dyn Fn() -> bool,
    ) -> Result<TreeCheck, TreeCheckError> {
        match TreeCheckSnapshot::take(root, git, stop) {
            Ok(snapshot) => Ok(TreeCheck(TreeCheckBaseline::Taken(Box::new(snapshot)))),
            Err(TreeCheckError::Cancelled) => Err(TreeCheckError::Cancelled),
            Err(error) => Ok(TreeCheck(TreeCheckBaseline::Unavailable(error.to_string()))),
        }
    }

    /// Looks again. When `stop` says so, for a moment more.
    pub fn finish(self, stop: &dyn Fn() -> bool) -> TreeCheckReport {
        self.finish_within(LAST_LOOK, stop)
    }

    pub(super) fn finish_within(self, last: Duration, stop: &dyn Fn() -> bool) -> TreeCheckReport {
        let snapshot = match self.0 {
            TreeCheckBaseline::Unavailable(why) => {
                return TreeCheckReport { changes: Vec::new(), gap: Some(TreeCheckGap::NoBaseline(why)) };
            }
            TreeCheckBaseline::Taken(snapshot) => snapshot,
        };
        let stopped: Cell<Option<Instant>> = Cell::new(None);
        let stop = || {
            if stopped.get().is_none() && stop() {
                stopped.set(Some(Instant::now()));
            }
            stopped.get().is_some_and(|since| since.elapsed() > last)
        };
        match snapshot.rescan(&stop) {
            Err(error) => TreeCheckReport {
                changes: Vec::new(),
                gap: Some(TreeCheckGap::RescanFailed(error.to_string())),
            },
            Ok((changed, again)) => {
                let mut places = snapshot.unread().to_vec();
                places.extend(again);
                places.sort_unstable();
                places.dedup();
                TreeCheckReport {
                    changes: changed,
                    gap: (!places.is_empty()).then_some(TreeCheckGap::PartlyUnread(places)),
                }
            }
        }
    }
}

impl fmt::Display for TreeCheckGap {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TreeCheckGap::NoBaseline(why) => to.write_str(why),
            TreeCheckGap::RescanFailed(why) => write!(to, "the second look failed: {why}"),
            TreeCheckGap::PartlyUnread(places) => match places.as_slice() {
                [first] => write!(to, "{first} cannot be looked into"),
                [first, rest @ ..] => write!(to, "{first} and {} more cannot be looked into", rest.len()),
                [] => to.write_str("some places cannot be looked into"),
            },
        }
    }
}
