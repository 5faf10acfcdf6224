//! A submission's way through the door, step by step, in the order of the design: the right project, an id,
//! a plan, trust, admit, `preCommand`, the linter's baseline, the ledger, `postCommand`, the linter, accept,
//! commit or put back.
//!
//! Invariants: what is applied is what was approved, by digest; up to [`Submit::begin`] nothing is written; from
//! there on every way out either commits or puts back.

pub(crate) mod accept;
pub(crate) mod metadata;
pub(crate) mod outcome;
pub(crate) mod submission;

use relaycode_change::plan::tree::{PlanTree, TreeEntry};
use relaycode_change::plan::{
    self, FileChangeKind, FilePlan, FindingKind, Plan, PlanFinding, PlanRefusal, revise,
};
use relaycode_change::{proposal::path::RelPath, syntax};
use relaycode_ledger::{Digest, LedgerError, OpenTransaction, TxId};
use relaycode_ledger::{disk::digest::digest_changes, transaction::change::FileChange};
use relaycode_project::checkout::{self, CheckoutKey, NamedProject};
use relaycode_project::trust;
use relaycode_text::{plural::pluralize, redact::redact};

use crate::approval::approver::{ApprovalQuestion, ApprovalReply, Approver, DoorEvent, PlanRevision};
use crate::approval::rules::{self, ApprovalReason, ApprovalRule, CheckedChange, RuleConsent};
use crate::door::{Door, SYNTAX_BUDGET, SYNTAX_THREADS};
use crate::gate::{GateReport, GateStep, StepResult, run::run_step};
use crate::linter::LinterCount;
use crate::submit::outcome::{DoorError, SubmitOutcome};
use crate::submit::{metadata::record_metadata, submission::Submission};

/// How many changes are looked through for an answer that is sent again.
const RECENT_CHANGES: usize = 50;

/// So often a plan is made anew because files changed under it.
const MAX_REPLANS: usize = 5;

pub(crate) fn submit(
    door: &Door,
    submission: &Submission<'_>,
    planned: Option<Result<Plan, Box<PlanRefusal>>>,
    approver: &mut dyn Approver,
) -> Result<SubmitOutcome, DoorError> {
    let way = Submit {
        door,
        submission,
        planned,
        approver,
        trusted: false,
        approver_asked: false,
        decisions: Vec::new(),
        gate: GateReport::default(),
    };
    match way.run() {
        Ok(outcome) | Err(EarlyExit::Outcome(outcome)) => Ok(*outcome),
        Err(EarlyExit::Error(error)) => Err(error),
    }
}

/// A step of the way, or why it ends there.
pub(crate) type WayResult<T> = Result<T, EarlyExit>;

/// Why the way ends before its end.
pub(crate) enum EarlyExit {
    Outcome(Box<SubmitOutcome>),
    Error(DoorError),
}

impl From<SubmitOutcome> for EarlyExit {
    fn from(outcome: SubmitOutcome) -> EarlyExit {
        EarlyExit::Outcome(Box::new(outcome))
    }
}

impl<E: Into<DoorError>> From<E> for EarlyExit {
    fn from(error: E) -> EarlyExit {
        EarlyExit::Error(error.into())
    }
}

/// A submission on its way.
pub(crate) struct Submit<'a, 's> {
    pub(crate) door: &'a Door,
    pub(crate) submission: &'a Submission<'s>,
    /// The first plan, where somebody made it before. Anything that changed since is found like any other change
    /// between a plan and the ledger.
    planned: Option<Result<Plan, Box<PlanRefusal>>>,
    pub(crate) approver: &'a mut dyn Approver,
    /// What the project's file wants counts.
    pub(crate) trusted: bool,
    /// Somebody was asked since the plan was made, which takes as long as it takes.
    approver_asked: bool,
    /// Which rules decided, one line each.
    pub(crate) decisions: Vec<String>,
    pub(crate) gate: GateReport,
}

/// A plan that was admitted.
pub(crate) struct AdmittedPlan {
    pub(crate) plan: Plan,
    pub(crate) digest: Digest,
    /// Who decided.
    pub(crate) by: String,
    /// A person did, who saw this very plan.
    pub(crate) by_person: bool,
}

impl<'a> Submit<'a, '_> {
    fn run(mut self) -> WayResult<Box<SubmitOutcome>> {
        self.check_project()?;
        let id = self.choose_id()?;
        let plan = self.plan_changes()?;
        self.ask_for_trust()?;
        let mut waiting = Some((plan, None));
        let mut prepared = None;
        for _ in 0..MAX_REPLANS {
            let Some((plan, extra)) = waiting.take() else { break };
            let admitted = self.admit(plan, extra)?;
            // The ledger compares every byte once more. Here it is done only after time has passed: before
            // a command runs for nothing, and after it ran.
            let mut changed = Vec::new();
            if self.approver_asked {
                changed = self.changed_files(&admitted.plan);
            }
            if changed.is_empty() && prepared.is_none() {
                prepared = Some(self.run_baseline(&admitted.plan)?);
                if !self.gate.steps.is_empty() {
                    changed = self.changed_files(&admitted.plan);
                }
            }
            if changed.is_empty() {
                match self.begin(id, &admitted) {
                    Ok(open) => {
                        let baseline = prepared.flatten();
                        return self.keep_or_put_back(open, admitted, baseline.as_ref());
                    }
                    // Only where nothing was touched: any other error has more to say than that.
                    Err(error @ (LedgerError::Refused(_) | LedgerError::Conflict { .. })) => {
                        changed = self.changed_files(&admitted.plan);
                        if changed.is_empty() {
                            return Err(error.into());
                        }
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            self.approver.on_event(&DoorEvent::Replanned { paths: &changed });
            self.approver_asked = false;
            let extra = admitted.by_person.then(|| rules::asked_again::changed_meanwhile(&changed));
            waiting = Some((self.plan_changes()?, extra));
        }
        let paths = waiting.map(|(plan, _)| plan.files.iter().map(|file| file.path.clone()).collect());
        Err(SubmitOutcome::FilesUnstable { paths: paths.unwrap_or_default() }.into())
    }

    /// An answer that names another project has no business here.
    fn check_project(&self) -> WayResult<()> {
        let named = self.submission.proposal.control.project_id.as_deref();
        if self.door.match_project_id(named) != Some(NamedProject::OtherProject) {
            return Ok(());
        }
        let named = checkout::strip_key(None, named.unwrap_or_default());
        Err(SubmitOutcome::WrongProject { named, ours: self.door.project_id() }.into())
    }

    /// The id that the answer asks for, if the ledger does not have it yet; else one of ours.
    fn choose_id(&mut self) -> WayResult<TxId> {
        let asked = self.submission.proposal.control.uuid.as_ref().and_then(|text| text.parse::<TxId>().ok());
        let Some(id) = asked else { return Ok(TxId::random()) };
        let record = match self.door.ledger.record(id) {
            Err(LedgerError::UnknownTransaction { .. }) => return Ok(id),
            Err(error) => return Err(error.into()),
            Ok(record) => record,
        };
        if record.answer == Some(self.submission.answer) {
            return Err(SubmitOutcome::AlreadyProcessed { id, other_content: false }.into());
        }
        // `-y` does not stand in for this: an id that comes twice is odd.
        let question = ApprovalQuestion::NewChange { id, answer: self.submission.answer };
        match self.ask_approver(&question) {
            ApprovalReply::Yes { digest } if digest == question.digest() => Ok(TxId::random()),
            ApprovalReply::Stop => Err(SubmitOutcome::Interrupted { put_back: false }.into()),
            _ => Err(SubmitOutcome::AlreadyProcessed { id, other_content: true }.into()),
        }
    }

    /// The plan. One that changes nothing ends the way.
    fn plan_changes(&mut self) -> WayResult<Plan> {
        let plan = self.planned.take().unwrap_or_else(|| self.door.plan(self.submission));
        // A plan that was broken off is refused, or lacks its last findings.
        if self.approver.stop_requested() {
            return Err(SubmitOutcome::Interrupted { put_back: false }.into());
        }
        let plan = plan.map_err(SubmitOutcome::Refused)?;
        if changes(&plan).next().is_none() { Err(self.agree_on_nothing(plan).into()) } else { Ok(plan) }
    }

    /// The end of a plan that changes nothing. Where that is not certain (the result of an edit stands in the file, but
    /// perhaps always did), somebody has to agree.
    fn agree_on_nothing(&mut self, plan: Plan) -> SubmitOutcome {
        let (door, submission, trusted) = (self.door, self.submission, self.trusted);
        let reasons = CheckedChange { door, submission, plan: &plan, trusted }.reasons().into_iter();
        let open: Vec<ApprovalReason> =
            reasons.filter(|reason| reason.finding.is_some() && !submission.covers(reason)).collect();
        if open.is_empty() || was_applied(door, submission) {
            return SubmitOutcome::AlreadyIn { plan: plan.without_doubts() };
        }
        let digest = plan_digest(&plan);
        let proposal = submission.proposal;
        match self.ask_approver(&ApprovalQuestion::Apply { proposal, plan: &plan, digest, rules: &open }) {
            ApprovalReply::Yes { .. } => SubmitOutcome::AlreadyIn { plan: plan.without_doubts() },
            ApprovalReply::Stop => SubmitOutcome::Interrupted { put_back: false },
            ApprovalReply::Unavailable => SubmitOutcome::ApprovalRequired { plan, rules: open },
            ApprovalReply::No { reason } => {
                SubmitOutcome::Declined { plan, reason, put_back: false, gate: None }
            }
            // There is nothing to revise.
            ApprovalReply::Revise(_) => {
                SubmitOutcome::Declined { plan, reason: None, put_back: false, gate: None }
            }
        }
    }

    /// Asks whether the project's commands may run, if that is not known.
    fn ask_for_trust(&mut self) -> WayResult<()> {
        // No command runs for it here.
        if self.submission.origin.is_in_turn() {
            return Ok(());
        }
        let wants = self.door.wants();
        let before = match self.door.trust_state() {
            trust::TrustState::NothingToTrust | trust::TrustState::Trusted { .. } => {
                self.trusted = true;
                return Ok(());
            }
            trust::TrustState::Changed { before } => Some(before),
            trust::TrustState::NeverAsked | trust::TrustState::Unavailable { .. } => None,
        };
        let question = ApprovalQuestion::Trust { wants: &wants, before: before.as_ref() };
        match self.ask_approver(&question) {
            ApprovalReply::Yes { digest } if digest == question.digest() => {
                self.door.trust().grant(&self.door.root, &wants, &self.submission.now)?;
                self.trusted = true;
                Ok(())
            }
            ApprovalReply::Stop => Err(SubmitOutcome::Interrupted { put_back: false }.into()),
            ApprovalReply::Unavailable => Err(SubmitOutcome::NotTrusted { wants, before }.into()),
            _ => Ok(()),
        }
    }

    fn ask_approver(&mut self, question: &ApprovalQuestion<'_>) -> ApprovalReply {
        self.approver_asked = true;
        self.approver.decide(question)
    }

    /// Gets a yes for the plan, or for what a person makes of it.
    fn admit(&mut self, mut plan: Plan, mut extra: Option<ApprovalReason>) -> WayResult<AdmittedPlan> {
        let proposal = self.submission.proposal;
        loop {
            let digest = plan_digest(&plan);
            let (door, submission, trusted) = (self.door, self.submission, self.trusted);
            let mut rules = CheckedChange { door, submission, plan: &plan, trusted }.reasons();
            rules.extend(extra.take());
            let open: Vec<ApprovalReason> =
                rules.iter().filter(|rule| !self.submission.covers(rule)).cloned().collect();
            if open.is_empty() {
                let by = self.consent_source(&rules);
                self.record_decision("admit", &by, &rules);
                self.approver.on_event(&DoorEvent::Admitted { proposal, plan: &plan, digest });
                return Ok(AdmittedPlan { plan, digest, by, by_person: false });
            }
            match self.ask_approver(&ApprovalQuestion::Apply { proposal, plan: &plan, digest, rules: &open })
            {
                ApprovalReply::Yes { digest: given } if given == digest => {
                    let by = self.approver.name().to_string();
                    self.record_decision("admit", &by, &rules);
                    return Ok(AdmittedPlan { plan, digest, by, by_person: true });
                }
                ApprovalReply::Yes { digest: given } => {
                    return Err(DoorError::OtherDigest { given, wanted: digest }.into());
                }
                ApprovalReply::Revise(revisions) => {
                    plan = self.apply_revisions(plan, &revisions)?;
                    extra = Some(rules::asked_again::revised());
                }
                ApprovalReply::No { reason } => {
                    return Err(SubmitOutcome::Declined { plan, reason, put_back: false, gate: None }.into());
                }
                ApprovalReply::Stop => return Err(SubmitOutcome::Interrupted { put_back: false }.into()),
                ApprovalReply::Unavailable => {
                    return Err(SubmitOutcome::ApprovalRequired { plan, rules: open }.into());
                }
            }
        }
    }

    /// The plan as a person wants it.
    fn apply_revisions(&self, mut plan: Plan, revisions: &[PlanRevision]) -> WayResult<Plan> {
        for revision in revisions {
            let revised = match revision {
                PlanRevision::LeaveOut(path) => revise::exclude_file(&plan, path),
                PlanRevision::OnlyHunks(path, hunks) => revise::keep_hunks(&plan, path, hunks),
                PlanRevision::Text(path, text) => revise::replace_text(&plan, path, text.clone()),
            };
            plan = revised.map_err(|error| DoorError::Revision(error.to_string()))?;
        }
        check_result(self.submission, self.door.key().as_ref(), &mut plan);
        if changes(&plan).next().is_none() {
            return Err(SubmitOutcome::Declined { plan, reason: None, put_back: false, gate: None }.into());
        }
        Ok(plan)
    }

    /// The files of the plan that are no longer as it says.
    fn changed_files(&self, plan: &Plan) -> Vec<RelPath> {
        let tree = self.door.tree(&self.submission.limits);
        let most = self.submission.limits.total_bytes;
        changes(plan).filter(|file| !matches_plan(file, &tree, most)).map(|file| file.path.clone()).collect()
    }

    /// Runs what has to run before: `preCommand`, and the linter for its baseline.
    fn run_baseline(&mut self, plan: &Plan) -> WayResult<Option<LinterCount>> {
        if !self.trusted {
            return Ok(None);
        }
        let patch = &self.door.config().patch;
        if !patch.pre_command.trim().is_empty() {
            let (report, _) = run_step(self.door, GateStep::PreCommand, &patch.pre_command, self.approver);
            self.check_stopped(&report.result)?;
            if !report.succeeded() {
                return Err(SubmitOutcome::PreCheckFailed { plan: plan.clone(), step: report }.into());
            }
            self.gate.steps.push(report);
        }
        if patch.linter.trim().is_empty() {
            return Ok(None);
        }
        let (report, counted) = run_step(self.door, GateStep::Baseline, &patch.linter, self.approver);
        self.check_stopped(&report.result)?;
        if counted.is_none() && !self.submission.consent.allow.contains(&rules::gate::GateRule.text().name) {
            return Err(SubmitOutcome::PreCheckFailed { plan: plan.clone(), step: report }.into());
        }
        self.gate.steps.push(report);
        Ok(counted)
    }

    fn check_stopped(&self, result: &StepResult) -> WayResult<()> {
        if *result == StepResult::Stopped || self.approver.stop_requested() {
            return Err(SubmitOutcome::Interrupted { put_back: false }.into());
        }
        Ok(())
    }

    /// Puts the plan on disk, ready to be kept or put back.
    fn begin(&self, id: TxId, admitted: &AdmittedPlan) -> Result<OpenTransaction<'a>, LedgerError> {
        let door = self.door;
        let proposal = self.submission.proposal;
        let named = proposal.control.project_id.as_deref();
        let ours = door.config().project_id.as_deref();
        let project_id = named.map_or_else(|| door.project_id(), |named| checkout::strip_key(ours, named));
        let about = record_metadata(self.submission, id, &project_id, door, &admitted.plan, admitted.digest);
        let changes: Vec<_> = admitted.plan.files.iter().filter_map(FileChange::from_plan).collect();
        door.ledger.begin(&changes, about, &|| self.approver.stop_requested())
    }

    /// What the user said beforehand that covers these; policy, if there is nothing to cover.
    pub(crate) fn consent_source(&self, rules: &[ApprovalReason]) -> String {
        let mut said: Vec<String> = Vec::new();
        for rule in rules {
            let by = match rule.rule.consent {
                RuleConsent::Allow => format!("--allow {}", rule.name()),
                _ => "-y".to_string(),
            };
            if !said.contains(&by) {
                said.push(by);
            }
        }
        if said.is_empty() { "policy".to_string() } else { said.join(" ") }
    }

    pub(crate) fn record_decision(&mut self, step: &str, by: &str, rules: &[ApprovalReason]) {
        // A plan that was made anew is decided about anew; what was said of the one before counts for nothing.
        let same = format!("{step} ");
        self.decisions.retain(|decision| !decision.starts_with(&same));
        let sentences: Vec<&str> = rules.iter().map(|rule| rule.sentence.as_str()).collect();
        // What a rule found may quote a file, and what the check said a command line.
        let decision = match (sentences.is_empty(), step) {
            (false, _) => format!("{step} by {by}: {}", sentences.join("; ")),
            (true, "accept") if self.gate.linter().is_some() => {
                let before = self.gate.errors_before;
                let before = before.map_or("? errors".to_string(), |count| pluralize(count, "error"));
                let after = self.gate.errors_after.map_or("?".to_string(), |count| count.to_string());
                format!("{step} by {by}: {before} before, {after} after")
            }
            (true, "accept") => format!("{step} by {by}: there was nothing to check it with"),
            (true, _) if self.submission.origin.is_requested() => {
                format!("{step} by {by}: trusted, asked for in this command, and nothing to look at")
            }
            (true, _) if self.submission.origin.is_in_turn() => {
                format!("{step} by {by}: an edit of the agent's turn, and nothing to look at")
            }
            (true, _) => format!("{step} by {by}: trusted, with its key, and nothing to look at"),
        };
        let mut decision = redact(&decision).into_owned();
        if let Some(key) = self.door.key() {
            key.redact(&mut decision);
        }
        self.decisions.push(decision);
    }
}

/// Whether one of the newest changes is this very answer: then its result is its own.
fn was_applied(door: &Door, submission: &Submission<'_>) -> bool {
    let newest = door.ledger.log_page(0, RECENT_CHANGES).map_or_else(|_| Vec::new(), |page| page.entries);
    let standing = newest.iter().flat_map(|entry| &entry.members).filter(|change| !change.undone);
    standing
        .filter_map(|change| door.ledger.record(change.id?).ok())
        .any(|record| record.answer == Some(submission.answer))
}

/// The plan and the reasons as they would be met on the way: of a plan that changes nothing, only what is not certain
/// about it is asked.
pub(crate) fn expected_questions(
    door: &Door,
    submission: &Submission<'_>,
    plan: Plan,
    mut reasons: Vec<ApprovalReason>,
) -> (Plan, Vec<ApprovalReason>) {
    if changes(&plan).next().is_some() {
        return (plan, reasons);
    }
    reasons.retain(|reason| reason.finding.is_some());
    if reasons.is_empty() || was_applied(door, submission) {
        (plan.without_doubts(), Vec::new())
    } else {
        (plan, reasons)
    }
}

/// The plan for `tree`, with what the syntax check found.
pub(crate) fn make_plan(
    door: &Door,
    submission: &Submission<'_>,
    tree: &dyn PlanTree,
) -> Result<Plan, Box<PlanRefusal>> {
    let seen = door.ledger.shown_texts();
    let key = door.key();
    let hide = |text: &mut String| {
        if let Some(key) = &key {
            key.redact(text);
        }
    };
    let planned = plan::plan(submission.proposal, tree, &seen, &submission.limits);
    let mut plan = planned.map_err(|mut refused| {
        refused.edit_texts(&mut { hide });
        refused
    })?;
    check_result(submission, key.as_ref(), &mut plan);
    plan.edit_texts(&mut { hide });
    Ok(plan)
}

/// Adds what is found by looking at the resulting files.
fn check_result(submission: &Submission<'_>, key: Option<&CheckoutKey>, plan: &mut Plan) {
    if submission.syntax {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(SYNTAX_THREADS);
        plan.findings.extend(syntax::check(plan, SYNTAX_BUDGET, threads, &submission.limits.stop));
    }
    if let Some(key) = key {
        let found: Vec<PlanFinding> = changes(plan).filter_map(|file| written_key(file, key)).collect();
        plan.findings.extend(found);
    }
}

/// The first line of a file that gets the key, or its name.
fn written_key(file: &FilePlan, key: &CheckoutKey) -> Option<PlanFinding> {
    let key = key.as_str();
    let lines = |bytes: &Option<Vec<u8>>| -> Vec<usize> {
        let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default());
        if !text.contains(key) {
            return Vec::new();
        }
        let lines = text.split('\n').enumerate();
        lines.filter(|(_, line)| line.contains(key)).map(|(at, _)| at + 1).collect()
    };
    let (before, after) = (lines(&file.before), lines(&file.after));
    let in_name = file.path.as_str().contains(key) && file.change != FileChangeKind::Deleted;
    let line = after.iter().find(|line| !before.contains(line)).or(after.first()).copied();
    (in_name || after.len() > before.len()).then(|| PlanFinding {
        kind: FindingKind::Key,
        path: file.path.clone(),
        line,
        text: "this checkout's key would be written into the file: whoever reads it can write answers that relay \
               takes for yours"
            .to_string(),
    })
}

/// The digest of what a plan does.
pub fn plan_digest(plan: &Plan) -> Digest {
    digest_changes(plan.files.iter().filter_map(FileChange::from_plan))
}

/// The files that a plan changes.
pub(crate) fn changes(plan: &Plan) -> impl Iterator<Item = &FilePlan> {
    plan.files.iter().filter(|file| file.change != FileChangeKind::Unchanged)
}

/// Whether a file is as the plan found it.
fn matches_plan(file: &FilePlan, tree: &dyn PlanTree, most: usize) -> bool {
    let old = file.renamed_from.as_ref().unwrap_or(&file.path);
    let there = match (tree.large_entry(old, most), &file.before) {
        (Ok(TreeEntry::File { bytes, mode }), Some(before)) => {
            bytes == *before && Some(mode) == file.mode_before
        }
        (Ok(TreeEntry::Missing), None) => true,
        _ => false,
    };
    // A renamed file's new name must still be free.
    there && (file.renamed_from.is_none() || matches!(tree.entry(&file.path), Ok(TreeEntry::Missing)))
}
