//! `/init`, and the user's own commands: prompts that have a name.
//!
//! A user's command is a Markdown file `commands/NAME.md` in their own directory of relay; `$ARGUMENTS` in it stands for what is
//! typed behind the name. A project's commands are words of the project: they are said only if the user types their name.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use relaycode_agent::UserPrompt;

use super::{SlashCall, SlashCommand};
use crate::agent::conversation::{Conversation, ConversationStep};
use crate::{CommandContext, CommandFailure, CommandResult};

const INIT_PROMPT: &str = include_str!("init.md");
/// Where commands lie in the user's own directory, and in a project.
const USER_DIRECTORY: &str = "commands";
const PROJECT_DIRECTORY: &str = ".relaycode/agent/commands";
/// Bytes of one command.
const MAX_BYTES: u64 = 64 << 10;
/// Commands that are listed.
const MAX_COMMANDS: usize = 200;
const PLACEHOLDER: &str = "$ARGUMENTS";

pub(super) struct InitCommand;

impl SlashCommand for InitCommand {
    fn name(&self) -> &'static str {
        "init"
    }

    fn help(&self) -> &'static str {
        "let the agent write AGENTS.md: what agents have to know about this project"
    }

    fn run(
        &self,
        call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        let words = format!("{}\n{}", INIT_PROMPT.trim_end(), call.rest);
        conversation.prompt(&UserPrompt::text(words.trim_end()), ctx)?;
        Ok(ConversationStep::GoOn)
    }
}

/// A command that is a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PromptFile {
    pub(crate) name: String,
    path: PathBuf,
    pub(crate) is_users: bool,
}

/// The user's own commands and those of the project, by name; the user's count first.
pub(crate) fn find_prompt_files(home: Option<&Path>, root: &Path) -> Vec<PromptFile> {
    let places =
        [home.map(|home| (home.join(USER_DIRECTORY), true)), Some((root.join(PROJECT_DIRECTORY), false))];
    let mut found: Vec<PromptFile> = Vec::new();
    for (directory, is_users) in places.into_iter().flatten() {
        // A link could lead anywhere.
        let is_real = |path: &Path| path.symlink_metadata().is_ok_and(|data| !data.is_symlink());
        let Some(entries) = is_real(&directory).then(|| directory.read_dir().ok()).flatten() else {
            continue;
        };
        for entry in entries.flatten().take(MAX_COMMANDS) {
            let path = entry.path();
            let name = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".md"));
            let Some(name) = name.filter(|name| is_name(name)) else { continue };
            if is_real(&path) && !found.iter().any(|known| known.name == name) {
                found.push(PromptFile { name: name.to_string(), path: path.clone(), is_users });
            }
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

impl PromptFile {
    /// Says it to the model.
    pub(super) fn run(
        &self,
        call: &SlashCall<'_>,
        conversation: &mut Conversation<'_>,
        ctx: &mut CommandContext<'_>,
    ) -> CommandResult<ConversationStep> {
        let words = fill_in(&self.read()?, call.rest);
        if words.trim().is_empty() {
            return Err(CommandFailure::usage(format!("{} is empty", self.path.display())));
        }
        conversation.prompt(&UserPrompt::text(words), ctx)?;
        Ok(ConversationStep::GoOn)
    }

    fn read(&self) -> CommandResult<String> {
        let unreadable = |why: String| {
            CommandFailure::usage(format!("{} cannot be read: {why}", self.path.display())).unchanged()
        };
        let metadata = self.path.symlink_metadata().map_err(|error| unreadable(error.to_string()))?;
        if !metadata.is_file() {
            return Err(unreadable("it is not a file".to_string()));
        }
        if metadata.len() > MAX_BYTES {
            return Err(unreadable(format!("it has more than {} kB", MAX_BYTES >> 10)));
        }
        let mut text = String::new();
        let read = File::open(&self.path).and_then(|file| file.take(MAX_BYTES).read_to_string(&mut text));
        read.map_err(|error| unreadable(error.to_string()))?;
        Ok(text)
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_')
}

/// The prompt without its front matter, with the arguments in their place or at the end.
fn fill_in(text: &str, arguments: &str) -> String {
    let body = text
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n").map(|(_, body)| body))
        .unwrap_or(text)
        .trim();
    match (body.contains(PLACEHOLDER), arguments.is_empty()) {
        (true, _) => body.replace(PLACEHOLDER, arguments),
        (false, true) => body.to_string(),
        (false, false) => format!("{body}\n\n{arguments}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_stand_in_their_place_or_at_the_end() {
        assert_eq!(fill_in("Look at $ARGUMENTS.\n", "a.rs"), "Look at a.rs.");
        assert_eq!(fill_in("---\ndescription: x\n---\nReview.\n", ""), "Review.");
        assert_eq!(fill_in("Review.\n", "only a.rs"), "Review.\n\nonly a.rs");
    }

    #[test]
    fn the_users_commands_count_first_and_links_do_not() {
        let scratch = tempfile::tempdir().unwrap();
        let (home, root) = (scratch.path().join("home"), scratch.path().join("project"));
        let theirs = root.join(PROJECT_DIRECTORY);
        std::fs::create_dir_all(home.join(USER_DIRECTORY)).unwrap();
        std::fs::create_dir_all(&theirs).unwrap();
        for (directory, name) in [
            (home.join(USER_DIRECTORY), "fix.md"),
            (theirs.clone(), "fix.md"),
            (theirs.clone(), "ship.md"),
            (theirs.clone(), "a b.md"),
        ] {
            std::fs::write(directory.join(name), "words").unwrap();
        }
        std::os::unix::fs::symlink("/etc/passwd", theirs.join("secret.md")).unwrap();
        let found = find_prompt_files(Some(&home), &root);
        let listed: Vec<_> = found.iter().map(|file| (file.name.as_str(), file.is_users)).collect();
        assert_eq!(listed, [("fix", true), ("ship", false)]);
    }
}
