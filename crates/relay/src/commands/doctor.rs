//! `relay doctor`: what this machine and this project give relay to work with, and what is missing.

use serde_json::json;

use crate::doctor::{self, CheckStatus};
use crate::{CommandContext, CommandResult, Exit, Project, render};

/// Say what works here, what does not, and what to do about it
///
/// Looks at relay's own directory, the project, its configuration and trust, git, the file system, the
/// terminal, the clipboard, notifications, and whether processes can be watched over. Says whether there is
/// text on the clipboard, never what it is. Changes nothing. Ends with code 6 if something needs you.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct DoctorArgs {}

impl DoctorArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let (project, why_not) = Project::look(ctx)?;
        let found = doctor::run_checks(&project, why_not.as_ref(), ctx);
        let bad = found.iter().any(|one| one.state == CheckStatus::Bad);
        let exit = if bad { Exit::NeedsYou } else { Exit::Done };
        let quiet = ctx.is_quiet();
        let report = json!({"project": project.root.to_string_lossy(), "checks": found});
        Ok(ctx.print_either(exit, report, |look| {
            let wanted = found.iter().filter(|one| !quiet || one.state != CheckStatus::Good);
            wanted.map(|one| render::doctor::finding_line(one, look)).collect()
        }))
    }
}
