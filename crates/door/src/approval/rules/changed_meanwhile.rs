//! Files changed after a person saw the plan.

use relaycode_change::proposal::path::RelPath;

use super::{ApprovalReason, ApprovalRule, RuleConsent, RuleText};

/// Files that the sentence names before it counts them.
const MAX_NAMED_PATHS: usize = 12;

pub struct ChangedMeanwhileRule;

impl ApprovalRule for ChangedMeanwhileRule {
    fn text(&self) -> RuleText {
        RuleText {
            name: "changed-meanwhile",
            description: "files changed after you saw the plan",
            consent: RuleConsent::Yes,
            how_to_avoid: None,
        }
    }
}

pub fn reason(paths: &[RelPath]) -> ApprovalReason {
    let names: Vec<&str> = paths.iter().take(MAX_NAMED_PATHS).map(RelPath::as_str).collect();
    let more = match paths.len().saturating_sub(MAX_NAMED_PATHS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let sentence = format!("{}{more} changed after it was shown", names.join(", "));
    // That was said when it was planned again.
    ApprovalReason::new(&ChangedMeanwhileRule, sentence).with_field("paths", paths).ordinary()
}
