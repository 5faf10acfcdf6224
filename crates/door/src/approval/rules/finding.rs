//! relay's own checks found something in the plan: one rule for each kind of finding.

use relaycode_change::plan::{FindingKind, PlanFinding};
use serde_json::Value;

use super::{ApprovalReason, ApprovalRule, CheckedChange, RuleConsent, RuleText};

pub struct FindingRule {
    kind: FindingKind,
    description: &'static str,
    how_to_avoid: &'static str,
}

const fn rule(kind: FindingKind, description: &'static str, how_to_avoid: &'static str) -> FindingRule {
    FindingRule { kind, description, how_to_avoid }
}

pub static NEAR: FindingRule =
    rule(FindingKind::Near, "an edit matches only nearly", "`--allow near` lets it pass");
pub static PLACEHOLDER: FindingRule = rule(
    FindingKind::Placeholder,
    "the answer has a placeholder where code was left out",
    "`--allow placeholder` lets it pass",
);
pub static FRAGMENT: FindingRule = rule(
    FindingKind::Fragment,
    "a block for a whole file seems to be only a part of it",
    "`--allow fragment` lets it pass",
);
pub static OVERWRITE: FindingRule = rule(
    FindingKind::Overwrite,
    "a file would be replaced that the author may not have known as it is",
    "`--allow overwrite` lets it pass",
);
pub static MASS_DELETION: FindingRule = rule(
    FindingKind::MassDeletion,
    "much of a file, or many files, would be deleted",
    "`--allow mass-deletion` lets it pass",
);
pub static HIDDEN: FindingRule = rule(
    FindingKind::Hidden,
    "the change adds invisible or bidirectional characters, or names with look-alike letters",
    "`--allow hidden` lets it pass",
);
pub static SYNTAX: FindingRule = rule(
    FindingKind::Syntax,
    "a file that parsed before would no longer parse",
    "`--allow syntax` lets it pass",
);

pub static KEY: FindingRule = rule(
    FindingKind::Key,
    "this checkout's key, which only your models should know, would be written into a file",
    "`--allow key` lets it pass",
);

/// The rule that asks about a kind of finding. `None`: nobody is asked.
fn rule_for(kind: FindingKind) -> Option<&'static FindingRule> {
    match kind {
        FindingKind::Near => Some(&NEAR),
        FindingKind::Placeholder => Some(&PLACEHOLDER),
        FindingKind::Fragment => Some(&FRAGMENT),
        FindingKind::Overwrite => Some(&OVERWRITE),
        FindingKind::MassDeletion => Some(&MASS_DELETION),
        FindingKind::Hidden => Some(&HIDDEN),
        FindingKind::Syntax => Some(&SYNTAX),
        FindingKind::Key => Some(&KEY),
        FindingKind::Skipped => None,
    }
}

/// What an author who reads it can correct; the rest is for the user to see.
fn is_for_author(kind: FindingKind) -> bool {
    match kind {
        FindingKind::Near
        | FindingKind::Placeholder
        | FindingKind::Fragment
        | FindingKind::Overwrite
        | FindingKind::Syntax => true,
        FindingKind::MassDeletion | FindingKind::Hidden | FindingKind::Key | FindingKind::Skipped => false,
    }
}

impl ApprovalRule for FindingRule {
    fn text(&self) -> RuleText {
        RuleText {
            name: self.kind.name(),
            description: self.description,
            consent: RuleConsent::Allow,
            how_to_avoid: Some(self.how_to_avoid),
        }
    }

    fn check_plan(&self, change: &CheckedChange<'_>) -> Vec<ApprovalReason> {
        if change.submission.origin.is_in_turn() && is_for_author(self.kind) {
            return Vec::new();
        }
        let is_mine = |kind| rule_for(kind).is_some_and(|rule| std::ptr::eq(rule, self));
        let found = change.plan.findings.iter().filter(|finding| is_mine(finding.kind));
        found.map(|finding| self.reason(finding)).collect()
    }
}

impl FindingRule {
    pub fn reason(&self, finding: &PlanFinding) -> ApprovalReason {
        // What was found may itself begin with the line that it is about.
        let sentence = match finding.line.filter(|_| !finding.text.starts_with("line ")) {
            Some(line) => format!("{} line {line}: {}", finding.path, finding.text),
            None => format!("{}: {}", finding.path, finding.text),
        };
        let mut reason = ApprovalReason::new(self, sentence).with_field("rule", "found");
        if let Ok(Value::Object(fields)) = serde_json::to_value(finding) {
            reason.fields.extend(fields);
        }
        ApprovalReason { finding: Some(finding.clone()), ..reason }
    }
}
