//! What the gate's steps come to.

use super::{GateReport, GateStep, StepReport};
use crate::linter::{self, LinterCount};

/// New errors that a report lists.
const LISTED: usize = 50;

impl GateReport {
    /// Takes the linter's two counts in.
    pub(crate) fn set_error_counts(&mut self, before: Option<&LinterCount>, after: Option<&LinterCount>) {
        self.errors_before = before.map(|counted| counted.errors);
        self.errors_after = after.map(|counted| counted.errors);
        if let Some(after) = after {
            let failed = self.steps.iter().any(|step| step.step == GateStep::Linter && !step.succeeded());
            self.unclear = failed && after.diagnostics.is_empty();
            let nothing = LinterCount::default();
            let (count, listed) = linter::find_new_errors(before.unwrap_or(&nothing), after, LISTED);
            (self.new_count, self.new_errors) = (count, listed);
        }
    }

    /// The linter's command line, if it ran.
    pub fn linter(&self) -> Option<&str> {
        self.steps.iter().find(|step| step.step == GateStep::Linter).map(|step| step.command.as_str())
    }

    /// All of it in a few lines, for the record.
    pub fn to_record_text(&self) -> String {
        let line =
            |step: &StepReport| format!("{}: {} {}", step.step.name(), step.command, step.result_phrase());
        let mut lines: Vec<String> = self.steps.iter().map(line).collect();
        if let (Some(before), Some(after)) = (self.errors_before, self.errors_after) {
            lines.push(format!("errors: {before} before, {after} after, {} new", self.new_count));
        }
        if !self.reformatted.is_empty() {
            lines.push(format!("changed by the commands: {}", self.reformatted.join(", ")));
        }
        lines.join("\n")
    }
}

impl GateStep {
    /// The key that names the command.
    pub fn name(self) -> &'static str {
        match self {
            GateStep::PreCommand => "preCommand",
            GateStep::Baseline => "linter before",
            GateStep::PostCommand => "postCommand",
            GateStep::Linter => "linter",
        }
    }
}
