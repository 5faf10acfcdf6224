//! `relay recover`: what an earlier run left in the middle is put right.

use relaycode_ledger::recording::Omission;
use relaycode_ledger::{RecoveredTransaction, RecoveryMode, RecoveryOutcome};
use relaycode_tui::views;
use serde_json::{Value, json};

use super::git;
use crate::{CommandContext, CommandResult, Exit, FailureDetail, LogLevel, Project};

/// Put right what a run that stopped in the middle left
///
/// Every command that writes does this by itself. What is left for this one are files that somebody
/// changed meanwhile: they are left alone until you say which side stays.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RecoverArgs {
    /// Stay with what is there now
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
        let recovered = project.ledger.recover(how)?;
        let remains = git::recover_commit(&project, ctx)?;
        let left = |one: &RecoveredTransaction| matches!(one.outcome, RecoveryOutcome::NeedsDecision(_));
        let exit = if recovered.iter().any(left) { Exit::NeedsYou } else { Exit::Done };
        let transactions: Vec<Value> = recovered.iter().map(transaction_json).collect();
        let commit = (!remains.is_empty()).then(|| {
            json!({"announced": remains.announced, "locks": remains.locks, "doubtfulLocks": remains.doubtful_locks})
        });
        let project = project.root.to_string_lossy();
        ctx.print_result(exit, json!({"project": project, "transactions": transactions, "commit": commit}));
        if exit == Exit::Done && ctx.is_quiet() {
            return Ok(exit);
        }
        let aside = ctx.is_json() || exit == Exit::NeedsYou;
        let look = if aside { ctx.console.err_style() } else { ctx.console.out_style() };
        let mut text = views::recovery::text(&recovered, &look);
        if recovered.is_empty() && remains.is_empty() {
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
        RecoveryOutcome::RecordingAdopted { left, .. } => {
            let detail = |left: &Omission| FailureDetail::new(left.path.clone(), left.reason.clone());
            ("recorded", nothing, None, left.iter().map(detail).collect())
        }
    };
    json!({"id": recovered.id.to_string(), "outcome": outcome, "restored": restored, "kept": kept, "left": left})
}
