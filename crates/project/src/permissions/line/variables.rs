//! Variables that a line sets, and expansions that compute with them or can run something.

use super::reader::LineReader;
use super::words::VariableValue;
use super::{CommandArgument, environment};
use crate::command_line::{CommandList, CommandWord, CompoundKind, ShellCommand, WordPart};

impl LineReader<'_> {
    /// The value of a variable. It is believed only if nothing else in the line sets the variable.
    pub(super) fn parameter(&self, name: &str) -> Option<VariableValue> {
        match name {
            "?" | "#" | "$" | "!" => None,
            "PWD" => match (self.directories.as_slice(), self.setters.contains_key(name)) {
                ([Some(only)], false) => Some(VariableValue::Texts(vec![only.to_str()?.to_string()])),
                _ => None,
            },
            "HOME" if !self.setters.contains_key(name) => {
                Some(VariableValue::Texts(vec![self.place.home.as_ref()?.to_str()?.to_string()]))
            }
            _ => self.variables.get(name).cloned().flatten(),
        }
    }

    pub(super) fn set_variable(&mut self, name: &str, value: CommandArgument, counts: bool) {
        let sure = counts && self.setters.get(name) == Some(&1) && !self.setters.contains_key("*");
        let value = match value {
            CommandArgument::Exact(text) if sure => Some(VariableValue::Texts(vec![text])),
            CommandArgument::BeginsWith(prefix) if sure && !prefix.is_empty() => {
                Some(VariableValue::Prefix(prefix))
            }
            _ => None,
        };
        self.variables.insert(name.to_string(), value);
    }

    pub(super) fn set_loop_variable(&mut self, name: &str, words: &[CommandArgument]) {
        environment::check_assignment(self, name, &CommandArgument::Any, false);
        let sure = self.setters.get(name) == Some(&1) && !self.setters.contains_key("*");
        let exact = |word: &CommandArgument| match word {
            CommandArgument::Exact(text) => Some(text.clone()),
            _ => None,
        };
        let value = match words.iter().map(exact).collect::<Option<Vec<String>>>() {
            Some(texts) if sure && !texts.is_empty() => Some(VariableValue::Texts(texts)),
            _ => match words {
                [CommandArgument::FileNames(pattern)] if sure => {
                    let prefix = pattern.split(['*', '?', '[']).next().unwrap_or_default();
                    (!prefix.is_empty()).then(|| VariableValue::Prefix(prefix.to_string()))
                }
                _ => None,
            },
        };
        self.variables.insert(name.to_string(), value);
    }

    /// Something may have set any variable.
    pub(super) fn forget_variables(&mut self) {
        self.variables.clear();
        *self.setters.entry("*".to_string()).or_default() += 1;
    }

    pub(super) fn count_setters(&mut self, list: &CommandList) {
        for entry in &list.entries {
            match &entry.command {
                ShellCommand::Simple(simple) => {
                    for (name, _) in &simple.assignments {
                        *self.setters.entry(name.clone()).or_default() += 1;
                    }
                    let first = simple.words.first().and_then(CommandWord::literal);
                    let sets = |name: &str| !environment::KEEPS_VARIABLES.contains(&name);
                    if first.as_deref().is_none_or(|name| environment::is_setting_builtin(name) && sets(name))
                        && !simple.words.is_empty()
                    {
                        *self.setters.entry("*".to_string()).or_default() += 1;
                    }
                }
                ShellCommand::Compound(compound) => {
                    if let CompoundKind::For { variable } = &compound.kind {
                        *self.setters.entry(variable.clone()).or_default() += 1;
                    }
                    if matches!(compound.kind, CompoundKind::Arithmetic | CompoundKind::Function { .. }) {
                        *self.setters.entry("*".to_string()).or_default() += 1;
                    }
                    compound.bodies.iter().for_each(|body| self.count_setters(body));
                }
            }
        }
    }

    // Expansions that can run something.

    pub(super) fn check_expansion(&mut self, name: &str, rest: &CommandWord) {
        let mut text = String::new();
        for part in &rest.parts {
            match part {
                WordPart::Literal { text: more, .. } => text.push_str(more),
                WordPart::Parameter(_) => {}
                _ => return self.unclear("an expansion in an expansion"),
            }
        }
        let plain_name = !name.is_empty() || text.starts_with('#') && environment::is_name(&text[1..]);
        let harmless = ["-", ":-", "+", ":+", "?", ":?", "%", "#", "/", "^", ","]
            .iter()
            .any(|sign| text.starts_with(sign));
        let number = text.strip_prefix(':').is_some_and(|rest| {
            !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit() || c == ':' || c == ' ' || c == '-')
        });
        if !plain_name || !(harmless || number) {
            self.unclear(format!("`${{{name}{text}}}` may run something"));
        }
    }

    /// Plain numbers and variables that are numbers: a variable's text is itself computed, and can hold a command.
    pub(super) fn check_arithmetic(&mut self, word: &CommandWord) {
        let mut text = String::new();
        for part in &word.parts {
            match part {
                WordPart::Literal { text: more, .. } => text.push_str(more),
                WordPart::Parameter(name) if matches!(name.as_str(), "?" | "#" | "$") => text.push('1'),
                WordPart::Parameter(name) => {
                    text.push(' ');
                    text.push_str(name);
                    text.push(' ');
                }
                WordPart::Substitution(list) => {
                    self.visit_substitution(list);
                    text.push('$');
                }
                _ => text.push('$'),
            }
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || " \t+-*/%()<>=!&|^~?:,".contains(c);
        let names: Vec<&str> = text
            .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .filter(|name| name.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic()))
            .collect();
        let number = |name: &&str| match self.parameter(name) {
            Some(VariableValue::Texts(texts)) => texts.iter().all(|text| text.parse::<i64>().is_ok()),
            _ => false,
        };
        if !text.chars().all(plain) || !names.iter().all(number) {
            self.unclear("arithmetic with values that are not known may run something");
        }
        // It can set variables.
        if text.contains("++")
            || text.contains("--")
            || text.replace("==", "").replace("!=", "").contains('=')
        {
            self.forget_variables();
        }
    }

    /// `[[ … ]]`: comparisons of numbers compute their words.
    pub(super) fn check_test(&mut self, words: &[CommandArgument]) {
        self.reading.asks_for_writing |= words.iter().any(|word| word.exact() == Some("-w"));
        let computes = |word: &CommandArgument| match word {
            CommandArgument::Exact(text) => {
                matches!(text.as_str(), "-v" | "-R" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge")
            }
            _ => false,
        };
        let plain = |word: &CommandArgument| match word {
            CommandArgument::Exact(text) => !text.contains('['),
            CommandArgument::FileNames(text) => !text.contains('['),
            _ => false,
        };
        if words.iter().any(computes) && !words.iter().all(plain) {
            self.unclear("a comparison of numbers in `[[` may run something");
        }
    }
}
