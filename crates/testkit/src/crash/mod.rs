//! Whole or nothing, on the model of a file system: a transaction, a put-back, a revert or a recovery
//! is run once, then every way in which a power cut could have left the disk is recovered and
//! judged; and every call of it is made to fail once.
//!
//! A scenario is decided by its number alone, and a failure says how to run exactly its case again.

mod judge;
mod scenario;

pub use judge::{Case, Failure};
pub use scenario::{Kind, Scenario};

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use relaycode_durable::model::{Bounds, Model};
use relaycode_ledger::{Ledger, LedgerError, Recovery, Settings};
use rustix::io::Errno;

use judge::{Expected, project};

/// What one scenario came to.
#[derive(Debug, Default)]
pub struct Report {
    /// Points at which the power was cut.
    pub points: usize,
    /// Different disks that were recovered.
    pub images: usize,
    /// Calls that were made to fail.
    pub errors: usize,
    /// What went wrong.
    pub failures: Vec<Failure>,
}

/// The errors that calls are made to fail with.
const ERRORS: [Errno; 8] = [
    Errno::NOSPC,
    Errno::IO,
    Errno::ACCESS,
    Errno::ROFS,
    Errno::DQUOT,
    Errno::MFILE,
    Errno::NOMEM,
    Errno::PERM,
];

/// Opens the ledger on a model.
pub fn ledger(model: &Arc<Model>) -> Result<Ledger, LedgerError> {
    Ledger::open(Arc::clone(model) as Arc<_>, Path::new("/"), Settings::default())
}

/// Runs a scenario uninjured, then recovers every disk that a power cut could have left.
pub fn explore(number: u64, bounds: &Bounds) -> Report {
    let mut report = Report::default();
    let scenario = Scenario::new(number);
    let Some((model, expected)) = prepared(&scenario, &mut report) else { return report };
    let outcome = scenario.run(&model);
    let finished = project(&model);
    if let Some(problem) = expected.uninjured(outcome, &finished) {
        report.failures.push(Failure::new(&Case::Whole { scenario: number }, problem));
        return report;
    }
    let operations = model.operations();
    let mut seen = HashSet::new();
    let explored = model.all_crash_images(bounds, &mut |image, lost| {
        // The same disk at a later point must meet what was promised until then.
        let promised = lost.operations() == operations;
        if !seen.insert((lost.fingerprint(), promised)) {
            return;
        }
        if let Some(problem) = expected.after_recovery(image, promised) {
            let case = Case::Cut { scenario: number, choice: lost.choice().clone() };
            report.failures.push(Failure::new(&case, format!("{problem}\n{lost}")));
        }
    });
    report.points = explored.points;
    report.images = seen.len();
    report
}

/// Makes every call of a scenario fail once, with one error after the other.
pub fn fail_every_call(number: u64) -> Report {
    let mut report = Report::default();
    let scenario = Scenario::new(number);
    let Some((model, expected)) = prepared(&scenario, &mut report) else { return report };
    let first = model.calls();
    let probe = Arc::new((*model).clone());
    let _ = scenario.run(&probe);
    for call in first + 1..=probe.calls() {
        let errno = ERRORS[usize::try_from(call).unwrap_or(0) % ERRORS.len()];
        report.errors += 1;
        if let Some(problem) = expected.with_error(&model, &scenario, call, errno) {
            let case = Case::Error { scenario: number, call, errno };
            report.failures.push(Failure::new(&case, problem));
        }
    }
    report
}

/// Runs one case again, and says what is wrong with it, if anything is.
pub fn replay(case: &Case) -> Option<String> {
    let mut report = Report::default();
    let scenario = Scenario::new(case.scenario());
    let (model, expected) = prepared(&scenario, &mut report)?;
    match case {
        Case::Whole { .. } => expected.uninjured(scenario.run(&model), &project(&model)),
        Case::Cut { choice, .. } => {
            let _ = scenario.run(&model);
            let promised = choice.operations == model.operations();
            expected.after_recovery(model.image(choice), promised)
        }
        Case::Error { call, errno, .. } => expected.with_error(&model, &scenario, *call, *errno),
    }
}

/// The disk before the scenario, and what must come of it.
fn prepared(scenario: &Scenario, report: &mut Report) -> Option<(Arc<Model>, Expected)> {
    match scenario.prepare() {
        Ok((model, expected)) => Some((model, expected)),
        Err(error) => {
            let case = Case::Whole { scenario: scenario.number };
            report.failures.push(Failure::new(&case, format!("it cannot be set up: {error}")));
            None
        }
    }
}

/// Recovers as the next command would.
fn recover(model: &Arc<Model>) -> Result<(), LedgerError> {
    ledger(model)?.recover(Recovery::Automatic).map(|_| ())
}
