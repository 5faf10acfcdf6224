//! The person changed what the plan does: what they made of it is asked about again.

use super::{ApprovalReason, ApprovalRule, RuleConsent, RuleText};

pub struct RevisedRule;

impl ApprovalRule for RevisedRule {
    fn text(&self) -> RuleText {
        RuleText {
            name: "revised",
            description: "you changed the plan when you were asked",
            consent: RuleConsent::Yes,
            how_to_avoid: None,
        }
    }
}

pub fn reason() -> ApprovalReason {
    ApprovalReason::new(&RevisedRule, "you changed what it does: what you made of it is asked about")
        .ordinary()
}
