//! `relay init`: a project gets its configuration, its state directory and its prompt.

use relaycode_change::proposal::limits::PlanLimits;
use relaycode_door::setup;
use relaycode_ledger::{TransactionHeader, TxId};
use relaycode_project::config::{self, check_project_id};
use relaycode_project::git::head;
use relaycode_project::identity;
use relaycode_tui::{clock, views};
use serde_json::json;

use crate::{CommandContext, CommandFailure, CommandResult, Exit, LogLevel, Project, project};

/// Set a project up, and print the prompt for its model
///
/// Makes relaycode.config.json, the state directory .relaycode and a line in .gitignore, as far as they
/// are missing, and prints the instructions for your model on stdout. The project's name comes from
/// package.json, Cargo.toml, pyproject.toml or go.mod, else from the directory. Run again, it changes
/// nothing.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct InitArgs {
    /// The project's name, instead of the one that is found
    #[arg(long, value_name = "NAME", value_parser = parse_project_id)]
    id: Option<String>,
}

fn parse_project_id(text: &str) -> Result<String, String> {
    check_project_id(text).map(|()| text.to_string())
}

impl InitArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let mut project = Project::open(ctx)?;
        project.recover(ctx)?;
        let loaded = project.config()?;
        let suggested = identity::suggest_project_id(&project.root);
        let configured = loaded.config.project_id.clone();
        if let (Some(wanted), Some(has)) = (&self.id, &configured)
            && wanted != has
        {
            return Err(CommandFailure::usage(format!("this project is called {has} already"))
                .hint("change `projectId` in its configuration"));
        }
        let id = configured.or_else(|| self.id.clone()).unwrap_or(suggested.id);
        let tree = project.ledger.tree(u64::try_from(PlanLimits::default().file_bytes).unwrap_or(u64::MAX));
        let changes =
            setup::setup_changes(&tree, &id, loaded.file.is_some()).map_err(CommandFailure::unexpected)?;
        let made: Vec<String> = changes.iter().map(|change| change.path.to_string()).collect();
        project.ledger.make_state()?;
        let mut transaction = None;
        if !changes.is_empty() {
            let head = head::read(&project.root);
            let about = TransactionHeader {
                branch: head.branch,
                head: head.commit,
                git_commit_msg: Some("relay: set the project up".to_string()),
                ..TransactionHeader::new(TxId::random(), &id, &clock::now_utc(), "init")
            };
            let committed = project::commit_changes(&project.ledger, &changes, about)?;
            if let Some(said) = &committed.durability_doubt {
                return Err(project::disk_doubt_failure(&committed.record.uuid.short(), said));
            }
            transaction = Some(committed.record.uuid.to_string());
            project.config = config::load(&project.root, ctx.home.path.as_deref());
        }
        if project.tracks_state() {
            let said = "git tracks .relaycode, which holds what is yours alone: whoever gets the repository gets it, too";
            ctx.eprint_remark(LogLevel::Warn, said);
            ctx.eprint_detail(LogLevel::Warn, project::UNTRACK_HINT);
        }
        let door = project.into_door(ctx)?;
        let prompt = super::prompt::instructions(&door, &[])?.text;
        if !ctx.is_json() {
            let text = views::setup::text(&id, &made, &door.config().patch.linter, &ctx.console.err_style());
            ctx.eprint_at(LogLevel::Info, &text);
        }
        let found = json!({
            "project": door.root.to_string_lossy(), "projectId": id, "source": suggested.source, "made": made,
            "id": transaction, "prompt": &prompt,
        });
        Ok(ctx.print_either(Exit::Done, found, |look| look.block(&prompt).into_owned()))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_name_on_the_command_line_is_checked() {
        assert!(super::parse_project_id("my-app").is_ok());
        assert!(super::parse_project_id("").is_err());
        assert!(super::parse_project_id("a\nb").is_err());
    }
}
