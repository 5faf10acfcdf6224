//! A prompt that was not sent, as it is kept on disk: it survives a crash.

use serde::{Deserialize, Serialize};

use super::buffer::{BufferState, TEXT_BYTES};
use super::chip::CHIP_MARK;
use super::{PROMPT_CHIPS, PromptChip, PromptEditor};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptDraft {
    /// With a mark for each chip.
    pub text: String,
    #[serde(default)]
    pub chips: Vec<PromptChip>,
    #[serde(default)]
    pub cursor: usize,
}

impl PromptEditor {
    /// `None` if nothing is written.
    pub fn to_draft(&self) -> Option<PromptDraft> {
        let BufferState { text, chips, cursor } = self.buffer.state.clone();
        (!text.is_empty()).then_some(PromptDraft { text, chips, cursor })
    }

    /// Takes the place of what is written; a draft that is damaged changes nothing.
    pub fn restore_draft(&mut self, draft: EditorDraft) -> EditorOutcome {
        let cursor = draft.cursor;
        let Some(fragment) = draft.into_fragment() else { return EditorOutcome::Ignored };
        let chips = |text: bool| {
            let is_kind = |chip: &&EditorChip| matches!(chip, EditorChip::Text(_)) == text;
            fragment.spans.iter().filter_map(EditorSpan::chip).filter(is_kind).count()
        };
        editor.pastes = chips.iter().map(|chip| number(chip).0).max().unwrap_or(0);
        editor.images = chips.iter().map(|chip| number(chip).1).max().unwrap_or(0);
        editor.buffer.state = BufferState { text, chips, cursor: 0 };
        editor.buffer.state.cursor = editor.buffer.boundary(cursor);
        editor
    }
}
