//! A command line of a POSIX shell, read but not run: what would be executed with which words, where its input
//! comes from, and what nobody can know before it runs.
//!
//! Holds: no text makes it panic; time is linear in the text (nesting is bounded); nothing is dropped: what is not
//! understood is a [`CommandLineError`], and whoever asks then has to expect anything. Expansions are kept
//! as [`WordPart`]s, because only the reader knows which values it trusts.

mod parse;
#[cfg(test)]
mod tests;
mod words;

pub use parse::{parse, parse_strictly};

/// Commands and expansions inside each other.
pub const MAX_DEPTH: usize = 64;
/// Bytes of a line.
pub const MAX_BYTES: usize = 64 << 10;

/// Commands in the order in which they are written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandList {
    pub entries: Vec<CommandEntry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandEntry {
    pub command: ShellCommand,
    /// What stands between it and the next one.
    pub then: CommandConnector,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandConnector {
    /// `;`, the end of a line, or of the list
    Sequence,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`, `|&`: its output is the next one's input
    Pipe,
    /// `&`
    Background,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellCommand {
    Simple(SimpleCommand),
    Compound(CompoundCommand),
}

/// `A=1 program word … <file`
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    pub assignments: Vec<(String, CommandWord)>,
    /// The program and its arguments; empty if there are only assignments or redirections.
    pub words: Vec<CommandWord>,
    pub redirects: Vec<CommandRedirect>,
}

/// Commands within others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompoundCommand {
    pub kind: CompoundKind,
    /// What a `for` goes through; the subject and the patterns of a `case`.
    pub words: Vec<CommandWord>,
    /// All lists in it, conditions too, as they are written.
    pub bodies: Vec<CommandList>,
    pub redirects: Vec<CommandRedirect>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompoundKind {
    /// `( … )`
    Subshell,
    /// `{ …; }`
    Group,
    If,
    /// `while`, `until`
    Loop,
    For {
        variable: String,
    },
    Case,
    Function {
        name: String,
    },
    /// `[[ … ]]`, with all words and signs in `words`.
    Test,
    /// `(( … ))`, and the head of a `for (( … ))`, with the text in `words`.
    Arithmetic,
}

/// `<file`, `2>file`, `<<END`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRedirect {
    /// Without the number of the descriptor: `<`, `>>`, `<<`, `>&` …
    pub operator: &'static str,
    /// The file, the descriptor, or the text of a here-document.
    pub target: CommandWord,
}

/// One word, before anything in it is expanded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandWord {
    pub parts: Vec<WordPart>,
    /// Every expansion in it stands in double quotes.
    pub fully_quoted: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordPart {
    /// `*`, `?`, `[`, `~` and braces mean something only where it is not quoted.
    Literal { text: String, quoted: bool },
    /// `$NAME`, `${NAME}`, `$1`, `$@`
    Parameter(String),
    /// `${NAME:-word}` and its like, with what stands behind the name.
    Expansion { name: String, rest: CommandWord },
    /// `$(…)`, `` `…` ``, `<(…)`: these commands run, and what they print stands here.
    Substitution(CommandList),
    /// `$((…))`
    Arithmetic(CommandWord),
}

/// Which shell a line is for, and how much of a doubt is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellDialect {
    /// Any shell, read as well as it goes.
    Lenient,
    /// bash; what could be read in two ways is an error.
    Bash,
    /// A shell that knows nothing but POSIX; what bash would read otherwise is an error, too.
    Posix,
}

/// Why a line cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CommandLineError {
    #[error("the command line is longer than {MAX_BYTES} bytes")]
    TooLong,
    #[error("more than {MAX_DEPTH} commands lie in each other")]
    TooDeep,
    #[error("`{opening}` has no end")]
    Unclosed { opening: &'static str },
    #[error("{what} can mean several things")]
    Unclear { what: &'static str },
    #[error("a `{found}` stands where a command should")]
    Unexpected { found: char },
}

impl CommandWord {
    /// The word, if nothing in it is expanded by the shell but file names.
    pub fn literal(&self) -> Option<String> {
        let text = |part: &WordPart| match part {
            WordPart::Literal { text, .. } => Some(text.clone()),
            _ => None,
        };
        self.parts.iter().map(text).collect()
    }

    /// The word, if it is written without any quotes or expansions: only then it can be a keyword.
    pub fn bare(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [WordPart::Literal { text, quoted: false }] => Some(text),
            _ => None,
        }
    }

    fn push(&mut self, c: char, now_quoted: bool) {
        match self.parts.last_mut() {
            Some(WordPart::Literal { text, quoted }) if *quoted == now_quoted => text.push(c),
            _ => self.parts.push(WordPart::Literal { text: c.to_string(), quoted: now_quoted }),
        }
    }
}
