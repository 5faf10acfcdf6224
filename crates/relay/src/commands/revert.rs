//! `relay revert`: a change is taken back, and what came later stays. A revert is a change like any
//! other: it is recorded, and reverting it brings everything back.

use std::path::Path;

use relaycode_change::proposal::path::RelPath;
use relaycode_ledger::record::{Record, RecordOmission};
use relaycode_ledger::{
    KeptEdits, Ledger, LedgerError, LogEntry, LogTarget, RevertOptions, RevertPlan, TransactionHeader, TxId,
};
use relaycode_project::git::head::{self, GitHead};
use relaycode_tui::views::outcome::RevertReport;
use relaycode_tui::{clock, views};
use serde_json::json;

use super::accept_foreign::{self, AcceptArgs};
use crate::{
    CommandContext, CommandFailure, CommandResult, Exit, LogLevel, Project, json, project, questions,
};

/// Take a change back, keeping what came later
///
/// Without a name the newest entry of `relay log`, which may itself be a revert. Later edits of the
/// same files stay; where they stand in the very same lines nothing is done (exit code 6) unless
/// --markers is given.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RevertArgs {
    /// A number of `relay log`, an id, or the beginning of one
    #[arg(value_name = "ID|N", default_value = NEWEST)]
    name: String,

    /// Do not ask, also on another branch or commit than it was applied on
    #[arg(short, long)]
    yes: bool,

    /// Only this file
    #[arg(long, value_name = "PATH")]
    file: Option<String>,

    /// Where later edits are in the way, write both sides into the file between conflict markers
    #[arg(long)]
    markers: bool,

    #[command(flatten)]
    accept: AcceptArgs,
}

/// What is reverted where nothing is named.
const NEWEST: &str = "1";

impl RevertArgs {
    fn file(&self) -> CommandResult<Option<RelPath>> {
        let parse = |file: &String| RelPath::parse(file).map_err(CommandFailure::usage);
        let hint = "give the file as `relay show` lists it";
        self.file.as_ref().map(parse).transpose().map_err(|failure| failure.hint(hint))
    }
}

impl RevertArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let project = Project::open(ctx)?;
        project.recover(ctx)?;
        let request = RevertRequest {
            root: &project.root,
            ledger: &project.ledger,
            name: &self.name,
            target: project.find_target(&self.name)?,
            options: RevertOptions { file: self.file()?, markers: self.markers },
            yes: self.yes,
            allow_foreign: self.accept.allows(),
        };
        request.run(ctx)
    }
}

/// What is to be taken back.
pub(crate) struct RevertRequest<'a> {
    pub(crate) root: &'a Path,
    pub(crate) ledger: &'a Ledger,
    /// As the user named it.
    pub(crate) name: &'a str,
    pub(crate) target: LogTarget,
    pub(crate) options: RevertOptions,
    /// Do not ask, also on another branch or commit than it was applied on.
    pub(crate) yes: bool,
    /// Also what this user's relay did not write, unseen.
    pub(crate) allow_foreign: bool,
}

impl RevertRequest<'_> {
    pub(crate) fn run(self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let plan = || self.ledger.plan_revert(&self.target, &self.options);
        let planned = accept_foreign::with_accepted(self.ledger, self.allow_foreign, ctx, plan)?;
        let reversal = planned.map_err(|error| self.failure_with_hint(error))?;
        let newest = match newest_id(&self.target) {
            Some(id) => self.ledger.record(id)?,
            None => return Err(CommandFailure::usage(format!("there is nothing in `{}`", self.name))),
        };
        let revert = PlannedRevert { request: self, newest, reversal };
        if revert.reversal.is_empty() {
            return Ok(revert.report(None, ctx));
        }
        revert.confirm_other_head(ctx)?;
        let (ledger, about) = (revert.request.ledger, revert.about());
        let committed = project::commit_changes(ledger, &revert.reversal.changes, about)?;
        let id = committed.record.uuid;
        if let Some(said) = &committed.durability_doubt {
            return Err(project::disk_doubt_failure(&id.short(), said));
        }
        Ok(revert.report(Some(id), ctx))
    }

    /// The failure, with the command that goes on from a conflict.
    fn failure_with_hint(&self, error: LedgerError) -> CommandFailure {
        let conflict = matches!(error, LedgerError::RevertConflict(_));
        let failure = CommandFailure::from(error);
        if !conflict || self.name == NEWEST {
            return failure;
        }
        failure.hint(format!(
            "`relay revert {} --markers` writes both sides into the files, or undo the later edits first",
            self.name
        ))
    }
}

/// Entries that are looked at for one that can be taken back.
const SEARCH_DEPTH: usize = 20;

/// The newest change that is no revert and was not taken back, and what it is called.
pub(crate) fn newest_revertible(ledger: &Ledger) -> CommandResult<Option<(TxId, String)>> {
    let page = ledger.log_page(0, SEARCH_DEPTH)?;
    let found = page.entries.iter().find(|entry| is_revertible(entry));
    Ok(found.and_then(|entry| Some((entry.members.first()?.id?, entry_title(entry)?))))
}

/// Nothing took it back, and it takes nothing back itself.
fn is_revertible(entry: &LogEntry) -> bool {
    entry.members.iter().all(|item| !item.undone && item.revertible && item.revert_of.is_empty())
}

/// What an entry was about, in quotes, else its id.
fn entry_title(entry: &LogEntry) -> Option<String> {
    /// Characters of a title.
    const TITLE: usize = 50;
    let title: String = entry.members.last()?.summary.chars().take(TITLE).collect();
    let id = entry.members.first()?.id?.short();
    Some(if title.is_empty() { id } else { format!("\"{title}\"") })
}

/// The newest transaction of a target.
fn newest_id(target: &LogTarget) -> Option<TxId> {
    match target {
        LogTarget::Transaction(id) => Some(*id),
        LogTarget::Group { members, .. } => members.first().copied(),
    }
}

/// A revert that is planned.
struct PlannedRevert<'a> {
    request: RevertRequest<'a>,
    newest: Record,
    reversal: RevertPlan,
}

impl PlannedRevert<'_> {
    /// What is taken back, as people call it.
    fn name(&self) -> String {
        match &self.request.target {
            LogTarget::Transaction(id) => id.short(),
            LogTarget::Group { id, .. } => id.chars().take(8).collect(),
        }
    }

    /// Asks, if something else is checked out than when the change was applied.
    fn confirm_other_head(&self, ctx: &mut CommandContext<'_>) -> CommandResult<()> {
        let then = GitHead { branch: self.newest.branch.clone(), commit: self.newest.head.clone() };
        let now = head::read(self.request.root);
        let known = then.branch.is_some() || then.commit.is_some();
        if !known || then == now {
            return Ok(());
        }
        let said = format!(
            "{} was applied on {}; {} is checked out now",
            self.name(),
            views::outcome::head_label(&then),
            views::outcome::head_label(&now)
        );
        if self.request.yes {
            ctx.eprint_remark(LogLevel::Warn, &said);
            return Ok(());
        }
        let look = ctx.console.err_style();
        let said = look.safe(&said).into_owned();
        let Some(terminal) = questions::open_terminal() else {
            return Err(questions::nobody_to_ask(&said, "`-y` reverts it here without asking"));
        };
        terminal.write_text(&views::outcome::warning_line(&look, &said));
        questions::confirm(&terminal, "  revert it here? [y/N]  ", "not reverted")
    }

    fn about(&self) -> TransactionHeader {
        let head = head::read(self.request.root);
        let about =
            TransactionHeader::new(TxId::random(), &self.newest.project_id, &clock::now_utc(), "revert");
        TransactionHeader {
            branch: head.branch,
            head: head.commit,
            notes: self.reversal.notes.clone(),
            ..self.reversal.header(about)
        }
    }

    /// The change that one would revert after this one.
    fn next_revertible(&self) -> Option<(usize, String)> {
        // The revert is done: that the log cannot be read now is no reason to fail.
        let page = self.request.ledger.log_page(0, SEARCH_DEPTH).ok()?;
        let open = |entry: &&LogEntry| {
            is_revertible(entry) && entry.members.iter().all(|item| !self.is_reverted(item.id))
        };
        let (at, entry) = page.entries.iter().enumerate().find(|(_, entry)| open(entry))?;
        Some((at + 1, entry_title(entry)?))
    }

    fn is_reverted(&self, id: Option<TxId>) -> bool {
        let back = self.reversal.reverts.iter().chain(&self.newest.revert_of);
        id.is_some_and(|id| back.copied().any(|other| other == id))
    }

    /// Says what was done; `None`: nothing, because there was nothing left to take back. What the change did and this
    /// cannot bring back needs somebody.
    fn report(&self, id: Option<TxId>, ctx: &mut CommandContext<'_>) -> Exit {
        let reversal = &self.reversal;
        let exit = if reversal.unrestored.is_empty() { Exit::Done } else { Exit::NeedsYou };
        let kept = |kept: &KeptEdits| json!({"path": kept.path, "edits": kept.edits});
        let missing = |left: &RecordOmission| json!({"path": left.path, "why": left.reason});
        let object = json!({
            "project": self.request.root.to_string_lossy(), "reverted": id.is_some(), "id": id.map(|id| id.to_string()),
            "revertOf": reversal.reverts.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "files": reversal.changes.iter().map(|change| change.path.as_str()).collect::<Vec<_>>(),
            "kept": reversal.kept_edits.iter().map(kept).collect::<Vec<_>>(), "withMarkers": reversal.conflict_marked,
            "unrestored": reversal.unrestored.iter().map(missing).collect::<Vec<_>>(),
        });
        ctx.print_json(&json::result_json("revert", exit, object));
        if ctx.is_quiet() {
            return exit;
        }
        let look = ctx.style();
        let text = match id {
            None => {
                let said = format!("nothing of {} is left to revert", self.name());
                let missing = views::outcome::unrestored_lines(&look, &reversal.unrestored);
                views::outcome::success_line(&look, &said) + &missing
            }
            Some(_) => {
                let next = self.next_revertible();
                let back = &self.newest.revert_of;
                RevertReport { name: self.name(), reinstated: back, reversal, next }.text(&look)
            }
        };
        ctx.print_info(&text);
        exit
    }
}
