//! The clipboard, read once: what `relay apply` and `relay preview` take where nothing else is named.

use relaycode_watch::clipboard::{self, Content};
use relaycode_watch::feed::PATIENCE;

use crate::desktop;
use crate::failure::{Exit, Failure, State};
use crate::limit;

/// What is on the clipboard, at most `most` bytes of it.
pub(crate) fn read(most: usize) -> Result<String, Failure> {
    let opened = clipboard::open(&desktop::desktop(), desktop::choice()?);
    let mut clipboard = opened.map_err(|error| {
        Failure::usage(format!("no answer was named, and the clipboard cannot be read: {error}"))
            .hint("name the file that holds the answer, or `-` to read it from a pipe")
    })?;
    match clipboard.read(most, PATIENCE).map_err(Failure::unexpected)? {
        Content::Text(text) => Ok(text),
        Content::TooLarge => Err(limit::exceeded(
            "text",
            format!("what is on the clipboard is longer than the limit `text` ({most} bytes)"),
        )),
        Content::Ours => Err(nothing("what is on the clipboard was copied there by relay itself")),
        Content::Empty => Err(nothing("the clipboard is empty")),
        Content::Secret => Err(nothing("what is on the clipboard is marked as a secret")),
        Content::NotText => Err(nothing("there is no text on the clipboard")),
        Content::NotUtf8 => Err(nothing("the text on the clipboard is not UTF-8")),
        Content::Silent => Err(nothing("the program that has the clipboard does not hand it over")),
    }
}

fn nothing(message: &str) -> Failure {
    Failure::new(Exit::Refused, "clipboard", message)
        .hint("copy the whole answer of the model and try again")
        .left(State::Unchanged)
}
