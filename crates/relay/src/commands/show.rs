//! `relay show`: what the ledger knows of one change.

use std::borrow::Cow;

use relaycode_change::diff::{self, FileDiff};
use relaycode_change::plan::{FileChangeKind, FilePlan};
use relaycode_change::proposal::GitFileMode;
use relaycode_change::proposal::path::RelPath;
use relaycode_ledger::record::{FileImage, FileRecord, Record, RecordedOperation};
use relaycode_ledger::{Ledger, LedgerError, TxId};
use relaycode_tui::views::diff::DiffLayout;
use relaycode_tui::views::record::{RecordView, RevertStatus, file_change};
use relaycode_tui::{OutputStyle, views};
use serde::Serialize;

use crate::terminal::environment::DiffLayoutArgs;
use crate::{CommandContext, CommandFailure, CommandResult, Exit, Project, RunCommand};

/// Show what one change did
///
/// When it was applied and where it came from, what its author said, the files, and whether it was
/// reverted; with --diff what it changed in them. Nothing is changed.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ShowArgs {
    /// A number of `relay log`, an id, or the beginning of one
    #[arg(value_name = "ID|N", default_value = "1")]
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

impl RunCommand for ShowArgs {
    fn name(&self) -> &'static str {
        "show"
    }

    fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let project = Project::open(ctx)?;
        project.restore_ledger(ctx);
        let ids = project.find_target(&self.name)?.ids();
        let mut shown = Vec::new();
        for id in ids {
            let record = project.ledger.record(id)?;
            let fate = project.revert_status(id)?;
            shown.push(ShowRecord::read(&project, record, fate, self)?);
        }
        if let Some(file) = self.file.as_ref().filter(|_| shown.iter().all(|one| one.shown.files.is_empty()))
        {
            return Err(CommandFailure::usage(format!("{file} is not among the files of {}", self.name))
                .with_hint(format!("`relay show {}` lists them", self.name)));
        }
        if ctx.is_json() {
            ctx.console.print_json(&ShowJson {
                ok: true,
                code: Exit::Done as u8,
                command: "show",
                project: project.root.to_string_lossy(),
                records: shown.iter().map(|one| ShowRecordJson::of(one, self.diff)).collect(),
            });
            return Ok(Exit::Done);
        }
        let look = ctx.console.out_style();
        let layout = self.layout.layout();
        for (at, one) in shown.iter().enumerate() {
            if at > 0 {
                ctx.console.print("\n");
            }
            if !ctx.is_quiet() {
                ctx.console.print(&views::record::text(&one.shown, &look));
            }
            for diff in &one.diffs {
                ctx.console.print(&diff.text(layout, &look));
            }
        }
        Ok(Exit::Done)
    }
}

/// A record, and the diffs of its files where they were asked for.
struct ShowRecord {
    shown: RecordView,
    diffs: Vec<RecordDiff>,
}

impl ShowRecord {
    fn read(
        project: &Project,
        record: Record,
        fate: RevertStatus,
        args: &ShowArgs,
    ) -> CommandResult<ShowRecord> {
        let wanted = |file: &&FileRecord| {
            args.file.as_ref().is_none_or(|path| file.path == *path || file.old_path() == path)
        };
        let files: Vec<FileRecord> = record.result.iter().filter(wanted).cloned().collect();
        let asked = files.iter().filter(|_| args.diff || args.layout.side_by_side);
        let diffs =
            asked.map(|file| RecordDiff::read(&project.ledger, &record, file)).collect::<Result<_, _>>()?;
        Ok(ShowRecord { shown: RecordView { record, revert_status: fate, files }, diffs })
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

/// What a change did to its files.
pub(crate) fn record_diffs(ledger: &Ledger, id: TxId) -> CommandResult<Vec<RecordDiff>> {
    let record = ledger.record(id)?;
    record.result.iter().map(|file| RecordDiff::read(ledger, &record, file)).collect()
}

/// Bytes of a record; `None` if they are not kept any more.
fn available_bytes(
    bytes: Result<Option<Vec<u8>>, LedgerError>,
) -> Result<Option<Option<Vec<u8>>>, CommandFailure> {
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
        Some(from) => Some(RelPath::parse(from).ok()?),
        None => None,
    };
    Some(FilePlan {
        path: RelPath::parse(&file.path).ok()?,
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

/// What `--json` prints.
#[derive(Serialize)]
struct ShowJson<'a> {
    ok: bool,
    code: u8,
    command: &'static str,
    project: Cow<'a, str>,
    /// One, or those of a group, newest first.
    records: Vec<ShowRecordJson<'a>>,
}

/// A record without the contents of its files.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShowRecordJson<'a> {
    id: String,
    number: u64,
    project_id: &'a str,
    created_at: &'a str,
    origin: &'a str,
    group: Option<&'a str>,
    branch: Option<&'a str>,
    head: Option<&'a str>,
    git_commit_msg: Option<&'a str>,
    prompt_summary: Option<&'a str>,
    reasoning: &'a [String],
    operations: &'a [RecordedOperation],
    files: Vec<RecordFileJson<'a>>,
    matches: &'a [String],
    gate: Option<&'a str>,
    decided_by: Option<&'a str>,
    rules: &'a [String],
    digest: Option<String>,
    revert_of: Vec<String>,
    undone: bool,
    reverted_by: Option<TxId>,
    notes: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RecordFileJson<'a> {
    path: &'a str,
    renamed_from: Option<&'a str>,
    change: FileChangeKind,
    added: usize,
    removed: usize,
    before: Option<FileImage>,
    after: Option<FileImage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<&'a diff::DiffContent>,
}

impl<'a> ShowRecordJson<'a> {
    fn of(one: &'a ShowRecord, with_diff: bool) -> ShowRecordJson<'a> {
        let ShowRecord { shown, diffs } = one;
        let record = &shown.record;
        let diff = |at: usize| diffs.get(at).and_then(|one| one.diff.as_ref()).filter(|_| with_diff);
        let files = shown.files.iter().enumerate().map(|(at, file)| RecordFileJson {
            path: &file.path,
            renamed_from: file.renamed_from.as_deref(),
            change: file_change(record, file),
            added: file.added,
            removed: file.removed,
            before: file.before,
            after: file.after,
            diff: diff(at).map(|(_, diff)| &diff.content),
        });
        ShowRecordJson {
            id: record.uuid.to_string(),
            number: record.number,
            project_id: &record.project_id,
            created_at: &record.created_at,
            origin: &record.origin,
            group: record.group.as_deref(),
            branch: record.branch.as_deref(),
            head: record.head.as_deref(),
            git_commit_msg: record.git_commit_msg.as_deref(),
            prompt_summary: record.prompt_summary.as_deref(),
            reasoning: &record.reasoning,
            operations: &record.operations,
            files: files.collect(),
            matches: &record.matches,
            gate: record.gate.as_deref(),
            decided_by: record.decided_by.as_deref(),
            rules: &record.rules,
            digest: record.plan.map(|digest| digest.to_string()),
            revert_of: record.revert_of.iter().map(ToString::to_string).collect(),
            undone: shown.revert_status.undone,
            reverted_by: shown.revert_status.reverted_by,
            notes: &record.notes,
        }
    }
}
