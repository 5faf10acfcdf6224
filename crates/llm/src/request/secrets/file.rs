//! The user's `secrets.yml`: a list of what is secret.
//!
//! ```yaml
//! - content: hunter2hunter2
//! - {type: regex, content: /acme-[0-9a-f]{16}/i, mode: replace}
//! ```

use regex::{Regex, RegexBuilder};

use crate::{display_text, models::YamlFileError, user_directory::UserDirectory};
use relaycode_text::yaml::{self, YamlEntry as Field, YamlError, YamlNode, YamlSourcePosition, YamlValue};

/// In relay's directory.
pub const NAME: &str = "secrets.yml";

const FILE_BYTES: u64 = 1 << 20;
const ENTRIES: usize = 1000;
/// Most bytes of a value or pattern.
const CONTENT: usize = 8 << 10;
/// Largest compiled pattern.
const PATTERN_SIZE: usize = 1 << 20;

#[derive(Debug, Clone)]
pub struct SecretEntry {
    pub pattern: SecretPattern,
    /// How it is hidden.
    pub mode: SecretMode,
}

#[derive(Clone)]
pub enum SecretPattern {
    /// This exact text.
    Plain(String),
    /// Everything that matches.
    Pattern(Regex),
}

/// How a secret is hidden.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretMode {
    /// Behind a placeholder, reversibly.
    Obfuscate,
    /// Permanently: by this text, or by as many `*`.
    Replace(Option<String>),
}

impl std::fmt::Debug for SecretPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            SecretPattern::Plain(_) => "Plain(…)",
            SecretPattern::Pattern(_) => "Pattern(…)",
        })
    }
}

/// Empty if there is no file in `home`.
///
/// # Errors
/// If it is not private to the user, cannot be read, or is invalid.
pub fn load(home: &UserDirectory) -> Result<Vec<SecretEntry>, YamlFileError> {
    let Some((path, bytes)) = YamlFileError::read(home, NAME, FILE_BYTES)? else { return Ok(Vec::new()) };
    let text = String::from_utf8(bytes)
        .map_err(|_| YamlFileError::about_file(path.clone(), "secrets.yml is not text in UTF-8"))?;
    parse(&text).map_err(|error| YamlFileError { path, ..error })
}

/// # Errors
/// If it is invalid. No message quotes a value.
pub fn parse(text: &str) -> Result<Vec<SecretEntry>, YamlFileError> {
    let read = yaml::read(text).and_then(|node| match &node.value {
        YamlValue::List(items) if items.len() <= ENTRIES => items.iter().map(entry).collect(),
        YamlValue::List(_) => fail(node.position, format!("there are more than {ENTRIES} entries")),
        YamlValue::Table(fields) if fields.is_empty() => Ok(Vec::new()),
        other => fail(node.position, format!("the file must be a list, not {}", other.kind())),
    });
    read.map_err(|fault| YamlFileError::from_fault(NAME.into(), fault))
}

fn entry(node: &YamlNode) -> Result<SecretEntry, YamlError> {
    let YamlValue::Table(fields) = &node.value else {
        return fail(node.position, format!("an entry must be a table, not {}", node.value.kind()));
    };
    let known = ["type", "content", "mode", "replacement", "flags"];
    if let Some(field) = fields.iter().find(|field| !known.contains(&field.name.as_str())) {
        return fail(field.position, format!("there is no setting `{}` here", display_text(&field.name)));
    }
    let get = |name: &str| fields.iter().find(|field| field.name == name);
    let word = |name: &str, words: [&'static str; 2]| match get(name) {
        None => Ok(words[0]),
        Some(field) => {
            let given = text(field)?;
            let found = words.into_iter().find(|word| *word == given);
            found.ok_or_else(|| {
                YamlError::new(field.node.position, format!("`{name}` must be {} or {}", words[0], words[1]))
            })
        }
    };
    let content = get("content").ok_or_else(|| YamlError::new(node.position, "an entry lacks `content`"))?;
    let replacement = get("replacement").map(text).transpose()?;
    let mode = match word("mode", ["obfuscate", "replace"])? {
        "replace" => SecretMode::Replace(replacement.map(str::to_string)),
        _ => SecretMode::Obfuscate,
    };
    let what = match word("type", ["plain", "regex"])? {
        "plain" => SecretPattern::Plain(text(content)?.to_string()),
        _ => SecretPattern::Pattern(pattern(content, get("flags"))?),
    };
    Ok(SecretEntry { pattern: what, mode })
}

fn fail<T>(at: YamlSourcePosition, message: impl Into<String>) -> Result<T, YamlError> {
    Err(YamlError::new(at, message))
}

fn text(field: &Field) -> Result<&str, YamlError> {
    let at = field.node.position;
    match &field.node.value {
        YamlValue::Text(text) if text.trim().is_empty() => fail(at, format!("`{}` is empty", field.name)),
        YamlValue::Text(text) if text.len() <= CONTENT => Ok(text),
        YamlValue::Text(_) => fail(at, format!("`{}` has more than {CONTENT} bytes", field.name)),
        other => {
            let said = format!("`{}` must be text (put it between quotes), not {}", field.name, other.kind());
            fail(at, said)
        }
    }
}

/// `x`, or `/x/i`.
fn pattern(content: &Field, flags: Option<&Field>) -> Result<Regex, YamlError> {
    let at = content.node.position;
    let given = text(content)?;
    let literal = given.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'));
    let literal = literal.filter(|(_, flags)| flags.chars().all(|c| c.is_ascii_alphabetic()));
    let (source, own) = literal.unwrap_or((given, ""));
    let more = flags.map(text).transpose()?.unwrap_or_default();
    let mut builder = RegexBuilder::new(source);
    builder.size_limit(PATTERN_SIZE).dfa_size_limit(4 * PATTERN_SIZE);
    for flag in own.chars().chain(more.chars()) {
        match flag {
            'i' => builder.case_insensitive(true),
            'm' => builder.multi_line(true),
            's' => builder.dot_matches_new_line(true),
            'x' => builder.ignore_whitespace(true),
            // Every pattern matches everywhere and knows Unicode.
            'g' | 'u' | 'y' => &mut builder,
            other => return fail(at, format!("there is no flag `{}`", display_text(&other.to_string()))),
        };
    }
    let regex = builder.build().map_err(|error| {
        let why = match error {
            regex::Error::CompiledTooBig(_) => "would grow too large",
            _ => "is not one (relay knows no look-around and no back-references)",
        };
        YamlError::new(at, format!("this pattern {why}"))
    })?;
    if regex.is_match("") {
        return fail(at, "this pattern fits nothing at all, and so everything");
    }
    Ok(regex)
}
