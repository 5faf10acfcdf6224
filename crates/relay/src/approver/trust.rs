//! The two questions before a plan: may the project's commands run, and is this a new change?

use relaycode_door::ApprovalQuestion;
use relaycode_ledger::{Digest, TxId};
use relaycode_project::trust::TrustRequest;
use relaycode_tui::views::{question, trust};

use super::{DialogResult, QuestionDialog};

/// Asks whether the project may run what it names. It is shown whole.
pub(super) fn ask_trust(
    asking: &mut QuestionDialog<'_>,
    question: &ApprovalQuestion<'_>,
    wants: &TrustRequest,
    before: Option<&TrustRequest>,
) -> DialogResult {
    asking.say(&trust::text(wants, before, &asking.style));
    let prompt = question::trust_prompt(wants, before, &asking.setup.config, &asking.style);
    let why = question::explain_trust(question.digest(), &asking.style);
    ask_yes_no(asking, question, &prompt, &why, question::TRUST_KEYS)
}

/// Asks whether an id that is known stands for a new change.
pub(super) fn ask_new_change(
    asking: &mut QuestionDialog<'_>,
    question: &ApprovalQuestion<'_>,
    id: TxId,
    answer: Digest,
) -> DialogResult {
    asking.say(&question::same_id_warning(id, &asking.style));
    let prompt = question::new_change_prompt(&asking.style);
    let why = question::explain_new_change(answer, &asking.style);
    ask_yes_no(asking, question, &prompt, &why, question::NEW_CHANGE_KEYS)
}

/// Yes or no, `w` and `?`.
fn ask_yes_no(
    asking: &mut QuestionDialog<'_>,
    question: &ApprovalQuestion<'_>,
    prompt: &str,
    why: &str,
    keys: question::QuestionKeys,
) -> DialogResult {
    loop {
        let said = asking.read_reply(prompt)?;
        match said.word.as_str() {
            _ if said.is_yes() => return Ok(question.yes()),
            "n" | "no" => return Ok(super::decline(&said.rest)),
            "w" => asking.say(why),
            "?" => asking.show_keys(keys),
            _ => asking.explain_keys(keys)?,
        }
    }
}
