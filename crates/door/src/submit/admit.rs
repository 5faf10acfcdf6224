//! Before anything is written: is this plan clean, or must a person look?

use relaycode_change::plan::{FileChangeKind, FindingKind, Plan};
use relaycode_project::checkout::NamedProject;
use relaycode_project::config::ApprovalMode;

use crate::approval::guarded;
use crate::approval::rule::ApprovalRule;
use crate::door::Door;
use crate::submit::submission::Submission;

/// Everything that speaks against applying the plan without a person. `trusted`: what the project's file
/// wants counts.
pub(crate) fn admission_rules(
    door: &Door,
    submission: &Submission<'_>,
    plan: &Plan,
    trusted: bool,
) -> Vec<ApprovalRule> {
    let config = door.config();
    let mut rules = Vec::new();
    if door.loaded.file.is_none() {
        rules.push(ApprovalRule::NoConfig);
    } else {
        if !trusted {
            rules.push(ApprovalRule::NotTrusted);
        }
        if config.patch.approval_mode == ApprovalMode::Manual {
            rules.push(ApprovalRule::Manual);
        }
        let named = door.match_project_id(submission.proposal.control.project_id.as_deref());
        if named != Some(NamedProject::WithKey) && !submission.origin.is_requested() {
            rules.push(ApprovalRule::NoKey);
        }
        if config.patch.linter.is_empty() {
            rules.push(ApprovalRule::NoLinter);
        }
    }
    rules.extend(file_count_rule(door, plan));
    // A gate that does not run makes nothing of what the gate would read.
    let commands = if trusted { door.gate_commands() } else { Vec::new() };
    let context = guarded::GuardContext { gate: !commands.is_empty(), commands };
    let guarded = guarded::guarded_files(plan, &context).into_iter();
    rules.extend(guarded.map(|(path, why)| ApprovalRule::Guarded { path, why }));
    let findings = plan.findings.iter().filter(|finding| finding.kind != FindingKind::Skipped);
    rules.extend(findings.cloned().map(ApprovalRule::Found));
    rules
}

fn file_count_rule(door: &Door, plan: &Plan) -> Option<ApprovalRule> {
    let patch = &door.config().patch;
    let files = plan.files.iter().filter(|file| file.change != FileChangeKind::Unchanged).count();
    let count = u64::try_from(files).unwrap_or(u64::MAX);
    if count < patch.min_file_changes {
        return Some(ApprovalRule::FileCount { files, bound: patch.min_file_changes });
    }
    let most = patch.max_file_changes.filter(|most| count > *most)?;
    Some(ApprovalRule::FileCount { files, bound: most })
}

impl Door {
    /// The commands that are configured, in the order in which they run.
    pub fn gate_commands(&self) -> Vec<String> {
        let patch = &self.config().patch;
        let all = [&patch.pre_command, &patch.post_command, &patch.linter];
        all.into_iter().filter(|command| !command.trim().is_empty()).cloned().collect()
    }
}
