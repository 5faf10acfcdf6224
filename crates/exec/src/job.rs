//! What to run, where, with what, for how long, and what to keep of its output.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::JobFence;
use crate::keeper::protocol::{JobTerminal, KeeperRequest};

/// The longest time between SIGTERM and SIGKILL. Who is asked to end and wants longer does not want to.
pub(crate) const MOST_GRACE: Duration = Duration::from_secs(600);

/// What runs a command line.
const SHELL: &str = "/bin/sh";

/// A process to run to its end.
#[derive(Debug, Clone)]
pub struct Job {
    /// What to run.
    pub command: JobCommand,
    /// The directory it runs in.
    pub directory: PathBuf,
    /// How its environment differs from ours.
    pub environment: JobEnvironment,
    /// What it reads.
    pub input: JobInput,
    /// Where its output goes.
    pub output: JobOutput,
    /// How long it may take.
    pub deadlines: Deadlines,
    /// How much of its output is kept.
    pub capture: CaptureLimits,
    /// Something that the keeper holds open for as long as the job, and whatever is left of it, lives: a lock, say,
    /// that others take for a sign of life even when relay itself is gone. The job does not get it.
    pub keep_open: Option<Arc<OwnedFd>>,
    /// What it may touch; `None`: whatever relay may. A fence that cannot be built is an error, and nothing ran.
    pub fence: Option<Box<JobFence>>,
}

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobCommand {
    /// A program by name or path, and its arguments. No shell is involved.
    Argv(Vec<OsString>),
    /// A command line of the project's configuration, for `sh -c`. Nothing else uses a shell.
    Shell(String),
}

impl JobCommand {
    /// What to call it in a message: its name, or the command line.
    pub fn name(&self) -> String {
        match self {
            JobCommand::Argv(_) => self.program_name(),
            JobCommand::Shell(line) => line.clone(),
        }
    }

    /// The program that is started.
    pub(crate) fn program_name(&self) -> String {
        match self {
            JobCommand::Argv(words) => {
                words.first().map_or(String::new(), |word| word.to_string_lossy().into())
            }
            JobCommand::Shell(_) => SHELL.to_string(),
        }
    }

    /// The program and its arguments, as bytes.
    fn argv(&self) -> Vec<Vec<u8>> {
        match self {
            JobCommand::Argv(words) => words.iter().map(|word| word.as_bytes().to_vec()).collect(),
            // `--`: a line may begin with a hyphen.
            JobCommand::Shell(line) => {
                [SHELL, "-c", "--", line].map(|word| word.as_bytes().to_vec()).to_vec()
            }
        }
    }
}

/// How a job's environment differs from relay's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobEnvironment {
    /// Variables that go, by exact name.
    pub remove: Vec<OsString>,
    /// Variables that go, by how their name begins.
    pub remove_prefixes: Vec<String>,
    /// Variables that are set, after the removals.
    pub set: Vec<(OsString, OsString)>,
}

/// What a job reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum JobInput {
    /// Nothing: `/dev/null`.
    #[default]
    Null,
    /// These bytes, then the end. At a terminal of its own they are typed once the program runs, and
    /// nothing more: who wants an end there types it (`\x04` at the beginning of a line).
    Bytes(Vec<u8>),
    /// What [`crate::Live::send`] gives it, until [`crate::Live::close_input`]. Only for a job that is
    /// [started](crate::Runner::start); one that is run to its end would wait for ever.
    Piped,
}

/// Where a job's output goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum JobOutput {
    /// Standard output and standard error apart.
    #[default]
    Separate,
    /// Both in one, in the order in which they were written; kept as standard output.
    Merged,
    /// A terminal of its own, of this size; kept as standard output. Input is typed into it.
    Pty { rows: u16, columns: u16 },
    /// The user's own terminal, for an editor or a pager: it reads and writes `/dev/tty`, in the
    /// foreground, and nothing is kept. What is typed there (Ctrl-C, Ctrl-Z) reaches relay as well: a
    /// caller that wants to outlive a Ctrl-C meant for the editor has to catch it. [`Job::input`] and
    /// [`Deadlines::idle`] mean nothing here.
    Terminal,
    /// relay's own standard streams, whatever they are, straight through and with nothing kept: as if the
    /// command had been started by hand in relay's place. If they are a terminal, all that is said of
    /// [`JobOutput::Terminal`] holds; and when the command stops itself, relay stops as well, so that the
    /// user's shell has its terminal back. [`Job::input`] and [`Deadlines::idle`] mean nothing here.
    Inherited {
        /// What it prints to standard output goes to relay's standard error: the other is for relay's own answer.
        stdout_to_stderr: bool,
    },
}

impl JobOutput {
    /// Whether relay sees nothing of it.
    pub(crate) fn is_passed_through(self) -> bool {
        matches!(self, JobOutput::Terminal | JobOutput::Inherited { .. })
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
pub struct CaptureLimits {
    /// Bytes of its beginning.
    pub head: usize,
    /// Bytes of its end.
    pub tail: usize,
    /// Where the whole output goes when it does not fit, and how much of it at most. Secrets in it are
    /// blacked out line by line.
    pub spill: Option<SpillTarget>,
}

/// A file for output that does not fit into memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpillTarget {
    /// The file; it is made with mode 0600 when it is needed, never over an existing one. Standard
    /// error, where it is apart, goes to one of its own, with `.stderr` added to the name.
    pub file: PathBuf,
    /// Bytes in it at most. A file that got full says so in its last line.
    pub max_bytes: u64,
}

impl Default for CaptureLimits {
    fn default() -> CaptureLimits {
        CaptureLimits { head: 64 << 10, tail: 192 << 10, spill: None }
    }
}

impl Job {
    /// A program with its arguments, nothing to read, output apart, no deadline.
    pub fn argv(words: impl IntoIterator<Item = impl Into<OsString>>, directory: impl Into<PathBuf>) -> Job {
        Job::new(JobCommand::Argv(words.into_iter().map(Into::into).collect()), directory.into())
    }

    /// A command line of the project's configuration: `sh -c`, output together.
    pub fn shell(line: &str, directory: impl Into<PathBuf>) -> Job {
        let job = Job::new(JobCommand::Shell(line.to_string()), directory.into());
        Job { output: JobOutput::Merged, ..job }
    }

    fn new(program: JobCommand, directory: PathBuf) -> Job {
        Job {
            command: program,
            directory,
            environment: JobEnvironment::default(),
            input: JobInput::default(),
            output: JobOutput::default(),
            deadlines: Deadlines::default(),
            capture: CaptureLimits::default(),
            keep_open: None,
            fence: None,
        }
    }

    /// Between SIGTERM and SIGKILL.
    pub(crate) fn grace(&self) -> Duration {
        self.deadlines.grace.min(MOST_GRACE)
    }

    /// Where it stands to a terminal.
    pub(crate) fn terminal(&self) -> JobTerminal {
        match self.output {
            JobOutput::Separate | JobOutput::Merged => JobTerminal::Apart,
            JobOutput::Pty { .. } => JobTerminal::Own,
            JobOutput::Terminal | JobOutput::Inherited { .. } => JobTerminal::Users,
        }
    }

    /// What the keeper needs to know of it.
    pub(crate) fn request(&self) -> KeeperRequest {
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let bytes = |name: &OsString| name.clone().into_vec();
        KeeperRequest {
            words: self.command.argv(),
            directory: self.directory.as_os_str().as_bytes().to_vec(),
            remove: self.environment.remove.iter().map(bytes).collect(),
            remove_prefixes: self.environment.remove_prefixes.clone(),
            set: self.environment.set.iter().map(|(name, value)| (bytes(name), bytes(value))).collect(),
            place: self.terminal(),
            total: self.deadlines.total.map(milliseconds),
            grace: milliseconds(self.grace()),
            fence: self.fence.clone(),
        }
    }
}
