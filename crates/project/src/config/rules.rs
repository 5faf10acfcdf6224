//! What the texts in a configuration must be like.

use relaycode_text::escape::is_unsafe;
use relaycode_text::hidden::{describe_char, suspicious_chars};

use super::keys::ConfigTextRule;

/// Characters of a project's id.
pub const PROJECT_ID_CHARACTERS: usize = 100;
/// Bytes of a command line.
const COMMAND_BYTES: usize = 8 << 10;
/// Bytes of the beginning of a branch's name.
const PREFIX_BYTES: usize = 100;
/// Bytes of the names of friends.
const FRIENDS_BYTES: usize = 1_000;
/// Bytes of the name of a theme.
const THEME_BYTES: usize = 64;

/// Whether `id` can be the name of a project.
///
/// # Errors
/// What it has to be like, as the end of a sentence that begins with its name.
pub fn check_project_id(id: &str) -> Result<(), String> {
    if id.is_empty() {
        return Err("is empty".to_string());
    }
    if id.chars().take(PROJECT_ID_CHARACTERS + 1).count() > PROJECT_ID_CHARACTERS {
        return Err(format!("has more than {PROJECT_ID_CHARACTERS} characters"));
    }
    if id.trim() != id {
        return Err("begins or ends with a blank".to_string());
    }
    match id.chars().find(|&c| is_unsafe(c)) {
        Some(c) => Err(format!("holds a character that cannot be seen ({})", describe_char(c))),
        None => Ok(()),
    }
}

impl ConfigTextRule {
    /// Whether `text` is like this.
    pub(super) fn check(self, text: &str) -> Result<(), String> {
        match self {
            ConfigTextRule::ProjectId => check_project_id(text),
            ConfigTextRule::Command => command(text),
            ConfigTextRule::BranchPrefix => prefix(text),
            ConfigTextRule::Friends => friends(text),
            ConfigTextRule::Theme => theme(text),
        }
    }
}

/// It is the name of a file, too.
fn theme(text: &str) -> Result<(), String> {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if text.is_empty() || text.len() > THEME_BYTES || !text.chars().all(is_fine) {
        return Err("must be letters, digits, `-` and `_`: the name of a theme".to_string());
    }
    Ok(())
}

/// A command is shown before it is trusted; what cannot be seen has no place in it.
fn command(text: &str) -> Result<(), String> {
    if text.len() > COMMAND_BYTES {
        return Err(format!("has more than {COMMAND_BYTES} bytes: put the command into a script"));
    }
    let stray = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    let found = text.chars().find(|&c| stray(c)).or_else(|| suspicious_chars(text).map(|(_, c)| c).next());
    match found {
        Some(c) => Err(format!("holds a character that cannot be seen ({})", describe_char(c))),
        None => Ok(()),
    }
}

/// Names with commas between them, as after `--to`.
fn friends(text: &str) -> Result<(), String> {
    if text.len() > FRIENDS_BYTES {
        return Err(format!("has more than {FRIENDS_BYTES} bytes"));
    }
    let bad = |name: &str| {
        name.is_empty() || name.starts_with('-') || name.chars().any(|c| is_unsafe(c) || c.is_whitespace())
    };
    if text.split(',').any(bad) {
        return Err("names nobody: write it as after `--to`, for example codex,claude".to_string());
    }
    Ok(())
}

/// The rules of git for the name of a branch, as far as its beginning can break them.
fn prefix(text: &str) -> Result<(), String> {
    let bad = |c: char| is_unsafe(c) || c.is_whitespace() || "~^:?*[\\".contains(c);
    if text.len() > PREFIX_BYTES {
        return Err(format!("has more than {PREFIX_BYTES} bytes"));
    }
    let starts = text.starts_with(['-', '/']) || text.split('/').any(|part| part.starts_with('.'));
    let holds = ["..", "//", "@{", ".lock/"].iter().any(|part| text.contains(part));
    if starts || holds || text.chars().any(bad) {
        return Err("cannot begin the name of a branch in git".to_string());
    }
    Ok(())
}
