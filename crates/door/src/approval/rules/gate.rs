//! The gate's verdict is bad: a command that failed or could not run, or more errors than both the configuration and
//! the project's own state allow.

use relaycode_text::plural::pluralize;

use super::{ApprovalReason, ApprovalRule, RuleConsent, RuleText};
use crate::gate::{GateReport, GateStep};

pub struct GateRule;

impl ApprovalRule for GateRule {
    fn text(&self) -> RuleText {
        RuleText {
            name: "gate",
            description: "the project's commands object",
            consent: RuleConsent::Allow,
            how_to_avoid: Some("`--allow gate` keeps it anyway"),
        }
    }

    fn check_gate(&self, gate: &GateReport, allowed_errors: u64) -> Vec<ApprovalReason> {
        let mut reasons = Vec::new();
        for step in &gate.steps {
            let could_judge = step.step == GateStep::Linter && gate.errors_after.is_some();
            let judges = matches!(step.step, GateStep::PostCommand | GateStep::Linter);
            if judges && !step.succeeded() && !could_judge {
                reasons.push(reason(format!("{} {}", step.command, step.result_phrase())));
            }
        }
        if let (Some(after), Some(linter)) = (gate.errors_after, gate.linter()) {
            let before = gate.errors_before.unwrap_or(0);
            if gate.unclear && after > allowed_errors && after <= before {
                reasons.push(reason(format!("{linter} failed, and named no error that relay understands")));
            }
            if after > allowed_errors.max(before) {
                let errors = pluralize(after, "error");
                reasons.push(reason(format!("{linter} went from {before} to {errors}")));
            }
        }
        reasons
    }
}

pub fn reason(text: String) -> ApprovalReason {
    ApprovalReason::new(&GateRule, text.as_str()).with_field("text", text)
}
