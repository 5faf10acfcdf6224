//! What went wrong, where, what to do next, and the state the project is in; and the exit code that
//! says so to a script.
//!
//! Library errors become a [`CommandFailure`] here. Its texts are plain and may quote foreign text: whoever
//! prints one escapes it.

mod ledger;

use std::fmt::Display;
use std::process::ExitCode;

use relaycode_change::response::ResponseError;
use relaycode_project::config::ConfigError;
use relaycode_project::root::RootError;
use serde::Serialize;

/// How relay ends. The numbers never change their meaning; `docs/exit-codes.md` lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done; also when everything was already in.
    Done = 0,
    /// Something unexpected: a bug, or the system.
    Unexpected = 1,
    /// Wrong usage, or a broken configuration.
    Usage = 2,
    /// The answer does not match, is ambiguous, or breaks a rule. Nothing was changed.
    Refused = 3,
    /// A person said no. Nothing was changed.
    Declined = 4,
    /// The gate failed. Everything was put back.
    GateFailed = 5,
    /// Somebody's edits are in the way, or a recovery left files alone.
    NeedsYou = 6,
    /// The project's commands are not trusted yet.
    NotTrusted = 7,
    /// The change is in the ledger already.
    AlreadyProcessed = 8,
    /// Applied, but the disk reported an error afterwards.
    DiskDoubt = 9,
    /// A friend or a provider failed.
    FriendFailed = 10,
    /// A friend or a provider gave no answer.
    NoAnswer = 11,
    /// A friend or a provider ran out of time.
    TimedOut = 12,
    /// A person has to decide and there is nobody to ask.
    NobodyToAsk = 13,
    /// A review came back with findings that block.
    Findings = 20,
    /// The user or the system asked to stop.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// The state that a failure leaves the project in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ProjectState {
    /// Nothing was changed.
    Unchanged,
    /// Something had been changed, and everything was put back.
    PutBack,
    /// Some files could not be put back.
    LeftAlone,
    /// Files are partly as before and partly as after, until a recovery gets through.
    HalfWay,
    /// The change is in place and recorded.
    Committed,
}

impl ProjectState {
    /// Nothing is left of it: because it never was there, or because it was put back.
    pub(crate) fn after(put_back: bool) -> ProjectState {
        if put_back { ProjectState::PutBack } else { ProjectState::Unchanged }
    }

    /// As a clause, for people.
    pub(crate) fn clause(self) -> &'static str {
        match self {
            ProjectState::Unchanged => "nothing was changed",
            ProjectState::PutBack => "everything was put back",
            ProjectState::LeftAlone => "everything else was put back",
            ProjectState::HalfWay => "files may be partly changed",
            ProjectState::Committed => "the change is in place",
        }
    }
}

/// A command that could not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CommandFailure {
    /// A stable name.
    pub(crate) kind: &'static str,
    /// What happened, as a sentence without a full stop.
    pub(crate) message: String,
    /// What to do next.
    pub(crate) hint: Option<String>,
    /// A file, or a file and a line.
    #[serde(rename = "where")]
    pub(crate) place: Option<String>,
    /// The state the project is in, where that is to be said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<ProjectState>,
    /// The files it is about, where there may be several.
    #[serde(skip_serializing_if = "<[FailureDetail]>::is_empty")]
    pub(crate) files: Box<[FailureDetail]>,
    /// How relay ends because of it.
    #[serde(skip)]
    pub(crate) exit: Exit,
}

/// What a command ends with, or what one of its steps makes.
pub(crate) type CommandResult<T = Exit> = Result<T, CommandFailure>;

/// One file that a failure is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct FailureDetail {
    /// The file.
    pub(crate) path: String,
    /// The stable name of the rule that stands against it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rule: Option<&'static str>,
    /// The rest of a sentence that begins with the file's name.
    pub(crate) message: String,
    /// Where other bytes of it are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kept: Option<String>,
    /// The places in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) regions: Vec<FailureRegion>,
}

impl FailureDetail {
    pub(crate) fn new(path: String, message: String) -> FailureDetail {
        FailureDetail { path, message, ..FailureDetail::default() }
    }
}

/// A place of a file that a revert would have to overwrite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct FailureRegion {
    /// Its first line in the file as it is now, from 1.
    pub(crate) line: usize,
    /// What stands there.
    pub(crate) now: Vec<String>,
    /// What the revert would put there.
    pub(crate) reverted: Vec<String>,
}

impl From<ConfigError> for CommandFailure {
    fn from(error: ConfigError) -> CommandFailure {
        let place =
            if error.line == 0 { error.file.clone() } else { format!("{}:{}", error.file, error.line) };
        let failure = CommandFailure::new(Exit::Usage, error.kind.as_str(), &error.what).place(place);
        // A sentence of its own there, the end of one here.
        let hint =
            error.hint.chars().enumerate().map(|(at, c)| if at == 0 { c.to_ascii_lowercase() } else { c });
        if error.hint.is_empty() { failure } else { failure.hint(hint.collect::<String>()) }
    }
}

impl From<RootError> for CommandFailure {
    fn from(error: RootError) -> CommandFailure {
        CommandFailure::from(&error)
    }
}

impl From<&RootError> for CommandFailure {
    fn from(error: &RootError) -> CommandFailure {
        let (hint, state) = match error {
            RootError::Start { .. } => ("give the project's directory with `-C DIR`", None),
            RootError::FileSystem | RootError::UserHome(_) => {
                ("go to your project's directory, or name it with `-C DIR`", Some(ProjectState::Unchanged))
            }
            RootError::HoldsRelayHome { .. } => {
                ("set RELAY_HOME to a directory outside of it", Some(ProjectState::Unchanged))
            }
        };
        CommandFailure { state, ..CommandFailure::usage(error).hint(hint) }
    }
}

impl CommandFailure {
    pub(crate) fn new(exit: Exit, kind: &'static str, message: impl Display) -> CommandFailure {
        let (message, hint, place, state) = (message.to_string(), None, None, None);
        CommandFailure { kind, message, hint, place, state, files: Box::default(), exit }
    }

    /// The command line, or what it names, is wrong.
    pub(crate) fn usage(message: impl Display) -> CommandFailure {
        CommandFailure::new(Exit::Usage, "usage", message)
    }

    /// The answer cannot be used.
    pub(crate) fn refused(kind: &'static str, message: impl Display) -> CommandFailure {
        CommandFailure::new(Exit::Refused, kind, message).unchanged()
    }

    /// Somebody said no.
    pub(crate) fn declined(message: &str) -> CommandFailure {
        CommandFailure::new(Exit::Declined, "declined", message).unchanged()
    }

    /// Somebody broke it off.
    pub(crate) fn interrupted() -> CommandFailure {
        CommandFailure::new(Exit::Interrupted, "interrupted", "interrupted")
    }

    /// The system failed.
    pub(crate) fn unexpected(message: impl Display) -> CommandFailure {
        CommandFailure::new(Exit::Unexpected, "unexpected", message)
    }

    /// Adds what to do next.
    pub(crate) fn hint(self, hint: impl Display) -> CommandFailure {
        CommandFailure { hint: Some(hint.to_string()), ..self }
    }

    /// Adds where it happened.
    pub(crate) fn place(self, place: impl Display) -> CommandFailure {
        CommandFailure { place: Some(place.to_string()), ..self }
    }

    /// Adds the state the project is in.
    pub(crate) fn with_state(self, state: ProjectState) -> CommandFailure {
        CommandFailure { state: Some(state), ..self }
    }

    /// Adds that nothing was changed.
    pub(crate) fn unchanged(self) -> CommandFailure {
        self.with_state(ProjectState::Unchanged)
    }

    /// Adds the files it is about.
    pub(crate) fn with_files(self, files: impl IntoIterator<Item = FailureDetail>) -> CommandFailure {
        CommandFailure { files: files.into_iter().collect(), ..self }
    }
}

impl From<ResponseError> for CommandFailure {
    fn from(error: ResponseError) -> CommandFailure {
        let name = match error {
            ResponseError::TooLong { .. } => "text",
            ResponseError::TooManyFiles { .. } => "files",
            ResponseError::TooManyHunks { .. } => "hunks",
            ResponseError::TooManyBlocks | ResponseError::TooManyLines => {
                let hint = "ask for the change in several answers";
                return CommandFailure::refused("limit", error).hint(hint);
            }
            ResponseError::TooManyAnswers => {
                let hint = "give them in several files";
                return CommandFailure::refused("limit", error).hint(hint);
            }
        };
        crate::answer::limit::limit_failure(name, error)
    }
}
