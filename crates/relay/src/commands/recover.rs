//! `relay recover`: what an earlier run left in the middle is put right.

use std::borrow::Cow;

use relaycode_ledger::recording::Omission;
use relaycode_ledger::{RecoveredTransaction, RecoveryMode, RecoveryOutcome};
use relaycode_tui::views;
use serde::Serialize;

use crate::{CommandContext, CommandResult, Exit, FailureDetail, LogLevel, Project, RunCommand};

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

impl RunCommand for RecoverArgs {
    fn name(&self) -> &'static str {
        "recover"
    }

    fn may_write(&self) -> bool {
        true
    }

    fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let project = Project::open(ctx)?;
        let how = match (self.keep, self.restore) {
            (true, _) => RecoveryMode::Keep,
            (_, true) => RecoveryMode::Restore,
            _ => RecoveryMode::Automatic,
        };
        let recovered = project.ledger.recover(how)?;
        let left = |one: &RecoveredTransaction| matches!(one.outcome, RecoveryOutcome::NeedsDecision(_));
        let exit = if recovered.iter().any(left) { Exit::NeedsYou } else { Exit::Done };
        ctx.print_json(&RecoverJson {
            ok: exit == Exit::Done,
            code: exit as u8,
            command: "recover",
            project: project.root.to_string_lossy(),
            transactions: recovered.iter().map(RecoverTransactionJson::of).collect(),
        });
        if exit == Exit::Done && ctx.is_quiet() {
            return Ok(exit);
        }
        let aside = ctx.is_json() || exit == Exit::NeedsYou;
        let look = if aside { ctx.console.err_style() } else { ctx.console.out_style() };
        let mut text = views::recovery::text(&recovered, &look);
        if recovered.is_empty() {
            text = views::outcome::success_line(&look, "nothing to recover: no run stopped in the middle");
        }
        let level = if exit == Exit::Done { LogLevel::Info } else { LogLevel::Error };
        if aside {
            ctx.eprint_at(level, &text);
        } else {
            ctx.print_info(&text);
        }
        Ok(exit)
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct RecoverJson<'a> {
    ok: bool,
    code: u8,
    command: &'static str,
    project: Cow<'a, str>,
    transactions: Vec<RecoverTransactionJson>,
}

#[derive(Serialize)]
struct RecoverTransactionJson {
    id: String,
    /// `committed`, `putBack`, `needsYou`, `kept`, `original` or `recorded`
    outcome: &'static str,
    /// The files that were put back.
    restored: Vec<String>,
    /// Where bytes that are nowhere else are kept.
    kept: Option<String>,
    /// The files that were left alone; of a recording, what cannot be undone.
    left: Vec<FailureDetail>,
}

impl RecoverTransactionJson {
    fn of(recovered: &RecoveredTransaction) -> RecoverTransactionJson {
        let mut json = RecoverTransactionJson {
            id: recovered.id.to_string(),
            outcome: "committed",
            restored: Vec::new(),
            kept: None,
            left: Vec::new(),
        };
        match &recovered.outcome {
            RecoveryOutcome::Committed => {}
            RecoveryOutcome::PutBack { restored, kept } => {
                json.outcome = "putBack";
                json.restored.clone_from(restored);
                json.kept.clone_from(kept);
            }
            RecoveryOutcome::NeedsDecision(unfinished) => {
                json.outcome = "needsYou";
                json.restored.clone_from(&unfinished.restored);
                json.left = unfinished.left.iter().cloned().map(FailureDetail::from).collect();
            }
            RecoveryOutcome::Kept { kept } => {
                json.outcome = "kept";
                json.kept = Some(kept.clone());
            }
            RecoveryOutcome::Original => json.outcome = "original",
            RecoveryOutcome::RecordingAdopted { left, .. } => {
                json.outcome = "recorded";
                let detail = |left: &Omission| FailureDetail {
                    path: left.path.clone(),
                    message: left.reason.clone(),
                    ..FailureDetail::default()
                };
                json.left = left.iter().map(detail).collect();
            }
        }
        json
    }
}
