//! The system prompt: relay's own words from `prompts/`, where the work happens, what the user and the project want to be
//! kept to. Made once per process, so that every request of a run begins alike.
//!
//! What a project brings is hostile: bounded, cleaned of hidden characters, marked as the project's, and it permits nothing.

mod front_matter;
pub mod instructions;
pub mod rules;

use std::fmt::Write;
use std::path::Path;

use instructions::ProjectInstructions;
use relaycode_project::access::Access;

const SYSTEM: &str = include_str!("../../prompts/system.md");
const PROJECT_WORDS: &str = include_str!("../../prompts/instructions.md");

/// What the prompt says about where the work happens.
#[derive(Debug, Clone)]
pub struct PromptSurroundings<'a> {
    pub cwd: &'a Path,
    pub root: &'a Path,
    /// Without the time of day: the prompt stays the same all day.
    pub date: String,
    /// For example `Linux 6.8 x86_64`.
    pub system: String,
    pub access: Access,
    pub tools: &'a [&'a str],
    /// Files a bit of which every model guesses: git, languages.
    pub is_git: bool,
}

/// The whole prompt. `own` replaces relay's words, never the surroundings.
pub fn system_prompt(
    own: Option<&str>,
    surroundings: &PromptSurroundings<'_>,
    instructions: &ProjectInstructions,
) -> String {
    let mut prompt = own.unwrap_or(SYSTEM).trim_end().to_string();
    let _ = write!(
        prompt,
        "\n\n<environment>\nDirectory: {}\nProject: {}{}\nDate: {}\nSystem: {}\nAccess: {}\n</environment>\n",
        surroundings.cwd.display(),
        surroundings.root.display(),
        if surroundings.is_git { " (git)" } else { "" },
        surroundings.date,
        surroundings.system,
        access_words(surroundings.access),
    );
    if !instructions.is_empty() {
        let _ = write!(prompt, "\n{}\n", PROJECT_WORDS.trim_end());
        instructions.write_to(&mut prompt, surroundings.tools);
    }
    prompt
}

/// What this access means, for the model.
pub fn access_words(access: Access) -> &'static str {
    match access {
        Access::ReadOnly => "read-only. You can look, and change nothing",
        Access::Ask => "ask. A person is asked before every change and every command",
        Access::Workspace => "workspace. You can change the project; what is risky asks a person",
        Access::Full => "full",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_of_the_users_own_keeps_the_surroundings() {
        let surroundings = PromptSurroundings {
            cwd: Path::new("/p/src"),
            root: Path::new("/p"),
            date: "2026-03-01".into(),
            system: "Linux".into(),
            access: Access::Workspace,
            tools: &["read"],
            is_git: true,
        };
        let prompt = system_prompt(Some("Be brief."), &surroundings, &ProjectInstructions::default());
        let expected = "Be brief.\n\n<environment>\nDirectory: /p/src\nProject: /p (git)\nDate: 2026-03-01\nSystem: Linux\nAccess: \
             workspace. You can change the project; what is risky asks a person\n</environment>\n";
        assert_eq!(prompt, expected);
        assert!(system_prompt(None, &surroundings, &ProjectInstructions::default()).len() > 500);
    }
}
