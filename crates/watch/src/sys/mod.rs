//! The one place for what differs by system: clipboards and directories that tell of changes.
//!
//! A system provides, in a folder of its own:
//!
//! | item | promises | where the system cannot |
//! |---|---|---|
//! | `open_clipboard` | the clipboard that was chosen; for `Auto` the best there is, one that tells of changes before one that has to be looked at | [`ClipboardUnavailable`] says why; macOS tells nobody, so `Auto` looks every so often |
//! | `hold_text` | the text is on the clipboard when `ready` is called, and stays there until somebody else copies | [`HoldError`] |
//! | `DirectoryWatcher` | calls back with the name of each file in two directories that something happened to; a file that was only read does not wake relay | the error says why |
//! | `POLLED_CLIPBOARD` | what the clipboard that is looked at every so often is called | |
//!
//! [`ClipboardUnavailable`]: crate::clipboard::ClipboardUnavailable
//! [`HoldError`]: crate::HoldError

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

#[cfg(target_os = "linux")]
pub(crate) use linux::{DirectoryWatcher, POLLED_CLIPBOARD, hold_text, open_clipboard};
#[cfg(target_os = "macos")]
pub(crate) use macos::{DirectoryWatcher, POLLED_CLIPBOARD, hold_text, open_clipboard};
