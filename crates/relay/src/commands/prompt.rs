//! `relay prompt`: the instructions for a model, and files to go with them.

use relaycode_change::proposal::path::RelPath;
use relaycode_door::{Door, InstructionsError, ModelInstructions};
use serde_json::json;

use crate::terminal::copy_out::CopyTarget;
use crate::{CommandContext, CommandFailure, CommandResult, Exit, Project, copy_out, path_args};

/// Print the instructions for a model, and files to go with them
///
/// The text on stdout tells a model how to answer so that relay understands it, and names the project with the key of
/// this checkout. With FILES (paths, directories or globs) their text follows, and relay remembers what it handed out:
/// an answer that comes back when a file has moved on is merged with what changed meanwhile. With --copy the text goes
/// to the clipboard, or through the terminal (OSC 52) where there is none.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PromptArgs {
    /// Files to hand along: paths, directories or globs
    files: Vec<String>,

    /// Copy the text instead of printing it
    #[arg(long)]
    copy: bool,
}

impl PromptArgs {
    pub(crate) fn run(&self, ctx: &mut CommandContext<'_>) -> CommandResult {
        let project = Project::open(ctx)?;
        let directory = ctx.options.directory.clone();
        let paths = path_args::expand_paths(&project.root, &directory, &self.files)?;
        let door = project.into_door(ctx)?;
        let read = read_files(&door, &paths)?;
        let ModelInstructions { keyed_project_id: named, text: prompt } = instructions(&door, &read)?;
        let names: Vec<&str> = paths.iter().map(RelPath::as_str).collect();
        let copied = if self.copy { Some(copy_out::copy_text(&prompt)?) } else { None };
        if let (Some(copied), false) = (copied, ctx.is_json()) {
            ctx.print_success(&format!(
                "the prompt {}: give it to your model as its instructions",
                copied.clause()
            ));
            return Ok(Exit::Done);
        }
        let found = json!({
            "project": door.root.to_string_lossy(), "projectId": named, "files": names, "prompt": prompt,
            "copied": copied.map(CopyTarget::name),
        });
        Ok(ctx.print_either(Exit::Done, found, |look| look.block(&prompt).into_owned()))
    }
}

/// What a model is told, with these files.
pub(crate) fn instructions(door: &Door, files: &[(RelPath, String)]) -> CommandResult<ModelInstructions> {
    door.instructions(files).map_err(|error| match error {
        InstructionsError::TooMuch(_) => {
            CommandFailure::usage(error).hint("hand along fewer or smaller files")
        }
        InstructionsError::Key(_) => {
            CommandFailure::unexpected(error).hint("`relay doctor` checks the directory where relay keeps it")
        }
        InstructionsError::Remember(error) => error.into(),
    })
}

fn read_files(door: &Door, paths: &[RelPath]) -> CommandResult<Vec<(RelPath, String)>> {
    paths.iter().map(|path| Ok((path.clone(), path_args::read_text(door, path)?))).collect()
}
