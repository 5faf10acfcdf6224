//! `/diff`: all that this conversation changed and that is still in, file by file, as one diff.

use std::collections::BTreeMap;

use relaycode_change::diff;
use relaycode_change::plan::{FileChangeKind, FilePlan};
use relaycode_change::proposal::GitFileMode;
use relaycode_change::proposal::path::RelPath;
use relaycode_ledger::record::FileRecord;
use relaycode_ledger::{Ledger, TxId};
use relaycode_tui::{DiffLayout, views};

use super::{SlashCall, SlashCommand};
use crate::agent::change_groups::session_groups;
use crate::agent::conversation::{Conversation, ConversationStep};
use crate::approver::pager::PagedOutput;
use crate::commands::show::available_bytes;
use crate::{CommandContext, CommandResult};

/// Entries of the log that are looked at together.
const PAGE: usize = 500;

pub(super) struct DiffCommand;

impl SlashCommand for DiffCommand {
    fn name(&self) -> &'static str {
        "diff"
    }

    fn help(&self) -> &'static str {
        "all that this conversation changed, as one diff"
    }

    fn run(
        &self,
        _call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        let agent = &conversation.open.agent;
        let ledger = &agent.workspace().door.ledger;
        let groups = agent.with_session(session_groups);
        let files = SessionFiles::read(ledger, &groups)?;
        let plans = files.to_plans();
        if plans.is_empty() && files.unknown.is_empty() {
            ctx.print_info("  this conversation has changed nothing that is still in\n");
            return Ok(ConversationStep::GoOn);
        }
        let mut output = PagedOutput::new(ctx);
        for plan in &plans {
            let made = diff::diff_file(plan);
            output
                .push(|look| views::diff::file_text_with_layout(plan, &made, DiffLayout::Unified, look), ctx);
        }
        for path in &files.unknown {
            output.push(|look| format!("  {}: its bytes are not kept any more\n", look.safe(path)), ctx);
        }
        output.finish(ctx)?;
        Ok(ConversationStep::GoOn)
    }
}

/// `None`: there is no such file.
type FileBytes = Option<Vec<u8>>;

/// A file before the conversation's first change of it and after the last.
struct FileSpan {
    before: Option<Vec<u8>>,
    after: Option<Vec<u8>>,
}

#[derive(Default)]
struct SessionFiles {
    spans: BTreeMap<String, FileSpan>,
    unknown: Vec<String>,
}

impl SessionFiles {
    fn read(ledger: &Ledger, groups: &[String]) -> CommandResult<SessionFiles> {
        let mut ids: Vec<TxId> = Vec::new();
        for skip in (0..).step_by(PAGE) {
            let page = ledger.log_page(skip, PAGE)?;
            for entry in &page.entries {
                if entry.group.as_ref().is_some_and(|group| groups.contains(group)) {
                    // What was taken back, and what took it back, cancel out.
                    let kept = entry.members.iter().filter(|member| !member.undone);
                    ids.extend(
                        kept.filter(|member| member.revert_of.is_empty()).filter_map(|member| member.id),
                    );
                }
            }
            if page.entries.len() < PAGE {
                break;
            }
        }
        let mut files = SessionFiles::default();
        // The log begins with the newest.
        for id in ids.into_iter().rev() {
            let record = ledger.record(id)?;
            for file in &record.result {
                let known = available_bytes(ledger.before_bytes(&record, file))?
                    .zip(available_bytes(ledger.after_bytes(&record, file))?);
                files.take(file, known);
            }
        }
        Ok(files)
    }

    fn take(&mut self, file: &FileRecord, known: Option<(FileBytes, FileBytes)>) {
        let Some((before, after)) = known else {
            self.unknown.push(file.path.clone());
            return;
        };
        let first = match self.spans.remove(file.old_path()) {
            Some(span) => span.before,
            None => before,
        };
        if file.renamed_from.is_some() {
            self.spans.insert(file.old_path().to_string(), FileSpan { before: first, after: None });
            self.spans.insert(file.path.clone(), FileSpan { before: None, after });
        } else {
            self.spans.insert(file.path.clone(), FileSpan { before: first, after });
        }
    }

    fn to_plans(&self) -> Vec<FilePlan> {
        let plan = |(path, span): (&String, &FileSpan)| {
            let change = match (&span.before, &span.after) {
                (before, after) if before == after => return None,
                (None, _) => FileChangeKind::Added,
                (_, None) => FileChangeKind::Deleted,
                _ => FileChangeKind::Modified,
            };
            let mut plan = FilePlan {
                path: RelPath::of_existing(path).ok()?,
                renamed_from: None,
                change,
                before: span.before.clone(),
                after: span.after.clone(),
                mode_before: span.before.as_ref().map(|_| GitFileMode::Regular),
                mode_after: span.after.as_ref().map(|_| GitFileMode::Regular),
                added: 0,
                removed: 0,
                dialect: None,
                hunks: Vec::new(),
            };
            (plan.added, plan.removed) = diff::diff_file(&plan).line_counts();
            Some(plan)
        };
        self.spans.iter().filter_map(plan).collect()
    }
}
