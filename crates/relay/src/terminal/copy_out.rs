//! Copying out, only when asked: onto the desktop's clipboard, by a small process that keeps the text there for as long as
//! nobody else copies; and through the terminal (OSC 52) where there is no desktop, as over SSH.

use std::time::Duration;

use relaycode_tui::osc52;
use relaycode_watch::clipboard::ClipboardBackend;

use crate::sys::CLIPBOARD_NEEDS_DISPLAY;
use crate::{CommandFailure, CommandResult, Exit, desktop, questions};

/// The argument with which the binary holds what was copied.
pub(crate) const HOLD_COMMAND: &str = "__hold";
/// What the holder says when the text is on the clipboard.
pub(crate) const HOLD_ACK: &str = "held";
/// How long that may take.
const HOLD_TIMEOUT: Duration = Duration::from_secs(5);

/// Where a text went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopyTarget {
    /// It is on the clipboard.
    Clipboard,
    /// It was sent to the terminal, which does not say whether it took it.
    Terminal,
}

impl CopyTarget {
    /// `it is on the clipboard`, without `it`.
    pub(crate) fn clause(self) -> &'static str {
        match self {
            CopyTarget::Clipboard => "is on the clipboard",
            CopyTarget::Terminal => "was sent to the terminal's clipboard",
        }
    }

    /// The name in `--json`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            CopyTarget::Clipboard => "clipboard",
            CopyTarget::Terminal => "terminal",
        }
    }
}

/// Copies `text`.
pub(crate) fn copy_text(text: &str) -> CommandResult<CopyTarget> {
    let why = match copy_to_clipboard(text) {
        Ok(()) => return Ok(CopyTarget::Clipboard),
        Err(why) => why,
    };
    let Some(terminal) = questions::open_terminal() else {
        return Err(copy_failure(&why).hint("`relay doctor` says what this system can do"));
    };
    let sequence = osc52::copy_sequence(text, &desktop::terminal_env(true))
        .map_err(|error| copy_failure(&format!("{why}; {error}")))?;
    terminal.write_text(&sequence);
    Ok(CopyTarget::Terminal)
}

fn copy_failure(why: &str) -> CommandFailure {
    CommandFailure::new(Exit::Unexpected, "copy", format!("it cannot be copied: {why}"))
}

fn copy_to_clipboard(text: &str) -> Result<(), String> {
    let choice = desktop::clipboard_choice().map_err(|failure| failure.message)?;
    let nowhere = desktop::desktop_from_env() == Default::default() && CLIPBOARD_NEEDS_DISPLAY;
    if choice == ClipboardBackend::None || nowhere {
        return Err("there is no clipboard here".to_string());
    }
    let own = std::env::current_exe().map_err(|error| format!("relay cannot find itself: {error}"))?;
    let said = relaycode_exec::spawn_detached(&own, HOLD_COMMAND, text.as_bytes(), HOLD_TIMEOUT);
    match said.as_deref().map(str::trim) {
        Ok(HOLD_ACK) => Ok(()),
        Ok("") => Err("the clipboard took nothing".to_string()),
        Ok(why) => Err(why.to_string()),
        Err(error) => Err(error.to_string()),
    }
}
