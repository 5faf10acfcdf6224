//! Whole or nothing, on the model file system: a transaction, a put-back, a revert or a recovery is run
//! once, then every disk that a power cut could have left is recovered and judged; and every call of it is
//! made to fail once.
//!
//! A scenario is determined by its number alone, and a failure says how to run exactly its case again.

mod scenario;
mod verify;

pub use scenario::{CrashScenario, ScenarioKind};
pub use verify::{CrashCase, CrashFailure};

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use relaycode_ledger::{Ledger, LedgerError, LedgerSettings, RecoveryMode};
use relaycode_proof_crashfs::{CrashBounds, ModelFs};
use rustix::io::Errno;

use verify::{ExpectedTrees, project};

#[derive(Debug, Default)]
pub struct CrashReport {
    /// Points at which the power was cut.
    pub points: usize,
    /// Different disks that were recovered.
    pub images: usize,
    /// Calls that were made to fail.
    pub errors: usize,
    /// What went wrong.
    pub failures: Vec<CrashFailure>,
}

/// Calls fail with each of these.
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

pub fn ledger(model: &Arc<ModelFs>) -> Result<Ledger, LedgerError> {
    Ledger::open(Arc::clone(model) as Arc<_>, Path::new("/"), LedgerSettings::default())
}

/// Runs a scenario unharmed, then recovers every disk that a power cut could have left.
pub fn explore(number: u64, bounds: &CrashBounds) -> CrashReport {
    let mut report = CrashReport::default();
    let scenario = CrashScenario::new(number);
    let Some((model, expected)) = prepared(&scenario, &mut report) else { return report };
    let outcome = scenario.run(&model);
    let finished = project(&model);
    if let Some(problem) = expected.uninjured(outcome, &finished) {
        report.failures.push(CrashFailure::new(&CrashCase::Whole { scenario: number }, problem));
        return report;
    }
    let operations = model.operations();
    let mut seen = HashSet::new();
    let explored = model.all_crash_images(bounds, &mut |image, lost| {
        // The same disk at a later point must also meet the later promises.
        let promised = lost.operations() == operations;
        if !seen.insert((lost.fingerprint(), promised)) {
            return;
        }
        if let Some(problem) = expected.after_recovery(image, promised) {
            let case = CrashCase::Cut { scenario: number, choice: lost.choice().clone() };
            report.failures.push(CrashFailure::new(&case, format!("{problem}\n{lost}")));
        }
    });
    report.points = explored.points;
    report.images = seen.len();
    report
}

/// Makes every call of a scenario fail once, with each error.
pub fn fail_every_call(number: u64) -> CrashReport {
    let mut report = CrashReport::default();
    let scenario = CrashScenario::new(number);
    let Some((model, expected)) = prepared(&scenario, &mut report) else { return report };
    let first = model.calls();
    let probe = Arc::new((*model).clone());
    let _ = scenario.run(&probe);
    for call in first + 1..=probe.calls() {
        let errno = ERRORS[usize::try_from(call).unwrap_or(0) % ERRORS.len()];
        report.errors += 1;
        if let Some(problem) = expected.with_error(&model, &scenario, call, errno) {
            let case = CrashCase::Error { scenario: number, call, errno };
            report.failures.push(CrashFailure::new(&case, problem));
        }
    }
    report
}

/// Runs one case again; returns the problem, if any.
pub fn replay(case: &CrashCase) -> Option<String> {
    let mut report = CrashReport::default();
    let scenario = CrashScenario::new(case.scenario());
    let (model, expected) = prepared(&scenario, &mut report)?;
    match case {
        CrashCase::Whole { .. } => expected.uninjured(scenario.run(&model), &project(&model)),
        CrashCase::Cut { choice, .. } => {
            let _ = scenario.run(&model);
            let promised = choice.operations == model.operations();
            expected.after_recovery(model.image(choice), promised)
        }
        CrashCase::Error { call, errno, .. } => expected.with_error(&model, &scenario, *call, *errno),
    }
}

/// The disk before the scenario, and the expected results.
fn prepared(scenario: &CrashScenario, report: &mut CrashReport) -> Option<(Arc<ModelFs>, ExpectedTrees)> {
    match scenario.prepare() {
        Ok((model, expected)) => Some((model, expected)),
        Err(error) => {
            let case = CrashCase::Whole { scenario: scenario.number };
            report.failures.push(CrashFailure::new(&case, format!("it cannot be set up: {error}")));
            None
        }
    }
}

/// Recovers as the next command would.
fn recover(model: &Arc<ModelFs>) -> Result<(), LedgerError> {
    ledger(model)?.recover(RecoveryMode::Automatic).map(|_| ())
}
