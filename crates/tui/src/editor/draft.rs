//! The editor's text as it survives a crash.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::fragment::{EditorChip, EditorFragment, EditorImage, EditorSpan, EditorSpanKind};
use super::{EditorOutcome, MAX_IMAGES, PromptEditor};
use crate::input::PROMPT_BYTES;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditorDraft {
    text: String,
    #[serde(default)]
    cursor: usize,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    spans: Vec<DraftSpan>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct DraftSpan {
    start: usize,
    end: usize,
    #[serde(flatten)]
    kind: DraftSpanKind,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
enum DraftSpanKind {
    Pasted,
    Text {
        text: String,
    },
    #[serde(rename_all = "camelCase")]
    Image {
        name: String,
        mime_type: String,
        size: Option<(u32, u32)>,
        data: String,
    },
}

impl EditorDraft {
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// `None` if it is no draft that the editor wrote.
    fn into_fragment(self) -> Option<EditorFragment> {
        let mut reached = 0;
        let mut images = 0;
        let mut spans = Vec::new();
        for span in self.spans {
            let is_sound = reached <= span.start
                && span.start < span.end
                && self.text.is_char_boundary(span.start)
                && self.text.is_char_boundary(span.end)
                && span.end <= self.text.len();
            if !is_sound {
                return None;
            }
            reached = span.end;
            let kind = match span.kind {
                DraftSpanKind::Pasted => EditorSpanKind::Pasted,
                DraftSpanKind::Text { text } => EditorSpanKind::Chip(Arc::new(EditorChip::Text(text))),
                DraftSpanKind::Image { name, mime_type, size, data } => {
                    images += 1;
                    let image = EditorImage { name, mime_type, size, data: data.into() };
                    EditorSpanKind::Chip(Arc::new(EditorChip::Image(image)))
                }
            };
            spans.push(EditorSpan { range: span.start..span.end, kind });
        }
        let fragment = EditorFragment { text: self.text, spans };
        let fits =
            fragment.sent_bytes() <= PROMPT_BYTES && images <= MAX_IMAGES && !fragment.text.contains('\r');
        fits.then_some(fragment)
    }
}

impl PromptEditor {
    pub fn to_draft(&self) -> EditorDraft {
        let spans = self.text.spans.iter().map(|span| {
            let kind = match &span.kind {
                EditorSpanKind::Pasted => DraftSpanKind::Pasted,
                EditorSpanKind::Chip(chip) => match &**chip {
                    EditorChip::Text(text) => DraftSpanKind::Text { text: text.clone() },
                    EditorChip::Image(image) => DraftSpanKind::Image {
                        name: image.name.clone(),
                        mime_type: image.mime_type.clone(),
                        size: image.size,
                        data: image.data.to_string(),
                    },
                },
            };
            DraftSpan { start: span.range.start, end: span.range.end, kind }
        });
        EditorDraft { text: self.text.text.clone(), cursor: self.cursor, spans: spans.collect() }
    }

    /// Takes the place of what is written; a draft that is damaged changes nothing.
    pub fn restore_draft(&mut self, draft: EditorDraft) -> EditorOutcome {
        let cursor = draft.cursor;
        let Some(fragment) = draft.into_fragment() else { return EditorOutcome::Ignored };
        let chips = |text: bool| {
            let is_kind = |chip: &&EditorChip| matches!(chip, EditorChip::Text(_)) == text;
            fragment.spans.iter().filter_map(EditorSpan::chip).filter(is_kind).count()
        };
        (self.pastes, self.images) = (chips(true), chips(false));
        self.set_fragment(&fragment);
        let cursor = super::boundaries::floor(&self.text.text, cursor);
        self.cursor = self.widened(cursor..cursor).start;
        EditorOutcome::Changed
    }
}
