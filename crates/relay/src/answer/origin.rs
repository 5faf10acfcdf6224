//! Reading an answer from a file, a pipe or the clipboard: never more than the limit and one byte, and only text.
//!
//! What is no text is refused with its name, so that a user who gave the wrong file sees it at once.

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Read};
use std::path::{Path, PathBuf};

use relaycode_door::SubmissionOrigin;
use relaycode_watch::clipboard::{self, ClipboardContent};
use relaycode_watch::feed::OWNER_TIMEOUT;

use crate::answer::limit;
use crate::{CommandFailure, CommandResult, desktop};

/// Where an answer comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AnswerOrigin {
    Stdin,
    File(PathBuf),
    Clipboard,
    /// What was pasted into the terminal.
    Paste,
    /// The work of this friend.
    Friend(String),
}

impl AnswerOrigin {
    /// Reads the argument `FILE|-`; without one it is the clipboard.
    pub(crate) fn from_argument(argument: Option<&Path>) -> AnswerOrigin {
        match argument {
            None => AnswerOrigin::Clipboard,
            Some(argument) if argument.as_os_str() == "-" => AnswerOrigin::Stdin,
            Some(argument) => AnswerOrigin::File(argument.to_path_buf()),
        }
    }

    /// Its name in messages.
    pub(crate) fn name(&self) -> String {
        match self {
            AnswerOrigin::Stdin => "stdin".to_string(),
            AnswerOrigin::File(path) => path.display().to_string(),
            AnswerOrigin::Clipboard => "clipboard".to_string(),
            AnswerOrigin::Paste => "paste".to_string(),
            AnswerOrigin::Friend(name) => name.clone(),
        }
    }

    /// The friend whose work it is.
    pub(crate) fn friend(&self) -> Option<&str> {
        match self {
            AnswerOrigin::Friend(name) => Some(name),
            _ => None,
        }
    }

    /// What the door calls it.
    pub(crate) fn to_door_origin(&self) -> SubmissionOrigin {
        match self {
            AnswerOrigin::Stdin => SubmissionOrigin::Stdin,
            AnswerOrigin::File(_) => SubmissionOrigin::File,
            AnswerOrigin::Clipboard => SubmissionOrigin::Clipboard,
            AnswerOrigin::Paste => SubmissionOrigin::Paste,
            AnswerOrigin::Friend(_) => SubmissionOrigin::Friend,
        }
    }

    /// The text, at most `most` bytes of it.
    pub(crate) fn read_text(&self, most: usize) -> CommandResult<String> {
        let bytes = match self {
            AnswerOrigin::Stdin => read_bounded(io::stdin().lock(), most),
            AnswerOrigin::File(path) => open_file(path).and_then(|file| read_bounded(file, most)),
            AnswerOrigin::Clipboard | AnswerOrigin::Paste => Ok(read_clipboard(most)?.into_bytes()),
            // It comes with its text.
            AnswerOrigin::Friend(_) => Ok(Vec::new()),
        };
        let bytes = bytes.map_err(|error| self.read_failure(&error))?;
        if bytes.len() > most {
            let message = format!("the answer is longer than the limit `text` ({most} bytes)");
            return Err(limit::limit_failure("text", message).place(self.name()));
        }
        decode_text(bytes).map_err(|failure| failure.place(self.name()))
    }

    /// Whether somebody would have to type the answer.
    pub(crate) fn is_typed(&self) -> bool {
        *self == AnswerOrigin::Stdin && io::stdin().is_terminal()
    }

    fn read_failure(&self, error: &io::Error) -> CommandFailure {
        let name = self.name();
        let message = match error.kind() {
            ErrorKind::NotFound => format!("there is no file {name}"),
            ErrorKind::IsADirectory => format!("{name} is a directory, not an answer"),
            ErrorKind::PermissionDenied => format!("{name} may not be read"),
            _ => format!("{name} cannot be read: {error}"),
        };
        CommandFailure::usage(message)
            .hint("name the file that holds the answer, or `-` to read it from a pipe")
            .place(name)
    }
}

/// What is on the clipboard, at most `most` bytes of it.
fn read_clipboard(most: usize) -> CommandResult<String> {
    let opened = clipboard::open(&desktop::desktop_from_env(), desktop::clipboard_choice()?);
    let mut clipboard = opened.map_err(|error| {
        CommandFailure::usage(format!("no answer was given, and the clipboard cannot be read: {error}"))
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
        ClipboardContent::Silent => "the program that owns the clipboard does not hand it over",
    };
    Err(CommandFailure::refused("clipboard", why).hint("copy the model's whole answer and try again"))
}

fn open_file(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    Ok(file)
}

fn read_bounded(source: impl Read, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    source.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

const BYTE_ORDER_MARK: &str = "\u{feff}";

fn decode_text(bytes: Vec<u8>) -> CommandResult<String> {
    if let Some(what) = known_format(&bytes) {
        return Err(not_text(&format!("the answer is {what}, not UTF-8 text")));
    }
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        let line = line_of(&bytes, at);
        return Err(not_text(&format!("the answer is binary: there is a NUL byte in line {line}")));
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let byte = error.as_bytes().get(at).copied().unwrap_or_default();
        let line = line_of(error.as_bytes(), at);
        not_text(&format!("the answer is not UTF-8: line {line} has the byte 0x{byte:02x}"))
    })?;
    if text.starts_with(BYTE_ORDER_MARK) {
        text.drain(..BYTE_ORDER_MARK.len());
    }
    if text.trim().is_empty() {
        return Err(CommandFailure::refused("nothing", "the answer is empty")
            .hint("save the model's whole answer and try again"));
    }
    Ok(text)
}

fn not_text(message: &str) -> CommandFailure {
    CommandFailure::refused("notText", message).hint("save the answer as plain UTF-8 text")
}

fn line_of(bytes: &[u8], at: usize) -> usize {
    1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count()
}

/// What the first bytes say, where they are unmistakable.
fn known_format(bytes: &[u8]) -> Option<&'static str> {
    const SIGNATURES: &[(&[u8], &str)] = &[
        (b"\xff\xfe", "UTF-16 text"),
        (b"\xfe\xff", "UTF-16 text"),
        (b"\x89PNG", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF8", "a GIF image"),
        (b"PK\x03\x04", "a ZIP archive or an office document"),
        (b"\x1f\x8b", "a gzip archive"),
        (b"%PDF-", "a PDF document"),
        (b"\x7fELF", "a program"),
        (b"MZ\x90", "a program"),
        (b"SQLite format 3\0", "an SQLite database"),
    ];
    let found = SIGNATURES.iter().find(|(start, _)| bytes.starts_with(start));
    found.map(|(_, what)| *what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(bytes: &[u8]) -> String {
        decode_text(bytes.to_vec()).unwrap_err().message
    }

    #[test]
    fn what_is_no_text_is_named() {
        assert_eq!(refusal(b"\x89PNG\r\n"), "the answer is a PNG image, not UTF-8 text");
        assert_eq!(refusal(b"a\nb\0c"), "the answer is binary: there is a NUL byte in line 2");
        assert_eq!(refusal(b"a\nb\n\xe9"), "the answer is not UTF-8: line 3 has the byte 0xe9");
        assert!(refusal(b" \n\t\n").contains("empty"));
    }

    #[test]
    fn a_byte_order_mark_is_no_content() {
        assert_eq!(decode_text("\u{feff}x".into()).unwrap(), "x");
        assert!(decode_text("\u{feff}".into()).is_err());
    }

    #[test]
    fn reading_stops_one_byte_after_the_limit() {
        assert_eq!(read_bounded(io::repeat(b'a'), 10).unwrap().len(), 11);
        assert_eq!(read_bounded(&b"abc"[..], 10).unwrap(), b"abc");
    }
}
