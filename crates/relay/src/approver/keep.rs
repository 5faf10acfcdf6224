//! "keep?": the change is on disk, the project's commands have spoken.

use relaycode_change::plan::Plan;
use relaycode_door::{ApprovalQuestion, GateReport};
use relaycode_tui::OutputStyle;
use relaycode_tui::views::{gate, question};

use super::apply::ChangedFiles;
use super::{DialogResult, QuestionDialog};

/// Asks whether to keep it.
pub(super) fn ask_keep(
    asking: &mut QuestionDialog<'_>,
    question: &ApprovalQuestion<'_>,
    plan: &Plan,
    gate: &GateReport,
    why: &str,
) -> DialogResult {
    let files = ChangedFiles::from_plan(plan);
    asking.say(&gate::pending_card(gate, &asking.style));
    loop {
        let said = asking.read_reply(&question::keep_prompt(&asking.style))?;
        match said.word.as_str() {
            _ if said.is_yes() => return Ok(question.yes()),
            "n" | "no" => return Ok(super::decline(&said.rest)),
            "r" => return asking.decline_with_reason(&said.rest),
            "d" => files.show_diff(asking, &said.rest, false),
            "s" => files.show_diff(asking, &said.rest, true),
            "o" => asking.show(&|look: &OutputStyle| gate::full_output(gate, look)),
            "w" => asking.say(why),
            "?" => asking.show_keys(question::KEEP_KEYS),
            _ => asking.explain_keys(question::KEEP_KEYS)?,
        }
    }
}
