//! "keep?": the change is on disk, the project's commands have spoken.

use relaycode_change::plan::Plan;
use relaycode_door::{ApprovalQuestion, ApprovalReason, GateReport};
use relaycode_ledger::Digest;
use relaycode_tui::OutputStyle;
use relaycode_tui::views::{gate, question, rules};

use super::apply::ChangedFiles;
use super::{DialogResult, QuestionDialog};

/// What is on disk, and what was said of it.
pub(super) struct KeepPrompt<'a> {
    pub(super) plan: &'a Plan,
    pub(super) digest: Digest,
    pub(super) gate: &'a GateReport,
    pub(super) rules: &'a [ApprovalReason],
}

/// Asks whether to keep it.
pub(super) fn ask_keep(
    asking: &mut QuestionDialog<'_>,
    question: &ApprovalQuestion<'_>,
    on_disk: &KeepPrompt<'_>,
) -> DialogResult {
    let files = ChangedFiles::from_plan(on_disk.plan);
    asking.say(&gate::pending_card(on_disk.gate, &asking.style));
    loop {
        let said = asking.read_reply(&question::keep_prompt(&asking.style))?;
        match said.word.as_str() {
            _ if said.is_yes() => return Ok(question.yes()),
            "n" | "no" => return Ok(super::decline(&said.rest)),
            "r" => return asking.decline_with_reason(&said.rest),
            "d" => files.show_diff(asking, &said.rest, false),
            "s" => files.show_diff(asking, &said.rest, true),
            "o" => asking.show(&|look: &OutputStyle| gate::full_output(on_disk.gate, look)),
            "w" => asking.say(&rules::text(on_disk.rules, Some(on_disk.digest), &asking.style)),
            "?" => asking.show_keys(question::KEEP_KEYS),
            _ => asking.explain_keys(question::KEEP_KEYS)?,
        }
    }
}
