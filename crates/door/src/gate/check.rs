//! The linter on the project as it is, after changes that were not gated one by one: those of an agent's prompt.

use super::run::run_step;
use super::{GateReport, GateStep};
use crate::approval::approver::Approver;
use crate::door::Door;
use crate::linter::LinterCount;

/// What the linter says.
#[derive(Debug, Clone)]
pub struct ProjectCheck {
    /// With one step.
    pub report: GateReport,
    /// `None`: it could not judge.
    pub count: Option<LinterCount>,
}

impl Door {
    /// Runs the linter; errors that `before` has, too, are not new. `None`: there is none, or the user does not trust it.
    pub fn check(&self, before: Option<&LinterCount>, approver: &mut dyn Approver) -> Option<ProjectCheck> {
        let linter = &self.config().patch.linter;
        if linter.trim().is_empty() || !self.trust_state().allows() {
            return None;
        }
        let (step, count) = run_step(self, GateStep::Linter, linter, approver);
        let mut report = GateReport { steps: vec![step], ..GateReport::default() };
        report.set_error_counts(before, count.as_ref());
        Some(ProjectCheck { report, count })
    }
}
