//! What to run, where, with what, for how long, and what to keep of its output.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::wire::{Order, Place};

/// The longest time between SIGTERM and SIGKILL. Who is asked to end and wants longer does not want to.
pub(crate) const MOST_GRACE: Duration = Duration::from_secs(600);

/// What runs a command line.
const SHELL: &str = "/bin/sh";

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
    /// Something that the keeper holds open for as long as the job, and whatever is left of it, lives: a lock, say,
    /// that others take for a sign of life even when relay itself is gone. The job does not get it.
    pub held: Option<Arc<OwnedFd>>,
}

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// A program by name or path, and its arguments. No shell is involved.
    Argv(Vec<OsString>),
    /// A command line of the project's configuration, for `sh -c`. Nothing else uses a shell.
    Shell(String),
}

impl Program {
    /// What to call it in a message: its name, or the command line.
    pub fn name(&self) -> String {
        match self {
            Program::Argv(_) => self.first(),
            Program::Shell(line) => line.clone(),
        }
    }

    /// The program that is started.
    pub(crate) fn first(&self) -> String {
        match self {
            Program::Argv(words) => words.first().map_or(String::new(), |word| word.to_string_lossy().into()),
            Program::Shell(_) => SHELL.to_string(),
        }
    }

    /// The program and its arguments, as bytes.
    fn words(&self) -> Vec<Vec<u8>> {
        match self {
            Program::Argv(words) => words.iter().map(|word| word.as_bytes().to_vec()).collect(),
            // `--`: a line may begin with a hyphen.
            Program::Shell(line) => [SHELL, "-c", "--", line].map(|word| word.as_bytes().to_vec()).to_vec(),
        }
    }
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
    /// These bytes, then the end. At a terminal of its own they are typed once the program runs, and
    /// nothing more: who wants an end there types it (`\x04` at the beginning of a line).
    Bytes(Vec<u8>),
    /// What [`crate::Live::send`] gives it, until [`crate::Live::close_input`]. Only for a job that is
    /// [started](crate::Runner::start); one that is run to its end would wait for ever.
    Open,
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
    /// foreground, and nothing is kept. What is typed there (Ctrl-C, Ctrl-Z) reaches relay as well: a
    /// caller that wants to outlive a Ctrl-C meant for the editor has to catch it. [`Job::input`] and
    /// [`Deadlines::idle`] mean nothing here.
    Terminal,
    /// relay's own standard streams, whatever they are, straight through and with nothing kept: as if the
    /// command had been started by hand in relay's place. If they are a terminal, all that is said of
    /// [`Output::Terminal`] holds; and when the command stops itself, relay stops as well, so that the
    /// user's shell has its terminal back. [`Job::input`] and [`Deadlines::idle`] mean nothing here.
    Streams {
        /// What it prints to standard output goes to relay's standard error: the other is for relay's own answer.
        aside: bool,
    },
}

impl Output {
    /// Whether relay sees nothing of it.
    pub(crate) fn is_the_users(self) -> bool {
        matches!(self, Output::Terminal | Output::Streams { .. })
    }
}

/// How long a job may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// In all; `None`: as long as it likes. The keeper holds it, also while relay itself stands still.
    pub total: Option<Duration>,
    /// Without printing anything; `None`: as long as it likes.
    pub idle: Option<Duration>,
    /// Between being asked to end (SIGTERM) and being ended (SIGKILL); ten minutes at most.
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
    /// The file; it is made with mode 0600 when it is needed, never over an existing one. Standard
    /// error, where it is apart, goes to one of its own, with `.stderr` added to the name.
    pub file: PathBuf,
    /// Bytes in it at most. A file that got full says so in its last line.
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
            held: None,
        }
    }

    /// Between SIGTERM and SIGKILL.
    pub(crate) fn grace(&self) -> Duration {
        self.deadlines.grace.min(MOST_GRACE)
    }

    /// Where it stands to a terminal.
    pub(crate) fn place(&self) -> Place {
        match self.output {
            Output::Apart | Output::Together => Place::Apart,
            Output::Pty { .. } => Place::Own,
            Output::Terminal | Output::Streams { .. } => Place::Users,
        }
    }

    /// What the keeper needs to know of it.
    pub(crate) fn order(&self) -> Order {
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let bytes = |name: &OsString| name.clone().into_vec();
        Order {
            words: self.program.words(),
            directory: self.directory.as_os_str().as_bytes().to_vec(),
            remove: self.environment.remove.iter().map(bytes).collect(),
            remove_prefixes: self.environment.remove_prefixes.clone(),
            set: self.environment.set.iter().map(|(name, value)| (bytes(name), bytes(value))).collect(),
            place: self.place(),
            total: self.deadlines.total.map(milliseconds),
            grace: milliseconds(self.grace()),
        }
    }
}
