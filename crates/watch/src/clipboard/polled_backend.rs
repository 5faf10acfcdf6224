//! Any system's clipboard, polled: macOS, Windows, and elsewhere on request.
//!
//! Between two polls only a keyed hash of the text is kept, never the text. The library's limits: it reads
//! a text whole before its length is known, and waits for the owner as long as it likes, so `most` and
//! `patience` only decide what is passed on. It cannot tell an empty clipboard from one without text, nor
//! whether relay itself copied. It finds the desktop by itself, from the environment.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use arboard::Error;

use super::{
    Clipboard, ClipboardContent, ClipboardError, ClipboardUnavailable, ClipboardWake, WatchStopSignal,
};
use crate::clipboard::ClipboardResult;
use crate::sys::POLLED_CLIPBOARD;

/// The system's own, polled.
pub(crate) fn open_polled_clipboard() -> Result<Box<dyn Clipboard>, ClipboardUnavailable> {
    Ok(Box::new(PolledClipboard::open()?))
}

struct PolledClipboard {
    clipboard: arboard::Clipboard,
    keys: RandomState,
    /// Hash of the content at the last poll; an empty clipboard has one too.
    last: Option<u64>,
}

impl PolledClipboard {
    fn open() -> Result<PolledClipboard, ClipboardUnavailable> {
        let no = |error: Error| ClipboardUnavailable::Unreachable {
            name: POLLED_CLIPBOARD,
            why: error.to_string(),
        };
        let clipboard = arboard::Clipboard::new().map_err(no)?;
        let mut polled = PolledClipboard { clipboard, keys: RandomState::new(), last: None };
        // What is there now is not new; what comes from now on is.
        if let Ok(content) = polled.read_current() {
            polled.last = polled.hash(&content);
        }
        Ok(polled)
    }

    /// With all of its text.
    fn read_current(&mut self) -> ClipboardResult<ClipboardContent> {
        Ok(match self.clipboard.get_text() {
            Ok(text) if text.is_empty() => ClipboardContent::Empty,
            Ok(text) => ClipboardContent::Text(text),
            Err(Error::ContentNotAvailable) => ClipboardContent::NotText,
            Err(Error::ConversionFailure) => ClipboardContent::NotUtf8,
            Err(Error::ClipboardOccupied) => ClipboardContent::Silent,
            Err(_) => {
                // The owner may be gone, or the whole clipboard: if it can be opened again, it was the
                // owner.
                let gone = |error: Error| ClipboardError { name: POLLED_CLIPBOARD, why: error.to_string() };
                self.clipboard = arboard::Clipboard::new().map_err(gone)?;
                ClipboardContent::Silent
            }
        })
    }

    /// `None` if the owner does not answer: then the content counts as unchanged.
    fn hash(&self, content: &ClipboardContent) -> Option<u64> {
        match content {
            ClipboardContent::Silent => self.last,
            ClipboardContent::Text(text) => Some(self.keys.hash_one(text)),
            other => Some(self.keys.hash_one(std::mem::discriminant(other))),
        }
    }
}

impl Clipboard for PolledClipboard {
    fn name(&self) -> &'static str {
        POLLED_CLIPBOARD
    }

    fn notifies_changes(&self) -> bool {
        false
    }

    fn wait(&mut self, interval: Duration, stop: &WatchStopSignal) -> ClipboardResult<ClipboardWake> {
        loop {
            let content = self.read_current()?;
            let now = self.hash(&content);
            drop(content);
            let before = std::mem::replace(&mut self.last, now);
            if before.is_some() && before != now {
                return Ok(ClipboardWake::Changed);
            }
            if stop.wait_timeout(interval) {
                return Ok(ClipboardWake::Stopped);
            }
        }
    }

    fn read(&mut self, most: usize, _: Duration) -> ClipboardResult<ClipboardContent> {
        let content = self.read_current()?;
        self.last = self.hash(&content);
        Ok(match content {
            ClipboardContent::Text(text) if text.len() > most => ClipboardContent::TooLarge,
            other => other,
        })
    }
}
