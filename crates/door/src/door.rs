//! The door of one project: everything that a submission needs, opened once.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, Weak};
use std::time::Duration;

use relaycode_change::plan::{Plan, PlanRefusal, tree::PlanTree};
use relaycode_change::proposal::limits::PlanLimits;
use relaycode_exec::Runner;
use relaycode_ledger::{Digest, Ledger, disk::tree::ProjectTree};
use relaycode_project::checkout::{CheckoutKey, CheckoutKeys, NamedProject};
use relaycode_project::config::{Config, LoadedConfig};
use relaycode_project::fence::GitGuard;
use relaycode_project::git::head::{self, GitHead};
use relaycode_project::trust::{self, TrustRequest, TrustStore};
use relaycode_project::{git::Git, identity};

use crate::approval::rules::{ApprovalReason, CheckedChange};
use crate::gate::run::GateFence;
use crate::submit::outcome::{DoorError, SubmitOutcome};
use crate::{approval::approver::Approver, submit, submit::submission::Submission};

/// The time that looking for new syntax errors may take.
pub const SYNTAX_BUDGET: Duration = Duration::from_millis(600);
/// Threads that look for them at the same time, if there are as many cores.
pub const SYNTAX_THREADS: usize = 8;

/// The way into one project.
pub struct Door {
    /// The project's directory, without links.
    pub root: PathBuf,
    /// What was done to it, and the only writer of its files.
    pub ledger: Ledger,
    pub loaded: LoadedConfig,
    /// Runs the project's commands.
    pub runner: Runner,
    /// What a fence around them needs; `None`: they run without one.
    pub gate_fence: Option<GateFence>,
    home: Option<PathBuf>,
    /// How git stood before the first of the commands that run now.
    pub(crate) git_before: Mutex<Weak<GitGuard>>,
}

/// What a proposal would do.
#[derive(Debug, Clone)]
pub struct PlanPreview {
    pub plan: Plan,
    pub digest: Digest,
    /// What a person would be asked about.
    pub rules: Vec<ApprovalReason>,
}

impl Door {
    /// The door of the project at `root`, whose ledger and configuration are given. `home` is the user's own
    /// directory. Nothing is read or written.
    pub fn new(
        root: PathBuf,
        ledger: Ledger,
        loaded: LoadedConfig,
        home: Option<PathBuf>,
        runner: Runner,
    ) -> Door {
        Door { root, ledger, loaded, runner, gate_fence: None, home, git_before: Mutex::default() }
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
        submit::submit(self, submission, None, approver)
    }

    /// The same for a proposal that was planned already, by [`Door::plan`].
    ///
    /// # Errors
    /// As [`Door::submit`].
    pub fn submit_planned(
        &self,
        submission: &Submission<'_>,
        plan: Result<Plan, Box<PlanRefusal>>,
        approver: &mut dyn Approver,
    ) -> Result<SubmitOutcome, DoorError> {
        submit::submit(self, submission, Some(plan), approver)
    }

    /// The plan for the project as it is now.
    ///
    /// # Errors
    /// Why it is refused.
    pub fn plan(&self, submission: &Submission<'_>) -> Result<Plan, Box<PlanRefusal>> {
        submit::make_plan(self, submission, &self.tree(&submission.limits))
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
        let trusted = self.trust_state().allows();
        let rules = CheckedChange { door: self, submission, plan: &plan, trusted }.reasons();
        let (plan, rules) = submit::expected_questions(self, submission, plan, rules);
        Ok(PlanPreview { plan, digest, rules })
    }

    /// The file that names the project's commands, as people know it; empty if there is none.
    pub fn config_file_name(&self) -> String {
        let name = self.loaded.file.as_deref().and_then(Path::file_name);
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The commands that are configured, in the order in which they run.
    pub fn gate_commands(&self) -> Vec<String> {
        let patch = &self.config().patch;
        let all = [&patch.pre_command, &patch.post_command, &patch.linter];
        all.into_iter().filter(|command| !command.trim().is_empty()).cloned().collect()
    }

    /// How much an answer may be in this project.
    pub fn limits(&self) -> PlanLimits {
        configured_limits(self.config())
    }

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

    pub fn git(&self) -> Git<'_> {
        Git::new(&self.runner, &self.root)
    }

    /// What the project's file wants to be trusted with.
    pub fn wants(&self) -> TrustRequest {
        self.loaded.trust_request()
    }

    pub fn trust(&self) -> TrustStore {
        TrustStore::new(self.home.as_deref())
    }

    /// Whether the user trusts what the project's file wants.
    pub fn trust_state(&self) -> trust::TrustState {
        self.trust().state(&self.root, &self.wants())
    }

    /// The user's own directory.
    pub(crate) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Whether there is a directory of the user's, where keys and trust are kept.
    pub fn has_home(&self) -> bool {
        self.home.is_some()
    }

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

/// relay's own limits, except for those that are configured.
pub fn configured_limits(config: &Config) -> PlanLimits {
    let own = PlanLimits::default();
    let set = &config.limits;
    let or = |limit: Option<u64>, own: usize| {
        limit.map_or(own, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
    };
    PlanLimits {
        text_bytes: or(set.text, own.text_bytes),
        files: or(set.files, own.files),
        file_bytes: or(set.file, own.file_bytes),
        hunks: or(set.hunks, own.hunks),
        total_bytes: or(set.total, own.total_bytes),
        work: or(set.work, own.work),
        ..own
    }
}
