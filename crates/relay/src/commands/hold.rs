//! `relay __hold`: keeps text that the user asked relay to copy on the clipboard, until somebody else copies. On X11 and
//! Wayland a clipboard holds nothing by itself. relay starts it; nobody else has a reason to.
//!
//! What comes on stdin is the text. The first process makes the second and ends; the second says on stdout that
//! it has the clipboard, or why not, closes it, and stays.

use std::io::{self, Read, Write};

use relaycode_watch::HOLD_MOST;

use crate::context::{Act, Context};
use crate::copying::{HELD, HOLD};
use crate::desktop;
use crate::failure::{Exit, Failure};

/// Hold a text on the clipboard
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Be the one that stays
    #[arg(long)]
    stay: bool,
}

impl Act for Args {
    fn name(&self) -> &'static str {
        HOLD
    }

    fn run(&self, _: &mut Context<'_>) -> Result<Exit, Failure> {
        let mut text = Vec::new();
        let most = u64::try_from(HOLD_MOST).unwrap_or(u64::MAX).saturating_add(1);
        io::stdin().lock().take(most).read_to_end(&mut text).map_err(Failure::unexpected)?;
        if !self.stay {
            let own = std::env::current_exe().map_err(Failure::unexpected)?;
            relaycode_exec::go_on(&own, &[HOLD, "--stay"], &text).map_err(Failure::unexpected)?;
            return Ok(Exit::Done);
        }
        let text = String::from_utf8_lossy(&text);
        let held = relaycode_watch::hold(&text, &desktop::desktop(), desktop::choice()?, || said(HELD));
        if let Err(error) = held {
            said(&error.to_string());
        }
        Ok(Exit::Done)
    }
}

/// Says it to whoever started this, and closes the way there.
fn said(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if let Ok(nowhere) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&nowhere);
        let _ = rustix::stdio::dup2_stdin(&nowhere);
    }
}
