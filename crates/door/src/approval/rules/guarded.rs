//! A guarded file changes.

use relaycode_change::proposal::path::RelPath;

use super::{ApprovalReason, ApprovalRule, CheckedChange, RuleConsent, RuleText};
use crate::approval::guarded::{GuardContext, guarded_files};

pub struct GuardedRule;

impl ApprovalRule for GuardedRule {
    fn text(&self) -> RuleText {
        RuleText {
            name: "guarded",
            description: "a file runs by itself, controls a tool or holds secrets: CI files, hooks, `.env`",
            consent: RuleConsent::Allow,
            how_to_avoid: Some("`--allow guarded` lets it pass"),
        }
    }

    fn check_plan(&self, change: &CheckedChange<'_>) -> Vec<ApprovalReason> {
        // A gate that does not run makes nothing of what the gate would read.
        let commands = if change.trusted { change.door.gate_commands() } else { Vec::new() };
        let root = change.door.root.clone();
        let context = GuardContext { gate: !commands.is_empty(), commands, root };
        guarded_files(change.plan, &context).into_iter().map(|(path, why)| reason(&path, &why)).collect()
    }
}

/// `why` is the end of a sentence: "runs in CI".
pub fn reason(path: &RelPath, why: &str) -> ApprovalReason {
    ApprovalReason::new(&GuardedRule, format!("{path} is guarded: it {why}"))
        .with_notice(format!("{path} {why}"))
        .with_field("path", path)
        .with_field("why", why)
}
