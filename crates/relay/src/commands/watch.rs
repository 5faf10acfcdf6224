//! `relay watch`: copy an answer, and it is in the project.

use relaycode_door::Consent;

use crate::watch::WatchSession;
use crate::{CommandContext, CommandResult};

/// Watch the clipboard: copy an answer, and it is in the project
///
/// Every answer for this project that is copied, or pasted into this window, is planned, shown, judged and applied,
/// or you are asked. Everything else on the clipboard is left alone and forgotten, and what relay copies itself is
/// not looked at. Without a clipboard, as over SSH, paste answers into this window.
///
/// Keys: p copies the prompt for your model, u undoes the last change, U brings it back, c copies what the last card offers (a repair
/// prompt, the linter's errors), d shows the diff, s the same side by side, a takes the last answer up again, b takes
/// up what bulk mode collected, l shows the log, ? explains, q leaves. A question is answered by a letter and Enter.
///
/// RELAY_CLIPBOARD chooses the clipboard: auto, wayland, x11, poll or none. With --json each event is an object on a
/// line of its own. It ends with 0 after q, and with 130 after Ctrl-C.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct WatchArgs {
    /// Say yes to ordinary questions; not to answers without this checkout's key, not to what is off, and not to trust
    #[arg(short, long)]
    yes: bool,
}

impl WatchArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let consent = Consent { yes: self.yes, allow: Vec::new() };
        WatchSession::start(consent, ctx)?.run()
    }
}
