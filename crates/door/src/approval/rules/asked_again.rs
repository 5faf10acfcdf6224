//! What was asked about is no longer what is at hand, so that it is asked about again.

use relaycode_change::proposal::path::RelPath;

use super::{ApprovalReason, ApprovalRule, RuleConsent, RuleText};

/// Files that the sentence names before it counts them.
const MAX_NAMED_PATHS: usize = 12;

pub struct AskedAgainRule {
    name: &'static str,
    description: &'static str,
}

pub static REVISED: AskedAgainRule =
    AskedAgainRule { name: "revised", description: "you changed the plan when you were asked" };
pub static CHANGED_MEANWHILE: AskedAgainRule =
    AskedAgainRule { name: "changed-meanwhile", description: "files changed after you saw the plan" };

impl ApprovalRule for AskedAgainRule {
    fn text(&self) -> RuleText {
        let (name, description) = (self.name, self.description);
        RuleText { name, description, consent: RuleConsent::Yes, how_to_avoid: None }
    }
}

pub fn revised() -> ApprovalReason {
    ApprovalReason::new(&REVISED, "you changed what it does: what you made of it is asked about").ordinary()
}

pub fn changed_meanwhile(paths: &[RelPath]) -> ApprovalReason {
    let names: Vec<&str> = paths.iter().take(MAX_NAMED_PATHS).map(RelPath::as_str).collect();
    let more = match paths.len().saturating_sub(MAX_NAMED_PATHS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let sentence = format!("{}{more} changed after it was shown", names.join(", "));
    // That was said when it was planned again.
    ApprovalReason::new(&CHANGED_MEANWHILE, sentence).with_field("paths", paths).ordinary()
}
