//! What a word of a line becomes: its text, names of files, or something nobody knows yet.

use super::CommandArgument;
use super::reader::LineReader;
use crate::command_line::{CommandWord, WordPart};

/// Words that one word with braces becomes.
const MAX_BRACES: usize = 64;
/// Texts that one word can have.
const MAX_TEXTS: usize = 16;

/// The value of a variable that a line sets, if it is sure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum VariableValue {
    Texts(Vec<String>),
    /// It begins so.
    Prefix(String),
}

/// One beginning of a word while it is put together.
#[derive(Debug, Clone, Default)]
struct WordBeginning {
    text: String,
    has_sign: bool,
}

impl LineReader<'_> {
    /// What the shell makes of a word. Commands in it are listed.
    pub(super) fn resolve(&mut self, word: &CommandWord) -> Vec<CommandArgument> {
        if let Some(words) = self.braces(word) {
            return words.iter().flat_map(|word| self.resolve_plain(word)).collect();
        }
        self.resolve_plain(word)
    }

    /// The one text of a word that is no pattern.
    pub(super) fn resolve_one(&mut self, word: &CommandWord) -> CommandArgument {
        let mut words = self.resolve(word);
        if words.len() == 1 { words.remove(0) } else { CommandArgument::Any }
    }

    fn resolve_plain(&mut self, word: &CommandWord) -> Vec<CommandArgument> {
        let mut beginnings = vec![WordBeginning::default()];
        let mut unknown = None;
        for (at, part) in word.parts.iter().enumerate() {
            let quoted_here = self.is_quoted(word, at);
            let value = match part {
                WordPart::Literal { text, quoted } => {
                    let mut text = text.clone();
                    let leads = at == 0 && !quoted && text.starts_with('~');
                    if leads {
                        match self.expand_home(&text, word.parts.len() == 1) {
                            Some(expanded) => text = expanded,
                            None => {
                                if text.len() > 1 && !text.starts_with("~/") {
                                    self.unclear(format!("which directory `{text}` means is not known"));
                                }
                                unknown = unknown.or(Some(false));
                                continue;
                            }
                        }
                    }
                    // A bracket alone is the command of that name.
                    let alone = text == "[" && word.parts.len() == 1;
                    let sign = !quoted && !alone && text.contains(['*', '?', '[']);
                    if unknown.is_none() {
                        for beginning in &mut beginnings {
                            // A sign that was quoted would look like one that was not.
                            if (sign || beginning.has_sign) && *quoted && text.contains(['*', '?', '[']) {
                                unknown = Some(false);
                            }
                            beginning.text.push_str(&text);
                            beginning.has_sign |= sign;
                        }
                    }
                    continue;
                }
                WordPart::Parameter(name) => self.parameter(name),
                WordPart::Expansion { name, rest } => {
                    self.check_expansion(name, rest);
                    None
                }
                WordPart::Substitution(list) => {
                    self.visit_substitution(list);
                    None
                }
                WordPart::Arithmetic(text) => {
                    self.check_arithmetic(text);
                    None
                }
            };
            if unknown.is_some() {
                // Words may also be split behind it.
                unknown = Some(unknown == Some(true) || !quoted_here);
                continue;
            }
            match value {
                Some(VariableValue::Texts(texts))
                    if quoted_here || texts.iter().all(|text| is_one_word(text)) =>
                {
                    let joined: Vec<WordBeginning> = beginnings
                        .iter()
                        .flat_map(|beginning| {
                            texts.iter().map(|text| WordBeginning {
                                text: format!("{}{text}", beginning.text),
                                has_sign: beginning.has_sign,
                            })
                        })
                        .collect();
                    if joined.len() > MAX_TEXTS {
                        unknown = Some(!quoted_here);
                    } else {
                        beginnings = joined;
                    }
                }
                Some(VariableValue::Prefix(prefix)) if quoted_here || is_one_word(&prefix) => {
                    beginnings.iter_mut().for_each(|beginning| beginning.text.push_str(&prefix));
                    unknown = Some(!quoted_here);
                }
                _ => unknown = Some(!quoted_here),
            }
        }
        let any_sign = beginnings.iter().any(|beginning| beginning.has_sign);
        if any_sign && unknown.is_none() && beginnings.len() == 1 {
            return beginnings
                .into_iter()
                .map(|beginning| CommandArgument::FileNames(beginning.text))
                .collect();
        }
        if unknown.is_none() && !any_sign {
            let mut texts: Vec<String> = beginnings.into_iter().map(|beginning| beginning.text).collect();
            return match texts.len() {
                1 => vec![CommandArgument::Exact(texts.remove(0))],
                _ => vec![CommandArgument::OneOf(texts)],
            };
        }
        let prefix = match beginnings.as_slice() {
            [only] => only.text.split(['*', '?', '[']).next().unwrap_or_default().to_string(),
            _ => String::new(),
        };
        let splits = any_sign || unknown == Some(true);
        match (prefix.is_empty(), splits) {
            (true, true) => vec![CommandArgument::Any],
            (false, true) => vec![CommandArgument::BeginsWith(prefix), CommandArgument::Any],
            (_, false) => vec![CommandArgument::BeginsWith(prefix)],
        }
    }

    /// Whether an expansion stands in quotes, so that it stays one word.
    fn is_quoted(&self, word: &CommandWord, at: usize) -> bool {
        let many = matches!(&word.parts[at], WordPart::Parameter(name) if name == "@" || name == "*");
        word.fully_quoted && !many
    }

    fn expand_home(&self, text: &str, whole: bool) -> Option<String> {
        let home = self.place.home.as_ref()?.to_str()?;
        match text.strip_prefix('~')? {
            "" if whole => Some(home.to_string()),
            rest if rest.starts_with('/') => Some(format!("{home}{rest}")),
            "root" if whole => Some("/root".to_string()),
            rest if rest.starts_with("root/") => Some(format!("/{rest}")),
            _ => None,
        }
    }

    /// The words that braces make of a word; `None` if there are none. What cannot be told is an unknown word.
    fn braces(&mut self, word: &CommandWord) -> Option<Vec<CommandWord>> {
        let has = |sign: &str| {
            word.parts
                .iter()
                .any(|part| matches!(part, WordPart::Literal { text, quoted: false } if text.contains(sign)))
        };
        if !has("{") || !(has(",") || has("..")) {
            return None;
        }
        if self.is_posix() {
            self.unclear("braces mean different things in different shells");
        }
        let unknown = || {
            let any = WordPart::Parameter("@".to_string());
            vec![CommandWord { parts: vec![any], ..CommandWord::default() }]
        };
        let [WordPart::Literal { text, quoted: false }] = word.parts.as_slice() else {
            // Commands in it run all the same.
            self.resolve_plain(word);
            return Some(unknown());
        };
        let words = expand_braces(text);
        Some(words.map_or_else(unknown, |words| {
            let literal = |text| WordPart::Literal { text, quoted: false };
            words
                .into_iter()
                .map(|text| CommandWord { parts: vec![literal(text)], ..CommandWord::default() })
                .collect()
        }))
    }
}

/// Whether a value that is not quoted stays one word as it is.
fn is_one_word(text: &str) -> bool {
    !text.is_empty() && !text.contains([' ', '\t', '\n', '*', '?', '[', '\\'])
}

/// One pair of braces without others in it; `None`: it is not that simple.
fn expand_braces(text: &str) -> Option<Vec<String>> {
    let (before, rest) = text.split_once('{')?;
    let (inner, after) = rest.split_once('}')?;
    if before.contains('}') || inner.contains('{') || after.contains(['{', '}']) {
        return None;
    }
    let items: Vec<String> = if let Some((from, to)) = inner.split_once("..") {
        let (from, to): (i64, i64) = (from.parse().ok()?, to.parse().ok()?);
        let plain = inner.chars().all(|c| c.is_ascii_digit() || c == '.')
            && !inner.split("..").any(|n| n.starts_with('0'));
        if !plain || to < from || to - from >= MAX_BRACES as i64 {
            return None;
        }
        (from..=to).map(|number| number.to_string()).collect()
    } else {
        inner.split(',').map(ToString::to_string).collect()
    };
    if items.len() < 2 && !inner.contains("..") || items.len() > MAX_BRACES {
        return None;
    }
    Some(items.into_iter().map(|item| format!("{before}{item}{after}")).collect())
}
