//! Values that the caller knows to be secret, found anywhere in a text.
//!
//! A window of eight bytes moves over the text as one number, so the text is compared only where a value
//! can begin: many values cost no more than one.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{MARK, RedactionBuffer};

/// Bytes; shorter values are not looked for.
pub(super) const LEAST: usize = 8;
/// At most this many bytes of a value are compared. A longer one is recognised by its beginning, and
/// blacked out as a whole where all of it is there.
const COMPARED: usize = 4_096;

/// The known values by their first [`LEAST`] bytes, the longest first.
#[derive(Debug, Clone, Default)]
pub(super) struct SecretValues {
    by_start: HashMap<u64, Vec<Vec<u8>>>,
}

impl SecretValues {
    pub(super) fn new(values: &[String]) -> SecretValues {
        let mut by_start: HashMap<u64, Vec<Vec<u8>>> = HashMap::new();
        for value in values.iter().flat_map(|value| value.lines()).map(str::trim) {
            // A piece of the mark would be found again in the mark.
            if value.len() < LEAST || MARK.contains(value) {
                continue;
            }
            let start = value.bytes().take(LEAST).fold(0, shift);
            by_start.entry(start).or_default().push(value.as_bytes().to_vec());
        }
        for same_start in by_start.values_mut() {
            same_start.sort_by_key(|value| std::cmp::Reverse(value.len()));
            same_start.dedup();
        }
        SecretValues { by_start }
    }

    pub(super) fn redact<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        if self.by_start.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut rewrite = RedactionBuffer::new(text);
        let mut window = 0;
        let mut free_from = 0;
        for (at, byte) in text.iter().enumerate() {
            window = shift(window, *byte);
            let Some(from) = (at + 1).checked_sub(LEAST).filter(|from| *from >= free_from) else { continue };
            if let Some(length) = self.length_at(window, &text[from..]) {
                rewrite.mark(from..from + length);
                free_from = from + length;
            }
        }
        rewrite.finish().map_or(Cow::Borrowed(text), Cow::Owned)
    }

    fn length_at(&self, window: u64, text: &[u8]) -> Option<usize> {
        let candidates = self.by_start.get(&window)?;
        candidates.iter().find_map(|value| {
            let compared = &value[..value.len().min(COMPARED)];
            if !text.starts_with(compared) {
                return None;
            }
            Some(if text.starts_with(value) { value.len() } else { compared.len() })
        })
    }
}

fn shift(window: u64, byte: u8) -> u64 {
    (window << 8) | u64::from(byte)
}
