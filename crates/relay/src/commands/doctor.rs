//! `relay doctor`: what this machine and this project give relay to work with, and what is missing.

use serde_json::json;

use crate::doctor::{self, CheckStatus};
use crate::{CommandContext, CommandResult, Exit, Project, RunCommand, render};

/// Say what works here, what does not, and what to do about it
///
/// Looks at relay's own directory, the project, its configuration and trust, git, the file system, the
/// terminal, the clipboard, notifications, and whether processes can be watched over. Says whether there is
/// text on the clipboard, never what it is. Changes nothing. Ends with code 6 if something needs you.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct DoctorArgs {}

impl RunCommand for DoctorArgs {
    fn name(&self) -> &'static str {
        "doctor"
    }

    fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let project = Project::open(ctx)?;
        let found = doctor::run_checks(&project, ctx);
        let bad = found.iter().any(|one| one.state == CheckStatus::Bad);
        let exit = if bad { Exit::NeedsYou } else { Exit::Done };
        ctx.print_json(&json!({
            "ok": !bad, "code": exit as u8, "command": "doctor", "project": project.root.to_string_lossy(),
            "checks": found,
        }));
        if !ctx.is_json() {
            let look = ctx.console.out_style();
            let wanted = found.iter().filter(|one| !ctx.is_quiet() || one.state != CheckStatus::Good);
            let text: String = wanted.map(|one| render::doctor::finding_line(one, &look)).collect();
            ctx.console.print(&text);
        }
        Ok(exit)
    }
}
