//! Collecting several copies before they are processed: until there are enough, or none came for a while.

use std::time::{Duration, Instant};

use crate::inbox::InboxText;

/// However many copies are wanted, no more bytes than this are collected.
pub const MAX_COLLECTED_BYTES: usize = 16 << 20;

#[derive(Debug, Default)]
pub struct BulkCollector {
    texts: Vec<InboxText>,
    last: Option<Instant>,
}

impl BulkCollector {
    pub fn add(&mut self, text: InboxText, now: Instant) {
        self.texts.push(text);
        self.last = Some(now);
    }

    pub fn len(&self) -> usize {
        self.texts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// When too few copies are processed anyway.
    pub fn deadline(&self, timeout: Duration) -> Option<Instant> {
        self.last.map(|last| last + timeout)
    }

    /// Takes everything if there are `size` copies, the byte limit is reached, or none came for `timeout`.
    pub fn take_if_ready(&mut self, size: u64, timeout: Duration, now: Instant) -> Option<Vec<InboxText>> {
        let bytes: usize = self.texts.iter().map(|text| text.text.len()).sum();
        let enough =
            u64::try_from(self.texts.len()).unwrap_or(u64::MAX) >= size || bytes >= MAX_COLLECTED_BYTES;
        let late = self.deadline(timeout).is_some_and(|due| now >= due);
        (enough || late).then(|| self.take_all()).filter(|texts| !texts.is_empty())
    }

    /// Takes everything now.
    pub fn take_all(&mut self) -> Vec<InboxText> {
        self.last = None;
        std::mem::take(&mut self.texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::InboxSource;

    fn text(text: &str) -> InboxText {
        InboxText { text: text.to_string(), source: InboxSource::Copied, answers: Ok(Vec::new()) }
    }

    #[test]
    fn copies_wait_until_there_are_enough_or_no_more_come() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let timeout = Duration::from_secs(30);
        let mut bulk = BulkCollector::default();
        bulk.add(text("a"), at(0));
        assert_eq!(bulk.take_if_ready(2, timeout, at(1)), None);
        bulk.add(text("b"), at(20));
        assert_eq!(bulk.take_if_ready(2, timeout, at(20)).unwrap().len(), 2);
        assert_eq!((bulk.len(), bulk.deadline(timeout)), (0, None));
        bulk.add(text("c"), at(40));
        assert_eq!(bulk.deadline(timeout), Some(at(70)));
        assert_eq!(bulk.take_if_ready(2, timeout, at(69)), None);
        assert_eq!(bulk.take_if_ready(2, timeout, at(70)).unwrap()[0].text, "c");
        bulk.add(text(&"d".repeat(MAX_COLLECTED_BYTES)), at(71));
        assert!(bulk.take_if_ready(2, timeout, at(71)).is_some(), "there is no room for more");
    }
}
