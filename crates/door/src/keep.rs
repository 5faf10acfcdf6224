//! The second half of the way: the change is on disk, and either stays or goes. `postCommand` and the linter
//! judge it; policy or a person accepts it; whatever happens, the transaction is committed or put back.

use jiff::Timestamp;
use relaycode_change::plan::Change;
use relaycode_ledger::collect::Policy;
use relaycode_ledger::record::Record;
use relaycode_ledger::transaction::Verdict;
use relaycode_ledger::{Digest, LedgerError, Open};

use crate::approver::{Event, Question, Reply};
use crate::branch;
use crate::count::Counted;
use crate::gate::{self, Step};
use crate::outcome::{Applied, Outcome};
use crate::rule::Rule;
use crate::submit::{Admitted, Halt, Way};

/// Why a change on disk does not stay.
enum PutBack {
    /// The user wanted it to stop.
    Interrupted,
    /// A person said no.
    Declined(Option<String>),
    /// The gate said no.
    GateFailed(Vec<Rule>),
}

impl Way<'_, '_> {
    /// Runs the gate, decides, and ends the transaction one way or the other.
    pub(crate) fn keep_or_put_back(
        mut self,
        mut open: Open<'_>,
        admitted: Admitted,
        baseline: Option<&Counted>,
    ) -> Result<Box<Outcome>, Halt> {
        let files = admitted.plan.files.iter().filter(|file| file.change != Change::Unchanged).count();
        self.approver.event(&Event::OnDisk { files });
        if let Err(error) = self.run_gate(&mut open, baseline) {
            self.approver.event(&Event::PuttingBack);
            open.put_back()?;
            // Something that is no file stands in the place of one: the commands' doing, so it is theirs.
            if matches!(error, LedgerError::Refused(_)) {
                let rules = vec![Rule::Gate { text: format!("after the project's commands {error}") }];
                return Ok(Box::new(Outcome::GateFailed { plan: admitted.plan, gate: self.gate, rules }));
            }
            return Err(error.into());
        }
        let put_back = match self.accept(&open, &admitted) {
            Ok(()) => return self.commit(open, admitted),
            Err(put_back) => put_back,
        };
        self.approver.event(&Event::PuttingBack);
        open.put_back()?;
        let Admitted { plan, .. } = admitted;
        let gate = self.gate;
        Ok(Box::new(match put_back {
            PutBack::Interrupted => Outcome::Interrupted { put_back: true },
            PutBack::Declined(reason) => Outcome::Declined { plan, reason, put_back: true, gate: Some(gate) },
            PutBack::GateFailed(rules) => Outcome::GateFailed { plan, gate, rules },
        }))
    }

    /// `postCommand` and the linter, on the change as it is on disk.
    fn run_gate(&mut self, open: &mut Open<'_>, baseline: Option<&Counted>) -> Result<(), LedgerError> {
        let patch = &self.door.config().patch;
        let (post, linter) = (patch.post_command.trim(), patch.linter.trim());
        if !self.trusted || (post.is_empty() && linter.is_empty()) {
            return Ok(());
        }
        open.gate_running()?;
        let mut counted = None;
        let mut well = true;
        if !post.is_empty() {
            let (report, _) =
                gate::run::run(self.door, Step::PostCommand, &patch.post_command, self.approver);
            well = report.succeeded();
            self.gate.steps.push(report);
        }
        // What a failed command left half done is nothing to judge.
        if well && !linter.is_empty() {
            let (report, count) = gate::run::run(self.door, Step::Linter, &patch.linter, self.approver);
            self.gate.steps.push(report);
            counted = count;
        }
        self.gate.reformatted = open.gate_done()?;
        self.gate.compare(baseline, counted.as_ref());
        Ok(())
    }

    /// Whether the change stays.
    fn accept(&mut self, open: &Open<'_>, admitted: &Admitted) -> Result<(), PutBack> {
        if self.approver.stopped() {
            return Err(PutBack::Interrupted);
        }
        let rules = self.gate.verdict(self.door.config().patch.approval_on_error_count);
        if rules.is_empty() {
            let by = if self.gate.linter().is_some() { "policy" } else { admitted.by.as_str() };
            self.decided("accept", by, &rules);
            return Ok(());
        }
        if rules.iter().all(|rule| self.submission.covers(rule)) {
            let by = self.covered_by(&rules);
            self.decided("accept", &by, &rules);
            return Ok(());
        }
        // Nobody looks: then it does not stay.
        if self.submission.consent.yes {
            return Err(PutBack::GateFailed(rules));
        }
        let digest = on_disk(open);
        let question = Question::Keep { plan: &admitted.plan, digest, gate: &self.gate, rules: &rules };
        match self.approver.decide(&question) {
            Reply::Yes { digest: given } if given == digest => {
                let by = self.approver.name().to_string();
                self.decided("accept", &by, &rules);
                Ok(())
            }
            Reply::No { reason } => Err(PutBack::Declined(reason)),
            Reply::Stop => Err(PutBack::Interrupted),
            _ => Err(PutBack::GateFailed(rules)),
        }
    }

    fn commit(mut self, open: Open<'_>, admitted: Admitted) -> Result<Box<Outcome>, Halt> {
        let ran = !self.gate.steps.is_empty();
        let verdict = Verdict {
            decided_by: Some(admitted.by),
            rules: std::mem::take(&mut self.decisions),
            gate: ran.then(|| self.gate.text()),
        };
        let committed = open.commit(verdict)?;
        // Tidying up can wait for the next time.
        let _ = self.door.ledger.collect_daily(Timestamp::now().as_second(), &Policy::default());
        let branch = self.branch(&committed.record);
        Ok(Box::new(Outcome::Applied(Box::new(Applied {
            record: committed.record,
            plan: admitted.plan,
            digest: admitted.digest,
            gate: ran.then_some(self.gate),
            branch,
            doubt: committed.doubt,
        }))))
    }

    /// A branch for the change, where the configuration wants one.
    fn branch(&mut self, record: &Record) -> Option<String> {
        if !self.trusted || !self.door.config().git.auto_git_branch {
            return None;
        }
        match branch::make(self.door, record) {
            Ok(name) => Some(name),
            Err(error) => {
                let text = format!("no branch was made for it: {error}");
                self.approver.event(&Event::Remark { text: &text });
                None
            }
        }
    }
}

/// The digest of what a transaction has on disk, the gate's own changes included.
fn on_disk(open: &Open<'_>) -> Digest {
    let mut text = String::new();
    for file in &open.record().result {
        let after = file.after.as_ref().map(|image| (image.hash, image.mode));
        text.push_str(&format!("{:?} {after:?}\n", file.path));
    }
    Digest::of(text.as_bytes())
}
