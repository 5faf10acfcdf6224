//! `relay show`: what the ledger knows of one change.

use relaycode_change::diff::{self, FileDiff};
use relaycode_change::plan::FilePlan;
use relaycode_change::proposal::GitFileMode;
use relaycode_change::proposal::path::RelPath;
use relaycode_ledger::record::{FileImage, FileRecord, Record, title};
use relaycode_ledger::{Ledger, LedgerError, TxId};
use relaycode_tui::views::record::{RecordView, file_change};
use relaycode_tui::{DiffLayout, OutputStyle, views};
use serde_json::{Value, json};

use crate::approver::pager::PagedOutput;
use crate::terminal::environment::DiffLayoutArgs;
use crate::{CommandContext, CommandFailure, CommandResult, Exit, Project, json};

/// Show what one change did
///
/// When it was applied and where it came from, what its author said, the files, and whether it was
/// reverted; with --diff what it changed in them. Nothing is changed.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ShowArgs {
    /// A number of `relay log`, an id, or the beginning of one
    #[arg(value_name = "ID|N", default_value = "1", allow_negative_numbers = true)]
    name: String,

    /// Show the diff, too
    #[arg(long)]
    diff: bool,

    #[command(flatten)]
    layout: DiffLayoutArgs,

    /// Only this file
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
}

impl ShowArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let project = Project::open(ctx)?;
        project.restore_ledger(ctx);
        let ids = project.find_target(&self.name)?.ids();
        let read = |id: TxId| ShowRecord::read(&project, id, self);
        let shown = ids.into_iter().map(read).collect::<CommandResult<Vec<_>>>()?;
        if let Some(file) = self.file.as_ref().filter(|_| shown.iter().all(|one| one.shown.files.is_empty()))
        {
            return Err(CommandFailure::usage(format!(
                "{file} is not one of the files of change {}",
                self.name
            ))
            .hint(format!("`relay show {}` lists them", self.name)));
        }
        if ctx.is_json() {
            // One, or those of a group, newest first.
            let records: Vec<Value> = shown.iter().map(|one| one.to_json(self.diff)).collect();
            let project = project.root.to_string_lossy();
            return Ok(ctx.print_result(Exit::Done, json!({"project": project, "records": records})));
        }
        let layout = self.layout.layout();
        let mut output = PagedOutput::new(ctx);
        for (at, one) in shown.iter().enumerate() {
            if at > 0 {
                output.push(|_| "\n".to_string(), ctx);
            }
            if !ctx.is_quiet() {
                output.push(|look| views::record::text(&one.shown, look), ctx);
            }
            output.push(|look| diffs_text(&one.diffs, layout, look), ctx);
        }
        output.finish(ctx)?;
        Ok(Exit::Done)
    }
}

/// A record, and the diffs of its files where they were asked for.
struct ShowRecord {
    shown: RecordView,
    diffs: Vec<RecordDiff>,
}

impl ShowRecord {
    fn read(project: &Project, id: TxId, args: &ShowArgs) -> CommandResult<ShowRecord> {
        let (record, revert_status) = (project.ledger.record(id)?, project.revert_status(id)?);
        let wanted = |file: &&FileRecord| {
            args.file.as_ref().is_none_or(|path| file.path == *path || file.old_path() == path)
        };
        let files: Vec<FileRecord> = record.result.iter().filter(wanted).cloned().collect();
        let asked = files.iter().filter(|_| args.diff || args.layout.side_by_side);
        let diffs = asked.map(|f| RecordDiff::read(&project.ledger, &record, f)).collect::<Result<_, _>>()?;
        let short_id = project.ledger.short_id(id)?;
        Ok(ShowRecord { shown: RecordView { record, short_id, revert_status, files }, diffs })
    }

    /// The record without the contents of its files.
    fn to_json(&self, with_diff: bool) -> Value {
        let RecordView { record, revert_status, files, .. } = &self.shown;
        let file_json = |(at, file): (usize, &FileRecord)| {
            let mut object = json!({
                "path": file.path, "renamedFrom": file.renamed_from, "change": file_change(record, file),
                "added": file.added, "removed": file.removed, "before": file.before, "after": file.after,
            });
            let diff = self.diffs.get(at).and_then(|one| one.diff.as_ref()).filter(|_| with_diff);
            if let Some((_, diff)) = diff {
                object["diff"] = json::to_value(&diff.content);
            }
            object
        };
        json!({
            "id": record.uuid.to_string(), "number": record.number, "projectId": record.project_id,
            "createdAt": record.created_at, "origin": record.origin, "group": record.group, "branch": record.branch,
            "head": record.head, "gitCommitMsg": record.git_commit_msg, "promptSummary": record.prompt_summary,
            "reasoning": record.reasoning, "operations": record.operations,
            "files": files.iter().enumerate().map(file_json).collect::<Vec<_>>(), "matches": record.matches,
            "gate": record.gate, "decidedBy": record.decided_by, "rules": record.rules,
            "digest": record.plan.map(|digest| digest.to_string()),
            "revertOf": record.revert_of.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "title": title::title(record), "revertPaths": record.revert_paths,
            "undone": revert_status.undone, "partlyUndone": revert_status.partly_undone, "revertedBy": revert_status.reverted_by, "notes": record.notes,
        })
    }
}

/// A file of a record, and what was changed in it.
pub(crate) struct RecordDiff {
    file: FileRecord,
    /// `None`: the bytes are gone.
    diff: Option<(FilePlan, FileDiff)>,
}

impl RecordDiff {
    fn read(ledger: &Ledger, record: &Record, file: &FileRecord) -> CommandResult<RecordDiff> {
        let before = available_bytes(ledger.before_bytes(record, file))?;
        let after = available_bytes(ledger.after_bytes(record, file))?;
        let known = before.zip(after).filter(|_| !record.is_result_unknown(file));
        let plan = known.and_then(|(before, after)| file_plan(record, file, before, after));
        let diff = plan.map(|plan| {
            let diff = diff::diff_file(&plan);
            (plan, diff)
        });
        Ok(RecordDiff { file: file.clone(), diff })
    }

    /// The diff, after an empty line.
    pub(crate) fn text(&self, layout: DiffLayout, look: &OutputStyle) -> String {
        match &self.diff {
            Some((file, diff)) => views::diff::file_text_with_layout(file, diff, layout, look),
            None => views::record::no_diff(&self.file, look),
        }
    }
}

/// The diffs, each after an empty line.
pub(crate) fn diffs_text(diffs: &[RecordDiff], layout: DiffLayout, look: &OutputStyle) -> String {
    if diffs.is_empty() {
        return String::new();
    }
    let (layout, remark) = views::diff::choose_layout(layout, look);
    diffs.iter().fold(remark, |out, one| out + &one.text(layout, look))
}

/// What a change did to its files.
pub(crate) fn record_diffs(ledger: &Ledger, id: TxId) -> CommandResult<Vec<RecordDiff>> {
    let record = ledger.record(id)?;
    record.result.iter().map(|file| RecordDiff::read(ledger, &record, file)).collect()
}

/// The same as plans with their diffs; files whose bytes are gone are left out.
pub(crate) fn record_plans(ledger: &Ledger, id: TxId) -> CommandResult<Vec<(FilePlan, FileDiff)>> {
    Ok(record_diffs(ledger, id)?.into_iter().filter_map(|file| file.diff).collect())
}

/// Bytes of a record; `None` if they are not kept any more.
pub(crate) fn available_bytes(
    bytes: Result<Option<Vec<u8>>, LedgerError>,
) -> CommandResult<Option<Option<Vec<u8>>>> {
    match bytes {
        Ok(bytes) => Ok(Some(bytes)),
        Err(LedgerError::NotRevertible { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The file as a plan had it; `None` if no plan could name it.
fn file_plan(
    record: &Record,
    file: &FileRecord,
    before: Option<Vec<u8>>,
    after: Option<Vec<u8>>,
) -> Option<FilePlan> {
    let renamed_from = match &file.renamed_from {
        Some(from) => Some(RelPath::of_existing(from).ok()?),
        None => None,
    };
    Some(FilePlan {
        path: RelPath::of_existing(&file.path).ok()?,
        renamed_from,
        change: file_change(record, file),
        before,
        after,
        mode_before: file.before.as_ref().map(file_mode),
        mode_after: file.after.as_ref().map(file_mode),
        added: file.added,
        removed: file.removed,
        dialect: None,
        hunks: Vec::new(),
    })
}

fn file_mode(image: &FileImage) -> GitFileMode {
    if image.mode & 0o100 == 0 { GitFileMode::Regular } else { GitFileMode::Executable }
}
