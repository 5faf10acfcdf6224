//! An answer as it was read, once, on its way to the door.

use relaycode_change::proposal::{Proposal, limits::PlanLimits};
use relaycode_change::response::{self, ResponseError};
use relaycode_ledger::Digest;

use crate::door::Door;

/// What was understood of one answer. The digest of its text says whether the same answer came before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerProposal {
    pub proposal: Proposal,
    pub digest: Digest,
}

impl AnswerProposal {
    pub fn new(proposal: Proposal, text: &str) -> AnswerProposal {
        AnswerProposal { proposal, digest: Digest::of(text.as_bytes()) }
    }

    /// Reads every answer in a text; there is at least one.
    ///
    /// # Errors
    /// If the text is over a limit.
    pub fn read_all(text: &str, limits: &PlanLimits) -> Result<Vec<AnswerProposal>, ResponseError> {
        let answers = response::read_all(text, limits)?;
        Ok(answers.into_iter().map(|answer| AnswerProposal::new(answer.proposal, answer.text)).collect())
    }
}

impl Door {
    /// The answer with this checkout's key blacked out wherever it repeats it, except for the name of the project, which
    /// counts with it, and for what would go into files, which is asked about.
    #[must_use]
    pub fn without_key(&self, answer: &AnswerProposal) -> AnswerProposal {
        let mut answer = answer.clone();
        if let Some(key) = self.key() {
            answer.proposal.edit_texts(&mut |text| key.redact(text));
        }
        answer
    }
}
