//! What the variables of a command line can be, and with that what its words can be.

use std::collections::BTreeMap;
use std::path::Path;

use relaycode_project::command_line::{CommandWord, WordPart};

use super::path_pattern::ANYTHING;

/// Values of one variable or word that are told apart; with more, it may be anything.
const MAX_VALUES: usize = 16;

pub(super) struct CommandVariables {
    values: BTreeMap<String, Vec<String>>,
    root: String,
}

impl CommandVariables {
    pub(super) fn new(root: &Path) -> CommandVariables {
        CommandVariables { values: BTreeMap::new(), root: root.to_string_lossy().into_owned() }
    }

    pub(super) fn assign(&mut self, name: &str, word: &CommandWord) {
        for value in self.resolve(word) {
            self.assign_text(name, &value);
        }
    }

    pub(super) fn assign_text(&mut self, name: &str, value: &str) {
        let values = self.values.entry(name.to_string()).or_default();
        if values.len() >= MAX_VALUES {
            *values = vec![ANYTHING.to_string()];
        } else if !values.iter().any(|known| known == value || known == ANYTHING) {
            values.push(value.to_string());
        }
    }

    /// Everything that the word can be: never nothing. Unknown parts are [`ANYTHING`].
    pub(super) fn resolve(&self, word: &CommandWord) -> Vec<String> {
        let mut all = vec![String::new()];
        for (at, part) in word.parts.iter().enumerate() {
            let values = match part {
                WordPart::Literal { text, quoted } => vec![literal(text, *quoted, at == 0)],
                WordPart::Parameter(name) => self.parameter(name),
                WordPart::Expansion { .. } | WordPart::Substitution(_) => vec![ANYTHING.to_string()],
                WordPart::Arithmetic(_) => vec!["0".to_string()],
            };
            if all.len() * values.len() > MAX_VALUES {
                return vec![ANYTHING.to_string()];
            }
            all =
                all.iter().flat_map(|start| values.iter().map(move |end| format!("{start}{end}"))).collect();
        }
        all.iter().map(|word| self.below_root(word)).collect()
    }

    fn parameter(&self, name: &str) -> Vec<String> {
        match name {
            // Numbers.
            "?" | "#" | "$" | "!" | "-" => vec!["0".to_string()],
            // Where it runs. What a line goes to is known apart.
            "PWD" | "RELAY_GATE" => vec![".".to_string()],
            _ => self.values.get(name).cloned().unwrap_or_else(|| vec![ANYTHING.to_string()]),
        }
    }

    /// A path that goes through the root, as seen from there.
    fn below_root(&self, word: &str) -> String {
        match word.split_once(self.root.as_str()) {
            Some((before, rest)) if self.root.len() > 1 && (rest.is_empty() || rest.starts_with('/')) => {
                format!("{before}.{rest}")
            }
            _ => word.to_string(),
        }
    }
}

/// A text of a word as a pattern. Tools expand patterns too, so quotes make no difference for `*`.
fn literal(text: &str, quoted: bool, first: bool) -> String {
    if !quoted && first && text.starts_with('~') {
        let rest = text.find('/').map_or("", |at| &text[at..]);
        return format!("{ANYTHING}{}", literal(rest, quoted, false));
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let behind = &rest[c.len_utf8()..];
        let set = |end: char, most: usize| {
            let length = behind.find(end).filter(|length| (1..=most).contains(length))?;
            Some((length + 1, &behind[..length]))
        };
        let (taken, shown) = match c {
            '?' => (0, "*"),
            '[' => set(']', 64).map_or((0, "["), |(taken, _)| (taken, "*")),
            '{' if !quoted => {
                let list = set('}', 1_024).filter(|(_, inner)| inner.contains(',') || inner.contains(".."));
                list.map_or((0, "{"), |(taken, _)| (taken, ANYTHING))
            }
            _ => (0, ""),
        };
        if shown.is_empty() {
            out.push(c);
        } else {
            out.push_str(shown);
        }
        rest = &behind[taken..];
    }
    out
}
