//! A submission's way through the door, step by step, in the order of the design: the right project, an id,
//! a plan, trust, admit, `preCommand`, the linter's baseline, the ledger, `postCommand`, the linter, accept,
//! commit or put back.
//!
//! Invariants: what is applied is what was approved, by digest; up to [`Way::begin`] nothing is written; from
//! there on every way out either commits or puts back.

use relaycode_change::path::RelPath;
use relaycode_change::plan::{self, Change, FilePlan, Plan, Refused};
use relaycode_change::tree::{Entry, Tree};
use relaycode_change::{revise, syntax};
use relaycode_ledger::change::FileChange;
use relaycode_ledger::digest::of_changes;
use relaycode_ledger::{Digest, LedgerError, Open, TxId};
use relaycode_project::checkout::{self, Named};
use relaycode_project::trust;
use relaycode_text::redact::redact;

use crate::about::about;
use crate::admit;
use crate::approver::{Approver, Event, Question, Reply, Revision};
use crate::count::Counted;
use crate::door::{Door, SYNTAX_BUDGET};
use crate::gate::{self, GateReport, Step, StepResult};
use crate::lent::Lent;
use crate::outcome::{DoorError, Outcome};
use crate::rule::{Allow, Rule};
use crate::submission::Submission;

/// So often a plan is made anew because files changed under it.
const PLANNED_AGAIN: usize = 5;

/// Takes a submission through.
pub(crate) fn submit(
    door: &Door,
    submission: &Submission<'_>,
    approver: &mut dyn Approver,
) -> Result<Outcome, DoorError> {
    let way = Way {
        door,
        submission,
        approver,
        trusted: false,
        asked: false,
        decisions: Vec::new(),
        gate: GateReport::default(),
    };
    match way.through() {
        Ok(outcome) | Err(Halt::Out(outcome)) => Ok(*outcome),
        Err(Halt::Error(error)) => Err(error),
    }
}

/// Why the way ends before its end.
pub(crate) enum Halt {
    /// With an outcome.
    Out(Box<Outcome>),
    /// With an error.
    Error(DoorError),
}

impl From<Outcome> for Halt {
    fn from(outcome: Outcome) -> Halt {
        Halt::Out(Box::new(outcome))
    }
}

impl<E: Into<DoorError>> From<E> for Halt {
    fn from(error: E) -> Halt {
        Halt::Error(error.into())
    }
}

/// A submission on its way.
pub(crate) struct Way<'a, 's> {
    pub(crate) door: &'a Door,
    pub(crate) submission: &'a Submission<'s>,
    pub(crate) approver: &'a mut dyn Approver,
    /// What the project's file wants counts.
    pub(crate) trusted: bool,
    /// Somebody was asked since the plan was made, which takes as long as it takes.
    asked: bool,
    /// Which rules decided, one line each.
    pub(crate) decisions: Vec<String>,
    pub(crate) gate: GateReport,
}

/// A plan that was admitted.
pub(crate) struct Admitted {
    pub(crate) plan: Plan,
    pub(crate) digest: Digest,
    /// Who decided.
    pub(crate) by: String,
    /// A person did, who saw this very plan.
    pub(crate) by_person: bool,
}

impl<'a> Way<'a, '_> {
    fn through(mut self) -> Result<Box<Outcome>, Halt> {
        self.right_project()?;
        let id = self.identity()?;
        let plan = self.plan()?;
        self.ask_for_trust()?;
        let mut waiting = Some((plan, None));
        let mut prepared = None;
        for _ in 0..PLANNED_AGAIN {
            let Some((plan, extra)) = waiting.take() else { break };
            let mut admitted = self.admit(plan, extra)?;
            // The ledger compares every byte once more. Here it is done only after time has passed: before
            // a command runs for nothing, and after it ran.
            let mut changed = Vec::new();
            if self.asked {
                changed = self.changed(&admitted.plan);
            }
            if changed.is_empty() && prepared.is_none() {
                prepared = Some(self.prepare(&admitted.plan)?);
                if !self.gate.steps.is_empty() {
                    changed = self.changed(&admitted.plan);
                }
            }
            if changed.is_empty() {
                match self.begin(id, &mut admitted) {
                    Ok(open) => {
                        let baseline = prepared.flatten();
                        return self.keep_or_put_back(open, admitted, baseline.as_ref());
                    }
                    // Only where nothing was touched: any other error has more to say than that.
                    Err(error @ (LedgerError::Refused(_) | LedgerError::Conflict { .. })) => {
                        changed = self.changed(&admitted.plan);
                        if changed.is_empty() {
                            return Err(error.into());
                        }
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            self.approver.event(&Event::PlannedAgain { paths: &changed });
            self.asked = false;
            let extra = admitted.by_person.then_some(Rule::ChangedMeanwhile { paths: changed });
            waiting = Some((self.plan()?, extra));
        }
        let paths = waiting.map(|(plan, _)| plan.files.iter().map(|file| file.path.clone()).collect());
        Err(Outcome::Restless { paths: paths.unwrap_or_default() }.into())
    }

    /// An answer that names another project has no business here.
    fn right_project(&self) -> Result<(), Halt> {
        let named = self.submission.proposal.control.project_id.as_deref();
        if self.door.named(named) != Some(Named::OtherProject) {
            return Ok(());
        }
        let named = checkout::strip(None, named.unwrap_or_default());
        Err(Outcome::OtherProject { named, ours: self.door.project_id() }.into())
    }

    /// The id that the answer asks for, if the ledger does not have it yet; else one of ours.
    fn identity(&mut self) -> Result<TxId, Halt> {
        let asked = self.submission.proposal.control.uuid.as_ref().and_then(|text| text.parse::<TxId>().ok());
        let Some(id) = asked else {
            return Ok(TxId::random());
        };
        let record = match self.door.ledger.record(id) {
            Err(LedgerError::Unknown { .. }) => return Ok(id),
            Err(error) => return Err(error.into()),
            Ok(record) => record,
        };
        if record.answer == Some(self.submission.answer) {
            return Err(Outcome::AlreadyProcessed { id, other_content: false }.into());
        }
        // `-y` does not stand in for this: an id that comes twice is odd.
        let question = Question::NewChange { id, answer: self.submission.answer };
        match self.ask(&question) {
            Reply::Yes { digest } if digest == question.digest() => Ok(TxId::random()),
            Reply::Stop => Err(Outcome::Interrupted { put_back: false }.into()),
            _ => Err(Outcome::AlreadyProcessed { id, other_content: true }.into()),
        }
    }

    /// The plan. One that changes nothing ends the way.
    fn plan(&self) -> Result<Plan, Halt> {
        let tree = self.door.tree(&self.submission.limits);
        let planned = planned(self.door, self.submission, &tree);
        let plan = planned.map_err(|refused| Halt::from(Outcome::Refused(refused)))?;
        if plan.files.iter().all(|file| file.change == Change::Unchanged) {
            return Err(Outcome::AlreadyIn { plan }.into());
        }
        Ok(plan)
    }

    /// Asks whether the project's commands may run, if that is not known.
    fn ask_for_trust(&mut self) -> Result<(), Halt> {
        let wants = self.door.wants();
        let before = match self.door.trust_state() {
            trust::State::NothingToTrust | trust::State::Trusted { .. } => {
                self.trusted = true;
                return Ok(());
            }
            trust::State::Changed { before } => Some(before),
            trust::State::NotSeen | trust::State::Unavailable { .. } => None,
        };
        let question = Question::Trust { wants: &wants, before: before.as_ref() };
        match self.ask(&question) {
            Reply::Yes { digest } if digest == question.digest() => {
                self.door.trust().grant(&self.door.root, &wants, &self.submission.now)?;
                self.trusted = true;
                Ok(())
            }
            Reply::Stop => Err(Outcome::Interrupted { put_back: false }.into()),
            Reply::Nobody => Err(Outcome::NotTrusted { wants, before }.into()),
            _ => Ok(()),
        }
    }

    fn ask(&mut self, question: &Question<'_>) -> Reply {
        self.asked = true;
        self.approver.decide(question)
    }

    /// Gets a yes for the plan, or for what a person makes of it.
    fn admit(&mut self, mut plan: Plan, mut extra: Option<Rule>) -> Result<Admitted, Halt> {
        let proposal = self.submission.proposal;
        loop {
            let digest = digest(&plan);
            let mut rules = admit::rules(self.door, self.submission, &plan, self.trusted);
            rules.extend(extra.take());
            let open: Vec<Rule> =
                rules.iter().filter(|rule| !self.submission.covers(rule)).cloned().collect();
            if open.is_empty() {
                let by = self.covered_by(&rules);
                self.decided("admit", &by, &rules);
                self.approver.event(&Event::Admitted { proposal, plan: &plan, digest });
                return Ok(Admitted { plan, digest, by, by_person: false });
            }
            match self.ask(&Question::Apply { proposal, plan: &plan, digest, rules: &open }) {
                Reply::Yes { digest: given } if given == digest => {
                    let by = self.approver.name().to_string();
                    self.decided("admit", &by, &rules);
                    return Ok(Admitted { plan, digest, by, by_person: true });
                }
                Reply::Yes { digest: given } => {
                    return Err(DoorError::OtherDigest { given, wanted: digest }.into());
                }
                Reply::Revise(revisions) => {
                    plan = self.revised(plan, &revisions)?;
                    extra = Some(Rule::Revised);
                }
                Reply::No { reason } => {
                    return Err(Outcome::Declined { plan, reason, put_back: false, gate: None }.into());
                }
                Reply::Stop => return Err(Outcome::Interrupted { put_back: false }.into()),
                Reply::Nobody => return Err(Outcome::NobodyToAsk { plan, rules: open }.into()),
            }
        }
    }

    /// The plan as a person wants it.
    fn revised(&self, mut plan: Plan, revisions: &[Revision]) -> Result<Plan, Halt> {
        for revision in revisions {
            let revised = match revision {
                Revision::LeaveOut(path) => revise::leave_out(&plan, path),
                Revision::OnlyHunks(path, hunks) => revise::only_hunks(&plan, path, hunks),
                Revision::Text(path, text) => revise::with_text(&plan, path, text.clone()),
            };
            plan = revised.map_err(|error| DoorError::Revision(error.to_string()))?;
        }
        check_syntax(self.submission, &mut plan);
        if plan.files.iter().all(|file| file.change == Change::Unchanged) {
            return Err(Outcome::Declined { plan, reason: None, put_back: false, gate: None }.into());
        }
        Ok(plan)
    }

    /// The files of the plan that are no longer as it says.
    fn changed(&self, plan: &Plan) -> Vec<RelPath> {
        let tree = self.door.tree(&self.submission.limits);
        let files = plan.files.iter().filter(|file| file.change != Change::Unchanged);
        files.filter(|file| !as_planned(file, &tree)).map(|file| file.path.clone()).collect()
    }

    /// Runs what has to run before: `preCommand`, and the linter for its baseline.
    fn prepare(&mut self, plan: &Plan) -> Result<Option<Counted>, Halt> {
        if !self.trusted {
            return Ok(None);
        }
        let patch = &self.door.config().patch;
        if !patch.pre_command.trim().is_empty() {
            let (report, _) = gate::run::run(self.door, Step::PreCommand, &patch.pre_command, self.approver);
            self.stopped(&report.result)?;
            if !report.succeeded() {
                return Err(Outcome::NotBegun { plan: plan.clone(), step: report }.into());
            }
            self.gate.steps.push(report);
        }
        if patch.linter.trim().is_empty() {
            return Ok(None);
        }
        let (report, counted) = gate::run::run(self.door, Step::Baseline, &patch.linter, self.approver);
        self.stopped(&report.result)?;
        if counted.is_none() && !self.submission.consent.allow.contains(&Allow::Gate) {
            return Err(Outcome::NotBegun { plan: plan.clone(), step: report }.into());
        }
        self.gate.steps.push(report);
        Ok(counted)
    }

    fn stopped(&self, result: &StepResult) -> Result<(), Halt> {
        if *result == StepResult::Stopped || self.approver.stopped() {
            return Err(Outcome::Interrupted { put_back: false }.into());
        }
        Ok(())
    }

    /// Puts the plan on disk, ready to be kept or put back.
    fn begin(&self, id: TxId, admitted: &mut Admitted) -> Result<Open<'a>, LedgerError> {
        let door = self.door;
        let proposal = self.submission.proposal;
        let named = proposal.control.project_id.as_deref();
        let ours = door.config().project_id.as_deref();
        let project_id = match named {
            Some(named) => checkout::strip(ours, named),
            None => door.project_id(),
        };
        let about = about(self.submission, id, &project_id, door.head(), &admitted.plan, admitted.digest);
        let lent = Lent::new(&mut admitted.plan);
        door.ledger.begin(lent.changes(), about, &|| self.approver.stopped())
    }

    /// What the user said beforehand that covers these; policy, if there is nothing to cover.
    pub(crate) fn covered_by(&self, rules: &[Rule]) -> String {
        let mut said: Vec<String> = Vec::new();
        for rule in rules {
            let by = rule.allowed_by().map_or("-y".to_string(), |allow| format!("--allow {}", allow.name()));
            if !said.contains(&by) {
                said.push(by);
            }
        }
        if said.is_empty() { "policy".to_string() } else { said.join(" ") }
    }

    pub(crate) fn decided(&mut self, step: &str, by: &str, rules: &[Rule]) {
        // A plan that was made anew is decided about anew; what was said of the one before counts for nothing.
        let same = format!("{step} ");
        self.decisions.retain(|decision| !decision.starts_with(&same));
        let sentences: Vec<String> = rules.iter().map(Rule::sentence).collect();
        // What a rule found may quote a file, and what the gate said a command line.
        let decision = match (sentences.is_empty(), step) {
            (false, _) => format!("{step} by {by}: {}", sentences.join("; ")),
            (true, "accept") if self.gate.linter().is_some() => {
                let count = |errors: Option<u64>| errors.map_or("?".to_string(), |count| count.to_string());
                let (before, after) = (count(self.gate.errors_before), count(self.gate.errors_after));
                let s = if self.gate.errors_before == Some(1) { "" } else { "s" };
                format!("{step} by {by}: {before} error{s} before, {after} after")
            }
            (true, "accept") => format!("{step} by {by}: there was nothing to check it with"),
            (true, _) if self.submission.origin.asked_for() => {
                format!("{step} by {by}: trusted, asked for in this command, and nothing to look at")
            }
            (true, _) => format!("{step} by {by}: trusted, with its key, and nothing to look at"),
        };
        self.decisions.push(redact(&decision).into_owned());
    }
}

/// The plan for `tree`, with what the syntax check found.
pub(crate) fn planned(
    door: &Door,
    submission: &Submission<'_>,
    tree: &dyn Tree,
) -> Result<Plan, Box<Refused>> {
    let seen = door.ledger.shown();
    let mut plan = plan::plan(submission.proposal, tree, &seen, &submission.limits)?;
    check_syntax(submission, &mut plan);
    Ok(plan)
}

fn check_syntax(submission: &Submission<'_>, plan: &mut Plan) {
    if submission.syntax {
        plan.findings.extend(syntax::check(plan, SYNTAX_BUDGET));
    }
}

/// The digest of what a plan does.
pub fn digest(plan: &Plan) -> Digest {
    of_changes(plan.files.iter().filter_map(FileChange::from_plan))
}

/// Whether a file is as the plan found it.
fn as_planned(file: &FilePlan, tree: &dyn Tree) -> bool {
    let old = file.renamed_from.as_ref().unwrap_or(&file.path);
    let there = match (tree.entry(old), &file.before) {
        (Ok(Entry::File { bytes, mode }), Some(before)) => bytes == *before && Some(mode) == file.mode_before,
        (Ok(Entry::Missing), None) => true,
        _ => false,
    };
    // A renamed file's new name must still be free.
    there && (file.renamed_from.is_none() || matches!(tree.entry(&file.path), Ok(Entry::Missing)))
}
