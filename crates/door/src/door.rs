//! The door of one project: everything that a submission needs, opened once.

use std::path::{Path, PathBuf};
use std::time::Duration;

use relaycode_change::plan::tree::PlanTree;
use relaycode_change::plan::{Plan, PlanRefusal};
use relaycode_change::proposal::limits::PlanLimits;
use relaycode_exec::Runner;
use relaycode_ledger::disk::tree::ProjectTree;
use relaycode_ledger::{Digest, Ledger};
use relaycode_project::checkout::{CheckoutKey, CheckoutKeys, NamedProject};
use relaycode_project::config::{self, Config, ConfigError, LoadedConfig};
use relaycode_project::git::Git;
use relaycode_project::git::head;
use relaycode_project::git::head::GitHead;
use relaycode_project::identity;
use relaycode_project::trust::{self, TrustRequest, TrustStore};

use crate::approval::approver::Approver;
use crate::approval::rule::ApprovalRule;
use crate::submit;
use crate::submit::admit;
use crate::submit::outcome::{DoorError, SubmitOutcome};
use crate::submit::submission::Submission;

/// The time that looking for new syntax errors may take.
pub const SYNTAX_BUDGET: Duration = Duration::from_secs(2);

/// The way into one project.
pub struct Door {
    /// The project's directory, without links.
    pub root: PathBuf,
    /// What was done to it, and the only writer of its files.
    pub ledger: Ledger,
    /// What is set.
    pub loaded: LoadedConfig,
    /// Runs the project's commands.
    pub runner: Runner,
    home: Option<PathBuf>,
}

/// What a proposal would do.
#[derive(Debug, Clone)]
pub struct PlanPreview {
    /// The plan.
    pub plan: Plan,
    /// Its digest.
    pub digest: Digest,
    /// What a person would be asked about.
    pub rules: Vec<ApprovalRule>,
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
    pub fn command_timeout(&self) -> Duration {
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
    ) -> Result<SubmitOutcome, DoorError> {
        submit::submit(self, submission, approver)
    }

    /// What a proposal would do to `tree`, and what would have to be asked; nothing is done.
    ///
    /// # Errors
    /// Why it is refused.
    pub fn preview(
        &self,
        submission: &Submission<'_>,
        tree: &dyn PlanTree,
    ) -> Result<PlanPreview, Box<PlanRefusal>> {
        let plan = submit::make_plan(self, submission, tree)?;
        let digest = submit::plan_digest(&plan);
        let rules = admit::admission_rules(self, submission, &plan, self.trust_state().allows());
        Ok(PlanPreview { plan, digest, rules })
    }

    /// What is set.
    pub fn config(&self) -> &Config {
        &self.loaded.config
    }

    /// The project's files, as the planner reads them.
    pub fn tree(&self, limits: &PlanLimits) -> ProjectTree<'_> {
        self.ledger.tree(u64::try_from(limits.file_bytes).unwrap_or(u64::MAX))
    }

    /// What git has checked out there.
    pub fn head(&self) -> GitHead {
        head::read(&self.root)
    }

    /// git, in this project.
    pub fn git(&self) -> Git<'_> {
        Git::new(&self.runner, &self.root)
    }

    /// What the project's file wants to be trusted with.
    pub fn wants(&self) -> TrustRequest {
        self.loaded.trust_request()
    }

    /// What the user trusts.
    pub fn trust(&self) -> TrustStore {
        TrustStore::new(self.home.as_deref())
    }

    /// Whether the user trusts what the project's file wants.
    pub fn trust_state(&self) -> trust::TrustState {
        self.trust().state(&self.root, &self.wants())
    }

    /// Whether there is a directory of the user's, where keys and trust are kept.
    pub fn has_home(&self) -> bool {
        self.home.is_some()
    }

    /// The keys of checkouts.
    pub fn checkout(&self) -> CheckoutKeys {
        CheckoutKeys::new(self.home.as_deref())
    }

    /// The name of the project: the configured one, else what it would be called.
    pub fn project_id(&self) -> String {
        self.config().project_id.clone().unwrap_or_else(|| identity::suggest_project_id(&self.root).id)
    }

    /// The key of this checkout, if it has one already.
    pub fn key(&self) -> Option<CheckoutKey> {
        self.checkout().key(&self.root).ok().flatten()
    }

    /// What the name that an answer gives means here; `None` if it gives none or the project has none.
    pub fn match_project_id(&self, named: Option<&str>) -> Option<NamedProject> {
        let ours = self.config().project_id.as_deref()?;
        Some(CheckoutKey::classify(ours, self.key().as_ref(), named?))
    }
}
