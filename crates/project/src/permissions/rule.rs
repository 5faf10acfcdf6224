//! One rule, as users write it:
//!
//! ```text
//! cargo test *              these words, then any; without `*` these words alone
//! npm run build:*           `*` within a word stands for any text of that word
//! run host example.org      `run` in front, where the program's name is a word of this language
//! edit src/**               changing files; `read .env` is about reading them
//! host api.example.org      where relay's own requests go; `*.example.org` for the hosts below
//! tool web_search           a tool by its name
//! npm publish * [network]   a command that also gets the network
//! ```
//!
//! Holds: what is printed is read back as the same rule.

use std::fmt;
use std::path::PathBuf;

use super::path_pattern::matches_glob;
use crate::command_line::{CommandConnector, ShellCommand, WordPart, parse};

/// Bytes of a rule.
pub(super) const MAX_RULE_BYTES: usize = 4 << 10;

/// Words that say what a rule is about.
const SUBJECT_WORDS: &[&str] = &["tool", "host", "read", "edit", "run"];
/// Words that begin or end something else than a plain command.
const SHELL_KEYWORDS: &[&str] = &[
    "if", "then", "elif", "else", "fi", "while", "until", "for", "do", "done", "case", "esac", "function",
    "select", "coproc", "time",
];

/// What a rule says of its subject. The later one wins over the earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PermissionEffect {
    Allow,
    Ask,
    Deny,
}

impl PermissionEffect {
    pub const ALL: [PermissionEffect; 3] =
        [PermissionEffect::Allow, PermissionEffect::Ask, PermissionEffect::Deny];

    /// Its name, as written in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            PermissionEffect::Allow => "allow",
            PermissionEffect::Ask => "ask",
            PermissionEffect::Deny => "deny",
        }
    }
}

/// What is done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathVerb {
    Read,
    /// Also creating, removing and renaming.
    Edit,
}

impl PathVerb {
    pub fn name(self) -> &'static str {
        match self {
            PathVerb::Read => "read",
            PathVerb::Edit => "edit",
        }
    }
}

/// What a command gets beyond the fence, if a rule allows it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CommandGrant {
    Network,
    /// One socket of the file system, by its path.
    UnixSocket(String),
    OutsideTheFence,
}

impl CommandGrant {
    /// The path of a socket.
    pub fn socket(&self) -> Option<PathBuf> {
        match self {
            CommandGrant::UnixSocket(path) => Some(path.into()),
            _ => None,
        }
    }
}

/// What a rule is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RuleSubject {
    Tool(String),
    Path {
        verb: PathVerb,
        pattern: String,
    },
    Host(String),
    /// A command by its words. `any_more`: further words may follow.
    Command {
        words: Vec<String>,
        any_more: bool,
    },
}

/// A rule of whatever layer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PermissionRule {
    pub effect: PermissionEffect,
    pub subject: RuleSubject,
    /// Only of a command that is allowed.
    pub grants: Vec<CommandGrant>,
}

/// Why a text is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleSyntaxError {
    #[error("a rule is empty; write for example `cargo test *` or `edit src/**`")]
    Empty,
    #[error("a rule has more than {MAX_RULE_BYTES} bytes")]
    TooLong,
    #[error("`{0}` needs something behind it, such as `{0} {1}`")]
    NothingNamed(&'static str, &'static str),
    #[error("`{0}` is not a plain command: a rule names one program and its words, and `*` for any")]
    NotWords(String),
    #[error("`*` as the program would allow every command; use `--access full` for that")]
    AnyProgram,
    #[error("`[{0}]` is not something a rule can give; use [network], [socket PATH] or [outside the fence]")]
    UnknownGrant(String),
    #[error("only a rule that allows a command can have `[{0}]`")]
    GrantWithoutCommand(String),
    #[error("`{0}` holds a character that cannot be seen")]
    HiddenCharacter(String),
    #[error("`{0}` is not an effect; use allow, ask or deny")]
    UnknownEffect(String),
}

impl PermissionRule {
    /// Reads a rule without its effect: `cargo test *`.
    ///
    /// # Errors
    /// If it is not a rule.
    ///
    /// ```
    /// use relaycode_project::permissions::{PermissionEffect, PermissionRule};
    ///
    /// let rule = PermissionRule::parse(PermissionEffect::Allow, "npm publish * [network]")?;
    /// assert_eq!(rule.subject.to_string(), "npm publish *");
    /// assert_eq!(rule.to_string(), "allow npm publish * [network]");
    /// # Ok::<(), relaycode_project::permissions::RuleSyntaxError>(())
    /// ```
    pub fn parse(effect: PermissionEffect, text: &str) -> Result<PermissionRule, RuleSyntaxError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(RuleSyntaxError::Empty);
        }
        if text.len() > MAX_RULE_BYTES {
            return Err(RuleSyntaxError::TooLong);
        }
        if text.chars().any(relaycode_text::escape::is_unsafe) {
            let shown = relaycode_text::escape::escape_line(text).into_owned();
            return Err(RuleSyntaxError::HiddenCharacter(shown));
        }
        let (subject, grants) = split_grants(text)?;
        let subject = parse_subject(subject)?;
        let commands_only =
            matches!(subject, RuleSubject::Command { .. }) && effect == PermissionEffect::Allow;
        match grants.first() {
            Some(grant) if !commands_only => Err(RuleSyntaxError::GrantWithoutCommand(grant.to_string())),
            _ => Ok(PermissionRule { effect, subject, grants }),
        }
    }

    /// Reads a rule with its effect: `allow cargo test *`.
    ///
    /// # Errors
    /// If it is not one.
    pub fn parse_with_effect(text: &str) -> Result<PermissionRule, RuleSyntaxError> {
        let (word, rest) = text.trim().split_once(' ').ok_or(RuleSyntaxError::Empty)?;
        let effect = PermissionEffect::ALL.into_iter().find(|effect| effect.name() == word);
        let effect = effect.ok_or_else(|| RuleSyntaxError::UnknownEffect(word.to_string()))?;
        PermissionRule::parse(effect, rest)
    }

    /// Without the effect, with what it gives.
    pub fn body(&self) -> String {
        let grants = self.grants.iter().map(|grant| format!(" [{grant}]"));
        format!("{}{}", self.subject, grants.collect::<String>())
    }
}

impl RuleSubject {
    /// Whether a host is meant: the name itself, or one below `*.`.
    pub(super) fn names_host(&self, host: &str) -> bool {
        let RuleSubject::Host(pattern) = self else { return false };
        match pattern.strip_prefix("*.") {
            Some(parent) => {
                host.strip_suffix(parent).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
            None => pattern == host,
        }
    }

    /// Whether a tool is meant.
    pub(super) fn names_tool(&self, name: &str) -> bool {
        matches!(self, RuleSubject::Tool(pattern) if matches_glob(pattern, name))
    }
}

fn parse_subject(text: &str) -> Result<RuleSubject, RuleSyntaxError> {
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    let rest = rest.trim();
    let need = |keyword: &'static str, example: &'static str| match rest.is_empty() {
        true => Err(RuleSyntaxError::NothingNamed(keyword, example)),
        false => Ok(rest.to_string()),
    };
    match first {
        "tool" => Ok(RuleSubject::Tool(need("tool", "web_search")?)),
        "host" => Ok(RuleSubject::Host(need("host", "example.org")?.to_ascii_lowercase())),
        "read" => Ok(RuleSubject::Path { verb: PathVerb::Read, pattern: need("read", ".env")? }),
        "edit" => Ok(RuleSubject::Path { verb: PathVerb::Edit, pattern: need("edit", "src/**")? }),
        "run" => parse_command(&need("run", "cargo test *")?),
        _ => parse_command(text),
    }
}

/// One plain command, read as the shell reads it.
fn parse_command(text: &str) -> Result<RuleSubject, RuleSyntaxError> {
    let not_words = || RuleSyntaxError::NotWords(text.to_string());
    let list = parse(text).map_err(|_| not_words())?;
    let [entry] = list.entries.as_slice() else { return Err(not_words()) };
    let (ShellCommand::Simple(command), CommandConnector::Sequence) = (&entry.command, entry.then) else {
        return Err(not_words());
    };
    let plain = |part: &WordPart| matches!(part, WordPart::Literal { .. });
    let simple = command.assignments.is_empty() && command.redirects.is_empty();
    if !simple || command.words.iter().any(|word| !word.parts.iter().all(plain)) {
        return Err(not_words());
    }
    let mut words: Vec<String> = command.words.iter().filter_map(|word| word.literal()).collect();
    let any_more = words.len() > 1 && words.last().is_some_and(|word| word == "*");
    if any_more {
        words.pop();
    }
    match words.first() {
        None => Err(RuleSyntaxError::Empty),
        Some(program) if program.contains('*') => Err(RuleSyntaxError::AnyProgram),
        Some(_) => Ok(RuleSubject::Command { words, any_more }),
    }
}

/// The rule without what stands in brackets behind it.
fn split_grants(text: &str) -> Result<(&str, Vec<CommandGrant>), RuleSyntaxError> {
    let (mut rest, mut grants) = (text, Vec::new());
    while let Some(inner) = rest.strip_suffix(']') {
        let Some((before, grant)) = inner.rsplit_once(" [") else { break };
        let known = match grant {
            "network" => CommandGrant::Network,
            "outside the fence" => CommandGrant::OutsideTheFence,
            other => match other.strip_prefix("socket ") {
                Some(path) if path.starts_with('/') => CommandGrant::UnixSocket(path.to_string()),
                // `test -f [ab]` and patterns of paths.
                _ if !other.contains(|c: char| c.is_ascii_alphabetic()) => break,
                _ => return Err(RuleSyntaxError::UnknownGrant(other.to_string())),
            },
        };
        grants.insert(0, known);
        rest = before.trim_end();
    }
    Ok((rest, grants))
}

impl fmt::Display for CommandGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandGrant::Network => f.write_str("network"),
            CommandGrant::UnixSocket(path) => write!(f, "socket {path}"),
            CommandGrant::OutsideTheFence => f.write_str("outside the fence"),
        }
    }
}

impl fmt::Display for RuleSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RuleSubject::Tool(name) => write!(f, "tool {name}"),
            RuleSubject::Host(host) => write!(f, "host {host}"),
            RuleSubject::Path { verb, pattern } => write!(f, "{} {pattern}", verb.name()),
            RuleSubject::Command { words, any_more } => {
                for (at, word) in words.iter().enumerate() {
                    match at {
                        0 if SUBJECT_WORDS.contains(&word.as_str()) => write!(f, "run {word}")?,
                        // Written without quotes, the shell would not start it.
                        0 if SHELL_KEYWORDS.contains(&word.as_str()) || word.contains('=') => {
                            write!(f, "'{}'", word.replace('\'', "'\\''"))?;
                        }
                        0 => f.write_str(&quote_word(word))?,
                        _ => write!(f, " {}", quote_word(word))?,
                    }
                }
                if *any_more { f.write_str(" *") } else { Ok(()) }
            }
        }
    }
}

impl fmt::Display for PermissionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.effect.name(), self.body())
    }
}

/// A word as it has to be written in a rule.
pub(super) fn quote_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+%*^".contains(c) || !c.is_ascii();
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
