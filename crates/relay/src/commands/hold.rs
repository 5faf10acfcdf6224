//! `relay __hold`: keeps text that the user asked relay to copy on the clipboard, until somebody else copies. On X11 and
//! Wayland a clipboard holds nothing by itself. relay starts it; nobody else has a reason to.
//!
//! What comes on stdin is the text. The first process makes the second and ends; the second says on stdout that
//! it has the clipboard, or why not, closes it, and stays.

use std::io::{self, Read, Write};

use relaycode_watch::HOLD_MOST;

use crate::terminal::copy_out::{HOLD_ACK, HOLD_COMMAND};
use crate::{CommandContext, CommandFailure, CommandResult, Exit, desktop};

/// Hold a text on the clipboard
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct HoldArgs {
    /// Be the one that stays
    #[arg(long)]
    stay: bool,
}

impl HoldArgs {
    pub(crate) fn run(&self, _: &mut CommandContext<'_>) -> CommandResult {
        let mut text = Vec::new();
        let most = u64::try_from(HOLD_MOST).unwrap_or(u64::MAX).saturating_add(1);
        io::stdin().lock().take(most).read_to_end(&mut text).map_err(CommandFailure::unexpected)?;
        if !self.stay {
            let own = std::env::current_exe().map_err(CommandFailure::unexpected)?;
            relaycode_exec::respawn_detached(&own, &[HOLD_COMMAND, "--stay"], &text)
                .map_err(CommandFailure::unexpected)?;
            return Ok(Exit::Done);
        }
        let text = String::from_utf8_lossy(&text);
        let held =
            relaycode_watch::hold(&text, &desktop::desktop_from_env(), desktop::clipboard_choice()?, || {
                reply_and_detach(HOLD_ACK);
            });
        if let Err(error) = held {
            reply_and_detach(&error.to_string());
        }
        Ok(Exit::Done)
    }
}

/// Says it to whoever started this, and closes the way there.
fn reply_and_detach(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if let Ok(nowhere) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&nowhere);
        let _ = rustix::stdio::dup2_stdin(&nowhere);
    }
}
