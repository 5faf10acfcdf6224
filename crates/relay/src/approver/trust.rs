//! The two questions before a plan: may the project's commands run, and is this a new change?

use relaycode_door::{Question, Reply};
use relaycode_ledger::{Digest, TxId};
use relaycode_project::trust::Wants;
use relaycode_tui::{question, trust};

use super::Asking;

/// Asks whether the project may run what it names. It is shown whole.
pub(super) fn ask(
    asking: &mut Asking<'_>,
    question: &Question<'_>,
    wants: &Wants,
    before: Option<&Wants>,
) -> Result<Reply, Reply> {
    asking.say(&trust::text(wants, before, &asking.look));
    let prompt = question::trust(wants, before, &asking.setup.config, &asking.look);
    let why = question::why_trust(question.digest(), &asking.look);
    plain(asking, question, &prompt, &why, question::TRUST)
}

/// Asks whether an id that is known stands for a new change.
pub(super) fn ask_new(
    asking: &mut Asking<'_>,
    question: &Question<'_>,
    id: TxId,
    answer: Digest,
) -> Result<Reply, Reply> {
    asking.say(&question::same_id(id, &asking.look));
    let prompt = question::new_change(&asking.look);
    let why = question::why_new(answer, &asking.look);
    plain(asking, question, &prompt, &why, question::NEW_CHANGE)
}

/// Yes or no, `w` and `?`.
fn plain(
    asking: &mut Asking<'_>,
    question: &Question<'_>,
    prompt: &str,
    why: &str,
    keys: question::Keys,
) -> Result<Reply, Reply> {
    loop {
        let said = asking.hear(prompt)?;
        match said.word.as_str() {
            _ if said.is_yes() => return Ok(question.yes()),
            "n" | "no" => return Ok(super::no_because(&said.rest)),
            "w" => asking.say(why),
            "?" => asking.show_keys(keys),
            _ => asking.explain(keys)?,
        }
    }
}
