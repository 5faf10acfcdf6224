//! Fewer files than `patch.minFileChanges`, or more than `patch.maxFileChanges`.

use relaycode_text::plural::pluralize;

use super::{ApprovalReason, ApprovalRule, CheckedChange, RuleConsent, RuleText};
use crate::submit::changes;

pub struct FileCountRule;

impl ApprovalRule for FileCountRule {
    fn text(&self) -> RuleText {
        RuleText {
            name: "file-count",
            description: "it changes fewer files than `patch.minFileChanges`, or more than `patch.maxFileChanges`",
            consent: RuleConsent::Yes,
            how_to_avoid: Some("`-y` answers it"),
        }
    }

    fn check_plan(&self, change: &CheckedChange<'_>) -> Vec<ApprovalReason> {
        let patch = &change.door.config().patch;
        let files = changes(change.plan).count();
        let count = u64::try_from(files).unwrap_or(u64::MAX);
        // Each edit of a turn comes by itself.
        let few = Some(patch.min_file_changes)
            .filter(|least| count < *least && !change.submission.origin.is_in_turn());
        let many = patch.max_file_changes.filter(|most| count > *most);
        Vec::from_iter(few.or(many).map(|bound| reason(files, bound)))
    }
}

/// `bound` is the one that `files` breaks.
pub fn reason(files: usize, bound: u64) -> ApprovalReason {
    let few = u64::try_from(files).is_ok_and(|files| files < bound);
    let key = if few { "minFileChanges" } else { "maxFileChanges" };
    let sentence = format!("it changes {}, and `patch.{key}` is {bound}", pluralize(files, "file"));
    ApprovalReason::new(&FileCountRule, sentence).with_field("files", files).with_field("bound", bound)
}
