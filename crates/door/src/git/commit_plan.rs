//! What of the project belongs to transactions that go into a git commit, and what of it does not.

use std::collections::{BTreeMap, BTreeSet};

use relaycode_ledger::LedgerError;
use relaycode_ledger::record::{FileRecord, Record, title};
use relaycode_project::git::{Git, GitError, GitFileState};

use crate::door::Door;

/// A commit that is planned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommitPlan {
    /// The files, old and new names.
    pub paths: Vec<String>,
    /// Files that also hold edits which none of the transactions made: before them, or after.
    pub mixed_paths: Vec<String>,
    /// What the authors say.
    pub message: Option<String>,
    /// What relay would say: the title of the newest change, and a line for each other.
    pub title: String,
    /// Every file is as it is in the last commit: there is nothing left to commit.
    pub nothing_left: bool,
}

/// Why it cannot be planned.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// Plans a commit of these transactions, oldest first.
///
/// # Errors
/// If git or the ledger cannot say what there is.
pub fn plan_commit(door: &Door, git: &Git<'_>, records: &[Record]) -> Result<CommitPlan, CommitError> {
    let mut first: BTreeMap<String, (&Record, &FileRecord)> = BTreeMap::new();
    let mut last: BTreeMap<String, (&Record, Option<&FileRecord>)> = BTreeMap::new();
    for record in records {
        for file in &record.result {
            first.entry(file.old_path().to_string()).or_insert((record, file));
            last.insert(file.old_path().to_string(), (record, None));
            last.insert(file.path.clone(), (record, Some(file)));
        }
    }
    let mut plan = CommitPlan {
        paths: last.keys().cloned().collect(),
        message: commit_message(records),
        title: commit_title(records),
        ..CommitPlan::default()
    };
    // What is as it is in the last commit adds nothing to the next, whoever made it so.
    let paths: Vec<&str> = plan.paths.iter().map(String::as_str).collect();
    let mut states = git.status(&paths)?;
    states.retain(|state| matches!(state.state, GitFileState::Clean | GitFileState::Absent));
    let clean: BTreeSet<String> = states.into_iter().map(|state| state.path).collect();
    plan.nothing_left = plan.paths.iter().all(|path| clean.contains(path));
    last.retain(|path, _| !clean.contains(path));
    first.retain(|path, _| !clean.contains(path));
    for (path, (record, file)) in &last {
        let wanted = file.map(|file| door.ledger.after_bytes(record, file)).transpose()?.flatten();
        let read = door.ledger.root().resolver().read(path, MAX_COMPARED_BYTES);
        let now = read.ok().flatten().map(|(bytes, _)| bytes);
        if now != wanted {
            plan.mixed_paths.push(path.clone());
        }
    }
    for (path, (record, file)) in &first {
        let before = door.ledger.before_bytes(record, file)?;
        let committed = git.content_at_head(path)?;
        if !same_text(before.as_deref(), committed.as_deref()) && !plan.mixed_paths.contains(path) {
            plan.mixed_paths.push(path.clone());
        }
    }
    Ok(plan)
}

/// Bytes of a file that are compared.
const MAX_COMPARED_BYTES: u64 = 64 << 20;

/// git may keep other line endings than the working tree has.
fn same_text(before: Option<&[u8]>, committed: Option<&[u8]>) -> bool {
    match (before, committed) {
        (None, None) => true,
        (Some(a), Some(b)) => a == b || without_returns(a).eq(without_returns(b)),
        _ => false,
    }
}

fn without_returns(bytes: &[u8]) -> impl Iterator<Item = u8> + '_ {
    let next = bytes.iter().skip(1).map(Some).chain([None]);
    let kept = bytes.iter().zip(next).filter(|(byte, next)| !(**byte == b'\r' && *next == Some(&b'\n')));
    kept.map(|(byte, _)| *byte)
}

/// The authors' messages, the only one as it is.
fn commit_message(records: &[Record]) -> Option<String> {
    let said = |record: &Record| record.git_commit_msg.clone().or_else(|| record.prompt_summary.clone());
    let mut messages: Vec<String> =
        records.iter().filter_map(said).map(|text| text.trim().to_string()).collect();
    messages.dedup();
    messages.retain(|message| !message.is_empty());
    (!messages.is_empty()).then(|| messages.join("\n\n"))
}

fn commit_title(records: &[Record]) -> String {
    let mut titles = records.iter().rev().map(title::title);
    let subject = titles.next().unwrap_or_default();
    let others: Vec<String> = titles.map(|title| format!("- {title}")).collect();
    if others.is_empty() { subject } else { format!("{subject}\n\n{}", others.join("\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_changes_without_a_message_are_titled_after_the_newest() {
        let named = |title: &str| Record { title: Some(title.to_string()), ..Record::default() };
        assert_eq!(commit_title(&[named("edit a")]), "edit a");
        let all = [named("edit a"), named("add b"), named("delete c")];
        assert_eq!(commit_title(&all), "delete c\n\n- add b\n- edit a");
    }

    #[test]
    fn line_endings_are_no_other_edits() {
        assert!(same_text(Some(b"a\r\nb\n"), Some(b"a\nb\n")));
        assert!(!same_text(Some(b"a\rb\n"), Some(b"ab\n")));
        assert!(!same_text(Some(b"a"), None));
        assert!(same_text(None, None));
    }
}
