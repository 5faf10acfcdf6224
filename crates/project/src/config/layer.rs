//! What one file sets: its keys in whatever form, each checked, by their present names.
//!
//! The nested form is the present one. The older flat form is read, too, also mixed with it, and explained
//! in a remark; a key that says two things in two forms is an error, so that nobody depends on which wins.

use super::error::shown;
use super::keys::{Choice, KEYS, Key, Kind, Rule, SECTIONS, Value};
use super::literal::{Entry, Literal, Node, Place};
use super::nearest::nearest;
use super::{ConfigError, ConfigFault, Remark};

/// Remarks on one file; what is beyond is only counted.
const REMARKS: usize = 20;

/// What one file sets.
#[derive(Debug, Default)]
pub(super) struct Layer {
    pub(super) settings: Vec<Setting>,
    pub(super) remarks: Vec<Remark>,
}

/// A key with its value and where it stands.
#[derive(Debug)]
pub(super) struct Setting {
    pub(super) key: &'static Key,
    pub(super) value: Value,
    pub(super) at: Place,
}

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    User,
    Project,
}

impl Layer {
    pub(super) fn setting(&self, name: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.key.name == name)
    }
}

/// Reads what `node` sets. `file` is its name for messages.
pub(super) fn read(file: &str, node: &Node, owner: Owner) -> Result<Layer, ConfigError> {
    let Literal::Table(entries) = &node.value else {
        let what = format!("the configuration is {}, not an object", kind_of(&node.value));
        return Err(ConfigError::at(ConfigFault::Value, file, node.at, what, "It begins with `{`"));
    };
    let mut reader = Reader { file, owner, layer: Layer::default(), unsaid: 0 };
    for entry in entries {
        reader.top(entry)?;
    }
    if reader.unsaid > 0 {
        let text = format!("{} more remarks on this file are not shown", reader.unsaid);
        reader.layer.remarks.push(Remark { file: file.to_string(), line: 0, text });
    }
    Ok(reader.layer)
}

struct Reader<'a> {
    file: &'a str,
    owner: Owner,
    layer: Layer,
    unsaid: usize,
}

impl Reader<'_> {
    /// An entry of the whole object: a section, a key without one, or one of the older form.
    fn top(&mut self, entry: &Entry) -> Result<(), ConfigError> {
        if SECTIONS.iter().any(|(section, _)| *section == entry.name) {
            return self.section(entry);
        }
        if let Some(key) = KEYS.iter().find(|key| key.name == entry.name && key.parts().0.is_none()) {
            return self.take(key, entry);
        }
        if let Some(key) = KEYS.iter().find(|key| key.older == Some(entry.name.as_str())) {
            self.take(key, entry)?;
            self.remark(entry.at, || format!("`{}` is the older name of `{}`", entry.name, key.name));
            return Ok(());
        }
        // For editors, which find the schema by it.
        if entry.name != "$schema" {
            self.unknown(&entry.name, entry.at);
        }
        Ok(())
    }

    fn section(&mut self, section: &Entry) -> Result<(), ConfigError> {
        let entries = match &section.node.value {
            Literal::Table(entries) => entries,
            // An empty section in YAML.
            Literal::Null if self.owner == Owner::User => return Ok(()),
            other => {
                let what = format!("`{}` is {}; it must be an object", section.name, kind_of(other));
                return Err(self.error(ConfigFault::Value, section.node.at, what, ""));
            }
        };
        for entry in entries {
            let full = |key: &&Key| key.parts() == (Some(section.name.as_str()), entry.name.as_str());
            match KEYS.iter().find(full) {
                Some(key) => self.take(key, entry)?,
                None => self.unknown(&format!("{}.{}", section.name, shown(&entry.name)), entry.at),
            }
        }
        Ok(())
    }

    fn take(&mut self, key: &'static Key, entry: &Entry) -> Result<(), ConfigError> {
        if self.owner == Owner::User && key.name == "projectId" {
            let what = "`projectId` names one project and cannot stand in your own file";
            let hint = "Take it out; each project has it in its relaycode.config.json";
            return Err(self.error(ConfigFault::ProjectId, entry.at, what, hint));
        }
        if self.owner == Owner::Project && key.own {
            self.remark(entry.at, || {
                format!("`{}` does nothing here: only your own config.yml says it", key.name)
            });
            return Ok(());
        }
        let value = self.value(key, &entry.node)?;
        let at = entry.at;
        match self.layer.setting(key.name) {
            None => self.layer.settings.push(Setting { key, value, at }),
            Some(earlier) if earlier.value == value => {}
            Some(earlier) => {
                let (one, other) = (earlier.at.line, at.line);
                let what = format!(
                    "`{}` is {} in line {one} and {} in line {other}",
                    key.name,
                    shown(&earlier.value.json().to_string()),
                    shown(&value.json().to_string())
                );
                let hint = "Keep one of them; the name with its section is the present form";
                return Err(self.error(ConfigFault::Conflict, at, what, hint));
            }
        }
        Ok(())
    }

    /// The value, if the key allows it.
    fn value(&mut self, key: &Key, node: &Node) -> Result<Value, ConfigError> {
        let value = match (key.kind, &node.value) {
            (Kind::Text(rule), Literal::Text(text)) => return self.text(key, rule, text, node.at),
            (Kind::Switch, Literal::Switch(on)) => Some(Value::Switch(*on)),
            (Kind::Number { least, most, .. }, Literal::Number(number)) => {
                whole(*number).filter(|number| (least..=most).contains(number)).map(Value::Number)
            }
            (Kind::Number { or_none: true, .. }, Literal::Null) => Some(Value::None),
            (Kind::Choice(choices), Literal::Text(name)) => self.choice(key, choices, name, node.at),
            _ => None,
        };
        value.ok_or_else(|| {
            let what =
                format!("`{}` is {}; it may be {}", key.name, describe(&node.value), allowed(key.kind));
            let hint = match &node.value {
                Literal::Null => "Leave the key out to get its default",
                _ => "",
            };
            self.error(fault(key), node.at, what, hint)
        })
    }

    fn text(&self, key: &Key, rule: Rule, text: &str, at: Place) -> Result<Value, ConfigError> {
        if let Err(why) = rule.check(text) {
            let what = format!("`{}` {why}", key.name);
            let hint = format!("It may be {}", allowed(key.kind));
            return Err(self.error(fault(key), at, what, &hint));
        }
        // A command of blanks is none.
        let nothing = rule == Rule::Command && text.trim().is_empty();
        Ok(Value::Text(if nothing { String::new() } else { text.to_string() }))
    }

    fn choice(&mut self, key: &Key, choices: &[Choice], name: &str, at: Place) -> Option<Value> {
        let present = choices.iter().find(|choice| choice.name == name);
        let older = || choices.iter().find(|choice| choice.older.contains(&name));
        let choice = present.or_else(older)?;
        if choice.name != name {
            let says = choice.name;
            self.remark(at, || format!("`{name}` is the older word for `{says}` in `{}`", key.name));
        }
        Some(Value::Text(choice.name.to_string()))
    }

    fn unknown(&mut self, name: &str, at: Place) {
        self.remark(at, || {
            let meant = nearest(name).map(|key| format!("; did you mean `{key}`?")).unwrap_or_default();
            format!("`{}` is no key that relay knows, and does nothing{meant}", shown(name))
        });
    }

    fn remark(&mut self, at: Place, text: impl FnOnce() -> String) {
        if self.layer.remarks.len() >= REMARKS {
            self.unsaid += 1;
            return;
        }
        self.layer.remarks.push(Remark { file: self.file.to_string(), line: at.line, text: text() });
    }

    fn error(&self, fault: ConfigFault, at: Place, what: impl Into<String>, hint: &str) -> ConfigError {
        ConfigError::at(fault, self.file, at, what, hint)
    }
}

fn fault(key: &Key) -> ConfigFault {
    if matches!(key.kind, Kind::Text(Rule::ProjectId)) { ConfigFault::ProjectId } else { ConfigFault::Value }
}

/// The number, if it is a whole one that a key could allow.
fn whole(number: f64) -> Option<u64> {
    let fits = number.fract() == 0.0 && (0.0..=1e15).contains(&number);
    fits.then_some(number as u64)
}

fn kind_of(value: &Literal) -> &'static str {
    match value {
        Literal::Null => "null",
        Literal::Switch(_) => "true or false",
        Literal::Number(_) => "a number",
        Literal::Text(_) => "a text",
        Literal::List(_) => "a list",
        Literal::Table(_) => "an object",
    }
}

fn describe(value: &Literal) -> String {
    match value {
        Literal::Switch(on) => on.to_string(),
        Literal::Number(number) => shown(&number.to_string()),
        Literal::Text(text) => format!("\"{}\"", shown(text)),
        other => kind_of(other).to_string(),
    }
}

/// What a key may be, as the end of a sentence.
fn allowed(kind: Kind) -> String {
    match kind {
        Kind::Text(Rule::ProjectId) => {
            format!("a text of 1 to {} visible characters", super::PROJECT_ID_CHARACTERS)
        }
        Kind::Text(Rule::Command) => "a command line in quotes, or \"\" for none".to_string(),
        Kind::Text(Rule::BranchPrefix) => "the beginning of a branch's name, such as \"relay/\"".to_string(),
        Kind::Text(Rule::Friends) => "whom to ask, such as \"codex\" or \"codex,claude\"".to_string(),
        Kind::Switch => "true or false".to_string(),
        Kind::Number { least, most, or_none } => {
            let none = if or_none { ", or null" } else { "" };
            format!("a whole number from {least} to {most}{none}")
        }
        Kind::Choice(choices) => {
            let names: Vec<String> = choices.iter().map(|choice| format!("\"{}\"", choice.name)).collect();
            match names.split_last() {
                Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
                _ => names.concat(),
            }
        }
    }
}
