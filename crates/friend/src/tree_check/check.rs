//! One look at a project before something runs in it, and one afterwards: what was changed, and what of that cannot be
//! said. The second look is taken also when everything was broken off, for a while: that is when it matters.

use std::cell::Cell;
use std::path::Path;
use std::time::{Duration, Instant};

use relaycode_project::git::Git;

use super::{ObservedChange, TreeCheckError, TreeCheckSnapshot};

/// How long the project is looked at when somebody has already broken everything off.
const LAST_LOOK: Duration = Duration::from_secs(1);

/// How a project looked before something ran in it.
#[derive(Debug)]
pub struct TreeCheck {
    /// How it looked, or why it could not be looked at.
    baseline: Result<Box<TreeCheckSnapshot>, String>,
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
        self.gap.as_ref().map(ToString::to_string)
    }
}

/// What cannot be said of changes. Foreign text is in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreeCheckGap {
    /// Nothing: it could not be looked at in the first place; why. Nobody who ran in it had a part in that.
    #[error("{0}")]
    NoBaseline(String),
    /// Nothing: it could not be looked at again; why. Whoever ran in it may have caused that.
    #[error("the second look failed: {0}")]
    RescanFailed(String),
    /// Places that could not be looked into, before or afterwards; of the rest everything is known.
    #[error("{} cannot be looked into", unread_places(.0))]
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
            Err(TreeCheckError::Cancelled) => Err(TreeCheckError::Cancelled),
            taken => Ok(TreeCheck { baseline: taken.map(Box::new).map_err(|error| error.to_string()) }),
        }
    }

    /// Looks again. When `stop` says so, for a moment more.
    pub fn finish(self, stop: &dyn Fn() -> bool) -> TreeCheckReport {
        self.finish_within(LAST_LOOK, stop)
    }

    pub(super) fn finish_within(self, last: Duration, stop: &dyn Fn() -> bool) -> TreeCheckReport {
        let unknown = |gap| TreeCheckReport { changes: Vec::new(), gap: Some(gap) };
        let snapshot = match self.baseline {
            Ok(snapshot) => snapshot,
            Err(why) => return unknown(TreeCheckGap::NoBaseline(why)),
        };
        let stopped: Cell<Option<Instant>> = Cell::new(None);
        let stop = || {
            if stopped.get().is_none() && stop() {
                stopped.set(Some(Instant::now()));
            }
            stopped.get().is_some_and(|since| since.elapsed() > last)
        };
        match snapshot.rescan(&stop) {
            Err(error) => unknown(TreeCheckGap::RescanFailed(error.to_string())),
            Ok((changes, again)) => {
                let mut places = snapshot.unread().to_vec();
                places.extend(again);
                places.sort_unstable();
                places.dedup();
                let gap = (!places.is_empty()).then_some(TreeCheckGap::PartlyUnread(places));
                TreeCheckReport { changes, gap }
            }
        }
    }
}

fn unread_places(places: &[String]) -> String {
    match places {
        [] => "some places".to_string(),
        [first] => first.clone(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    }
}
