//! Copying out, only when asked: onto the desktop's clipboard, by a small process that keeps the text there for as long as
//! nobody else copies; and through the terminal (OSC 52) where there is no desktop, as over SSH.

use std::time::Duration;

use relaycode_tui::osc;
use relaycode_watch::clipboard::Choice;

use crate::ask;
use crate::desktop;
use crate::failure::{Exit, Failure};

/// The argument with which the binary holds what was copied.
pub(crate) const HOLD: &str = "__hold";
/// What the holder says when the text is on the clipboard.
pub(crate) const HELD: &str = "held";
/// How long that may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where a text went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Copied {
    /// It is on the clipboard.
    Clipboard,
    /// It was sent to the terminal, which does not say whether it took it.
    Terminal,
}

impl Copied {
    /// `it is on the clipboard`, without `it`.
    pub(crate) fn said(self) -> &'static str {
        match self {
            Copied::Clipboard => "is on the clipboard",
            Copied::Terminal => "was sent to the terminal's clipboard",
        }
    }

    /// The name in `--json`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Copied::Clipboard => "clipboard",
            Copied::Terminal => "terminal",
        }
    }
}

/// Copies `text`.
pub(crate) fn copy(text: &str) -> Result<Copied, Failure> {
    let why = match onto_the_clipboard(text) {
        Ok(()) => return Ok(Copied::Clipboard),
        Err(why) => why,
    };
    let Some(terminal) = ask::terminal() else {
        return Err(cannot(&why).hint("`relay doctor` says what this system can do"));
    };
    let sequence =
        osc::copy(text, &desktop::surroundings(true)).map_err(|error| cannot(&format!("{why}; {error}")))?;
    terminal.say(&sequence);
    Ok(Copied::Terminal)
}

fn cannot(why: &str) -> Failure {
    Failure::new(Exit::Unexpected, "copy", format!("it cannot be copied: {why}"))
}

fn onto_the_clipboard(text: &str) -> Result<(), String> {
    let choice = desktop::choice().map_err(|failure| failure.message)?;
    let nowhere = desktop::desktop() == Default::default() && cfg!(target_os = "linux");
    if choice == Choice::None || nowhere {
        return Err("there is no clipboard here".to_string());
    }
    let own = std::env::current_exe().map_err(|error| format!("relay cannot find itself: {error}"))?;
    let said = relaycode_exec::leave(&own, HOLD, text.as_bytes(), PATIENCE);
    match said.as_deref().map(str::trim) {
        Ok(HELD) => Ok(()),
        Ok("") => Err("the clipboard took nothing".to_string()),
        Ok(why) => Err(why.to_string()),
        Err(error) => Err(error.to_string()),
    }
}
