//! `relay prompt`: the instructions for a model, and files to go with them.

use relaycode_change::path::RelPath;
use relaycode_change::prompt::{self, About, Shown, Strategy};
use relaycode_door::Door;
use relaycode_project::config;
use relaycode_tui::{clock, outcome};
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
        let named = named(&door)?;
        let shown: Vec<Shown<'_>> = read.iter().map(|(path, text)| Shown { path, text }).collect();
        let prompt = text(&door, &named, &shown)?;
        let remembered: Vec<(RelPath, Vec<u8>)> =
            read.iter().map(|(path, text)| (path.clone(), text.clone().into_bytes())).collect();
        if !remembered.is_empty() {
            door.ledger.remember_shown(&remembered, u64::try_from(clock::seconds()).unwrap_or_default())?;
        }
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

/// The project's name with this checkout's key, as an answer has to give it.
pub(crate) fn named(door: &Door) -> Result<String, Failure> {
    let id = door.project_id();
    // Without a directory of the user's there is no key, and every answer is asked about.
    if !door.has_home() {
        return Ok(id);
    }
    let key = door.checkout().need_key(&door.root).map_err(Failure::unexpected)?;
    Ok(format!("{id}.{}", key.as_str()))
}

/// The prompt's text.
pub(crate) fn text(door: &Door, named: &str, files: &[Shown<'_>]) -> Result<String, Failure> {
    let config = door.config();
    let about = About {
        named,
        strategy: match config.watcher.preferred_strategy {
            config::Strategy::Auto => Strategy::Auto,
            config::Strategy::Replace => Strategy::Replace,
            config::Strategy::NewUnified => Strategy::NewUnified,
            config::Strategy::MultiSearchReplace => Strategy::MultiSearchReplace,
        },
        min_files: config.patch.min_file_changes,
        max_files: config.patch.max_file_changes,
        files,
    };
    prompt::text(&about).map_err(|error| Failure::usage(error).hint("hand along fewer or smaller files"))
}

fn read(door: &Door, paths: &[RelPath]) -> Result<Vec<(RelPath, String)>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        let text = files::text(door, path)?;
        files.push((path.clone(), text));
    }
    Ok(files)
}
