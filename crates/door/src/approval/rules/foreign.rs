//! What somebody else wrote into the log of this project. An undo asks about it, not the way in.

use super::{ApprovalRule, RuleConsent, RuleText};

pub struct ForeignChangeRule;

impl ApprovalRule for ForeignChangeRule {
    fn text(&self) -> RuleText {
        RuleText {
            name: "foreign-change",
            description: "an undo of a change that your relay did not write here: it may have come with the repository",
            consent: RuleConsent::Allow,
            how_to_avoid: Some(
                "look at it with `relay show ID --diff`, then say yes, or `--allow foreign-change`; from then on it counts like \
                 your own",
            ),
        }
    }
}
