//! What came of an undo, a redo or a revert, told to people and to machines.

use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use relaycode_change::diff::{self, FileDiff};
use relaycode_change::plan::{FileChangeKind, FilePlan};
use relaycode_change::proposal::GitFileMode;
use relaycode_ledger::record::title::{self, reverted_title};
use relaycode_ledger::record::{Record, RecordOmission};
use relaycode_ledger::transaction::change::{FileChange, NewMode};
use relaycode_ledger::{KeptEdits, Ledger, LogEntry, RevertPlan, RevertStep, TxId};
use relaycode_tui::views;
use relaycode_tui::views::revert::{LONGEST_TITLE, RevertReport};
use serde_json::{Value, json};

use crate::approver::pager::PagedOutput;
use crate::{CommandContext, CommandResult, Exit, json};

/// An undo, a redo or a revert that was done, or would be.
pub(crate) struct RevertOutcome {
    pub(crate) step: RevertStep,
    /// What it was recorded as; `None`: nothing was done.
    pub(crate) id: Option<TxId>,
    pub(crate) plan: RevertPlan,
    /// There is something to do.
    pub(crate) is_left: bool,
    pub(crate) dry_run: bool,
    /// What was taken back or brought back, if something was.
    pub(crate) done: ChangeName,
    /// What the same step would be about once more.
    pub(crate) next: Option<ChangeName>,
    pub(crate) has_keys: bool,
}

/// What a change is called in a sentence: its title, and its id where another one in the sentence has the same title.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChangeName {
    pub(crate) title: String,
    pub(crate) id: Option<TxId>,
    short_id: Option<String>,
}

impl ChangeName {
    pub(crate) fn new(title: &str, id: Option<TxId>) -> ChangeName {
        ChangeName { title: title.to_string(), id, short_id: None }
    }

    pub(crate) fn of_entry(entry: &LogEntry) -> ChangeName {
        ChangeName::new(entry.title(), entry.members.first().and_then(|item| item.id))
    }

    /// Two changes of the same title are told apart by their ids.
    pub(crate) fn tell_apart(&mut self, other: &mut ChangeName, ledger: &Ledger) {
        if self.title == other.title && self.id != other.id {
            for name in [self, other] {
                name.short_id = name.id.and_then(|id| ledger.short_id(id).ok());
            }
        }
    }
}

/// `"edit a.txt"`, or `"edit a.txt" (3f9c1e2a)`
impl fmt::Display for ChangeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.short_id.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
        write!(f, "\"{}\"{id}", self.title)
    }
}

impl RevertOutcome {
    /// What the change did and this cannot bring back needs somebody.
    pub(crate) fn exit(&self) -> Exit {
        if self.plan.unrestored.iter().all(RecordOmission::is_build_output) || self.dry_run {
            Exit::Done
        } else {
            Exit::NeedsYou
        }
    }

    /// Says it. `newest` is what was to be taken back.
    pub(crate) fn report(
        &self,
        root: &Path,
        newest: &Record,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<()> {
        let files: Vec<(FilePlan, FileDiff)> = match self.dry_run {
            true => self.plan.changes.iter().map(|change| planned_diff(root, change)).collect(),
            false => Vec::new(),
        };
        ctx.print_json(&json::result_json(self.step.name(), self.exit(), self.to_json(root, &files)));
        if ctx.is_quiet() {
            return Ok(());
        }
        let RevertOutcome { step, plan, done, next, has_keys, .. } = self;
        let report = RevertReport {
            step: *step,
            plan,
            id: done.short_id.as_deref(),
            next: next.as_ref().map(|next| (next.title.as_str(), next.short_id.as_deref())),
            has_keys: *has_keys,
        };
        let look = ctx.style();
        let text = if self.id.is_some() {
            report.text(&look)
        } else if self.dry_run && self.is_left {
            let mut output = PagedOutput::new(ctx);
            output.push(|look| report.preview(&files, look), ctx);
            return output.finish(ctx);
        } else {
            let title = title::title(newest);
            let title = look.clip(&look.title(reverted_title(&title)), LONGEST_TITLE);
            let said = format!("nothing of \"{title}\" is left to {}", step.name());
            let missing = views::outcome::unrestored_lines(&look, &plan.unrestored);
            views::outcome::success_line(&look, &said) + &missing
        };
        ctx.print_info(&text);
        Ok(())
    }

    fn to_json(&self, root: &Path, files: &[(FilePlan, FileDiff)]) -> Value {
        let plan = &self.plan;
        let kept = |kept: &KeptEdits| json!({"path": kept.path, "edits": kept.edits});
        let missing = |left: &RecordOmission| json!({"path": left.path, "why": left.reason});
        let mut object = json!({
            "project": root.to_string_lossy(), "reverted": self.id.is_some(), "id": self.id.map(|id| id.to_string()),
            "title": plan.title, "revertOf": plan.reverts.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "files": plan.changes.iter().map(|change| change.path.as_str()).collect::<Vec<_>>(),
            "kept": plan.kept_edits.iter().map(kept).collect::<Vec<_>>(), "withMarkers": plan.conflict_marked,
            "unrestored": plan.unrestored.iter().map(missing).collect::<Vec<_>>(),
        });
        if self.dry_run {
            let change = |(file, diff): &(FilePlan, FileDiff)| {
                json!({
                    "path": file.path.as_str(), "renamedFrom": file.renamed_from.as_ref().map(|from| from.as_str()),
                    "change": file.change, "added": file.added, "removed": file.removed,
                    "diff": json::to_value(&diff.content),
                })
            };
            json::merge(
                &mut object,
                json!({"dryRun": true, "changes": files.iter().map(change).collect::<Vec<_>>()}),
            );
        }
        object
    }
}

/// One file as it would become, and its diff.
fn planned_diff(root: &Path, change: &FileChange<'_>) -> (FilePlan, FileDiff) {
    let git_mode = |mode: u32| if mode & 0o100 == 0 { GitFileMode::Regular } else { GitFileMode::Executable };
    let now = root.join(change.old_path().as_str()).symlink_metadata().ok();
    let mode_before = change.before.as_ref().and(now).map(|stat| git_mode(stat.permissions().mode()));
    let mode_after = change.after.as_ref().map(|after| match after.mode {
        NewMode::Exact(mode) => git_mode(mode),
        NewMode::Executable(true) => GitFileMode::Executable,
        NewMode::Executable(false) => GitFileMode::Regular,
        NewMode::Keep => mode_before.unwrap_or(GitFileMode::Regular),
    });
    let plan = FilePlan {
        path: change.path.clone(),
        renamed_from: change.renamed_from.clone(),
        change: match (&change.before, &change.after) {
            (None, _) => FileChangeKind::Added,
            (_, None) => FileChangeKind::Deleted,
            _ if change.renamed_from.is_some() => FileChangeKind::Renamed,
            _ => FileChangeKind::Modified,
        },
        before: change.before.as_ref().map(|bytes| bytes.to_vec()),
        after: change.after.as_ref().map(|after| after.bytes.to_vec()),
        mode_before,
        mode_after,
        added: change.added,
        removed: change.removed,
        dialect: None,
        hunks: Vec::new(),
    };
    let diff = diff::diff_file(&plan);
    (plan, diff)
}
