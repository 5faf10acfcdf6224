//! `relay init`: a project gets its configuration, its state directory and its prompt.

use relaycode_change::limits::Limits;
use relaycode_door::setup;
use relaycode_ledger::{About, TxId};
use relaycode_project::config::{self, LogLevel, check_project_id};
use relaycode_project::identity;
use relaycode_tui as view;
use relaycode_tui::clock;
use serde_json::json;

use crate::context::{Act, Context};
use crate::failure::{Exit, Failure};
use crate::project::{self, Project};

/// Set a project up, and print the prompt for its model
///
/// Makes relaycode.config.json, the state directory .relaycode and a line in .gitignore, as far as they
/// are missing, and prints the instructions for your model on stdout. The project's name comes from
/// package.json, Cargo.toml, pyproject.toml or go.mod, else from the directory. Run again, it changes
/// nothing.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// The project's name, instead of the one that is found
    #[arg(long, value_name = "NAME", value_parser = project_id)]
    id: Option<String>,
}

fn project_id(text: &str) -> Result<String, String> {
    check_project_id(text).map(|()| text.to_string())
}

impl Act for Args {
    fn name(&self) -> &'static str {
        "init"
    }

    fn writes(&self) -> bool {
        true
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let project = Project::open(context)?;
        project.recover(context)?;
        let loaded = config::load(&project.root, context.home.path.as_deref())?;
        let suggested = identity::suggest(&project.root);
        let configured = loaded.config.project_id.clone();
        if let (Some(wanted), Some(has)) = (&self.id, &configured)
            && wanted != has
        {
            return Err(Failure::usage(format!("this project is called {has} already"))
                .hint("change `projectId` in its configuration"));
        }
        let id = configured.or_else(|| self.id.clone()).unwrap_or(suggested.id);
        let tree = project.ledger.tree(u64::try_from(Limits::default().file_bytes).unwrap_or(u64::MAX));
        let changes = setup::changes(&tree, &id, loaded.file.is_some()).map_err(Failure::unexpected)?;
        let made: Vec<String> = changes.iter().map(|change| change.path.to_string()).collect();
        project.ledger.make_state()?;
        let mut transaction = None;
        if !changes.is_empty() {
            let head = project.head();
            let about = About {
                branch: head.branch,
                head: head.commit,
                git_commit_msg: Some("relay: set the project up".to_string()),
                ..About::new(TxId::random(), &id, &clock::now(), "init")
            };
            let committed = project.carry_out(&changes, about, "user")?;
            if let Some(said) = &committed.doubt {
                return Err(project::doubt(&committed.record.uuid.short(), said));
            }
            transaction = Some(committed.record.uuid.to_string());
        }
        let door = project.door(context)?;
        let prompt = super::prompt::instructions(&door, &[])?.text;
        if context.json() {
            context.object(&json!({
                "ok": true, "code": Exit::Done as u8, "command": "init", "project": door.root.to_string_lossy(),
                "projectId": id, "source": suggested.source, "made": made, "id": transaction, "prompt": prompt,
            }));
            return Ok(Exit::Done);
        }
        let look = context.console.err_look();
        let linter = door.config().patch.linter.clone();
        let text = view::setup::text(&id, &made, &linter, &look);
        context.beside(LogLevel::Info, &text);
        let prompt = context.console.out_look().block(&prompt).into_owned();
        context.console.out(&prompt);
        Ok(Exit::Done)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_name_on_the_command_line_is_checked() {
        assert!(super::project_id("my-app").is_ok());
        assert!(super::project_id("").is_err());
        assert!(super::project_id("a\nb").is_err());
    }
}
