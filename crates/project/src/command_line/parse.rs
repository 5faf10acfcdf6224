//! The parser: one cursor over the text, one function per construct.

use std::collections::HashSet;

use super::{
    CommandConnector, CommandEntry, CommandLineError, CommandList, CommandRedirect, CommandWord,
    CompoundCommand, CompoundKind, MAX_BYTES, MAX_DEPTH, ShellCommand, ShellDialect, SimpleCommand, WordPart,
};

pub(super) type Parsed<T> = Result<T, CommandLineError>;

/// Reads a command line.
///
/// # Errors
/// If it is too long, too deeply nested, or not one that a shell would run.
///
/// ```
/// use relaycode_project::command_line::{ShellCommand, parse};
///
/// let list = parse("cd 'my tools' && sh lint.sh")?;
/// let ShellCommand::Simple(command) = &list.entries[0].command else { panic!() };
/// assert_eq!(command.words[1].literal().as_deref(), Some("my tools"));
/// # Ok::<(), relaycode_project::command_line::CommandLineError>(())
/// ```
pub fn parse(text: &str) -> Parsed<CommandList> {
    parse_nested(text, 0, ShellDialect::Lenient)
}

/// Reads a command line of which somebody has to know for certain what it would run.
///
/// # Errors
/// As [`parse`], and if a shell could read it in another way.
pub fn parse_strictly(text: &str, dialect: ShellDialect) -> Parsed<CommandList> {
    parse_nested(text, 0, dialect)
}

pub(super) fn parse_nested(text: &str, depth: usize, dialect: ShellDialect) -> Parsed<CommandList> {
    if text.len() > MAX_BYTES {
        return Err(CommandLineError::TooLong);
    }
    let mut parser = CommandParser::new(text, depth, dialect);
    let list = parser.list()?;
    match parser.peek() {
        Some(found) => Err(CommandLineError::Unexpected { found }),
        None => Ok(list),
    }
}

/// Here-documents of one line.
const MAX_HEREDOCS: usize = 16;
/// Longer ones first.
const REDIRECTS: &[&str] = &["<<<", "<<-", "&>>", "<<", "<&", "<>", ">>", ">&", ">|", "&>", "<", ">"];
/// Words that end the list in which they stand, where a command could begin.
const CLOSERS: &[&str] = &["}", "then", "elif", "else", "fi", "do", "done", "esac"];

pub(super) struct CommandParser<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) depth: usize,
    /// Where `$((` turned out to begin a subshell, so that it is tried only once.
    pub(super) no_arithmetic: HashSet<usize>,
    /// Where the line behind the here-documents of this one begins.
    pub(super) behind_heredocs: Option<usize>,
    pub(super) dialect: ShellDialect,
    heredocs: usize,
}

impl<'a> CommandParser<'a> {
    fn new(text: &'a str, depth: usize, dialect: ShellDialect) -> CommandParser<'a> {
        let no_arithmetic = HashSet::new();
        CommandParser { text, at: 0, depth, no_arithmetic, behind_heredocs: None, dialect, heredocs: 0 }
    }

    /// An error where every doubt is one.
    pub(super) fn doubt(&self, what: &'static str) -> Parsed<()> {
        match self.dialect {
            ShellDialect::Lenient => Ok(()),
            ShellDialect::Bash | ShellDialect::Posix => Err(CommandLineError::Unclear { what }),
        }
    }

    /// An error where only bash would read it so.
    pub(super) fn bash_only(&self, what: &'static str) -> Parsed<()> {
        if self.dialect == ShellDialect::Posix { self.doubt(what) } else { Ok(()) }
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    pub(super) fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(CommandLineError::TooDeep);
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// Blanks, comments and continued lines.
    fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t' | '\r') => self.at += 1,
                Some('\\') if self.rest().starts_with("\\\n") => self.at += 2,
                Some('#') => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
                _ => return,
            }
        }
    }

    /// The end of a line, with the here-documents that stand behind it.
    fn newline(&mut self) -> bool {
        let found = self.take("\n");
        if found && let Some(behind) = self.behind_heredocs.take() {
            self.at = behind.max(self.at);
        }
        found
    }

    fn skip_lines(&mut self) {
        loop {
            self.skip_blanks();
            if !self.newline() {
                return;
            }
        }
    }

    /// Commands up to something that cannot begin one: `)`, `;;`, a closing keyword, the end.
    pub(super) fn list(&mut self) -> Parsed<CommandList> {
        let mut list = CommandList::default();
        loop {
            self.skip_lines();
            let before = list.entries.last().map(|entry| entry.then);
            let closes = self.rest().is_empty() || self.peek() == Some(')') || self.rest().starts_with(";;");
            if closes || self.keyword().is_some_and(|word| CLOSERS.contains(&word)) {
                use CommandConnector::{And, Or, Pipe};
                if matches!(before, Some(And | Or | Pipe)) {
                    self.doubt("a line that ends in `&&`, `||` or `|`")?;
                }
                return Ok(list);
            }
            // Behind a pipe they are programs.
            let piped = before == Some(CommandConnector::Pipe);
            if piped && matches!(self.keyword(), Some("time" | "!")) {
                self.doubt("`time` or `!` behind a pipe")?;
            }
            let command = self.command()?;
            self.skip_blanks();
            let then = self.connector();
            let ends = then.is_none();
            list.entries.push(CommandEntry { command, then: then.unwrap_or(CommandConnector::Sequence) });
            if ends {
                return Ok(list);
            }
        }
    }

    fn connector(&mut self) -> Option<CommandConnector> {
        let signs = [
            ("&&", CommandConnector::And),
            ("||", CommandConnector::Or),
            ("|&", CommandConnector::Pipe),
            ("|", CommandConnector::Pipe),
            ("&", CommandConnector::Background),
        ];
        for (sign, connector) in signs {
            if self.take(sign) {
                return Some(connector);
            }
        }
        if self.rest().starts_with(";;") {
            return None;
        }
        (self.take(";") || self.newline()).then_some(CommandConnector::Sequence)
    }

    /// The word here, if it is written as keywords are.
    fn keyword(&self) -> Option<&'a str> {
        let rest = self.rest();
        let end = rest.find(|c: char| c.is_whitespace() || ";&|()<>".contains(c)).unwrap_or(rest.len());
        let word = &rest[..end];
        (!word.is_empty() && !word.contains(['"', '\'', '\\', '$', '`'])).then_some(word)
    }

    fn take_keyword(&mut self, wanted: &str) -> bool {
        self.keyword() == Some(wanted) && self.take(wanted)
    }

    /// Takes a keyword that has to stand here.
    fn close(&mut self, wanted: &'static str, opening: &'static str) -> Parsed<()> {
        if self.take_keyword(wanted) { Ok(()) } else { Err(CommandLineError::Unclosed { opening }) }
    }

    fn command(&mut self) -> Parsed<ShellCommand> {
        self.nested(|parser| {
            let bash = parser.dialect != ShellDialect::Lenient;
            let compound = if bash && parser.rest().starts_with("((") {
                parser.bash_only("`((`")?;
                let text = parser.double_parentheses()?;
                (CompoundKind::Arithmetic, vec![text], Vec::new())
            } else if parser.take("(") {
                let body = parser.list()?;
                if !parser.take(")") {
                    return Err(CommandLineError::Unclosed { opening: "(" });
                }
                (CompoundKind::Subshell, Vec::new(), vec![body])
            } else {
                match parser.keyword() {
                    // They say something about the command behind them.
                    Some(word @ ("!" | "time")) => {
                        parser.take(word);
                        parser.skip_blanks();
                        if word == "time" {
                            parser.skip_time_options();
                        }
                        return parser.command();
                    }
                    Some("[[") if bash => {
                        parser.bash_only("`[[`")?;
                        (CompoundKind::Test, parser.test_words()?, Vec::new())
                    }
                    Some("coproc" | "select" | "function") if bash => {
                        return Err(CommandLineError::Unclear { what: "`coproc`, `select` or `function`" });
                    }
                    Some("{") => {
                        parser.take("{");
                        let body = parser.list()?;
                        parser.close("}", "{")?;
                        (CompoundKind::Group, Vec::new(), vec![body])
                    }
                    Some("if") => (CompoundKind::If, Vec::new(), parser.conditional()?),
                    Some(word @ ("while" | "until")) => {
                        parser.take(word);
                        let condition = parser.list()?;
                        (CompoundKind::Loop, Vec::new(), vec![condition, parser.loop_body()?])
                    }
                    Some("for") => parser.for_loop()?,
                    Some("case") => parser.case()?,
                    Some("function") => {
                        parser.take("function");
                        parser.skip_blanks();
                        let name = parser.keyword().unwrap_or_default().to_string();
                        parser.take(&name);
                        parser.function(name)?
                    }
                    Some(name) if parser.is_function(name) => {
                        parser.doubt("a function")?;
                        let name = name.to_string();
                        parser.take(&name);
                        parser.function(name)?
                    }
                    _ => return Ok(ShellCommand::Simple(parser.simple_command()?)),
                }
            };
            let (kind, words, bodies) = compound;
            let mut redirects = Vec::new();
            loop {
                parser.skip_blanks();
                match parser.redirect()? {
                    Some(redirect) => redirects.push(redirect),
                    None => break,
                }
            }
            Ok(ShellCommand::Compound(CompoundCommand { kind, words, bodies, redirects }))
        })
    }

    /// `-p`, `--` or both, in this order, belong to `time`; anything else is the command.
    fn skip_time_options(&mut self) {
        for option in ["-p", "--"] {
            if self.take_keyword(option) {
                self.skip_blanks();
            }
        }
    }

    fn conditional(&mut self) -> Parsed<Vec<CommandList>> {
        let mut bodies = Vec::new();
        self.take("if");
        loop {
            bodies.push(self.list()?);
            self.close("then", "if")?;
            bodies.push(self.list()?);
            if !self.take_keyword("elif") {
                break;
            }
        }
        if self.take_keyword("else") {
            bodies.push(self.list()?);
        }
        self.close("fi", "if")?;
        Ok(bodies)
    }

    fn loop_body(&mut self) -> Parsed<CommandList> {
        self.close("do", "while")?;
        let body = self.list()?;
        self.close("done", "do")?;
        Ok(body)
    }

    fn for_loop(&mut self) -> Parsed<(CompoundKind, Vec<CommandWord>, Vec<CommandList>)> {
        self.take("for");
        self.skip_blanks();
        if self.dialect != ShellDialect::Lenient && self.rest().starts_with("((") {
            self.bash_only("`for ((`")?;
            let words = vec![self.double_parentheses()?];
            self.skip_blanks();
            self.take(";");
            self.skip_lines();
            return Ok((CompoundKind::Arithmetic, words, vec![self.loop_body()?]));
        }
        let variable = self.keyword().unwrap_or_default().to_string();
        self.take(&variable);
        self.skip_lines();
        let mut words = Vec::new();
        if self.take_keyword("in") {
            loop {
                self.skip_blanks();
                match self.word()? {
                    Some(word) => words.push(word),
                    None => break,
                }
            }
        } else {
            words.push(CommandWord {
                parts: vec![WordPart::Parameter("@".to_string())],
                ..CommandWord::default()
            });
        }
        self.skip_blanks();
        self.take(";");
        self.skip_lines();
        let body = self.loop_body()?;
        Ok((CompoundKind::For { variable }, words, vec![body]))
    }

    fn case(&mut self) -> Parsed<(CompoundKind, Vec<CommandWord>, Vec<CommandList>)> {
        self.take("case");
        self.skip_blanks();
        let mut words: Vec<CommandWord> = self.word()?.into_iter().collect();
        self.skip_lines();
        self.close("in", "case")?;
        let mut bodies = Vec::new();
        loop {
            self.skip_lines();
            if self.take_keyword("esac") {
                return Ok((CompoundKind::Case, words, bodies));
            }
            self.take("(");
            loop {
                self.skip_blanks();
                let Some(pattern) = self.word()? else {
                    return Err(CommandLineError::Unclosed { opening: "case" });
                };
                words.push(pattern);
                self.skip_blanks();
                if !self.take("|") {
                    break;
                }
            }
            if !self.take(")") {
                return Err(CommandLineError::Unclosed { opening: "case" });
            }
            bodies.push(self.list()?);
            let _ = self.take(";;&") || self.take(";;") || self.take(";&");
        }
    }

    fn is_function(&self, name: &str) -> bool {
        let behind = self.rest()[name.len()..].trim_start_matches([' ', '\t']);
        is_name(name)
            && behind
                .strip_prefix('(')
                .is_some_and(|rest| rest.trim_start_matches([' ', '\t']).starts_with(')'))
    }

    /// What stands behind the name of a function.
    fn function(&mut self, name: String) -> Parsed<(CompoundKind, Vec<CommandWord>, Vec<CommandList>)> {
        self.skip_blanks();
        if self.take("(") {
            self.skip_blanks();
            self.take(")");
        }
        self.skip_lines();
        let command = self.command()?;
        let body = CommandList { entries: vec![CommandEntry { command, then: CommandConnector::Sequence }] };
        Ok((CompoundKind::Function { name }, Vec::new(), vec![body]))
    }

    fn simple_command(&mut self) -> Parsed<SimpleCommand> {
        let mut command = SimpleCommand::default();
        let start = self.at;
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.redirect()? {
                command.redirects.push(redirect);
                continue;
            }
            if command.words.is_empty()
                && let Some(name) = self.assigned_name()
            {
                self.at += name.len() + usize::from(self.rest()[name.len()..].starts_with('+')) + 1;
                let value = self.word()?.unwrap_or_default();
                command.assignments.push((name.to_string(), value));
                continue;
            }
            match self.word()? {
                Some(word) => command.words.push(word),
                None => break,
            }
        }
        match self.peek() {
            // Behind `!`, or in front of an operator.
            found if self.at == start => Err(CommandLineError::Unexpected { found: found.unwrap_or(';') }),
            // `a (b)`: no shell reads that.
            Some('(') => Err(CommandLineError::Unexpected { found: '(' }),
            _ => Ok(command),
        }
    }

    /// The name in front of `=` or `+=`.
    fn assigned_name(&self) -> Option<&'a str> {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c == '_' || c.is_ascii_alphanumeric()))?;
        let name = &rest[..end];
        (is_name(name) && (rest[end..].starts_with('=') || rest[end..].starts_with("+="))).then_some(name)
    }

    fn redirect(&mut self) -> Parsed<Option<CommandRedirect>> {
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let behind = &self.rest()[digits..];
        let Some(operator) = REDIRECTS.iter().find(|operator| behind.starts_with(**operator)) else {
            return Ok(None);
        };
        // `<(…)` and `>(…)` are words.
        if operator.len() == 1 && behind[1..].starts_with('(') {
            return Ok(None);
        }
        if operator.starts_with('&')
            || *operator == "<<<"
            || *operator == ">&" && self.dialect == ShellDialect::Posix
        {
            let descriptor = behind[operator.len()..].starts_with(|c: char| c.is_ascii_digit() || c == '-');
            if !(*operator == ">&" && descriptor) {
                self.bash_only("`&>` or `<<<`")?;
            }
        }
        self.at += digits + operator.len();
        self.skip_blanks();
        let Some(target) = self.word()? else {
            return Err(CommandLineError::Unexpected { found: self.peek().unwrap_or('<') });
        };
        let target = if matches!(*operator, "<<" | "<<-") {
            self.heredoc(&target, *operator == "<<-")?
        } else {
            target
        };
        Ok(Some(CommandRedirect { operator, target }))
    }

    /// Whether the rest of the line ends where it seems to: the here-document begins behind it.
    fn check_heredoc_line(&mut self) -> Parsed<()> {
        if self.dialect == ShellDialect::Lenient {
            return Ok(());
        }
        self.heredocs += 1;
        if self.heredocs > MAX_HEREDOCS {
            return Err(CommandLineError::TooDeep);
        }
        let mut quote = None;
        for c in self.rest().chars().take_while(|c| *c != '\n') {
            match (quote, c) {
                (Some(open), c) if open == c => quote = None,
                (None, '\'' | '"') => quote = Some(c),
                (None | Some('"'), '`' | '\\') | (None, '#') => {
                    return self.doubt("a here-document in this line");
                }
                (None, '(') | (Some('"'), '(') => return self.doubt("a here-document in this line"),
                _ => {}
            }
        }
        if quote.is_some() { self.doubt("a here-document in this line") } else { Ok(()) }
    }

    /// `((` to `))`, as one text. What is more than plain arithmetic is left to the reader of the word.
    fn double_parentheses(&mut self) -> Parsed<CommandWord> {
        const UNCLOSED: CommandLineError = CommandLineError::Unclosed { opening: "((" };
        self.take("((");
        let length = self.rest().find("))").ok_or(UNCLOSED)?;
        let text = self.rest()[..length].to_string();
        if text.contains(['"', '\'', '`', '\\', '(', ')', '\n']) {
            self.doubt("`((`")?;
        }
        self.at += length + 2;
        Ok(CommandWord { parts: vec![WordPart::Literal { text, quoted: false }], ..CommandWord::default() })
    }

    /// `[[` to `]]`: words and signs.
    fn test_words(&mut self) -> Parsed<Vec<CommandWord>> {
        self.take("[[");
        let mut words = Vec::new();
        loop {
            self.skip_lines();
            if self.take_keyword("]]") {
                return Ok(words);
            }
            let sign =
                ["&&", "||", "<", ">", "(", ")"].into_iter().find(|sign| self.rest().starts_with(*sign));
            if matches!(sign, Some("<" | ">")) && self.rest()[1..].starts_with('(') {
                self.doubt("a substitution in `[[`")?;
            }
            if let Some(sign) = sign {
                self.take(sign);
                continue;
            }
            match self.word()? {
                Some(word) => words.push(word),
                None => return Err(CommandLineError::Unclosed { opening: "[[" }),
            }
        }
    }

    /// The text of a here-document. It stands behind this line, and behind those that the line announced before.
    fn heredoc(&mut self, delimiter: &CommandWord, drops_tabs: bool) -> Parsed<CommandWord> {
        const UNCLOSED: CommandLineError = CommandLineError::Unclosed { opening: "<<" };
        let end = delimiter.literal().ok_or(UNCLOSED)?;
        self.check_heredoc_line()?;
        let line_end = || self.rest().find('\n').map(|length| self.at + length + 1);
        let mut at = self.behind_heredocs.or_else(line_end).ok_or(UNCLOSED)?;
        let mut body = String::new();
        loop {
            let rest = &self.text[at..];
            if rest.is_empty() {
                return Err(UNCLOSED);
            }
            let line = &rest[..rest.find('\n').map_or(rest.len(), |length| length + 1)];
            at += line.len();
            let line = if drops_tabs { line.trim_start_matches('\t') } else { line };
            if line.strip_suffix('\n').unwrap_or(line) == end {
                break;
            }
            if delimiter.bare().is_some() && line.ends_with("\\\n") {
                self.doubt("a continued line in a here-document")?;
            }
            body.push_str(line);
        }
        self.behind_heredocs = Some(at);
        if delimiter.bare().is_none() {
            return Ok(CommandWord {
                parts: vec![WordPart::Literal { text: body, quoted: true }],
                ..CommandWord::default()
            });
        }
        if self.depth >= MAX_DEPTH {
            return Err(CommandLineError::TooDeep);
        }
        let mut inner = CommandParser::new(&body, self.depth + 1, self.dialect);
        let mut word = CommandWord::default();
        while let Some(c) = inner.next() {
            inner.quoted_char(c, "\\$`", &mut word)?;
        }
        Ok(word)
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}
