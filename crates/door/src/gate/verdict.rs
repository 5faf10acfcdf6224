//! After the gate: are the results good enough to keep?

use super::{GateReport, GateStep};
use crate::approval::rule::ApprovalRule;
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

    /// What speaks against keeping the change: a command that failed, or more errors than both the
    /// configuration and the project's own state allow.
    pub(crate) fn verdict(&self, allowed_errors: u64) -> Vec<ApprovalRule> {
        let mut rules = Vec::new();
        let after =
            self.steps.iter().filter(|step| matches!(step.step, GateStep::PostCommand | GateStep::Linter));
        for step in after {
            let could_judge = step.step == GateStep::Linter && self.errors_after.is_some();
            if !step.succeeded() && !could_judge {
                rules.push(ApprovalRule::Gate { text: format!("{} {}", step.command, step.result_phrase()) });
            }
        }
        if let (Some(after), Some(linter)) = (self.errors_after, self.linter()) {
            let before = self.errors_before.unwrap_or(0);
            if self.unclear && after > allowed_errors && after <= before {
                let text = format!("{linter} failed, and named no error that relay understands");
                rules.push(ApprovalRule::Gate { text });
            }
            if after > allowed_errors.max(before) {
                let s = if after == 1 { "" } else { "s" };
                let text = format!("{linter} went from {before} to {after} error{s}");
                rules.push(ApprovalRule::Gate { text });
            }
        }
        rules
    }

    /// The linter's command line, if it ran.
    pub fn linter(&self) -> Option<&str> {
        self.steps.iter().find(|step| step.step == GateStep::Linter).map(|step| step.command.as_str())
    }

    /// All of it in a few lines, for the record.
    pub fn to_record_text(&self) -> String {
        let mut lines: Vec<String> = self
            .steps
            .iter()
            .map(|step| format!("{}: {} {}", step.step.name(), step.command, step.result_phrase()))
            .collect();
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
