//! Any system's clipboard, looked at every so often: macOS, Windows, and elsewhere if asked for.
//!
//! Between two looks only a keyed hash of the text is kept, never the text. What cannot be bounded here: the library
//! reads a text whole before its length is known, and waits for its owner as long as it likes, so `most` and `patience`
//! only decide what is handed on. It does not say whether nothing is there or something other than text, nor whether relay
//! itself put it there. It finds the desktop by itself, from the environment.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use arboard::Error;

use super::{Clipboard, ClipboardError, Content, NoClipboard, Stop, Woken};

const NAME: &str = if cfg!(target_os = "macos") {
    "macOS"
} else if cfg!(windows) {
    "Windows"
} else {
    "polled"
};

/// A clipboard that does not tell of changes.
pub(super) struct Polled {
    clipboard: arboard::Clipboard,
    keys: RandomState,
    /// The hash of what was there at the last look, of nothing as of text.
    last: Option<u64>,
}

impl Polled {
    pub(super) fn open() -> Result<Polled, NoClipboard> {
        let no = |error: Error| NoClipboard::Unreachable { name: NAME, why: error.to_string() };
        let clipboard = arboard::Clipboard::new().map_err(no)?;
        let mut polled = Polled { clipboard, keys: RandomState::new(), last: None };
        // What is there now is not new; what comes from here on is.
        if let Ok(content) = polled.look() {
            polled.last = polled.hash(&content);
        }
        Ok(polled)
    }

    /// What is there, with all of its text.
    fn look(&mut self) -> Result<Content, ClipboardError> {
        Ok(match self.clipboard.get_text() {
            Ok(text) if text.is_empty() => Content::Empty,
            Ok(text) => Content::Text(text),
            Err(Error::ContentNotAvailable) => Content::NotText,
            Err(Error::ConversionFailure) => Content::NotUtf8,
            Err(Error::ClipboardOccupied) => Content::Silent,
            Err(_) => {
                // It may be its owner or the whole clipboard: if it can be opened anew, it was its owner.
                let gone = |error: Error| ClipboardError { name: NAME, why: error.to_string() };
                self.clipboard = arboard::Clipboard::new().map_err(gone)?;
                Content::Silent
            }
        })
    }

    /// Nothing to go by if its owner does not answer: then it is as it was.
    fn hash(&self, content: &Content) -> Option<u64> {
        match content {
            Content::Silent => self.last,
            Content::Text(text) => Some(self.keys.hash_one(text)),
            other => Some(self.keys.hash_one(std::mem::discriminant(other))),
        }
    }
}

impl Clipboard for Polled {
    fn name(&self) -> &'static str {
        NAME
    }

    fn tells(&self) -> bool {
        false
    }

    fn wait(&mut self, interval: Duration, stop: &Stop) -> Result<Woken, ClipboardError> {
        loop {
            let content = self.look()?;
            let now = self.hash(&content);
            drop(content);
            let before = std::mem::replace(&mut self.last, now);
            if before.is_some() && before != now {
                return Ok(Woken::Changed);
            }
            if stop.within(interval) {
                return Ok(Woken::Stopped);
            }
        }
    }

    fn read(&mut self, most: usize, _: Duration) -> Result<Content, ClipboardError> {
        let content = self.look()?;
        self.last = self.hash(&content);
        Ok(match content {
            Content::Text(text) if text.len() > most => Content::TooLarge,
            other => other,
        })
    }
}
