//! Before anything is written: is this plan clean, or must a person look?

use relaycode_change::plan::{Change, FindingKind, Plan};
use relaycode_project::checkout::Named;
use relaycode_project::config::ApprovalMode;

use crate::door::Door;
use crate::guarded;
use crate::rule::Rule;
use crate::submission::Submission;

/// Everything that speaks against applying the plan without a person. `trusted`: what the project's file
/// wants counts.
pub(crate) fn rules(door: &Door, submission: &Submission<'_>, plan: &Plan, trusted: bool) -> Vec<Rule> {
    let config = door.config();
    let mut rules = Vec::new();
    if door.loaded.file.is_none() {
        rules.push(Rule::NoConfig);
    } else {
        if !trusted {
            rules.push(Rule::NotTrusted);
        }
        if config.patch.approval_mode == ApprovalMode::Manual {
            rules.push(Rule::Manual);
        }
        let named = door.named(submission.proposal.control.project_id.as_deref());
        if named != Some(Named::Keyed) && !submission.origin.asked_for() {
            rules.push(Rule::NoKey);
        }
        if config.patch.linter.is_empty() {
            rules.push(Rule::NoLinter);
        }
    }
    rules.extend(file_count(door, plan));
    // A gate that does not run makes nothing of what the gate would read.
    let commands = if trusted { door.commands() } else { Vec::new() };
    let context = guarded::Context { gate: !commands.is_empty(), commands };
    let guarded = guarded::guarded(plan, &context).into_iter();
    rules.extend(guarded.map(|(path, why)| Rule::Guarded { path, why }));
    let findings = plan.findings.iter().filter(|finding| finding.kind != FindingKind::Skipped);
    rules.extend(findings.cloned().map(Rule::Found));
    rules
}

fn file_count(door: &Door, plan: &Plan) -> Option<Rule> {
    let patch = &door.config().patch;
    let files = plan.files.iter().filter(|file| file.change != Change::Unchanged).count();
    let count = u64::try_from(files).unwrap_or(u64::MAX);
    if count < patch.min_file_changes {
        return Some(Rule::FileCount { files, bound: patch.min_file_changes });
    }
    let most = patch.max_file_changes.filter(|most| count > *most)?;
    Some(Rule::FileCount { files, bound: most })
}

impl Door {
    /// The commands that are configured, in the order in which they run.
    pub fn commands(&self) -> Vec<String> {
        let patch = &self.config().patch;
        let all = [&patch.pre_command, &patch.post_command, &patch.linter];
        all.into_iter().filter(|command| !command.trim().is_empty()).cloned().collect()
    }
}
