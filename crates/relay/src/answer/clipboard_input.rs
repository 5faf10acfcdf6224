//! The clipboard, read once: what `relay apply` and `relay preview` take where nothing else is named.

use relaycode_watch::clipboard::{self, ClipboardContent};
use relaycode_watch::feed::OWNER_TIMEOUT;

use crate::answer::limit;
use crate::{CommandFailure, CommandResult, desktop};

/// What is on the clipboard, at most `most` bytes of it.
pub(crate) fn read_clipboard(most: usize) -> CommandResult<String> {
    let opened = clipboard::open(&desktop::desktop_from_env(), desktop::clipboard_choice()?);
    let mut clipboard = opened.map_err(|error| {
        CommandFailure::usage(format!("no answer was named, and the clipboard cannot be read: {error}"))
            .hint("name the file that holds the answer, or `-` to read it from a pipe")
    })?;
    let why = match clipboard.read(most, OWNER_TIMEOUT).map_err(CommandFailure::unexpected)? {
        ClipboardContent::Text(text) => return Ok(text),
        ClipboardContent::TooLarge => {
            let said = format!("what is on the clipboard is longer than the limit `text` ({most} bytes)");
            return Err(limit::limit_failure("text", said));
        }
        ClipboardContent::OwnCopy => "what is on the clipboard was copied there by relay itself",
        ClipboardContent::Empty => "the clipboard is empty",
        ClipboardContent::Secret => "what is on the clipboard is marked as a secret",
        ClipboardContent::NotText => "there is no text on the clipboard",
        ClipboardContent::NotUtf8 => "the text on the clipboard is not UTF-8",
        ClipboardContent::Silent => "the program that has the clipboard does not hand it over",
    };
    Err(CommandFailure::refused("clipboard", why).hint("copy the whole answer of the model and try again"))
}
