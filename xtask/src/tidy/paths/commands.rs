//! Commands that a page names: `relay …` against the generated reference, `cargo xtask …` against xtask itself.

use std::collections::BTreeMap;

use crate::{OWN, programs, test};

/// Options before the command that take a word.
const WITH_VALUE: &[&str] = &["-C", "--directory", "--color"];

/// The help of every command of relay, by its words: `git commit`; relay's own is at the empty one.
pub(super) struct Reference(BTreeMap<String, String>);

impl Reference {
    /// Reads the page that is written from the code.
    pub(super) fn read(page: &str) -> Reference {
        let sections = page.split("\n## relay").skip(1).filter_map(|section| section.split_once('\n'));
        Reference(sections.map(|(words, help)| (words.trim().to_owned(), help.to_owned())).collect())
    }

    /// What is wrong with a piece of code that may be a command.
    pub(super) fn problem(&self, text: &str) -> Option<String> {
        let typed = text.split("  #").next().unwrap_or(text);
        typed.split(['|', ';', '&', '(']).find_map(|command| {
            let words: Vec<&str> = command.split_whitespace().collect();
            match words[..] {
                ["cargo", "xtask", ref rest @ ..] => xtask_problem(rest),
                ["relay", ref rest @ ..] => self.relay_problem(rest),
                _ => None,
            }
        })
    }

    fn relay_problem(&self, words: &[&str]) -> Option<String> {
        let mut rest = words;
        while let [option, after @ ..] = rest
            && option.starts_with('-')
        {
            rest = if WITH_VALUE.contains(option) { after.get(1..).unwrap_or_default() } else { after };
        }
        let [command, after @ ..] = rest else { return self.option_problem("", words) };
        if !is_name(command) {
            return None;
        }
        if !self.0.contains_key(*command) {
            return Some(format!("there is no command `relay {command}`"));
        }
        let inner = after.first().filter(|word| is_name(word));
        let has_inner = self.0.keys().any(|known| known.starts_with(&format!("{command} ")));
        let name = match inner {
            Some(inner) if has_inner => format!("{command} {inner}"),
            _ => (*command).to_owned(),
        };
        if !self.0.contains_key(&name) {
            return Some(format!("there is no command `relay {name}`"));
        }
        self.option_problem(&name, words)
    }

    fn option_problem(&self, command: &str, words: &[&str]) -> Option<String> {
        let known = |option: &str| {
            let listed = |help: &str| {
                help.split(|c: char| !c.is_alphanumeric() && c != '-').any(|word| word == option)
            };
            [command, ""].iter().filter_map(|name| self.0.get(*name)).any(|help| listed(help))
        };
        let options = words.iter().take_while(|word| **word != "--").filter(|word| word.starts_with("--"));
        let mut names =
            options.map(|word| word.split(|c: char| !c.is_alphanumeric() && c != '-').next().unwrap_or(word));
        let unknown = names.find(|option| option.len() > 2 && !known(option))?;
        Some(format!("`relay {command}` has no option `{unknown}`"))
    }
}

/// Whether it is the name of a command and no argument or placeholder.
fn is_name(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !word.starts_with('-')
}

fn xtask_problem(words: &[&str]) -> Option<String> {
    let [command, rest @ ..] = words else { return None };
    let own = OWN.iter().filter_map(|(words, _)| words.split(' ').next());
    if is_name(command)
        && !own.chain(programs::ALL.iter().map(|program| program.command)).any(|known| known == *command)
    {
        return Some(format!("there is no command `cargo xtask {command}`"));
    }
    match (*command, rest) {
        ("test", ["--only", step, ..]) if is_name(step) && !test::is_step(step) => {
            Some(format!("`cargo xtask test` has no step `{step}`"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Commands\n\n## relay\n\n      --json\n  -C, --directory <DIR>\n\n## relay apply\n\n      \
                        --allow <NAMES>\n\n## relay git\n\n## relay git commit\n\n  -m, --message <TEXT>\n";

    fn problem(text: &str) -> String {
        Reference::read(PAGE).problem(text).unwrap_or_default()
    }

    #[test]
    fn commands_and_options_that_exist_pass() {
        for text in [
            "relay",
            "relay apply FILE --allow near --json",
            "relay -C apps apply answer.md",
            "git diff | relay apply -  # from a pipe",
            "relay git commit --message=x",
            "relay COMMAND --help-me",
            "relay 0.1.0 · app",
            "relay apply -- --strange",
            "cargo xtask test --only lint",
            "cargo xtask torture --only l2",
            "cargo test",
        ] {
            assert_eq!(problem(text), "", "{text}");
        }
    }

    #[test]
    fn what_does_not_exist_is_named() {
        assert_eq!(problem("relay undo"), "there is no command `relay undo`");
        assert_eq!(problem("relay git push"), "there is no command `relay git push`");
        assert_eq!(problem("relay apply --force"), "`relay apply` has no option `--force`");
        assert_eq!(problem("relay --force"), "`relay ` has no option `--force`");
        assert_eq!(problem("cargo xtask film"), "there is no command `cargo xtask film`");
        assert_eq!(problem("cargo xtask test --only films"), "`cargo xtask test` has no step `films`");
    }
}
