//! The project has no configuration.

use super::{ApprovalReason, ApprovalRule, CheckedChange, RuleConsent, RuleText};

pub struct NoConfigRule;

impl ApprovalRule for NoConfigRule {
    fn text(&self) -> RuleText {
        RuleText {
            name: "no-config",
            description: "the project has no configuration",
            consent: RuleConsent::Yes,
            how_to_avoid: Some("`-y` answers it; `relay init` makes one"),
        }
    }

    fn check_plan(&self, change: &CheckedChange<'_>) -> Vec<ApprovalReason> {
        Vec::from_iter((!change.is_configured()).then(reason))
    }
}

pub fn reason() -> ApprovalReason {
    ApprovalReason::new(&NoConfigRule, "the project has no configuration").ordinary()
}
