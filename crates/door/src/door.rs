//! The door of one project: everything that a submission needs, opened once.

use std::path::{Path, PathBuf};
use std::time::Duration;

use relaycode_change::limits::Limits;
use relaycode_change::plan::{Plan, Refused};
use relaycode_change::tree::Tree;
use relaycode_exec::Runner;
use relaycode_ledger::tree::ProjectTree;
use relaycode_ledger::{Digest, Ledger};
use relaycode_project::checkout::{Checkout, Key, Named};
use relaycode_project::config::{self, Config, ConfigError, Loaded};
use relaycode_project::git::Git;
use relaycode_project::head::{self, Head};
use relaycode_project::identity;
use relaycode_project::trust::{self, Trust, Wants};

use crate::admit;
use crate::approver::Approver;
use crate::outcome::{DoorError, Outcome};
use crate::rule::Rule;
use crate::submission::Submission;
use crate::submit;

/// The time that looking for new syntax errors may take.
pub const SYNTAX_BUDGET: Duration = Duration::from_secs(2);

/// The way into one project.
pub struct Door {
    /// The project's directory, without links.
    pub root: PathBuf,
    /// What was done to it, and the only writer of its files.
    pub ledger: Ledger,
    /// What is set.
    pub loaded: Loaded,
    /// Runs the project's commands.
    pub runner: Runner,
    home: Option<PathBuf>,
}

/// What a proposal would do.
#[derive(Debug, Clone)]
pub struct Preview {
    /// The plan.
    pub plan: Plan,
    /// Its digest.
    pub digest: Digest,
    /// What a person would be asked about.
    pub rules: Vec<Rule>,
}

impl Door {
    /// The door of the project at `root`, which `ledger` is the ledger of. `home` is the user's own
    /// directory. Nothing is written.
    ///
    /// # Errors
    /// If the configuration is broken.
    pub fn open(
        root: &Path,
        ledger: Ledger,
        home: Option<&Path>,
        runner: Runner,
    ) -> Result<Door, ConfigError> {
        let loaded = config::load(root, home)?;
        Ok(Door { root: root.to_path_buf(), ledger, loaded, runner, home: home.map(Path::to_path_buf) })
    }

    /// How long one of the project's commands may take.
    pub fn command_time(&self) -> Duration {
        Duration::from_secs(self.config().patch.command_timeout)
    }

    /// Takes a proposal in: plans, judges, asks where it must, applies and records it, or changes nothing.
    ///
    /// # Errors
    /// What went wrong, and the state that leaves the project in. A no is no error.
    pub fn submit(
        &self,
        submission: &Submission<'_>,
        approver: &mut dyn Approver,
    ) -> Result<Outcome, DoorError> {
        submit::submit(self, submission, approver)
    }

    /// What a proposal would do to `tree`, and what would have to be asked; nothing is done.
    ///
    /// # Errors
    /// Why it is refused.
    pub fn preview(&self, submission: &Submission<'_>, tree: &dyn Tree) -> Result<Preview, Box<Refused>> {
        let plan = submit::planned(self, submission, tree)?;
        let digest = submit::digest(&plan);
        let rules = admit::rules(self, submission, &plan, self.trust_state().allows());
        Ok(Preview { plan, digest, rules })
    }

    /// What is set.
    pub fn config(&self) -> &Config {
        &self.loaded.config
    }

    /// The project's files, as the planner reads them.
    pub fn tree(&self, limits: &Limits) -> ProjectTree<'_> {
        self.ledger.tree(u64::try_from(limits.file_bytes).unwrap_or(u64::MAX))
    }

    /// What git has checked out there.
    pub fn head(&self) -> Head {
        head::read(&self.root)
    }

    /// git, in this project.
    pub fn git(&self) -> Git<'_> {
        Git::new(&self.runner, &self.root)
    }

    /// What the project's file wants to be trusted with.
    pub fn wants(&self) -> Wants {
        self.loaded.project_wants()
    }

    /// What the user trusts.
    pub fn trust(&self) -> Trust {
        Trust::new(self.home.as_deref())
    }

    /// Whether the user trusts what the project's file wants.
    pub fn trust_state(&self) -> trust::State {
        self.trust().state(&self.root, &self.wants())
    }

    /// Whether there is a directory of the user's, where keys and trust are kept.
    pub fn has_home(&self) -> bool {
        self.home.is_some()
    }

    /// The keys of checkouts.
    pub fn checkout(&self) -> Checkout {
        Checkout::new(self.home.as_deref())
    }

    /// The name of the project: the configured one, else what it would be called.
    pub fn project_id(&self) -> String {
        self.config().project_id.clone().unwrap_or_else(|| identity::suggest(&self.root).id)
    }

    /// The key of this checkout, if it has one already.
    pub fn key(&self) -> Option<Key> {
        self.checkout().key(&self.root).ok().flatten()
    }

    /// What the name that an answer gives means here; `None` if it gives none or the project has none.
    pub fn named(&self, named: Option<&str>) -> Option<Named> {
        let ours = self.config().project_id.as_deref()?;
        Some(Key::read(ours, self.key().as_ref(), named?))
    }
}
