//! `patch.approvalMode` is `manual`.

use relaycode_project::config::ApprovalMode;

use super::{ApprovalReason, ApprovalRule, CheckedChange, RuleConsent, RuleText};

pub struct ManualRule;

impl ApprovalRule for ManualRule {
    fn text(&self) -> RuleText {
        RuleText {
            name: "manual",
            description: "`patch.approvalMode` is `manual`: you want to be asked",
            consent: RuleConsent::Yes,
            how_to_avoid: Some(
                "`-y` answers it; with `auto` and a linter relay asks only when something is off",
            ),
        }
    }

    fn check_plan(&self, change: &CheckedChange<'_>) -> Vec<ApprovalReason> {
        let manual = change.door.config().patch.approval_mode == ApprovalMode::Manual;
        Vec::from_iter((change.is_configured() && manual).then(reason))
    }
}

pub fn reason() -> ApprovalReason {
    ApprovalReason::new(&ManualRule, "`patch.approvalMode` is `manual`: every change is asked about")
        .ordinary()
}
