//! `relay prompt`: the instructions for a model, and files to go with them.

use relaycode_change::path::RelPath;
use relaycode_door::{Door, Instructions, InstructionsError};
use relaycode_tui::outcome;
use serde_json::json;

use crate::context::{Act, Context};
use crate::copying::{self, Copied};
use crate::failure::{Exit, Failure};
use crate::files;
use crate::project::Project;

/// Print the instructions for a model, and files to go with them
///
/// The text on stdout tells a model how to answer so that relay understands it, and names the project with the key of
/// this checkout. With FILES (paths, directories or globs) their text follows, and relay remembers what it handed out:
/// an answer that comes back when a file has moved on is merged with what changed meanwhile. With --copy the text goes
/// to the clipboard, or through the terminal (OSC 52) where there is none.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Files to hand along: paths, directories or globs
    #[arg(value_name = "FILES")]
    files: Vec<String>,

    /// Copy the text instead of printing it
    #[arg(long)]
    copy: bool,
}

impl Act for Args {
    fn name(&self) -> &'static str {
        "prompt"
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let project = Project::open(context)?;
        let directory = context.options.directory.clone();
        let paths = files::find(&project.root, &directory, &self.files)?;
        let door = project.door(context)?;
        let read = read(&door, &paths)?;
        let Instructions { named, text: prompt } = instructions(&door, &read)?;
        let names: Vec<&str> = paths.iter().map(RelPath::as_str).collect();
        let copied = if self.copy { Some(copying::copy(&prompt)?) } else { None };
        if context.json() {
            context.object(&json!({
                "ok": true, "code": Exit::Done as u8, "command": "prompt", "project": door.root.to_string_lossy(),
                "projectId": named, "files": names, "prompt": prompt, "copied": copied.map(Copied::name),
            }));
            return Ok(Exit::Done);
        }
        if let Some(copied) = copied {
            let look = context.look();
            let text = format!("the prompt {}: give it to your model as its instructions", copied.said());
            context.say(&outcome::done(&look, &text));
            return Ok(Exit::Done);
        }
        let prompt = context.console.out_look().block(&prompt).into_owned();
        context.console.out(&prompt);
        Ok(Exit::Done)
    }
}

/// What a model is told, with these files.
pub(crate) fn instructions(door: &Door, files: &[(RelPath, String)]) -> Result<Instructions, Failure> {
    door.instructions(files).map_err(|error| match error {
        InstructionsError::TooMuch(_) => Failure::usage(error).hint("hand along fewer or smaller files"),
        InstructionsError::Key(_) => Failure::unexpected(error),
        InstructionsError::Remember(error) => error.into(),
    })
}

fn read(door: &Door, paths: &[RelPath]) -> Result<Vec<(RelPath, String)>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        let text = files::text(door, path)?;
        files.push((path.clone(), text));
    }
    Ok(files)
}
