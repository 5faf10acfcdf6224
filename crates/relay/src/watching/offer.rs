//! What came last: its diff can be shown, and what it offers for the model can be copied.

use relaycode_change::diff::FileDiff;
use relaycode_change::plan::{Change, FilePlan, Plan, Reason, Refused};
use relaycode_change::{diff, repair};
use relaycode_door::gate;
use relaycode_door::{DoorError, Outcome};
use relaycode_ledger::TxId;
use relaycode_tui::question;
use relaycode_watch::inbox::How;
use relaycode_watch::seen::Became;

/// What came last.
#[derive(Debug, Default)]
pub(super) struct Last {
    /// What can be copied for the model, and what that is.
    pub(super) offer: Option<(&'static str, String)>,
    /// What can be shown.
    pub(super) shown: Shown,
    /// The text, where it may be taken up again.
    pub(super) text: Option<(String, How)>,
}

/// What can be shown of what came last.
#[derive(Debug, Default)]
pub(super) enum Shown {
    /// Nothing.
    #[default]
    Nothing,
    /// A change that is in the ledger.
    Applied(TxId),
    /// A change that is not.
    Planned(Vec<(FilePlan, FileDiff)>),
}

impl Last {
    /// What an outcome offers.
    pub(super) fn of(became: &Result<Outcome, DoorError>) -> Last {
        match became {
            Ok(Outcome::Applied(applied)) => {
                Last { shown: Shown::Applied(applied.record.uuid), ..Last::default() }
            }
            Ok(Outcome::Refused(refused)) if can_be_repaired(refused) => {
                Last { offer: Some(("the repair prompt", repair::prompt(refused))), ..Last::default() }
            }
            Ok(Outcome::GateFailed { plan, gate, .. }) => Last {
                offer: Some(("what the gate said", gate::repair::prompt(gate))),
                ..Last::planned(plan)
            },
            Ok(Outcome::Declined { plan, reason, gate, .. }) => {
                let judged = gate.as_ref().map(|gate| ("what the gate said", gate::repair::prompt(gate)));
                let reason = reason.as_ref().map(|reason| ("your reason", question::to_model(reason)));
                let offer = reason.or(judged);
                Last { offer, ..Last::planned(plan) }
            }
            Ok(Outcome::NotBegun { plan, .. } | Outcome::NobodyToAsk { plan, .. }) => Last::planned(plan),
            _ => Last::default(),
        }
    }

    fn planned(plan: &Plan) -> Last {
        let files = plan.files.iter().filter(|file| file.change != Change::Unchanged);
        let files = files.map(|file| (file.clone(), diff::of_file(file)));
        Last { shown: Shown::Planned(files.collect()), ..Last::default() }
    }
}

fn can_be_repaired(refused: &Refused) -> bool {
    refused.refusals.iter().any(|refusal| !matches!(refusal.reason, Reason::Nothing { .. }))
}

/// What is remembered of a text.
pub(super) fn became(outcome: &Result<Outcome, DoorError>) -> Option<Became> {
    match outcome {
        Ok(Outcome::Applied(_) | Outcome::AlreadyIn { .. } | Outcome::AlreadyProcessed { .. }) => {
            Some(Became::In)
        }
        Ok(Outcome::Refused(_)) => Some(Became::Unfit),
        Ok(Outcome::Declined { .. } | Outcome::GateFailed { .. } | Outcome::NotBegun { .. }) => {
            Some(Became::NotTaken)
        }
        // Nobody decided anything: the next copy is a new one.
        _ => None,
    }
}
