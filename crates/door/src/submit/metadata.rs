//! What the record says of a change beside its files. Secrets that an author quotes are blacked out; what
//! stands in the files themselves is kept as it is, because undoing needs it.

use relaycode_change::plan::{FilePlan, HunkState, Plan};
use relaycode_change::proposal::{FileAction, Operation, path::RelPath};
use relaycode_change::{dialect, response::EXACT_DIALECT};
use relaycode_ledger::{Digest, TransactionHeader, TxId, record::RecordedOperation};
use relaycode_text::redact::Redactor;

use crate::door::Door;
use crate::submit::submission::Submission;

/// What is known of a submission before its files are in place.
pub(crate) fn record_metadata(
    submission: &Submission<'_>,
    id: TxId,
    project_id: &str,
    door: &Door,
    plan: &Plan,
    digest: Digest,
) -> TransactionHeader {
    let proposal = submission.proposal;
    let head = door.head();
    let key: Vec<String> = door.key().iter().map(|key| key.as_str().to_string()).collect();
    // A key may go on from one paragraph to the next.
    let mut said = Redactor::with_values(&key);
    let safe = |text: &String| Redactor::with_values(&key).redact_text(text).into_owned();
    TransactionHeader {
        git_commit_msg: proposal.control.git_commit_msg.as_ref().map(safe),
        prompt_summary: proposal.control.prompt_summary.as_ref().map(safe),
        reasoning: proposal.reasoning.iter().map(|text| said.redact_text(text).into_owned()).collect(),
        operations: proposal
            .operations
            .iter()
            .map(|operation| to_recorded_operation(operation, &safe))
            .collect(),
        group: submission.group.clone(),
        branch: head.branch,
        head: head.commit,
        answer: Some(submission.answer),
        matches: plan.files.iter().flat_map(match_notes).collect(),
        plan: Some(digest),
        ..TransactionHeader::new(
            id,
            &safe(&project_id.to_string()),
            &submission.now,
            submission.recorded_origin(),
        )
    }
}

/// An operation in the form of the specification.
fn to_recorded_operation(operation: &Operation, safe: &dyn Fn(&String) -> String) -> RecordedOperation {
    match &operation.action {
        FileAction::Delete { path, .. } => RecordedOperation::Delete { path: path.to_string() },
        FileAction::Rename { from, to } => {
            RecordedOperation::Rename { from: from.to_string(), to: to.to_string() }
        }
        FileAction::Exact { path, after: None, .. } => RecordedOperation::Delete { path: path.to_string() },
        action @ FileAction::Exact { path, .. } => recorded_write(path, action, EXACT_DIALECT, safe),
        action @ FileAction::Write { path, edit, .. } => recorded_write(path, action, edit.dialect, safe),
    }
}

fn recorded_write(
    path: &RelPath,
    action: &FileAction,
    name: &str,
    safe: &dyn Fn(&String) -> String,
) -> RecordedOperation {
    let content = dialect::by_name(name).map(|dialect| dialect.print(action)).unwrap_or_default();
    RecordedOperation::Write {
        path: path.to_string(),
        content: safe(&content),
        patch_strategy: name.to_string(),
    }
}

/// One line for every edit that did not simply match.
fn match_notes(file: &FilePlan) -> Vec<String> {
    let told = file.hunks.iter().enumerate().filter(|(_, hunk)| {
        hunk.rung != "exact" || hunk.chosen_by.is_some() || hunk.state == HunkState::AlreadyIn
    });
    told.map(|(index, hunk)| {
        let how = match hunk.state {
            HunkState::AlreadyIn => "already in",
            HunkState::Applied => hunk.rung,
        };
        let chosen = hunk.chosen_by.map(|by| format!(", chosen by {by}")).unwrap_or_default();
        format!("{} edit {}, line {}: {how}{chosen}", file.path, index + 1, hunk.used)
    })
    .collect()
}
