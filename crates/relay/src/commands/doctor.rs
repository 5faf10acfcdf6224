//! `relay doctor`: what this machine and this project give relay to work with, and what is missing.

use serde_json::json;

use crate::context::{Act, Context};
use crate::doctor::{self, State};
use crate::failure::{Exit, Failure};
use crate::project::Project;
use crate::show;

/// Say what works here, what does not, and what to do about it
///
/// Looks at relay's own directory, the project, its configuration and trust, git, the file system, the
/// terminal, the clipboard, notifications, and whether processes can be watched over. Says whether there is
/// text on the clipboard, never what it is. Changes nothing. Ends with code 6 if something needs you.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {}

impl Act for Args {
    fn name(&self) -> &'static str {
        "doctor"
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let project = Project::open(context)?;
        let found = doctor::look(&project, context);
        let bad = found.iter().any(|one| one.state == State::Bad);
        let exit = if bad { Exit::NeedsYou } else { Exit::Done };
        context.object(&json!({
            "ok": !bad, "code": exit as u8, "command": "doctor", "project": project.root.to_string_lossy(),
            "checks": found,
        }));
        if !context.json() {
            let look = context.console.out_look();
            let wanted = found.iter().filter(|one| !context.quiet() || one.state != State::Good);
            let text: String = wanted.map(|one| show::doctor::line(one, &look)).collect();
            context.console.out(&text);
        }
        Ok(exit)
    }
}
