//! Records of the original tool, in both of its layouts: `.relaycode/{uuid}.yml`, and
//! `.relay/transactions/{n}.yaml` or `{uuid}.yml` with a `status`.
//!
//! They say what every file was before but not what it became. That is found by carrying out their
//! operations on what was; where it cannot be, the record is still listed, with a note that it
//! cannot be reverted and why. Nothing in such a file is trusted: it has no checksum, and its paths
//! are checked like those of any answer.

use std::collections::{BTreeMap, BTreeSet};

use relaycode_change::dialect::{self, DialectBlock};
use relaycode_change::plan::tree::MemoryTree;
use relaycode_change::plan::{self, FilePlan, NoSeenTexts};
use relaycode_change::proposal::limits::PlanLimits;
use relaycode_change::proposal::path::RelPath;
use relaycode_change::proposal::{FileAction, Operation, Proposal};
use serde::Deserialize;

use crate::record::{FileImage, FileRecord, LoadedRecord, Record, RecordContent, RecordedOperation, file};
use crate::{LedgerError, LedgerResult, TxId};

/// The permission bits that are assumed: the original tool did not write them down.
const ASSUMED_MODE: u32 = 0o644;
/// Files and edits in one record; the original tool had no limits.
const MOST: usize = 100_000;
/// Bytes of one file in a record.
const FILE_BYTES: usize = 64 * 1024 * 1024;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OriginalFields {
    uuid: TxId,
    #[serde(default)]
    project_id: String,
    #[serde(default)]
    created_at: String,
    #[serde(default)]
    git_commit_msg: Option<OriginalText>,
    #[serde(default)]
    prompt_summary: Option<OriginalText>,
    #[serde(default)]
    reasoning: Option<OriginalText>,
    #[serde(default)]
    operations: Vec<RecordedOperation>,
    #[serde(default)]
    snapshot: BTreeMap<String, Option<String>>,
    #[serde(default)]
    approved: bool,
    #[serde(default)]
    status: Option<String>,
}

/// A text, or a list of them.
#[derive(Deserialize)]
#[serde(untagged)]
enum OriginalText {
    One(String),
    Several(Vec<String>),
}

impl OriginalText {
    fn into_text(self) -> String {
        match self {
            OriginalText::One(text) => text,
            OriginalText::Several(texts) => texts.join("\n"),
        }
    }

    fn into_texts(self) -> Vec<String> {
        match self {
            OriginalText::One(text) => vec![text],
            OriginalText::Several(texts) => texts,
        }
    }
}

/// Reads a file of the original tool at `path` (beneath the root, for messages). `id` is the
/// transaction that its name says, where it says one.
///
/// # Errors
/// `Damaged` if it cannot be understood, names a file that no change may touch, or is the record of
/// another transaction.
pub(crate) fn read(bytes: &[u8], path: &str, id: Option<TxId>) -> LedgerResult<LoadedRecord> {
    let damaged = |reason: String| LedgerError::Damaged { path: path.to_string(), reason };
    let fields: OriginalFields = file::read_foreign(bytes).map_err(damaged)?;
    if let Some(other) = id.filter(|id| *id != fields.uuid) {
        return Err(damaged(format!("it is the record of {}, not of {other}", fields.uuid)));
    }
    let undone = match fields.status.as_deref() {
        Some("pending") => return Ok(LoadedRecord::Pending),
        Some("undone") => true,
        _ => false,
    };
    let snapshot = checked_snapshot(&fields.snapshot).map_err(damaged)?;
    let touched = touched_paths(&fields.operations).map_err(damaged)?;
    let mut notes = Vec::new();
    let result = match plan_files(&fields.operations, &snapshot) {
        Ok(files) => files.iter().map(to_file_record).collect(),
        Err(reason) => {
            notes.push(format!("this cannot be reverted: {reason}"));
            unknown_results(&touched, &snapshot)
        }
    };
    let record = Record {
        uuid: fields.uuid,
        project_id: fields.project_id,
        created_at: fields.created_at,
        git_commit_msg: fields.git_commit_msg.map(OriginalText::into_text),
        prompt_summary: fields.prompt_summary.map(OriginalText::into_text),
        reasoning: fields.reasoning.map(OriginalText::into_texts).unwrap_or_default(),
        operations: fields.operations,
        snapshot: snapshot
            .iter()
            .map(|(path, old)| (path.to_string(), old.as_deref().map(text_of)))
            .collect(),
        approved: fields.approved,
        origin: "original".to_string(),
        result,
        notes,
        ..Record::default()
    };
    Ok(LoadedRecord::Record { record: Box::new(record), undone, own: false })
}

type OriginalSnapshot = BTreeMap<RelPath, Option<Vec<u8>>>;

fn checked_snapshot(snapshot: &BTreeMap<String, Option<String>>) -> Result<OriginalSnapshot, String> {
    let mut checked = OriginalSnapshot::new();
    for (path, text) in snapshot {
        let path = RelPath::parse(path).map_err(|error| error.to_string())?;
        if checked.insert(path.clone(), text.clone().map(String::into_bytes)).is_some() {
            return Err(format!("its snapshot has {path} twice"));
        }
    }
    Ok(checked)
}

/// Every file that the operations name.
fn touched_paths(operations: &[RecordedOperation]) -> Result<BTreeSet<RelPath>, String> {
    let named = operations.iter().flat_map(|operation| match operation {
        RecordedOperation::Write { path, .. } | RecordedOperation::Delete { path } => vec![path],
        RecordedOperation::Rename { from, to } => vec![from, to],
    });
    named.map(|path| RelPath::parse(path).map_err(|error| error.to_string())).collect()
}

/// What the operations made of the files.
fn plan_files(steps: &[RecordedOperation], snapshot: &OriginalSnapshot) -> Result<Vec<FilePlan>, String> {
    let mut proposal = Proposal::default();
    for operation in steps {
        proposal.operations.extend(to_operations(operation)?);
    }
    let mut tree = MemoryTree::default();
    for (path, old) in snapshot {
        if let Some(old) = old {
            tree.insert(path.clone(), old.clone());
        }
    }
    let moved_to: BTreeSet<&RelPath> = (proposal.operations.iter())
        .filter_map(|operation| match &operation.action {
            FileAction::Rename { to, .. } => Some(to),
            _ => None,
        })
        .collect();
    for operation in &proposal.operations {
        let named = match &operation.action {
            FileAction::Write { path, .. }
            | FileAction::Delete { path, .. }
            | FileAction::Exact { path, .. } => path,
            FileAction::Rename { from, .. } => from,
        };
        if !snapshot.contains_key(named) && !moved_to.contains(named) {
            return Err(format!("it does not say what {named} was before"));
        }
    }
    let limits = PlanLimits {
        text_bytes: FILE_BYTES,
        files: MOST,
        file_bytes: FILE_BYTES,
        hunks: MOST,
        ..PlanLimits::default()
    };
    let plan = plan::plan(&proposal, &tree, &NoSeenTexts, &limits).map_err(|refused| {
        let first = refused.refusals.first();
        let path = first.and_then(|refusal| refusal.path.as_ref()).map_or("a file", RelPath::as_str);
        format!("what it made of {path} cannot be worked out from what it says")
    })?;
    let whole = written_whole(steps);
    let mut files = plan.files;
    for file in &mut files {
        if let (Some(after), Some(Some(text))) = (&mut file.after, whole.get(&file.path)) {
            *after = text.as_bytes().to_vec();
        }
    }
    files.retain(|file| file.before != file.after || file.renamed_from.is_some());
    Ok(files)
}

/// The text of every file's last write if that was the whole file: the original tool wrote it as it
/// was, whatever line endings the file had.
fn written_whole(operations: &[RecordedOperation]) -> BTreeMap<RelPath, Option<&str>> {
    let mut whole = BTreeMap::new();
    for operation in operations {
        if let RecordedOperation::Write { path, content, patch_strategy } = operation
            && let Ok(path) = RelPath::parse(path)
        {
            whole.insert(path, (patch_strategy == "replace").then_some(content.as_str()));
        }
    }
    whole
}

/// An operation as the planner takes it.
fn to_operations(operation: &RecordedOperation) -> Result<Vec<Operation>, String> {
    let checked = |path: &str| RelPath::parse(path).map_err(|error| error.to_string());
    let only = |action| Ok(vec![Operation { line: 0, action }]);
    match operation {
        RecordedOperation::Delete { path } => only(FileAction::Delete { path: checked(path)?, old: None }),
        RecordedOperation::Rename { from, to } => {
            only(FileAction::Rename { from: checked(from)?, to: checked(to)? })
        }
        RecordedOperation::Write { path, content, patch_strategy } => {
            let path = checked(path)?;
            let dialect = if patch_strategy.is_empty() {
                dialect::detect(content)
            } else {
                dialect::by_name(patch_strategy).ok_or_else(|| {
                    format!("`{patch_strategy}` is no way to write an edit that relay knows")
                })?
            };
            let block = DialectBlock { path: Some(path.clone()), text: content, line: 1 };
            let read = dialect.read(&block).map_err(|error| format!("the edit of {path}: {error}"))?;
            if read.iter().any(|operation| operation.action.path() != &path) {
                return Err(format!("the edit of {path} names another file"));
            }
            Ok(read)
        }
    }
}

fn text_of(bytes: &[u8]) -> RecordContent {
    RecordContent::Text(String::from_utf8_lossy(bytes).into_owned())
}

fn to_file_record(file: &FilePlan) -> FileRecord {
    let image = |bytes: &Vec<u8>| FileImage::of(bytes, ASSUMED_MODE);
    FileRecord {
        path: file.path.to_string(),
        renamed_from: file.renamed_from.as_ref().map(ToString::to_string),
        before: file.before.as_ref().map(image),
        after: file.after.as_ref().map(image),
        added: file.added,
        removed: file.removed,
        content: file.after.as_deref().map(text_of),
        ..FileRecord::default()
    }
}

/// What is known of the files when it is not known what became of them.
fn unknown_results(touched: &BTreeSet<RelPath>, snapshot: &OriginalSnapshot) -> Vec<FileRecord> {
    let all: BTreeSet<&RelPath> = touched.iter().chain(snapshot.keys()).collect();
    let image = |path: &RelPath| Some(FileImage::of(snapshot.get(path)?.as_ref()?, ASSUMED_MODE));
    let unknown =
        |path: &RelPath| FileRecord { path: path.to_string(), before: image(path), ..FileRecord::default() };
    all.into_iter().map(unknown).collect()
}

#[cfg(test)]
mod tests;
