//! What to run, where, with what, for how long, and what to keep of its output.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// A process to run to its end.
#[derive(Debug, Clone)]
pub struct Job {
    /// What to run.
    pub program: Program,
    /// The directory it runs in.
    pub directory: PathBuf,
    /// How its environment differs from ours.
    pub environment: Environment,
    /// What it reads.
    pub input: Input,
    /// Where its output goes.
    pub output: Output,
    /// How long it may take.
    pub deadlines: Deadlines,
    /// How much of its output is kept.
    pub kept: Kept,
}

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// A program by name or path, and its arguments. No shell is involved.
    Argv(Vec<OsString>),
    /// A command line of the project's configuration, for `sh -c`. Nothing else uses a shell.
    Shell(String),
}

/// How a job's environment differs from relay's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// Variables that go, by exact name.
    pub remove: Vec<OsString>,
    /// Variables that go, by how their name begins.
    pub remove_prefixes: Vec<String>,
    /// Variables that are set, after the removals.
    pub set: Vec<(OsString, OsString)>,
}

/// What a job reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Input {
    /// Nothing: `/dev/null`.
    #[default]
    Nothing,
    /// These bytes, then the end.
    Bytes(Vec<u8>),
}

/// Where a job's output goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Output {
    /// Standard output and standard error apart.
    #[default]
    Apart,
    /// Both in one, in the order in which they were written; kept as standard output.
    Together,
    /// A terminal of its own, of this size; kept as standard output. Input is typed into it.
    Pty {
        /// Rows.
        rows: u16,
        /// Columns.
        columns: u16,
    },
    /// The user's own terminal, for an editor or a pager: it reads and writes `/dev/tty`, in the
    /// foreground, and nothing is kept.
    Terminal,
}

/// How long a job may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// In all; `None`: as long as it likes.
    pub total: Option<Duration>,
    /// Without printing anything; `None`: as long as it likes.
    pub idle: Option<Duration>,
    /// Between being asked to end (SIGTERM) and being ended (SIGKILL).
    pub grace: Duration,
}

impl Default for Deadlines {
    fn default() -> Deadlines {
        Deadlines { total: None, idle: None, grace: Duration::from_secs(2) }
    }
}

/// How much of a job's output is kept, per stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Bytes of its beginning.
    pub head: usize,
    /// Bytes of its end.
    pub tail: usize,
    /// Where the whole output goes when it does not fit, and how much of it at most. Secrets in it are
    /// blacked out line by line.
    pub spill: Option<Spill>,
}

/// A file for output that does not fit into memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spill {
    /// The file; it is made with mode 0600 when it is needed, never over an existing one.
    pub file: PathBuf,
    /// Bytes in it at most.
    pub most: u64,
}

impl Default for Kept {
    fn default() -> Kept {
        Kept { head: 64 << 10, tail: 192 << 10, spill: None }
    }
}

impl Job {
    /// A program with its arguments, nothing to read, output apart, no deadline.
    pub fn argv<I, S>(words: I, directory: impl Into<PathBuf>) -> Job
    where
        I: IntoIterator<Item = S>,
        S: Into<OsString>,
    {
        Job::new(Program::Argv(words.into_iter().map(Into::into).collect()), directory.into())
    }

    /// A command line of the project's configuration: `sh -c`, output together.
    pub fn shell(line: &str, directory: impl Into<PathBuf>) -> Job {
        let job = Job::new(Program::Shell(line.to_string()), directory.into());
        Job { output: Output::Together, ..job }
    }

    fn new(program: Program, directory: PathBuf) -> Job {
        Job {
            program,
            directory,
            environment: Environment::default(),
            input: Input::default(),
            output: Output::default(),
            deadlines: Deadlines::default(),
            kept: Kept::default(),
        }
    }
}
