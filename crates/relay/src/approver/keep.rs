//! "keep?": the change is on disk, the project's commands have spoken.

use relaycode_change::plan::Plan;
use relaycode_change::proposal::Proposal;
use relaycode_door::{ApprovalQuestion, ApprovalReason, GateReport};
use relaycode_ledger::Digest;
use relaycode_tui::OutputStyle;
use relaycode_tui::views::{gate, question};

use super::apply::ChangedFiles;
use super::{DialogResult, QuestionDialog};

pub(super) struct KeepPrompt<'a> {
    pub(super) question: &'a ApprovalQuestion<'a>,
    pub(super) proposal: &'a Proposal,
    pub(super) plan: &'a Plan,
    /// Of what is on disk.
    pub(super) digest: Digest,
    pub(super) gate: &'a GateReport,
    pub(super) rules: &'a [ApprovalReason],
}

/// Asks whether to keep it; `seen`: the person saw the change before.
pub(super) fn ask_keep(asking: &mut QuestionDialog<'_>, offer: &KeepPrompt<'_>, seen: bool) -> DialogResult {
    let files = ChangedFiles::from_plan(offer.plan);
    if !seen {
        asking.show_card(offer.proposal, offer.plan);
    }
    asking.say(&gate::pending_card(offer.gate, &asking.style));
    loop {
        let said = asking.read_reply(&question::keep_prompt(&asking.style))?;
        match said.word.as_str() {
            _ if said.is_yes() => return Ok(offer.question.yes()),
            "n" | "no" => return Ok(super::decline(&said.rest)),
            "r" => return asking.decline_with_reason(&said.rest),
            "d" => files.show_diff(asking, &said.rest, false),
            "s" => files.show_diff(asking, &said.rest, true),
            "o" => asking.show(&|look: &OutputStyle| gate::full_output(offer.gate, look)),
            "w" => asking.explain_rules(offer.rules, offer.digest),
            "?" => asking.show_keys(question::KEEP_KEYS),
            _ => asking.explain_keys(question::KEEP_KEYS)?,
        }
    }
}
