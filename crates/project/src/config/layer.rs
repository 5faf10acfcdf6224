//! What one file sets: its keys in whatever form, each checked, by their present names.
//!
//! The nested form is the present one. The older flat form is read, too, also mixed with it, and explained
//! in a remark; a key that says two things in two forms is an error, so that nobody depends on which wins.

use super::keys::{
    ConfigChoice, ConfigKey, ConfigTextRule, ConfigValue, ConfigValueKind, KEYS, SECTIONS, find_key,
};
use super::literal::{ConfigPosition, LiteralEntry, LiteralNode, LiteralValue};
use super::{AgentCommandRule, ConfigError, ConfigErrorKind, ConfigRemark, PROJECT_ID_CHARACTERS};
use super::{error::excerpt, key_suggestion::nearest_key};
use crate::permissions::{PermissionEffect, PermissionRule};

/// Remarks on one file; what is beyond is only counted.
const REMARKS: usize = 20;
/// Permission rules of one effect in one file.
const CONFIG_RULES: usize = 1_000;
/// Rules for commands in one file.
const COMMAND_RULES: usize = 100;

/// What one file sets.
#[derive(Debug, Default)]
pub(super) struct ConfigLayer {
    pub(super) settings: Vec<ConfigSetting>,
    pub(super) remarks: Vec<ConfigRemark>,
    /// Some of it is said by older names.
    pub(super) has_older_names: bool,
}

/// A key with its value and where it stands.
#[derive(Debug)]
pub(super) struct ConfigSetting {
    pub(super) key: &'static ConfigKey,
    pub(super) value: ConfigValue,
    pub(super) at: ConfigPosition,
}

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LayerOwner {
    User,
    Project,
}

impl ConfigLayer {
    pub(super) fn setting(&self, name: &str) -> Option<&ConfigSetting> {
        self.settings.iter().find(|setting| setting.key.name == name)
    }
}

/// Reads what `node` sets, as far as that is right, and lists what is not. `file` is its name for messages.
pub(super) fn read(file: &str, node: &LiteralNode, owner: LayerOwner) -> (ConfigLayer, Vec<ConfigError>) {
    let LiteralValue::Table(entries) = &node.value else {
        let what = format!("the configuration is {}, not an object", kind_of(&node.value));
        let hint = "It must begin with `{`";
        let error = ConfigError::at_position(ConfigErrorKind::Value, file, node.at, what, hint);
        return (ConfigLayer::default(), vec![error]);
    };
    let (layer, errors) = (ConfigLayer::default(), Vec::new());
    let mut reader = LayerReader { file, owner, layer, errors, omitted_remarks: 0 };
    for entry in entries {
        reader.top_entry(entry);
    }
    if reader.omitted_remarks > 0 {
        let text = format!("{} more remarks on this file are not shown", reader.omitted_remarks);
        reader.layer.remarks.push(ConfigRemark { file: file.to_string(), line: 0, text });
    }
    (reader.layer, reader.errors)
}

/// A value that the user typed for one key, as it would count in their own file.
pub(super) fn read_typed_value(key: &'static ConfigKey, text: &str) -> Result<ConfigValue, ConfigError> {
    let file = super::USER_FILE;
    let bare = text.trim();
    let is_bare = matches!(key.kind, ConfigValueKind::Text(_) | ConfigValueKind::Choice(_));
    let node = if is_bare && !bare.starts_with(['"', '\'']) {
        LiteralNode { at: ConfigPosition::default(), value: LiteralValue::Text(bare.to_string()) }
    } else {
        super::literal::parse_json(bare).map_err(|_| {
            let what = format!("`{}` must be {}", key.name, allowed_values(key.kind));
            ConfigError::in_file(ConfigErrorKind::Syntax, file, what, "").about(key)
        })?
    };
    let owner = LayerOwner::User;
    let (layer, errors) = (ConfigLayer::default(), Vec::new());
    let mut reader = LayerReader { file, owner, layer, errors, omitted_remarks: 0 };
    let at = ConfigPosition::default();
    let entry = LiteralEntry { name: key.name.to_string(), at, node };
    reader.try_set_key(key, &entry).map_err(|error| error.about(key))?;
    Ok(reader.layer.settings.pop().map_or(ConfigValue::None, |setting| setting.value))
}

struct LayerReader<'a> {
    file: &'a str,
    owner: LayerOwner,
    layer: ConfigLayer,
    /// What is wrong, in the order of the file.
    errors: Vec<ConfigError>,
    omitted_remarks: usize,
}

impl LayerReader<'_> {
    /// An entry of the whole object: a section, a key without one, or one of the older form.
    fn top_entry(&mut self, entry: &LiteralEntry) {
        if SECTIONS.iter().any(|(section, _)| *section == entry.name) {
            return self.section(entry);
        }
        if let Some(key) = find_key(&entry.name).filter(|key| key.section_and_name().0.is_none()) {
            return self.set_key(key, entry);
        }
        if let Some(key) = KEYS.iter().find(|key| key.legacy_name == Some(entry.name.as_str())) {
            self.set_key(key, entry);
            self.layer.has_older_names = true;
            self.remark(entry.at, || format!("`{}` is the older name of `{}`", entry.name, key.name));
            return;
        }
        // For editors, which find the schema by it.
        if entry.name != "$schema" {
            self.unknown_key(&entry.name, entry.at);
        }
    }

    fn section(&mut self, section: &LiteralEntry) {
        let entries = match &section.node.value {
            LiteralValue::Table(entries) => entries,
            // An empty section in YAML.
            LiteralValue::Null if self.owner == LayerOwner::User => return,
            other => {
                let what = format!("`{}` is {}; it must be an object", section.name, kind_of(other));
                let error = self.error(ConfigErrorKind::Value, section.node.at, what, "");
                let key = SECTIONS.iter().map(|(name, _)| *name).find(|name| *name == section.name);
                self.errors.push(ConfigError { key, ..error });
                return;
            }
        };
        for entry in entries {
            let full = |key: &&ConfigKey| {
                key.section_and_name() == (Some(section.name.as_str()), entry.name.as_str())
            };
            match KEYS.iter().find(full) {
                Some(key) => self.set_key(key, entry),
                None => self.unknown_key(&format!("{}.{}", section.name, excerpt(&entry.name)), entry.at),
            }
        }
    }

    fn set_key(&mut self, key: &'static ConfigKey, entry: &LiteralEntry) {
        if let Err(error) = self.try_set_key(key, entry) {
            self.errors.push(error.about(key));
        }
    }

    fn try_set_key(&mut self, key: &'static ConfigKey, entry: &LiteralEntry) -> Result<(), ConfigError> {
        if self.owner == LayerOwner::User && key.name == "projectId" {
            let what = "`projectId` names one project and cannot be in your own file";
            let hint = "Take it out; each project has it in its relaycode.config.json";
            return Err(self.error(ConfigErrorKind::ProjectId, entry.at, what, hint));
        }
        if self.owner == LayerOwner::Project && key.user_only {
            self.remark(entry.at, || {
                format!("`{}` does nothing here: only your own config.yml can set it", key.name)
            });
            return Ok(());
        }
        let value = self.value(key, &entry.node)?;
        let at = entry.at;
        match self.layer.setting(key.name) {
            None => self.layer.settings.push(ConfigSetting { key, value, at }),
            Some(earlier) if earlier.value == value => {}
            Some(earlier) => {
                let (one, other) = (earlier.at.line, at.line);
                let shown = |value: &ConfigValue| excerpt(&value.to_json().to_string());
                let (first, second) = (shown(&earlier.value), shown(&value));
                let what = format!("`{}` is {first} in line {one} and {second} in line {other}", key.name);
                let hint = "Keep one of them; the name with its section is the present form";
                return Err(self.error(ConfigErrorKind::Conflict, at, what, hint));
            }
        }
        Ok(())
    }

    /// The value, if the key allows it.
    fn value(&mut self, key: &ConfigKey, node: &LiteralNode) -> Result<ConfigValue, ConfigError> {
        let value = match (key.kind, &node.value) {
            (ConfigValueKind::Text(rule), LiteralValue::Text(text)) => {
                return self.text(key, rule, text, node.at);
            }
            (ConfigValueKind::Rules(effect), LiteralValue::List(items)) => {
                return self.rules(key, effect, items);
            }
            (ConfigValueKind::CommandRules, LiteralValue::List(items)) => {
                return self.command_rules(key, items);
            }
            (ConfigValueKind::Switch, LiteralValue::Switch(on)) => Some(ConfigValue::Switch(*on)),
            (ConfigValueKind::Number { least, most, .. }, LiteralValue::Number(number)) => {
                let number = whole_number(*number).filter(|number| (least..=most).contains(number));
                number.map(ConfigValue::Number)
            }
            (ConfigValueKind::Number { or_none: true, .. }, LiteralValue::Null) => Some(ConfigValue::None),
            (ConfigValueKind::Choice(choices), LiteralValue::Text(name)) => {
                self.choice(key, choices, name, node.at)
            }
            _ => None,
        };
        value.ok_or_else(|| {
            let (is, may) = (describe(&node.value), allowed_values(key.kind));
            let what = format!("`{}` is {is}; it must be {may}", key.name);
            let null = matches!(node.value, LiteralValue::Null);
            let hint = if null { "Leave the key out to get its default" } else { "" };
            self.error(error_kind_for(key), node.at, what, hint)
        })
    }

    /// Permission rules, each as it is written.
    fn rules(
        &self,
        key: &ConfigKey,
        effect: PermissionEffect,
        items: &[LiteralNode],
    ) -> Result<ConfigValue, ConfigError> {
        let hint = || format!("It must be {}", allowed_values(key.kind));
        if items.len() > CONFIG_RULES {
            let what = format!("`{}` has more than {CONFIG_RULES} rules", key.name);
            let at = items.first().map(|item| item.at).unwrap_or_default();
            return Err(self.error(ConfigErrorKind::Value, at, what, &hint()));
        }
        let rule = |item: &LiteralNode| {
            let LiteralValue::Text(text) = &item.value else {
                let what = format!("`{}` holds {}; it must hold texts", key.name, kind_of(&item.value));
                return Err(self.error(ConfigErrorKind::Value, item.at, what, &hint()));
            };
            match PermissionRule::parse(effect, text) {
                Ok(_) => Ok(text.clone()),
                Err(error) => {
                    let what = format!("`{}`: {error}", key.name);
                    Err(self.error(ConfigErrorKind::Value, item.at, what, &hint()))
                }
            }
        };
        Ok(ConfigValue::List(items.iter().map(rule).collect::<Result<_, _>>()?))
    }

    /// Rules for commands. Whether an expression is one is for whoever matches it to say.
    fn command_rules(&self, key: &ConfigKey, items: &[LiteralNode]) -> Result<ConfigValue, ConfigError> {
        let refuse = |at: ConfigPosition, what: String| {
            let hint = format!("It must be {}", allowed_values(key.kind));
            self.error(ConfigErrorKind::Value, at, what, &hint)
        };
        if items.len() > COMMAND_RULES {
            let at = items.first().map(|item| item.at).unwrap_or_default();
            return Err(refuse(at, format!("`{}` has more than {COMMAND_RULES} rules", key.name)));
        }
        let rule = |item: &LiteralNode| {
            let LiteralValue::Table(entries) = &item.value else {
                let is = kind_of(&item.value);
                return Err(refuse(item.at, format!("`{}` holds {is}; it must hold objects", key.name)));
            };
            let known = ["pattern", "tool", "message"];
            if let Some(other) = entries.iter().find(|entry| !known.contains(&entry.name.as_str())) {
                let what = format!("`{}` holds an object with `{}`", key.name, excerpt(&other.name));
                return Err(refuse(other.at, what));
            }
            let text = |name: &str| match entries.iter().find(|entry| entry.name == name) {
                Some(LiteralEntry { node: LiteralNode { value: LiteralValue::Text(text), .. }, .. })
                    if !text.trim().is_empty() =>
                {
                    Ok(text.clone())
                }
                _ => Err(refuse(item.at, format!("`{}` holds an object without a text `{name}`", key.name))),
            };
            Ok(AgentCommandRule { pattern: text("pattern")?, tool: text("tool")?, message: text("message")? })
        };
        Ok(ConfigValue::CommandRules(items.iter().map(rule).collect::<Result<_, _>>()?))
    }

    fn text(
        &self,
        key: &ConfigKey,
        rule: ConfigTextRule,
        text: &str,
        at: ConfigPosition,
    ) -> Result<ConfigValue, ConfigError> {
        if let Err(why) = rule.check(text) {
            let what = format!("`{}` {why}", key.name);
            let hint = format!("It must be {}", allowed_values(key.kind));
            return Err(self.error(error_kind_for(key), at, what, &hint));
        }
        // A command of blanks is none.
        let nothing = rule == ConfigTextRule::Command && text.trim().is_empty();
        Ok(ConfigValue::Text(if nothing { String::new() } else { text.to_string() }))
    }

    fn choice(
        &mut self,
        key: &ConfigKey,
        choices: &[ConfigChoice],
        name: &str,
        at: ConfigPosition,
    ) -> Option<ConfigValue> {
        let present = choices.iter().find(|choice| choice.name == name);
        let older = || choices.iter().find(|choice| choice.legacy_names.contains(&name));
        let choice = present.or_else(older)?;
        if choice.name != name {
            let says = choice.name;
            self.layer.has_older_names = true;
            self.remark(at, || format!("`{name}` is the older word for `{says}` in `{}`", key.name));
        }
        Some(ConfigValue::Text(choice.name.to_string()))
    }

    fn unknown_key(&mut self, name: &str, at: ConfigPosition) {
        self.remark(at, || {
            let meant = nearest_key(name).map(|key| format!("; did you mean `{key}`?")).unwrap_or_default();
            format!("`{}` is not a key that relay knows, so it does nothing{meant}", excerpt(name))
        });
    }

    fn remark(&mut self, at: ConfigPosition, text: impl FnOnce() -> String) {
        if self.layer.remarks.len() >= REMARKS {
            self.omitted_remarks += 1;
            return;
        }
        self.layer.remarks.push(ConfigRemark { file: self.file.to_string(), line: at.line, text: text() });
    }

    fn error(
        &self,
        fault: ConfigErrorKind,
        at: ConfigPosition,
        what: impl Into<String>,
        hint: &str,
    ) -> ConfigError {
        ConfigError::at_position(fault, self.file, at, what, hint)
    }
}

fn error_kind_for(key: &ConfigKey) -> ConfigErrorKind {
    match key.kind {
        ConfigValueKind::Text(ConfigTextRule::ProjectId) => ConfigErrorKind::ProjectId,
        _ => ConfigErrorKind::Value,
    }
}

/// The number, if it is a whole one that a key could allow.
fn whole_number(number: f64) -> Option<u64> {
    let fits = number.fract() == 0.0 && (0.0..=1e15).contains(&number);
    fits.then_some(number as u64)
}

fn kind_of(value: &LiteralValue) -> &'static str {
    match value {
        LiteralValue::Null => "null",
        LiteralValue::Switch(_) => "true or false",
        LiteralValue::Number(_) => "a number",
        LiteralValue::Text(_) => "a text",
        LiteralValue::List(_) => "a list",
        LiteralValue::Table(_) => "an object",
    }
}

fn describe(value: &LiteralValue) -> String {
    match value {
        LiteralValue::Switch(on) => on.to_string(),
        LiteralValue::Number(number) => excerpt(&number.to_string()),
        LiteralValue::Text(text) => format!("\"{}\"", excerpt(text)),
        other => kind_of(other).to_string(),
    }
}

/// What a key may be, as the end of a sentence.
pub(super) fn allowed_values(kind: ConfigValueKind) -> String {
    match kind {
        ConfigValueKind::Text(rule) => match rule {
            ConfigTextRule::ProjectId => format!("a text of 1 to {PROJECT_ID_CHARACTERS} visible characters"),
            ConfigTextRule::Command => "a command line in quotes, or \"\" for none".to_string(),
            ConfigTextRule::BranchPrefix => {
                "the beginning of a branch's name, such as \"relay/\"".to_string()
            }
            ConfigTextRule::Friends => "whom to ask, such as \"codex\" or \"codex,claude\"".to_string(),
            ConfigTextRule::Theme => "the name of a theme, such as \"red-claw\"".to_string(),
        },
        ConfigValueKind::Switch => "true or false".to_string(),
        ConfigValueKind::Rules(_) => {
            "a list of rules, such as [\"cargo test *\", \"edit src/**\"]".to_string()
        }
        ConfigValueKind::CommandRules => {
            "a list of objects such as {pattern: \"^npm test\", tool: \"search\", message: \"…\"}".to_string()
        }
        ConfigValueKind::Number { least, most, or_none } => {
            let none = if or_none { ", or null" } else { "" };
            format!("a whole number from {least} to {most}{none}")
        }
        ConfigValueKind::Choice(choices) => {
            let names: Vec<String> = choices.iter().map(|choice| format!("\"{}\"", choice.name)).collect();
            match names.split_last() {
                Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
                _ => names.concat(),
            }
        }
    }
}
