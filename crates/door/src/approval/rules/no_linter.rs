//! The project has no linter that could judge the result.

use super::{ApprovalReason, ApprovalRule, CheckedChange, RuleConsent, RuleText};

pub struct NoLinterRule;

impl ApprovalRule for NoLinterRule {
    fn text(&self) -> RuleText {
        RuleText {
            name: "no-linter",
            description: "no linter is set, so nothing could judge the result",
            consent: RuleConsent::Yes,
            how_to_avoid: Some("`-y` answers it; set `patch.linter`, and relay can decide by itself"),
        }
    }

    fn check_plan(&self, change: &CheckedChange<'_>) -> Vec<ApprovalReason> {
        let none = change.door.config().patch.linter.is_empty();
        Vec::from_iter((change.is_configured() && none).then(reason))
    }
}

pub fn reason() -> ApprovalReason {
    ApprovalReason::new(&NoLinterRule, "no linter is set that could judge the result").ordinary()
}
