//! `relay revert`, and what `undo`, `redo` and the keys of `relay watch` share with it: a change is taken back, and what
//! came later stays. Taking back is a change of its own: it is recorded, and can be taken back.

use std::path::Path;

use relaycode_change::proposal::path::RelPath;
use relaycode_door::redacted_operations;
use relaycode_ledger::record::Record;
use relaycode_ledger::record::title::{brings_back, reverted_title};
use relaycode_ledger::{
    Ledger, LedgerError, LogEntry, LogTarget, RedoTarget, RevertOptions, RevertPlan, RevertStep,
    TransactionHeader, TxId,
};
use relaycode_project::git::head::{self, GitHead};
use relaycode_tui::{clock, views};

use super::accept_foreign::{self, AcceptArgs};
use crate::report::revert::{ChangeName, RevertOutcome};
use crate::{
    CommandContext, CommandFailure, CommandResult, Exit, LogLevel, Project, project, questions, render,
};

/// Undo one change, even from the middle of the history
///
/// Later edits of the same files stay. Where they are in the very same lines, relay asks whether to write both sides into
/// the file, or stops (exit code 6). The change and its revert both stay in `relay log`; `relay undo` brings it back.
/// Without a name this is `relay undo`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RevertArgs {
    /// A number of `relay log`, an id, or the beginning of one
    #[arg(value_name = "ID|N", allow_negative_numbers = true)]
    name: Option<String>,

    #[command(flatten)]
    how: RevertOptionArgs,
}

/// The options of `undo`, `redo` and `revert`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RevertOptionArgs {
    /// Only show what would happen
    #[arg(long)]
    dry_run: bool,

    /// Don't ask when another branch or commit is checked out
    #[arg(short, long)]
    yes: bool,

    /// Only this file
    #[arg(long, value_name = "PATH")]
    file: Option<String>,

    /// Where later edits are in the same lines, write both sides into the file, between conflict markers
    #[arg(long)]
    markers: bool,

    #[command(flatten)]
    accept: AcceptArgs,
}

impl RevertArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        match &self.name {
            None => self.how.run_step(RevertStep::Undo, ctx),
            Some(name) => self.how.run(ctx, |project| {
                Ok(RevertTarget { step: RevertStep::Revert, target: project.find_target(name)? })
            }),
        }
    }
}

impl RevertOptionArgs {
    /// Goes one step back or forward.
    pub(crate) fn run_step(&self, step: RevertStep, ctx: &mut CommandContext<'_>) -> CommandResult {
        self.run(ctx, |project| next_step(&project.ledger, step))
    }

    fn run(
        &self,
        ctx: &mut CommandContext<'_>,
        find: impl FnOnce(&Project) -> CommandResult<RevertTarget>,
    ) -> CommandResult {
        let project = Project::open(ctx)?;
        // Only looking writes nothing, whatever an earlier run left.
        if !self.dry_run {
            project.recover(ctx)?;
        }
        let request = RevertRequest {
            root: &project.root,
            ledger: &project.ledger,
            target: find(&project)?,
            options: RevertOptions { file: self.file()?, markers: self.markers },
            yes: self.yes,
            allow_foreign: self.accept.allows(),
            dry_run: self.dry_run,
            may_ask: true,
            has_keys: false,
        };
        request.run(ctx).map(|outcome| outcome.exit())
    }

    fn file(&self) -> CommandResult<Option<RelPath>> {
        // As it stands in the record; what else people write is tidied.
        let parse = |file: &String| {
            let plain = file.strip_prefix("./").unwrap_or(file);
            RelPath::of_existing(plain).or_else(|_| RelPath::parse(file)).map_err(CommandFailure::usage)
        };
        let hint = "give the file as `relay show` lists it";
        self.file.as_ref().map(parse).transpose().map_err(|failure| failure.hint(hint))
    }
}

/// What is to be taken back, and how.
pub(crate) struct RevertTarget {
    pub(crate) step: RevertStep,
    pub(crate) target: LogTarget,
}

/// What the next step back or forward is about.
pub(crate) fn next_step(ledger: &Ledger, step: RevertStep) -> CommandResult<RevertTarget> {
    let nothing = |said: String| {
        let hint = "`relay log` lists what was done here";
        CommandFailure::new(Exit::Usage, "nothingToDo", said).hint(hint).unchanged()
    };
    let entry = match step {
        RevertStep::Redo => match ledger.redo_target()? {
            RedoTarget::Undo(undo) => Some(*undo),
            RedoTarget::Nothing => return Err(nothing("there is nothing to redo".to_string())),
            RedoTarget::Superseded { undo, by } => {
                let (mut later, mut undone) = (
                    ChangeName::of_entry(&by),
                    ChangeName::new(reverted_title(undo.title()), undone_by(&undo)),
                );
                later.tell_apart(&mut undone, ledger);
                let said = format!("there is nothing to redo: {later} was made after {undone} was undone");
                let id = undo.members.first().and_then(|item| item.id).map(|id| ledger.short_id(id));
                let id = id.transpose()?.unwrap_or_default();
                return Err(nothing(said).hint(format!("`relay revert {id}` brings it back")));
            }
        },
        RevertStep::Undo | RevertStep::Revert => ledger.undo_target()?,
    };
    match entry.and_then(|entry| entry.target()) {
        Some(target) => Ok(RevertTarget { step, target }),
        None if ledger.log_page(0, 1)?.total == 0 => Err(project::nothing_applied()),
        None => Err(nothing("there is nothing to undo".to_string())),
    }
}

/// What is to be taken back.
pub(crate) struct RevertRequest<'a> {
    pub(crate) root: &'a Path,
    pub(crate) ledger: &'a Ledger,
    pub(crate) target: RevertTarget,
    pub(crate) options: RevertOptions,
    /// Do not ask, also on another branch or commit than it was applied on.
    pub(crate) yes: bool,
    /// Also what this user's relay did not write, unseen.
    pub(crate) allow_foreign: bool,
    /// Only show what would happen.
    pub(crate) dry_run: bool,
    /// A person at the terminal may be asked.
    pub(crate) may_ask: bool,
    /// There are keys for undo and redo, as in `relay watch`.
    pub(crate) has_keys: bool,
}

impl RevertRequest<'_> {
    /// Plans it, asks where it must, carries it out and says so.
    pub(crate) fn run(self, ctx: &mut CommandContext<'_>) -> CommandResult<RevertOutcome> {
        let root = self.root;
        let (outcome, newest) = self.carry_out(ctx)?;
        outcome.report(root, &newest, ctx)?;
        Ok(outcome)
    }

    /// The same without a word; and what was to be taken back.
    pub(crate) fn carry_out(
        mut self,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<(RevertOutcome, Record)> {
        let RevertTarget { step, target } = &self.target;
        let (step, ids) = (*step, target.ids());
        let Some(newest) = ids.first() else {
            return Err(CommandFailure::usage("there is nothing in that group"));
        };
        let newest = self.ledger.record(*newest)?;
        let plan = self.plan_or_ask(ctx)?;
        // One that changes nothing is recorded as well, so that the next step goes on from there.
        let is_left = !plan.reverts.is_empty()
            && !(plan.is_empty() && (self.options.file.is_some() || step == RevertStep::Revert));
        let mut outcome = RevertOutcome {
            step,
            id: None,
            plan,
            is_left,
            dry_run: self.dry_run,
            done: ChangeName::default(),
            next: None,
            has_keys: self.has_keys,
        };
        if !is_left || self.dry_run {
            return Ok((outcome, newest));
        }
        self.confirm_other_head(&newest, &outcome.plan, ctx)?;
        let about = self.about(&newest, &outcome.plan);
        let committed = project::commit_changes(self.ledger, &outcome.plan.changes, about)?;
        let id = committed.record.uuid;
        if let Some(said) = &committed.durability_doubt {
            return Err(project::disk_doubt_failure(&id.short(), said));
        }
        outcome.id = Some(id);
        outcome.next = self.next_change(step);
        outcome.done = self.done_change(&outcome.plan);
        if let Some(next) = &mut outcome.next {
            outcome.done.tell_apart(next, self.ledger);
        }
        Ok((outcome, newest))
    }

    /// Whoever has to accept changes of others first is asked.
    fn plan(&self, ctx: &mut CommandContext<'_>) -> CommandResult<Result<RevertPlan, LedgerError>> {
        let plan = || self.ledger.plan_revert(&self.target.target, &self.options);
        if !self.may_ask && !self.allow_foreign {
            return Ok(plan());
        }
        accept_foreign::with_accepted(self.ledger, self.allow_foreign, ctx, plan)
    }

    /// The plan; where later edits are in the way, with conflict markers if the user wants them.
    fn plan_or_ask(&mut self, ctx: &mut CommandContext<'_>) -> CommandResult<RevertPlan> {
        let conflicts = match self.plan(ctx)? {
            Err(LedgerError::RevertConflict(conflicts)) => conflicts,
            planned => return Ok(planned?),
        };
        let by_lines = conflicts.iter().all(|conflict| conflict.reason.is_none());
        let failure = CommandFailure::from(LedgerError::RevertConflict(conflicts));
        let asks = by_lines && self.may_ask && !self.dry_run && !ctx.is_json();
        let Some(terminal) = asks.then(questions::open_terminal).flatten() else { return Err(failure) };
        let shown = CommandFailure { hint: None, ..failure };
        ctx.console.flush();
        terminal.write_text(&render::failure::failure_text(&shown, &ctx.console.err_style()));
        let question = "  write both sides into the files, between conflict markers? [y/N]  ";
        if !questions::is_yes(&questions::ask_line(&terminal, question)?) {
            let said = format!("nothing was {}", past_tense(self.target.step));
            return Err(CommandFailure::new(Exit::NeedsYou, "revertConflict", said).unchanged());
        }
        self.options.markers = true;
        Ok(self.plan(ctx)??)
    }

    /// Asks, if something else is checked out than when the change was applied.
    fn confirm_other_head(
        &self,
        newest: &Record,
        plan: &RevertPlan,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<()> {
        let then = GitHead { branch: newest.branch.clone(), commit: newest.head.clone() };
        let now = head::read(self.root);
        let known = then.branch.is_some() || then.commit.is_some();
        if !known || then == now {
            return Ok(());
        }
        let said = format!(
            "\"{}\" was made on {}, and you are on {} now",
            reverted_title(&plan.title),
            views::outcome::head_label(&then),
            views::outcome::head_label(&now)
        );
        if self.yes {
            ctx.eprint_remark(LogLevel::Warn, &said);
            return Ok(());
        }
        let look = ctx.console.err_style();
        let said = look.safe(&said).into_owned();
        let verb = self.target.step.name();
        let Some(terminal) = questions::open_terminal().filter(|_| self.may_ask) else {
            return Err(questions::nobody_to_ask(&said, &format!("`relay {verb} -y` does it all the same")));
        };
        terminal.write_text(&views::outcome::warning_line(&look, &said));
        let declined = format!("nothing was {}", past_tense(self.target.step));
        questions::confirm(&terminal, &format!("  {verb} it here? [y/N]  "), &declined)
    }

    fn about(&self, newest: &Record, plan: &RevertPlan) -> TransactionHeader {
        let head = head::read(self.root);
        let origin = self.target.step.name();
        let about = TransactionHeader::new(TxId::random(), &newest.project_id, &clock::now_utc(), origin);
        let about = plan.header(about);
        TransactionHeader {
            branch: head.branch,
            head: head.commit,
            notes: plan.notes.clone(),
            operations: redacted_operations(about.operations),
            ..about
        }
    }

    /// What was taken back or brought back.
    fn done_change(&self, plan: &RevertPlan) -> ChangeName {
        let id = plan.reverts.first().copied();
        let id = match brings_back(&plan.title) {
            true => id.and_then(|id| self.ledger.record(id).ok()?.revert_of.first().copied()),
            false => id,
        };
        ChangeName::new(reverted_title(&plan.title), id)
    }

    /// What the same step would be about once more.
    fn next_change(&self, step: RevertStep) -> Option<ChangeName> {
        // It is done: that the log cannot be read now is no reason to fail.
        match step {
            RevertStep::Undo => self.ledger.undo_target().ok()?.map(|entry| ChangeName::of_entry(&entry)),
            RevertStep::Redo => match self.ledger.redo_target().ok()? {
                RedoTarget::Undo(undo) => {
                    Some(ChangeName::new(reverted_title(undo.title()), undone_by(&undo)))
                }
                _ => None,
            },
            RevertStep::Revert => None,
        }
    }
}

/// The change that an undo took back.
fn undone_by(undo: &LogEntry) -> Option<TxId> {
    undo.members.first()?.revert_of.first().copied()
}

/// `nothing was …`
fn past_tense(step: RevertStep) -> &'static str {
    match step {
        RevertStep::Undo => "undone",
        RevertStep::Redo => "redone",
        RevertStep::Revert => "reverted",
    }
}
