//! Options of known programs, read by one grammar: bundles of letters, values in the same word or the next, `--name=value`,
//! beginnings of long names, `--`, and `-`, which is no option.
//!
//! A row names options with a sign of what they do behind them:
//!
//! | sign | the option |
//! |---|---|
//! | none | changes what is printed, and has no value |
//! | `:` | the same, with a value |
//! | `?` | the same; a value can stand in the same word |
//! | `<` | reads the file that is its value |
//! | `>` | writes the file or directory that is its value |
//! | `/` | works in the directory, or with the file, that is its value |
//! | `!` | can run something or write anywhere |
//!
//! `#` among the letters stands for numbers: `head -20`. What is not in the row is unknown, whatever it is like.

use super::CommandArgument;

/// A program whose options are known.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProgramRow {
    /// Its names, with blanks between them.
    pub(super) names: &'static str,
    pub(super) short: &'static str,
    pub(super) long: &'static str,
    pub(super) operands: OperandUse,
    /// No option that there is writes or runs anything: words that are not known may be options.
    pub(super) any_option: bool,
    /// Without one of these options (letters, or names in a row) it does more than look.
    pub(super) needs: &'static str,
    /// Options that make it read all that is in a directory; `*`: it always does.
    pub(super) recursive: &'static str,
    /// Words that can run or write something: whole ones where they are the first operand, and beginnings, with `*`, anywhere.
    pub(super) risky_words: &'static str,
    /// Behind the first operand its options end.
    pub(super) leading: bool,
    /// `-name` is one long option.
    pub(super) single_dash: bool,
}

/// What a program does with the words that are no options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OperandUse {
    /// It does not only look: a rule has to allow it.
    NeedsRule,
    /// It reads them.
    Files,
    /// They are no files.
    Words,
    /// It reads the first, and writes the one behind.
    OneFile,
    /// With any it changes something.
    Nothing,
    /// `+FORMAT`; with anything else it changes something.
    Format,
}

const fn new_row(names: &'static str, short: &'static str, long: &'static str) -> ProgramRow {
    ProgramRow {
        names,
        short,
        long,
        operands: OperandUse::NeedsRule,
        any_option: false,
        needs: "",
        recursive: "",
        risky_words: "",
        leading: false,
        single_dash: false,
    }
}

/// A program that needs a rule.
pub(super) const fn runs(names: &'static str, short: &'static str, long: &'static str) -> ProgramRow {
    new_row(names, short, long)
}

/// A program that only looks, with these options.
pub(super) const fn looks(names: &'static str, short: &'static str, long: &'static str) -> ProgramRow {
    ProgramRow { operands: OperandUse::Files, ..new_row(names, short, long) }
}

/// One that has no other options than to look.
pub(super) const fn only_looks(names: &'static str, short: &'static str, long: &'static str) -> ProgramRow {
    ProgramRow { any_option: true, ..looks(names, short, long) }
}

impl ProgramRow {
    pub(super) const fn with(self, operands: OperandUse) -> ProgramRow {
        ProgramRow { operands, ..self }
    }

    pub(super) const fn needing(self, needs: &'static str) -> ProgramRow {
        ProgramRow { needs, ..self }
    }

    pub(super) const fn recursive(self, recursive: &'static str) -> ProgramRow {
        ProgramRow { recursive, ..self }
    }

    pub(super) const fn risky(self, risky_words: &'static str) -> ProgramRow {
        ProgramRow { risky_words, ..self }
    }

    pub(super) const fn leading(self) -> ProgramRow {
        ProgramRow { leading: true, ..self }
    }

    pub(super) const fn single_dash(self) -> ProgramRow {
        ProgramRow { single_dash: true, ..self }
    }

    pub(super) fn is_for(&self, name: &str) -> bool {
        self.names.split(' ').any(|known| known == name)
    }

    fn letter(&self, letter: char) -> Option<OptionEffect> {
        let mut signs = self.short.chars().filter(|sign| *sign != ' ').peekable();
        while let Some(sign) = signs.next() {
            let effect = signs.peek().copied().and_then(OptionEffect::of_sign);
            if effect.is_some() {
                signs.next();
            }
            if sign == letter || sign == '#' && letter.is_ascii_digit() {
                return Some(effect.unwrap_or(OptionEffect::Flag));
            }
        }
        None
    }

    /// What a long option does, by its name. A beginning is risky if something that begins so does more than print: what it
    /// stands for, and whether it has a value, may not be listed. Where one dash is enough, programs take no beginnings.
    fn name(&self, name: &str) -> Option<OptionEffect> {
        if name.is_empty() {
            return None;
        }
        let mut begins_risky = false;
        for entry in self.long.split_ascii_whitespace() {
            let effect = entry.chars().last().and_then(OptionEffect::of_sign);
            let known = if effect.is_some() { &entry[..entry.len() - 1] } else { entry };
            if known == name {
                return Some(effect.unwrap_or(OptionEffect::Flag));
            }
            if !self.single_dash && known.starts_with(name) {
                begins_risky |= effect.is_some_and(|effect| effect >= OptionEffect::Reads);
            }
        }
        begins_risky.then_some(OptionEffect::Risky)
    }
}

/// What an option does. The later one does more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum OptionEffect {
    Flag,
    MayHaveValue,
    HasValue,
    Reads,
    Writes,
    WorksIn,
    Risky,
}

impl OptionEffect {
    fn of_sign(sign: char) -> Option<OptionEffect> {
        match sign {
            ':' => Some(OptionEffect::HasValue),
            '?' => Some(OptionEffect::MayHaveValue),
            '<' => Some(OptionEffect::Reads),
            '>' => Some(OptionEffect::Writes),
            '/' => Some(OptionEffect::WorksIn),
            '!' => Some(OptionEffect::Risky),
            _ => None,
        }
    }

    fn has_value(self) -> bool {
        !matches!(self, OptionEffect::Flag | OptionEffect::MayHaveValue | OptionEffect::Risky)
    }
}

/// What a word is for a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WordMeaning {
    Option {
        /// The letter, or the long name.
        name: String,
        effect: OptionEffect,
        value: Option<CommandArgument>,
        word: CommandArgument,
    },
    /// An option that is not listed, or a word that may be any.
    Unknown(CommandArgument),
    Operand(CommandArgument),
}

/// What the words are, and how many of them were read: all, or those in front of the first operand if the row says that
/// options end there.
pub(super) fn read_options(row: &ProgramRow, words: &[CommandArgument]) -> (Vec<WordMeaning>, usize) {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let (text, whole) = match word {
            CommandArgument::Exact(text) => (text.as_str(), true),
            CommandArgument::BeginsWith(text) if text.len() > 1 => (text.as_str(), false),
            word if word.may_be_option() => {
                found.push(WordMeaning::Unknown(word.clone()));
                at += 1;
                continue;
            }
            _ => ("", true),
        };
        if !text.starts_with('-') || text == "-" {
            if row.leading {
                return (found, at);
            }
            found.push(WordMeaning::Operand(word.clone()));
            at += 1;
            continue;
        }
        at += 1;
        if text == "--" && whole {
            if !row.leading {
                found.extend(words[at..].iter().cloned().map(WordMeaning::Operand));
                at = words.len();
            }
            return (found, at);
        }
        let long = text.strip_prefix("--").or_else(|| text.strip_prefix('-').filter(|_| row.single_dash));
        let wants_value = match long {
            Some(long) => read_long(row, (long, whole), word, &mut found),
            None => read_letters(row, (&text[1..], whole), word, &mut found),
        };
        if !wants_value {
            continue;
        }
        // The value is the next word. One that looks like an option is read as one, too: not every version of a program
        // takes the value from there.
        if let Some(next) = words.get(at) {
            if !next.is_one_word() {
                found.push(WordMeaning::Unknown(next.clone()));
            }
            let with_value = found.iter_mut().rev().find_map(|meaning| match meaning {
                WordMeaning::Option { effect, value, .. } if effect.has_value() => Some(value),
                _ => None,
            });
            if let Some(value) = with_value {
                *value = Some(next.clone());
            }
            let plain = next.exact().is_some_and(|text| {
                !text.starts_with('-') || text[1..].bytes().all(|byte| byte.is_ascii_digit())
            });
            if !plain && next.is_one_word() && next.may_be_option() {
                found.push(WordMeaning::Unknown(next.clone()));
            } else {
                at += 1;
            }
        }
    }
    (found, at)
}

/// Says whether the next word is the value.
fn read_long(
    row: &ProgramRow,
    (text, whole): (&str, bool),
    word: &CommandArgument,
    found: &mut Vec<WordMeaning>,
) -> bool {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    // The rest of the name is not known.
    let effect = row.name(name).filter(|_| whole || value.is_some());
    match effect {
        None => found.push(WordMeaning::Unknown(word.clone())),
        Some(OptionEffect::Flag) if value.is_some() => found.push(WordMeaning::Unknown(word.clone())),
        Some(effect) => found.push(WordMeaning::Option {
            name: name.to_string(),
            effect,
            value: value.map(|value| known_text(value, whole)),
            word: word.clone(),
        }),
    }
    effect.is_some_and(OptionEffect::has_value) && value.is_none()
}

/// Says whether the next word is the value.
fn read_letters(
    row: &ProgramRow,
    (letters, whole): (&str, bool),
    word: &CommandArgument,
    found: &mut Vec<WordMeaning>,
) -> bool {
    let mut unknown = false;
    for (at, letter) in letters.char_indices() {
        let rest = &letters[at + letter.len_utf8()..];
        // Behind a letter that is not listed others may still be risky.
        let Some(effect) = row.letter(letter) else {
            unknown = true;
            continue;
        };
        let takes_rest = !matches!(effect, OptionEffect::Flag | OptionEffect::Risky);
        let value = (takes_rest && !(rest.is_empty() && whole)).then(|| known_text(rest, whole));
        let in_next = effect.has_value() && value.is_none();
        if effect != OptionEffect::Flag || row.needs.contains(letter) || row.recursive.contains(letter) {
            found.push(WordMeaning::Option { name: letter.to_string(), effect, value, word: word.clone() });
        }
        if takes_rest || effect == OptionEffect::Risky {
            if unknown {
                found.insert(found.len() - 1, WordMeaning::Unknown(word.clone()));
            }
            return in_next;
        }
    }
    if unknown || !whole {
        found.push(WordMeaning::Unknown(word.clone()));
    }
    false
}

fn known_text(text: &str, whole: bool) -> CommandArgument {
    match whole {
        true => CommandArgument::Exact(text.to_string()),
        false => CommandArgument::BeginsWith(text.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: ProgramRow = runs("x", "ab c:d?e!f<g>h/#", "all size: color? output> exec! file< directory/");

    fn shown(line: &str) -> String {
        let word = |text: &str| match text.strip_suffix('…') {
            Some("") => CommandArgument::Any,
            Some(beginning) => CommandArgument::BeginsWith(beginning.to_string()),
            None => CommandArgument::Exact(text.to_string()),
        };
        let words: Vec<CommandArgument> = line.split(' ').map(word).collect();
        let (found, _) = read_options(&ROW, &words);
        let shown = found.iter().map(|meaning| match meaning {
            WordMeaning::Option { name, value: Some(value), .. } => format!("{name}={value}"),
            WordMeaning::Option { name, .. } => name.clone(),
            WordMeaning::Unknown(word) => format!("unknown {word}"),
            WordMeaning::Operand(word) => format!("operand {word}"),
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn options_are_read_as_programs_read_them() {
        for (line, wanted) in [
            ("-ab -12 - x", "operand -, operand x"),
            ("-c 1 x", "c=1, operand x"),
            ("-abc1 x", "c=1, operand x"),
            ("-abe x", "e, operand x"),
            ("-qe x", "unknown -qe, e, operand x"),
            ("-q", "unknown -q"),
            ("-d x -dx", "d, operand x, d=x"),
            ("--all --size 3 --size=4", "all, size=3, size=4"),
            ("--color x", "color, operand x"),
            ("--all=x", "unknown --all=x"),
            ("--out=x --ex --e", "out=x, ex, e"),
            ("--siz=3", "unknown --siz=3"),
            ("-- -e --exec", "operand -e, operand --exec"),
            ("-c -e", "c=-e, unknown -e, e"),
            ("-c - -b", "c=-"),
            ("-c …", "c=…, unknown …"),
            ("--size=…", "size=…"),
            ("--si…", "unknown --si…"),
            ("-c1…", "c=1…"),
            ("-a…", "unknown -a…"),
            ("… x…", "unknown …, operand x…"),
            ("-fx -g y --directory z", "f=x, g=y, directory=z"),
        ] {
            assert_eq!(shown(line), wanted, "{line}");
        }
    }
}
