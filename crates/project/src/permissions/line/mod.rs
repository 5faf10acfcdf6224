//! What a command line would start, write, read and destroy, as far as it can be known before it runs.
//!
//! Holds: the list of commands is complete, or the reading says why it is not certain ([`LineReading::unclear`]);
//! the reading takes time in proportion to the line, and nothing makes it panic.

mod builtins;
mod environment;
mod git;
mod looking;
mod losses;
mod options;
mod programs;
mod reader;
mod running;
mod scripts;
mod variables;
mod words;
mod wrappers;
mod writing;

use std::fmt;
use std::path::{Path, PathBuf};

pub(super) use looking::is_reader;
pub use losses::LineLosses;
pub use reader::{read_arguments, read_line};
pub(super) use running::is_known_program;

use super::rule::{PathVerb, quote_word};

/// A command line, read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineReading {
    /// Every program and builtin that it would start, also within other commands.
    pub commands: Vec<StartedCommand>,
    /// Files that it would read or write, as far as redirections and known programs say so.
    pub paths: Vec<PathUse>,
    /// What it would destroy: what has to be kept before it runs.
    pub destructive: Vec<DestructiveAct>,
    /// Why not everything is certain; empty: all that runs is in `commands`.
    pub unclear: Vec<String>,
    /// A `[[ … ]]` of it asks whether a file can be written.
    pub(super) asks_for_writing: bool,
}

impl LineReading {
    /// Whether all of it is known, and does no more than look: it does, and says, the same where nothing can be written.
    pub fn only_looks(&self) -> bool {
        let looks = |command: &StartedCommand| {
            command.role == CommandRole::ReadsOnly && command.risky.is_empty() && !command.unlisted
        };
        let is_lost =
            |target: &LineTarget| matches!(target, LineTarget::Path(path) if path == Path::new("/dev/null"));
        self.unclear.is_empty()
            && !self.asks_for_writing
            && !self.commands.iter().any(StartedCommand::asks_for_writing)
            && self.destructive.iter().all(|act| is_lost(&act.target))
            && self.commands.iter().all(looks)
            && self.paths.iter().all(|used| used.kind == PathUseKind::Read || is_lost(&used.target))
    }
}

/// One command of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedCommand {
    pub words: Vec<CommandArgument>,
    /// The command that starts it, such as `xargs` or `find`; `None`: the shell itself.
    pub started_by: Option<String>,
    pub role: CommandRole,
    /// Directories in which it may run; `None` among them: anywhere.
    pub directories: Vec<Option<PathBuf>>,
    /// The same without the options in front of the subcommand, for programs that have subcommands.
    pub subcommand_words: Option<Vec<CommandArgument>>,
    /// By what it could run something else or write elsewhere, for a person: `*` in a rule does not cover that.
    pub risky: Vec<String>,
    /// The words of `risky`, in the same order; `None`: a word that is not known.
    pub risky_words: Vec<Option<String>>,
    /// It has an option of which nobody knows what it does.
    pub unlisted: bool,
}

impl StartedCommand {
    /// As it would be typed, with `…` for what is not known.
    pub fn text(&self) -> String {
        let words: Vec<String> = self.words.iter().map(ToString::to_string).collect();
        words.join(" ")
    }

    /// Whether what it says depends on what can be written: it only looks all the same.
    fn asks_for_writing(&self) -> bool {
        let Some((program, words)) = self.words.split_first() else { return false };
        let program = program.exact().unwrap_or_default();
        let has = |option: &str| words.iter().any(|word| word.exact() == Some(option));
        match program.rsplit('/').next() {
            Some("test" | "[") => has("-w"),
            Some("find") => has("-writable"),
            // At a terminal it keeps what the command prints in a file.
            Some("nohup") => true,
            _ => false,
        }
    }
}

impl fmt::Display for CommandArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandArgument::Exact(text) => f.write_str(&quote_word(text)),
            CommandArgument::OneOf(texts) => write!(f, "{{{}}}", texts.join(",")),
            CommandArgument::FileNames(pattern) => f.write_str(pattern),
            CommandArgument::BeginsWith(prefix) => write!(f, "{prefix}…"),
            CommandArgument::Any => f.write_str("…"),
        }
    }
}

/// What is known of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CommandRole {
    /// It only looks, whatever its unknown words are.
    ReadsOnly,
    /// It writes the files that are listed in `paths`, and does nothing else.
    WritesListed,
    /// Anything: a rule has to allow it.
    Other,
}

/// A word of a command, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CommandArgument {
    Exact(String),
    /// One of these.
    OneOf(Vec<String>),
    /// Names of files that match.
    FileNames(String),
    /// One word that begins so.
    BeginsWith(String),
    /// Any number of any words.
    Any,
}

/// A file that a line uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathUse {
    pub kind: PathUseKind,
    pub target: LineTarget,
    pub named_by: PathNamer,
}

/// Which part of a line names a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathNamer {
    /// A redirection, or a command that only looks.
    Line,
    /// A command that needs a rule of its own.
    RuledCommand,
    /// The command at this place in `commands`, which writes what it names and does nothing else.
    Writer(usize),
}

impl PathUse {
    pub(super) fn verb(&self) -> PathVerb {
        if self.kind == PathUseKind::Read { PathVerb::Read } else { PathVerb::Edit }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PathUseKind {
    Read,
    /// Creating, changing, replacing.
    Write,
    Append,
    Remove,
}

/// Files that are meant; absolute where the directory is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LineTarget {
    Path(PathBuf),
    /// With `*`, `?` and `[`.
    Pattern(PathBuf),
    /// The directory and everything in it.
    Beneath(PathBuf),
    /// Any file.
    Unknown,
}

/// Something that is lost if nobody keeps it first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DestructiveAct {
    /// What does it: `rm`, `git reset`, `>`.
    pub act: String,
    pub target: LineTarget,
    /// Of the target only what git could not bring back is lost: changes that are in no commit, and files that it neither knows
    /// nor ignores.
    pub spares_ignored: bool,
}
