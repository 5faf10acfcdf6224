//! What came last: its diff can be shown, and what it offers for the model can be copied.

use relaycode_change::diff::{self, FileDiff};
use relaycode_change::plan::{FileChangeKind, FilePlan, Plan, PlanRefusal, RefusalReason};
use relaycode_change::prompt::repair;
use relaycode_door::{SubmitOutcome, gate};
use relaycode_ledger::TxId;
use relaycode_tui::views::question;
use relaycode_watch::inbox::InboxText;
use relaycode_watch::seen_texts::PastOutcome;

#[derive(Debug, Default)]
pub(super) struct LastAnswer {
    /// What can be copied for the model, and what that is.
    pub(super) copy_offer: Option<(&'static str, String)>,
    pub(super) diff: LastDiff,
    /// The text, where it may be taken up again.
    pub(super) text: Option<InboxText>,
}

/// What can be shown of what came last.
#[derive(Debug, Default)]
pub(super) enum LastDiff {
    #[default]
    Nothing,
    /// A change that is in the ledger.
    Applied(TxId),
    /// A change that is not.
    Planned(Vec<(FilePlan, FileDiff)>),
}

impl LastAnswer {
    pub(super) fn from_outcome(outcome: &SubmitOutcome) -> LastAnswer {
        match outcome {
            SubmitOutcome::Applied(applied) => {
                LastAnswer { diff: LastDiff::Applied(applied.record.uuid), ..LastAnswer::default() }
            }
            SubmitOutcome::Refused(refused) if can_be_repaired(refused) => LastAnswer {
                copy_offer: Some(("the repair prompt", repair::repair_prompt(refused))),
                ..LastAnswer::default()
            },
            SubmitOutcome::GateFailed { plan, gate, .. } => LastAnswer {
                copy_offer: Some(("what the check said", gate::repair_prompt::gate_repair_prompt(gate))),
                ..LastAnswer::from_plan(plan)
            },
            SubmitOutcome::Declined { plan, reason, gate, .. } => {
                let judged = gate
                    .as_ref()
                    .map(|gate| ("what the check said", gate::repair_prompt::gate_repair_prompt(gate)));
                let reason = reason.as_ref().map(|r| ("your reason", question::rejection_message(r)));
                let offer = reason.or(judged);
                LastAnswer { copy_offer: offer, ..LastAnswer::from_plan(plan) }
            }
            SubmitOutcome::PreCheckFailed { plan, .. } | SubmitOutcome::ApprovalRequired { plan, .. } => {
                LastAnswer::from_plan(plan)
            }
            _ => LastAnswer::default(),
        }
    }

    fn from_plan(plan: &Plan) -> LastAnswer {
        let files = plan.files.iter().filter(|file| file.change != FileChangeKind::Unchanged);
        let files = files.map(|file| (file.clone(), diff::diff_file(file)));
        LastAnswer { diff: LastDiff::Planned(files.collect()), ..LastAnswer::default() }
    }
}

fn can_be_repaired(refused: &PlanRefusal) -> bool {
    refused.refusals.iter().any(|refusal| !matches!(refusal.reason, RefusalReason::Nothing { .. }))
}

/// What is remembered of a text.
pub(super) fn past_outcome(outcome: &SubmitOutcome) -> Option<PastOutcome> {
    match outcome {
        SubmitOutcome::Applied(_)
        | SubmitOutcome::AlreadyIn { .. }
        | SubmitOutcome::AlreadyProcessed { .. } => Some(PastOutcome::Applied),
        SubmitOutcome::Refused(_) => Some(PastOutcome::DoesNotFit),
        SubmitOutcome::Declined { .. }
        | SubmitOutcome::GateFailed { .. }
        | SubmitOutcome::PreCheckFailed { .. } => Some(PastOutcome::Rejected),
        // Nobody decided anything: the next copy is a new one.
        _ => None,
    }
}
