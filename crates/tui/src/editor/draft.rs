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

    /// A draft that does not hold together is taken as far as it does.
    pub fn from_draft(draft: PromptDraft, placeholder: &str) -> PromptEditor {
        let mut editor = PromptEditor::new(placeholder);
        let PromptDraft { mut text, mut chips, cursor } = draft;
        if text.len() > TEXT_BYTES {
            let end = (0..=TEXT_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            text.truncate(end);
        }
        chips.truncate(PROMPT_CHIPS);
        let mut left = chips.len();
        text.retain(|c| {
            let is_kept = c != CHIP_MARK || left > 0;
            left -= usize::from(c == CHIP_MARK && is_kept);
            is_kept
        });
        chips.truncate(text.matches(CHIP_MARK).count());
        let number = |chip: &PromptChip| match chip {
            PromptChip::Paste { number, .. } => (*number, 0),
            PromptChip::Image { number, .. } => (0, *number),
        };
        editor.pastes = chips.iter().map(|chip| number(chip).0).max().unwrap_or(0);
        editor.images = chips.iter().map(|chip| number(chip).1).max().unwrap_or(0);
        editor.buffer.state = BufferState { text, chips, cursor: 0 };
        editor.buffer.state.cursor = editor.buffer.boundary(cursor);
        editor
    }
}
