//! A question of the door as data of its own: what would be written and what was found, in the words of the views that every
//! command uses. It outlives the door's borrow, so that another thread can show it.

use relaycode_door::{ApprovalQuestion, ApprovalReply};
use relaycode_ledger::Digest;
use relaycode_text::terminal_text::plain_terminal_text;

use super::panel_question::PanelAnswer;
use crate::OutputStyle;
use crate::views::rules::AskedIn;
use crate::views::{card, diff, gate, question, rules, trust};

/// Bytes of one text.
const MAX_BYTES: usize = 4 << 20;

/// When it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DoorStage {
    /// Before commands of the project run for the first time.
    Trust,
    /// An id was seen before.
    NewChange,
    /// Before something is written.
    Apply,
    /// After it was checked.
    Keep,
}

/// Every text is safe, painted, and of one or more lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoorQuestion {
    pub stage: DoorStage,
    /// What is asked about.
    pub shown: String,
    /// Which rule asks.
    pub why: String,
    pub diff: String,
    /// What the project's commands printed.
    pub output: String,
    /// What a yes is about.
    pub digest: Digest,
}

impl DoorQuestion {
    /// `name`: what the change is called where its author gave it no title. `config`: the file that names the project's commands.
    pub fn of_approval(
        asked: &ApprovalQuestion<'_>,
        name: &str,
        config: &str,
        style: &OutputStyle,
    ) -> DoorQuestion {
        let digest = asked.digest();
        let none = String::new;
        let (stage, shown, why, diff, output) = match asked {
            ApprovalQuestion::Trust { wants, before } => {
                let source = trust::source_phrase(wants, *before, config, style);
                let shown = format!("{}  {source}\n", trust::text(wants, *before, style));
                (DoorStage::Trust, shown, question::explain_trust(digest, style), none(), none())
            }
            ApprovalQuestion::NewChange { id, answer } => {
                let why = question::explain_new_change(*answer, style);
                (DoorStage::NewChange, question::same_id_warning(*id, style), why, none(), none())
            }
            ApprovalQuestion::Apply { proposal, plan, rules, .. } => {
                let shown =
                    card::text("", proposal, plan, name, style) + &question::reasons(rules, plan, style);
                let why = rules::text(rules, AskedIn::Command, Some(digest), style);
                (DoorStage::Apply, shown, why, diff::text(plan, style), none())
            }
            ApprovalQuestion::Keep { plan, gate, rules, .. } => {
                let why = rules::text(rules, AskedIn::Command, Some(digest), style);
                let output = gate::full_output(gate, style);
                (DoorStage::Keep, gate::pending_card(gate, style), why, diff::text(plan, style), output)
            }
        };
        let [shown, why, diff, output] = [shown, why, diff, output].map(bounded);
        DoorQuestion { stage, shown, why, diff, output, digest }
    }

    /// `None`: it is no answer to a question of the door's.
    pub fn reply(&self, answer: &PanelAnswer) -> Option<ApprovalReply> {
        match answer {
            PanelAnswer::Yes => Some(ApprovalReply::Yes { digest: self.digest }),
            PanelAnswer::No { reason } => Some(ApprovalReply::No { reason: reason.clone() }),
            PanelAnswer::Always | PanelAnswer::Options(_) | PanelAnswer::Text(_) => None,
        }
    }

    pub(super) fn asks(&self) -> &'static str {
        match self.stage {
            DoorStage::Trust => "run this from now on?",
            DoorStage::NewChange => "is this a new change?",
            DoorStage::Apply => "apply?",
            DoorStage::Keep => "keep?",
        }
    }

    /// What each key does.
    pub(super) fn keys(&self) -> question::QuestionKeys {
        match self.stage {
            DoorStage::Trust => question::TRUST_KEYS,
            DoorStage::NewChange => question::NEW_CHANGE_KEYS,
            DoorStage::Apply => question::APPLY_KEYS,
            DoorStage::Keep => question::KEEP_KEYS,
        }
    }

    pub(super) fn has_diff(&self) -> bool {
        matches!(self.stage, DoorStage::Apply | DoorStage::Keep)
    }

    pub(super) fn without_texts(&self) -> DoorQuestion {
        let none = String::new;
        DoorQuestion {
            stage: self.stage,
            shown: none(),
            why: none(),
            diff: none(),
            output: none(),
            digest: self.digest,
        }
    }
}

fn bounded(mut text: String) -> String {
    if text.len() > MAX_BYTES {
        let end = (0..=MAX_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let end = text[..end].rfind('\n').map_or(0, |at| at + 1);
        text.truncate(end);
    }
    text
}

/// A painted line for a narrower terminal than it was made for loses its colours there.
pub(super) fn without_paint(line: &str) -> String {
    plain_terminal_text(line)
}
