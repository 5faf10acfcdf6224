//! `relay recover`: what an earlier run left in the middle is put right.

use relaycode_door::SetAsideRun;
use relaycode_ledger::recording::Omission;
use relaycode_ledger::{Ledger, RecoveredTransaction, RecoveryMode, RecoveryOutcome};
use relaycode_tui::{clock, views};
use serde_json::{Value, json};

use super::git;
use super::record::{not_set_aside_json, set_aside_json};
use crate::{
    CommandContext, CommandFailure, CommandResult, Exit, FailureDetail, LogLevel, Project, questions,
};

/// Finish or undo what an interrupted run left behind
///
/// Every command that writes does this by itself. What is left for this one are files that somebody
/// changed meanwhile: they are left alone until you say which side stays. And files in .relaycode that your relay did not
/// write: they may have come with the repository, and nothing is done at their word before you said so here.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RecoverArgs {
    /// Keep what is there now
    #[arg(long, conflicts_with = "restore")]
    keep: bool,

    /// Bring back what was there before; what is there now is kept in .relaycode
    #[arg(long)]
    restore: bool,
}

impl RecoverArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let project = Project::open(ctx)?;
        let how = match (self.keep, self.restore) {
            (true, _) => RecoveryMode::Keep,
            (_, true) => RecoveryMode::Restore,
            _ => RecoveryMode::Automatic,
        };
        let recovered = decide_foreign(&project.ledger, project.ledger.recover(how)?, how, ctx)?;
        let (ledger, root, now) = (&project.ledger, &*project.root, &clock::now_utc());
        let set_aside = SetAsideRun { ledger, root, now }.recover()?;
        let remains = git::recover_commit(&project, ctx)?;
        let left = |one: &RecoveredTransaction| matches!(one.outcome, RecoveryOutcome::NeedsDecision(_));
        let foreign = |one: &RecoveredTransaction| matches!(one.outcome, RecoveryOutcome::Foreign(_));
        let exit = match () {
            () if recovered.iter().any(foreign) => Exit::NobodyToAsk,
            () if recovered.iter().any(left) => Exit::NeedsYou,
            () => Exit::Done,
        };
        let transactions: Vec<Value> = recovered.iter().map(transaction_json).collect();
        let commit = (!remains.is_empty()).then(|| {
            json!({"announced": remains.announced, "locks": remains.locks, "doubtfulLocks": remains.doubtful_locks})
        });
        let project = project.root.to_string_lossy();
        ctx.print_result(
            exit,
            json!({
                "project": project, "transactions": transactions, "commit": commit,
                "setAside": set_aside_json(&set_aside), "notSetAside": not_set_aside_json(&set_aside),
            }),
        );
        if exit == Exit::Done && ctx.is_quiet() {
            return Ok(exit);
        }
        let aside = ctx.is_json() || exit != Exit::Done;
        let look = if aside { ctx.console.err_style() } else { ctx.console.out_style() };
        let mut text = views::recovery::text(&recovered, &look);
        if exit == Exit::NobodyToAsk {
            text += &(look.wrap(NOBODY_TO_ASK, 8) + "\n");
        }
        text += &views::recording::set_aside_later(&set_aside, &look);
        if recovered.is_empty() && remains.is_empty() && set_aside.is_empty() {
            text = views::outcome::success_line(&look, "nothing to recover: no run stopped in the middle");
        }
        match (exit, aside) {
            (Exit::Done, false) => ctx.print_info(&text),
            (Exit::Done, true) => ctx.eprint_at(LogLevel::Info, &text),
            _ => ctx.eprint_at(LogLevel::Error, &text),
        }
        Ok(exit)
    }
}

/// Nobody is there to say what becomes of a file that somebody else wrote.
const NOBODY_TO_ASK: &str = "  next: run `relay recover` at a terminal to be asked, or `relay recover --keep` to stay with the files as they are and set it aside";

/// Asks what becomes of the journals that somebody else wrote. Without a terminal they stay as they are.
fn decide_foreign(
    ledger: &Ledger,
    mut recovered: Vec<RecoveredTransaction>,
    how: RecoveryMode,
    ctx: &mut CommandContext<'_>,
) -> CommandResult<Vec<RecoveredTransaction>> {
    let is_foreign = |one: &RecoveredTransaction| matches!(one.outcome, RecoveryOutcome::Foreign(_));
    if !recovered.iter().any(is_foreign) {
        return Ok(recovered);
    }
    let Some(terminal) = questions::open_terminal() else { return Ok(recovered) };
    let look = ctx.console.err_style();
    for one in recovered.iter_mut().filter(|one| is_foreign(one)) {
        let RecoveryOutcome::Foreign(journal) = &one.outcome else { continue };
        let digest = journal.digest;
        ctx.console.flush();
        terminal.write_text(&views::recovery::text(std::slice::from_ref(one), &look));
        let question = "  put these files back as it says? [y/N]  s sets it aside  ";
        let decided = match questions::ask_line(&terminal, question)?.trim() {
            answer if questions::is_yes(answer) => ledger.recover_accepting(how, Some(digest))?,
            answer if answer.eq_ignore_ascii_case("s") => ledger.set_journal_aside(one.id, digest)?,
            _ => {
                return Err(CommandFailure::declined("it stays where it is, and relay does not act on it"));
            }
        };
        if let Some(decided) = decided.into_iter().find(|decided| decided.id == one.id) {
            *one = decided;
        }
    }
    Ok(recovered)
}

/// `restored`: the files that were put back; `kept`: where bytes that are nowhere else are kept; `left`: the files that
/// were left alone, or of a recording what cannot be undone.
fn transaction_json(recovered: &RecoveredTransaction) -> Value {
    let nothing: &[String] = &[];
    let (outcome, restored, kept, left) = match &recovered.outcome {
        RecoveryOutcome::Committed => ("committed", nothing, None, Vec::new()),
        RecoveryOutcome::PutBack { restored, kept } => ("putBack", &restored[..], kept.as_ref(), Vec::new()),
        RecoveryOutcome::NeedsDecision(unfinished) => {
            let left = unfinished.left.iter().cloned().map(FailureDetail::from).collect();
            ("needsYou", &unfinished.restored[..], None, left)
        }
        RecoveryOutcome::Kept { kept } => ("kept", nothing, Some(kept), Vec::new()),
        RecoveryOutcome::Original => ("original", nothing, None, Vec::new()),
        RecoveryOutcome::Foreign(journal) => {
            let detail = |path: &String| FailureDetail::new(path.clone(), "is named by it".to_string());
            ("foreign", nothing, None, journal.files.iter().map(detail).collect())
        }
        RecoveryOutcome::SetAside { kept } => ("setAside", nothing, Some(kept), Vec::new()),
        RecoveryOutcome::RecordingAdopted { left, .. } => {
            let detail = |left: &Omission| FailureDetail::new(left.path.clone(), left.reason.clone());
            ("recorded", nothing, None, left.iter().map(detail).collect())
        }
    };
    json!({"id": recovered.id.to_string(), "outcome": outcome, "restored": restored, "kept": kept, "left": left})
}
