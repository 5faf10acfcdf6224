//! The project's commands and settings are not trusted, so nothing of theirs counts.

use super::{ApprovalReason, ApprovalRule, CheckedChange, RuleConsent, RuleText};

pub struct NotTrustedRule;

impl ApprovalRule for NotTrustedRule {
    fn text(&self) -> RuleText {
        RuleText {
            name: "not-trusted",
            description: "the project's commands are not trusted, so none of them counts",
            // A person said no to them, or was not asked.
            consent: RuleConsent::Person,
            how_to_avoid: Some("`relay trust` shows them and asks"),
        }
    }

    fn check_plan(&self, change: &CheckedChange<'_>) -> Vec<ApprovalReason> {
        Vec::from_iter((change.is_configured() && !change.trusted).then(reason))
    }
}

pub fn reason() -> ApprovalReason {
    ApprovalReason::new(
        &NotTrustedRule,
        "the project's commands and settings are not trusted, so none of them counts",
    )
}
