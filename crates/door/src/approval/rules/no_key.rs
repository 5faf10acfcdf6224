//! The answer does not carry the project's key: anybody could have written it.

use relaycode_project::checkout::NamedProject;

use super::{ApprovalReason, ApprovalRule, CheckedChange, RuleConsent, RuleText};

pub struct NoKeyRule;

impl ApprovalRule for NoKeyRule {
    fn text(&self) -> RuleText {
        RuleText {
            name: "no-key",
            description: "the answer does not carry the project's key, so anybody could have written it",
            // Only what the user handed over is known to be theirs: any page can write a clipboard.
            consent: RuleConsent::YesIfHandedOver,
            how_to_avoid: Some(
                "`relay prompt` gives your model the key; for a file that you hand over, `-y` will do",
            ),
        }
    }

    fn check_plan(&self, change: &CheckedChange<'_>) -> Vec<ApprovalReason> {
        let named = change.submission.proposal.control.project_id.as_deref();
        let keyed = change.door.match_project_id(named) == Some(NamedProject::WithKey);
        let missing = change.is_configured() && !keyed && !change.submission.origin.is_requested();
        Vec::from_iter(missing.then(reason))
    }
}

pub fn reason() -> ApprovalReason {
    ApprovalReason::new(
        &NoKeyRule,
        "the answer does not carry this project's key: anybody could have written it",
    )
}
