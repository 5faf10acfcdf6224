//! `relay watch`: copy an answer, and it is in the project.

use relaycode_door::Consent;

use crate::answer::Given;
use crate::context::{Act, Context};
use crate::failure::{Exit, Failure};
use crate::watching::Session;

/// Watch the clipboard: copy an answer, and it is in the project
///
/// Every answer for this project that is copied, or pasted into this window, is planned, shown, judged and applied,
/// or you are asked; everything else on the clipboard is left alone and forgotten. Keys: p copies the prompt for your
/// model, u undoes the last change, c copies what the last one offers, d shows its diff, l the log, ? explains, q leaves.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Say yes to ordinary questions; not to answers without this checkout's key, not to what is off, and not to trust
    #[arg(short, long)]
    yes: bool,
}

impl Act for Args {
    fn name(&self) -> &'static str {
        "watch"
    }

    fn writes(&self) -> bool {
        true
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let consent = Consent { yes: self.yes, allow: Vec::new() };
        let given = Given::default();
        Session::begin(consent, &given, context)?.run()
    }
}
