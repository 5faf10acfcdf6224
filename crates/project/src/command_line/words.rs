//! Words: quotes, escapes and expansions.

use super::parse::{CommandParser, Parsed, parse_nested};
use super::{CommandLineError, CommandWord, MAX_DEPTH, ShellDialect, WordPart};

impl CommandParser<'_> {
    /// One word; `None` if none begins here.
    pub(super) fn word(&mut self) -> Parsed<Option<CommandWord>> {
        let mut word = CommandWord::default();
        let mut has_open_expansion = false;
        let start = self.at;
        while let Some(c) = self.peek() {
            if (c == '<' || c == '>') && self.rest()[1..].starts_with('(') {
                self.bash_only("`<(`")?;
                self.at += 2;
                has_open_expansion = true;
                word.parts.push(self.substitution()?);
                continue;
            }
            if c.is_ascii_whitespace() || ";&|()<>".contains(c) {
                break;
            }
            self.at += c.len_utf8();
            match c {
                '\\' => match self.next() {
                    Some('\n') => self.doubt("a continued word")?,
                    Some(escaped) => word.push(escaped, true),
                    None => word.push('\\', false),
                },
                '\'' => {
                    let Some(length) = self.rest().find('\'') else {
                        return Err(CommandLineError::Unclosed { opening: "'" });
                    };
                    let text = self.rest()[..length].to_string();
                    word.parts.push(WordPart::Literal { text, quoted: true });
                    self.at += length + 1;
                }
                '"' => {
                    word.parts.push(WordPart::Literal { text: String::new(), quoted: true });
                    loop {
                        match self.next() {
                            None => return Err(CommandLineError::Unclosed { opening: "\"" }),
                            Some('"') => break,
                            Some(c) => self.quoted_char(c, "\\$`\"", &mut word)?,
                        }
                    }
                }
                '$' | '`' => {
                    has_open_expansion = true;
                    self.expansion(c, false, &mut word)?;
                }
                _ => word.push(c, false),
            }
        }
        word.fully_quoted = !has_open_expansion;
        Ok((self.at > start).then_some(word))
    }

    /// A character between double quotes, and what it begins.
    pub(super) fn quoted_char(&mut self, c: char, escapable: &str, word: &mut CommandWord) -> Parsed<()> {
        match c {
            '\\' => match self.peek() {
                Some('\n') => {
                    self.doubt("a continued line in quotes")?;
                    self.at += 1;
                }
                Some(next) if escapable.contains(next) => {
                    self.at += 1;
                    word.push(next, true);
                }
                _ => word.push('\\', true),
            },
            '$' | '`' => self.expansion(c, true, word)?,
            _ => word.push(c, true),
        }
        Ok(())
    }

    /// What `$` or a backtick begins.
    fn expansion(&mut self, sign: char, quoted: bool, word: &mut CommandWord) -> Parsed<()> {
        if sign == '`' {
            word.parts.push(self.backticks()?);
            return Ok(());
        }
        let part = match self.peek() {
            Some('(') => {
                self.at += 1;
                if self.peek() == Some('(') { self.arithmetic()? } else { self.substitution()? }
            }
            Some('{') => {
                self.at += 1;
                self.nested(Self::braced_parameter)?
            }
            Some(c) if c == '_' || c.is_ascii_alphabetic() => {
                let end = self.rest().find(|c: char| !(c == '_' || c.is_ascii_alphanumeric()));
                let name = &self.rest()[..end.unwrap_or(self.rest().len())];
                self.at += name.len();
                WordPart::Parameter(name.to_string())
            }
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => {
                self.at += 1;
                WordPart::Parameter(c.to_string())
            }
            Some('\'') if !quoted && self.dialect != ShellDialect::Lenient => {
                self.bash_only("`$'`")?;
                self.at += 1;
                let text = self.ansi_quoted()?;
                WordPart::Literal { text, quoted: true }
            }
            Some('"' | '[' | '\\') if !quoted && self.dialect != ShellDialect::Lenient => {
                return self.doubt("what stands behind this `$`");
            }
            Some('[') if self.dialect != ShellDialect::Lenient => return self.doubt("`$[`"),
            // `$'…'` and `$"…"` of other shells: the quotes are read as they stand.
            _ => {
                word.push('$', quoted);
                return Ok(());
            }
        };
        word.parts.push(part);
        Ok(())
    }

    /// Behind `$(` or `<(`.
    fn substitution(&mut self) -> Parsed<WordPart> {
        let outer = self.behind_heredocs;
        if outer.is_some() {
            self.doubt("a substitution behind a here-document")?;
        }
        let list = self.nested(Self::list)?;
        if self.behind_heredocs != outer {
            self.doubt("a here-document in this substitution")?;
        }
        if self.take(")") {
            Ok(WordPart::Substitution(list))
        } else {
            Err(CommandLineError::Unclosed { opening: "$(" })
        }
    }

    /// Behind `$(`, at a second `(`: arithmetic, or a subshell in a substitution.
    fn arithmetic(&mut self) -> Parsed<WordPart> {
        let start = self.at;
        if !self.no_arithmetic.contains(&start) {
            let behind_heredocs = self.behind_heredocs;
            self.at += 1;
            if let Some(word) = self.nested(Self::arithmetic_text)? {
                return Ok(WordPart::Arithmetic(word));
            }
            self.no_arithmetic.insert(start);
            (self.at, self.behind_heredocs) = (start, behind_heredocs);
        }
        self.substitution()
    }

    /// Up to `))`; `None` if that is not how it ends.
    fn arithmetic_text(&mut self) -> Parsed<Option<CommandWord>> {
        let mut word = CommandWord::default();
        let mut open = 0_usize;
        while let Some(c) = self.next() {
            match c {
                '(' => open += 1,
                ')' if open > 0 => open -= 1,
                ')' => return Ok(self.take(")").then_some(word)),
                _ => {}
            }
            self.quoted_char(c, "\\$`\"", &mut word)?;
        }
        Ok(None)
    }

    /// Behind `${`.
    fn braced_parameter(&mut self) -> Parsed<WordPart> {
        let rest = self.rest();
        let length = rest.find(|c: char| !(c == '_' || c.is_ascii_alphanumeric())).unwrap_or(rest.len());
        let name = rest[..length].to_string();
        self.at += length;
        if !name.is_empty() && self.take("}") {
            return Ok(WordPart::Parameter(name));
        }
        let end = self.rest().find('}').unwrap_or(self.rest().len());
        if self.rest()[..end].contains(['"', '\'', '\\', '`', '{', '(', '\n']) {
            self.doubt("what stands in this `${`")?;
        }
        let mut word = CommandWord::default();
        let mut in_quotes = false;
        while let Some(c) = self.next() {
            match c {
                '}' if !in_quotes => return Ok(WordPart::Expansion { name, rest: word }),
                '"' => in_quotes = !in_quotes,
                '\'' if !in_quotes => {
                    let Some(length) = self.rest().find('\'') else { break };
                    let text = self.rest()[..length].to_string();
                    word.parts.push(WordPart::Literal { text, quoted: true });
                    self.at += length + 1;
                }
                '\\' => {
                    if let Some(escaped) = self.next() {
                        word.push(escaped, true);
                    }
                }
                _ => self.quoted_char(c, "", &mut word)?,
            }
        }
        Err(CommandLineError::Unclosed { opening: "${" })
    }

    /// Behind `$'`: up to the quote, with its escapes.
    fn ansi_quoted(&mut self) -> Parsed<String> {
        let mut text = String::new();
        loop {
            match self.next() {
                None => return Err(CommandLineError::Unclosed { opening: "$'" }),
                Some('\'') => return Ok(text),
                Some('\\') => match self.next() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some(c @ ('\\' | '\'' | '"' | '?')) => text.push(c),
                    // By number: what it is matters to nobody who writes it openly.
                    _ => return Err(CommandLineError::Unclear { what: "an escape in `$'`" }),
                },
                Some(c) => text.push(c),
            }
        }
    }

    /// Behind a backtick: its text, in which a backslash quotes, is a command line of its own.
    fn backticks(&mut self) -> Parsed<WordPart> {
        let mut inner = String::new();
        loop {
            match self.next() {
                None => return Err(CommandLineError::Unclosed { opening: "`" }),
                Some('`') => break,
                Some('\\') if self.dialect != ShellDialect::Lenient => {
                    return Err(CommandLineError::Unclear { what: "a backslash in backticks" });
                }
                Some('\\') => match self.next() {
                    Some(c @ ('`' | '\\' | '$')) => inner.push(c),
                    Some(c) => inner.extend(['\\', c]),
                    None => {}
                },
                Some(c) => inner.push(c),
            }
        }
        if self.depth >= MAX_DEPTH {
            return Err(CommandLineError::TooDeep);
        }
        Ok(WordPart::Substitution(parse_nested(&inner, self.depth + 1, self.dialect)?))
    }
}
