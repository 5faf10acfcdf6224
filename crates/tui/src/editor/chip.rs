//! What stands in a prompt as one piece: a large paste, an image.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The place of a chip in the text. Foreign text that holds it becomes a chip itself.
pub(super) const CHIP_MARK: char = '\u{fffc}';

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum PromptChip {
    /// Sent as it was pasted.
    Paste {
        number: usize,
        #[serde(with = "shared_text")]
        text: Arc<str>,
        /// How much it is.
        about: String,
    },
    /// `about` is its size or what else is known. `key` is the caller's, to find the image again.
    Image { number: usize, name: String, about: String, key: String },
}

impl PromptChip {
    pub(super) fn paste(number: usize, text: &str) -> PromptChip {
        // Counted once: it may be large.
        let about = match text.lines().count() {
            0..=1 => format!("{} characters", text.chars().count()),
            lines => format!("{lines} lines"),
        };
        PromptChip::Paste { number, text: Arc::from(text), about }
    }

    /// Not safe yet: a name may hold anything.
    pub fn label(&self) -> String {
        match self {
            PromptChip::Paste { number, about, .. } => format!("[paste {number}: {about}]"),
            PromptChip::Image { number, name, about, .. } if about.is_empty() => {
                format!("[image {number}: {name}]")
            }
            PromptChip::Image { number, name, about, .. } => format!("[image {number}: {name} {about}]"),
        }
    }

    /// What is sent in its place.
    pub fn sent_text(&self) -> String {
        match self {
            PromptChip::Paste { text, .. } => text.to_string(),
            PromptChip::Image { number, .. } => format!("[image {number}]"),
        }
    }
}

/// A text that undo steps share.
mod shared_text {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<str>, D::Error> {
        String::deserialize(deserializer).map(Arc::from)
    }
}
