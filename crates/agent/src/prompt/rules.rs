//! Rule files: relay's own, and those that were written for other agents. A rule is known by its file name; the first one
//! of a name counts, the user's before the project's, relay's before others'.
//!
//! A rule with a `condition` watches answers while they come ([`crate::stream_rules`]) and is not in the prompt; of the others
//! those that apply always are there in full, and those with a description are listed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::front_matter;
use super::instructions::{InstructionOwner, InstructionPlaces, InstructionReader, clean};

/// Where rules are, in the order in which they count: in the project, and the ends of their names.
const PROJECT_FOLDERS: [(&str, &str); 4] = [
    (".relaycode/agent/rules", ".md"),
    (".cursor/rules", ".mdc"),
    (".windsurf/rules", ".md"),
    (".clinerules", ".md"),
];
/// In the user's own directory.
const USER_FOLDER: (&str, &str) = ("rules", ".md");
/// Files of one folder.
const MAX_RULES: usize = 100;
/// Characters of a description and of all globs of a rule.
const MAX_LINE_CHARS: usize = 300;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRule {
    pub name: String,
    pub owner: InstructionOwner,
    /// As it is named to the model.
    pub path: String,
    pub text: String,
    /// Which files it is about; advice, not enforced.
    pub globs: Vec<String>,
    /// All of it is in the prompt.
    pub always_apply: bool,
    /// Else this is, and the model reads the file when it needs it.
    pub description: Option<String>,
    /// What it looks for in answers; then it is not in the prompt.
    pub conditions: Vec<String>,
    /// In which parts of them.
    pub scope: Vec<String>,
    /// Where a match stops an answer, as the file says it.
    pub interrupt_mode: Option<String>,
}

pub(super) fn read_rules(places: &InstructionPlaces<'_>, reader: &mut InstructionReader) -> Vec<AgentRule> {
    let mut rules: Vec<AgentRule> = Vec::new();
    let mut add = |folder: &Path, end: &str, owner, shown: &str| {
        for rule in read_folder(folder, end, owner, shown, reader) {
            if !rules.iter().any(|known| known.name == rule.name) {
                rules.push(rule);
            }
        }
    };
    if let Some(home) = places.home {
        let (folder, end) = USER_FOLDER;
        let folder = home.join(folder);
        add(&folder, end, InstructionOwner::User, &folder.to_string_lossy());
    }
    for (folder, end) in PROJECT_FOLDERS {
        add(&places.root.join(folder), end, InstructionOwner::Project, folder);
    }
    rules
}

fn read_folder(
    folder: &Path,
    end: &str,
    owner: InstructionOwner,
    shown: &str,
    reader: &mut InstructionReader,
) -> Vec<AgentRule> {
    // A link may lead out of the project.
    if !fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_dir()) {
        return Vec::new();
    }
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(end)).take(MAX_RULES + 1).collect();
    names.sort();
    if names.len() > MAX_RULES {
        reader.remark(format!("of the rules in {shown} only {MAX_RULES} were read"));
        names.truncate(MAX_RULES);
    }
    let rules = names.into_iter().filter_map(|name| {
        let path = format!("{shown}/{name}");
        let text = reader.read(&folder.join(&name), &path)?;
        to_rule(clean(&name).trim_end_matches(end), owner, clean(&path), &text)
    });
    rules.collect()
}

/// `None` for a rule that nobody could reach.
fn to_rule(name: &str, owner: InstructionOwner, path: String, text: &str) -> Option<AgentRule> {
    let (keys, text) = front_matter::split(text);
    let line = |key: &str| -> Option<String> {
        let value = keys.get(key)?.join(", ").replace('\n', " ");
        Some(value.chars().take(MAX_LINE_CHARS).collect()).filter(|line: &String| !line.is_empty())
    };
    let conditions = keys.get("condition").cloned().unwrap_or_default();
    let always_apply = conditions.is_empty() && is_always(&keys);
    let description = line("description").filter(|_| conditions.is_empty());
    if conditions.is_empty() && !always_apply && description.is_none() {
        return None;
    }
    let globs = keys.get("globs").into_iter().flatten().flat_map(|globs| front_matter::split_list(globs));
    let scope = keys.get("scope").into_iter().flatten().flat_map(|scope| front_matter::split_list(scope));
    let (globs, scope) = (globs.collect(), scope.collect());
    let interrupt_mode = keys.get("interruptMode").and_then(|values| values.first()).cloned();
    Some(AgentRule {
        name: name.to_string(),
        owner,
        path,
        text: text.to_string(),
        globs,
        always_apply,
        description,
        conditions,
        scope,
        interrupt_mode,
    })
}

/// A file that says nothing about itself is meant for everything.
fn is_always(keys: &BTreeMap<String, Vec<String>>) -> bool {
    match keys.get("alwaysApply").and_then(|values| values.first()) {
        Some(value) => value == "true",
        None => keys.is_empty() || keys.get("trigger").is_some_and(|values| values == &["always_on"]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompt::instructions::ProjectInstructions;

    #[test]
    fn rules_are_always_there_or_listed_and_the_first_of_a_name_counts() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path();
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(".relaycode/agent/rules/style.md", "---\nalwaysApply: true\n---\nTabs, please.");
        write(".cursor/rules/style.mdc", "---\nalwaysApply: true\n---\nSpaces, please.");
        write(
            ".cursor/rules/tests.mdc",
            "---\ndescription: How tests are named\nglobs: *.rs, *.toml\n---\nBy what they guard.",
        );
        write(".windsurf/rules/nobody.md", "---\nglobs: *.c\n---\nUnreachable.");
        write(
            ".clinerules/stream.md",
            "---\ncondition: [\"TODO{1,2}\", 'FIX, ME']\nscope: text, tool:edit(*.{ts,js})\ninterruptMode: never\nalwaysApply: \
             true\n---\nNo TODO.",
        );
        write(".clinerules/plain.md", "Be kind.");
        let found = ProjectInstructions::read(&InstructionPlaces { home: None, root, cwd: root });
        let names: Vec<&str> = found.rules.iter().map(|rule| rule.name.as_str()).collect();
        assert_eq!(names, ["style", "tests", "plain", "stream"]);
        let stream = &found.rules[3];
        assert_eq!(stream.conditions, ["TODO{1,2}", "FIX, ME"]);
        assert_eq!(stream.scope, ["text", "tool:edit(*.{ts,js})"]);
        assert_eq!(stream.interrupt_mode, Some("never".to_string()));
        let mut prompt = String::new();
        found.write_to(&mut prompt, &["read"]);
        assert!(
            prompt.contains("Tabs") && !prompt.contains("Spaces") && prompt.contains("Be kind."),
            "{prompt}"
        );
        assert!(
            prompt.ends_with("- .cursor/rules/tests.mdc: How tests are named (*.rs, *.toml)\n"),
            "{prompt}"
        );
        assert!(!prompt.contains("By what they guard") && !prompt.contains("No TODO"));
    }
}
