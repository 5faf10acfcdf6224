//! "keep?": the change is on disk, the project's commands have spoken.

use relaycode_change::plan::Plan;
use relaycode_door::{GateReport, Question, Reply, Rule};
use relaycode_ledger::Digest;
use relaycode_tui::look::Look;
use relaycode_tui::{gate, question, why};

use super::Asking;
use super::apply::Files;

/// What is on disk, and what was said of it.
pub(super) struct OnDisk<'a> {
    pub(super) plan: &'a Plan,
    pub(super) digest: Digest,
    pub(super) gate: &'a GateReport,
    pub(super) rules: &'a [Rule],
}

/// Asks whether to keep it.
pub(super) fn ask(
    asking: &mut Asking<'_>,
    question: &Question<'_>,
    on_disk: &OnDisk<'_>,
) -> Result<Reply, Reply> {
    let files = Files::of(on_disk.plan);
    asking.say(&gate::waiting(on_disk.gate, &asking.look));
    loop {
        let said = asking.hear(&question::keep(&asking.look))?;
        match said.word.as_str() {
            _ if said.is_yes() => return Ok(question.yes()),
            "n" | "no" => return Ok(super::no_because(&said.rest)),
            "r" => return asking.reason(&said.rest),
            "d" => files.show(asking, &said.rest, false),
            "s" => files.show(asking, &said.rest, true),
            "o" => asking.show(&|look: &Look| gate::output(on_disk.gate, look)),
            "w" => asking.say(&why::text(on_disk.rules, Some(on_disk.digest), &asking.look)),
            "?" => asking.show_keys(question::KEEP),
            _ => asking.explain(question::KEEP)?,
        }
    }
}
