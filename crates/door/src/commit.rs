//! What of the project belongs to transactions that go into a git commit, and what of it does not.

use std::collections::BTreeMap;

use relaycode_ledger::LedgerError;
use relaycode_ledger::record::{FileRecord, Record};
use relaycode_project::git::{Git, GitError};

use crate::door::Door;

/// A commit that is planned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommitPlan {
    /// The files, old and new names.
    pub paths: Vec<String>,
    /// Files that also hold edits which none of the transactions made: before them, or after.
    pub mixed: Vec<String>,
    /// The message.
    pub message: Option<String>,
}

/// Why it cannot be planned.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// git's errors.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The ledger's.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// Plans a commit of these transactions, oldest first.
///
/// # Errors
/// If git or the ledger cannot say what there is.
pub fn plan(door: &Door, git: &Git<'_>, records: &[Record]) -> Result<CommitPlan, CommitError> {
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
        message: message(records),
        ..CommitPlan::default()
    };
    let now =
        |path: &str| door.ledger.root().places().read(path, MOST).ok().flatten().map(|(bytes, _)| bytes);
    for (path, (record, file)) in &last {
        // What is in the last commit as it is now does not go in again.
        if same_text(now(path).as_deref(), git.content_at_head(path)?.as_deref()) {
            continue;
        }
        let wanted = match file {
            Some(file) => door.ledger.after_bytes(record, file)?,
            None => None,
        };
        if now(path) != wanted {
            plan.mixed.push(path.clone());
        }
    }
    for (path, (record, file)) in &first {
        let before = door.ledger.before_bytes(record, file)?;
        let committed = git.content_at_head(path)?;
        let goes_in = !same_text(now(path).as_deref(), committed.as_deref());
        if goes_in && !same_text(before.as_deref(), committed.as_deref()) && !plan.mixed.contains(path) {
            plan.mixed.push(path.clone());
        }
    }
    Ok(plan)
}

/// Bytes of a file that are compared.
const MOST: u64 = 64 << 20;

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
    bytes
        .iter()
        .zip(next)
        .filter(|(byte, next)| !(**byte == b'\r' && *next == Some(&b'\n')))
        .map(|(byte, _)| *byte)
}

/// The authors' messages, the only one as it is.
fn message(records: &[Record]) -> Option<String> {
    let said = |record: &Record| record.git_commit_msg.clone().or_else(|| record.prompt_summary.clone());
    let mut messages: Vec<String> =
        records.iter().filter_map(said).map(|text| text.trim().to_string()).collect();
    messages.dedup();
    messages.retain(|message| !message.is_empty());
    (!messages.is_empty()).then(|| messages.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_endings_are_no_other_edits() {
        assert!(same_text(Some(b"a\r\nb\n"), Some(b"a\nb\n")));
        assert!(!same_text(Some(b"a\rb\n"), Some(b"ab\n")));
        assert!(!same_text(Some(b"a"), None));
        assert!(same_text(None, None));
    }
}
