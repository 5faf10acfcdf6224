//! Setting one key of the user's own file, which keeps its comments and its order.
//!
//! Only what relay would write itself is edited: one key a line, below its section. A file that is written otherwise is left
//! alone, and the error says what to change by hand. The new text must read as what was meant, or nothing is written.

use std::fmt;
use std::path::Path;

use relaycode_durable::private_files::{PrivateFileError, PrivateFolder};
use serde_json::Value;

use super::keys::KEYS;
use super::layer::{self, LayerOwner};
use super::{Config, USER_FILE, user_yaml};

/// Bytes of the file.
const MAX_BYTES: u64 = 1 << 20;
const INDENT: &str = "  ";

/// Why a key was not set.
#[derive(Debug, thiserror::Error)]
pub enum ConfigEditError {
    #[error("there is no key `{0}`")]
    UnknownKey(String),
    #[error("{0}")]
    Value(String),
    #[error("{USER_FILE} is written in a way that is not edited; set `{0}` in it by hand")]
    Form(String),
    #[error("{USER_FILE} is not sound, so nothing is set in it: {0}")]
    Broken(String),
    #[error(transparent)]
    File(#[from] PrivateFileError),
}

/// Sets a key of the user's own file, or takes it out.
///
/// # Errors
/// If the value is not allowed, or the file cannot be edited; it is as it was then.
pub fn set_user_key(home: Option<&Path>, key: &str, value: Option<&Value>) -> Result<(), ConfigEditError> {
    let known = KEYS.iter().find(|known| known.name == key);
    let known = known.ok_or_else(|| ConfigEditError::UnknownKey(key.to_string()))?;
    let folder = PrivateFolder::new(home, "", MAX_BYTES);
    let before = folder.read(USER_FILE)?.unwrap_or_default();
    let before = String::from_utf8(before).map_err(|error| ConfigEditError::Broken(error.to_string()))?;
    check(&before).map_err(ConfigEditError::Broken)?;
    let after = edit(&before, known.name, value.map(yaml_text).as_deref())
        .ok_or_else(|| ConfigEditError::Form(key.to_string()))?;
    let config = check(&after).map_err(ConfigEditError::Value)?;
    if value.is_some_and(|value| known.get(&config).to_json() != *value) {
        return Err(ConfigEditError::Form(key.to_string()));
    }
    folder.write(USER_FILE, after.as_bytes())?;
    Ok(())
}

/// What a text of the file sets.
fn check(text: &str) -> Result<Config, String> {
    let node = user_yaml::parse_yaml(text).map_err(|fault| fault.what)?;
    let (layer, errors) = layer::read(USER_FILE, &node, LayerOwner::User);
    if let Some(error) = errors.into_iter().next() {
        return Err(fmt::format(format_args!("{error}")));
    }
    let mut config = Config::default();
    for setting in &layer.settings {
        setting.key.set(&mut config, &setting.value);
    }
    Ok(config)
}

/// JSON is YAML, too.
fn yaml_text(value: &Value) -> String {
    match value {
        Value::String(text) if is_plain(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A word that YAML reads as nothing but itself.
fn is_plain(text: &str) -> bool {
    let is_word = text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let starts_well = text.chars().next().is_some_and(|c| c.is_ascii_alphabetic());
    is_word && starts_well && !["true", "false", "null", "yes", "no", "on", "off"].contains(&text)
}

/// The text with the key set, or without it. `None`: it is written in another way.
fn edit(text: &str, key: &str, value: Option<&str>) -> Option<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    let (section, name) = match key.split_once('.') {
        Some((section, name)) => (Some(section), name),
        None => (None, key),
    };
    let (range, indent) = match section {
        None => (0..lines.len(), String::new()),
        Some(section) => match lines.iter().position(|line| is_key(line, "", section)) {
            Some(head) => {
                if !value_of(&lines[head]).is_empty() {
                    return None;
                }
                let body = head + 1;
                let is_body = |line: &String| line.trim().is_empty() || line.starts_with([' ', '\t', '#']);
                let end = body + lines[body..].iter().take_while(|line| is_body(line)).count();
                let own = lines[body..end].iter().find(|line| !is_empty(line));
                let indent = own.map_or(INDENT.to_string(), |line| leading(line).to_string());
                (body..end, indent)
            }
            None => {
                let Some(value) = value else { return Some(text.to_string()) };
                lines.push(format!("{section}:"));
                lines.push(format!("{INDENT}{name}: {value}"));
                return Some(joined(&lines));
            }
        },
    };
    let found = range.clone().find(|at| is_key(&lines[*at], &indent, name));
    match (found, value) {
        (Some(at), value) => {
            // Its value may go on below.
            let deeper = |line: &String| !is_empty(line) && leading(line).len() > indent.len();
            let more = lines[at + 1..range.end].iter().take_while(|line| deeper(line)).count();
            lines.splice(at..=at + more, value.map(|value| format!("{indent}{name}: {value}")));
        }
        (None, Some(value)) => {
            let last = lines[range.clone()].iter().rposition(|line| !is_empty(line));
            let at = last.map_or(range.start, |last| range.start + last + 1);
            lines.insert(at, format!("{indent}{name}: {value}"));
        }
        (None, None) => {}
    }
    Some(joined(&lines))
}

fn is_empty(line: &str) -> bool {
    line.trim().is_empty() || line.trim_start().starts_with('#')
}

fn leading(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

fn is_key(line: &str, indent: &str, name: &str) -> bool {
    leading(line) == indent
        && line[indent.len()..].strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with(':'))
}

/// Without a comment.
fn value_of(line: &str) -> &str {
    let value = line.split_once(':').map_or("", |(_, value)| value).trim();
    if value.starts_with('#') { "" } else { value }
}

fn joined(lines: &[String]) -> String {
    if lines.is_empty() { String::new() } else { lines.join("\n") + "\n" }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_is_set_where_it_stands_and_comments_stay() {
        for (before, key, value, after) in [
            ("", "theme.dark", "x", "theme:\n  dark: x\n"),
            (
                "# mine\ntheme:\n  # dark\n  light: a\n",
                "theme.dark",
                "x",
                "# mine\ntheme:\n  # dark\n  light: a\n  dark: x\n",
            ),
            (
                "theme:\n    dark: a # old\nagent:\n  todo: true\n",
                "theme.dark",
                "x",
                "theme:\n    dark: x\nagent:\n  todo: true\n",
            ),
            ("symbolPreset: nerd\n", "symbolPreset", "ascii", "symbolPreset: ascii\n"),
            (
                "permissions:\n  deny:\n    - a\n    - b\n  ask: [c]\n",
                "permissions.deny",
                "[]",
                "permissions:\n  deny: []\n  ask: [c]\n",
            ),
        ] {
            assert_eq!(edit(before, key, Some(value)).as_deref(), Some(after), "{before}");
        }
        assert_eq!(
            edit("theme:\n  dark: a\n  light: b\n", "theme.dark", None).as_deref(),
            Some("theme:\n  light: b\n")
        );
        assert_eq!(edit("theme: {dark: a}\n", "theme.dark", Some("x")), None);
    }

    #[test]
    fn what_is_written_reads_as_what_was_meant() {
        let home = tempfile::tempdir().unwrap();
        let set = |key: &str, value: Value| set_user_key(Some(home.path()), key, Some(&value));
        set("theme.dark", json!("my-theme")).unwrap();
        set("colorBlindMode", json!(true)).unwrap();
        set("agent.maxTurns", json!(7)).unwrap();
        set("permissions.deny", json!(["sudo *", "rm -rf: \"x\""])).unwrap();
        set_user_key(Some(home.path()), "agent.maxTurns", None).unwrap();
        let text = std::fs::read_to_string(home.path().join(USER_FILE)).unwrap();
        let config = check(&text).unwrap();
        assert_eq!(config.terminal.dark_theme, "my-theme");
        assert!(config.terminal.color_blind);
        assert_eq!(config.agent.max_turns, None);
        assert_eq!(config.permissions.deny, ["sudo *", "rm -rf: \"x\""]);
        assert!(matches!(set("theme.dark", json!("../x")), Err(ConfigEditError::Value(_))));
        assert!(matches!(set("theme.dank", json!("x")), Err(ConfigEditError::UnknownKey(_))));
        assert_eq!(std::fs::read_to_string(home.path().join(USER_FILE)).unwrap(), text);
    }
}
