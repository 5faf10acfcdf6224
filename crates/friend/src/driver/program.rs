//! Where a friend's program is, and which version of it.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use relaycode_clients::line_process::MAX_UNREAD_BYTES;
use relaycode_exec::{Deadlines, ExecError, ExitReason, Job, JobEnvironment, JobOutcome};
use relaycode_project::access::Access;

use super::{FriendVersion, TurnClock};
use crate::driver::stderr_tail::error_excerpt;
use crate::friend::request::GRACE;
use crate::{AskRequest, FriendContext, FriendFailure, FriendProbeReport, TurnResult};

/// How long a program may take to answer at once. A large one on a busy machine takes 7 s.
const CALL_TIMEOUT: Duration = Duration::from_secs(20);

/// Lines of a conversation that are no messages; a program that prints more of them does not hold one.
pub(crate) const MAX_INVALID_LINES: usize = 1_000;

/// Where a program is, in the world's `PATH`.
pub(crate) fn find_program(world: &FriendContext<'_>, name: &str) -> Option<PathBuf> {
    let path = (world.env_var)("PATH")?;
    let is_program = |file: &PathBuf| {
        file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    let mut folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    folders.find_map(|folder| Some(folder.join(name)).filter(is_program))
}

pub(crate) fn require_program(
    world: &FriendContext<'_>,
    friend: &str,
    name: &str,
    hint: &str,
) -> TurnResult<PathBuf> {
    let (friend, program, hint) = (friend.to_string(), name.to_string(), hint.to_string());
    find_program(world, name).ok_or(FriendFailure::NotInstalled { friend, program, hint })
}

/// Asks a program something that it answers at once. Not in the project, whose settings may name programs to run.
pub(crate) fn run_program(
    world: &FriendContext<'_>,
    words: impl IntoIterator<Item = OsString>,
    environment: JobEnvironment,
) -> Result<JobOutcome, ExecError> {
    let mut job = Job::argv(words, "/");
    job.environment = environment;
    job.deadlines = Deadlines { total: Some(CALL_TIMEOUT), idle: None, grace: GRACE };
    world.runner.run(&job, world.stop_requested, &mut |_| {})
}

pub(crate) fn program_version(
    world: &FriendContext<'_>,
    program: OsString,
    environment: JobEnvironment,
) -> Result<FriendVersion, String> {
    let finished =
        run_program(world, [program, "--version".into()], environment).map_err(|error| error.to_string())?;
    let printed = finished.stdout.text();
    let version = printed.split_whitespace().find_map(FriendVersion::parse);
    version.filter(|_| finished.reason.is_success()).ok_or_else(|| {
        match (finished.reason, error_excerpt(&finished.stderr.text(), |_| true)) {
            (ExitReason::DeadlinePassed, _) => format!("it took more than {} s", CALL_TIMEOUT.as_secs()),
            (_, said) if said.is_empty() => "it says nothing".to_string(),
            (_, said) => said,
        }
    })
}

/// What relay knows of a friend's program.
#[derive(Debug)]
pub(crate) struct ProgramProfile {
    pub(crate) name: &'static str,
    /// The oldest version that is used: the oldest with which its recipe was tested.
    pub(crate) oldest: FriendVersion,
    /// What to do when it is not there, or too old.
    pub(crate) install: &'static str,
    /// What to do when it is not signed in.
    pub(crate) sign_in: &'static str,
}

impl ProgramProfile {
    pub(crate) fn missing_report(&self) -> FriendProbeReport {
        FriendProbeReport {
            trouble: Some(format!("not installed; {}", self.install)),
            ..FriendProbeReport::default()
        }
    }

    /// It is at this place, in this version. Only of one that can be used it is asked whether it is signed in.
    pub(crate) fn installed_report(
        &self,
        found: String,
        version: Result<FriendVersion, String>,
        signed_in: impl FnOnce() -> Option<bool>,
    ) -> FriendProbeReport {
        let ProgramProfile { name, oldest, install, sign_in } = self;
        let (version, signed_in, trouble) = match version {
            Err(why) => (None, None, Some(format!("`{name} --version` does not say its version: {why}"))),
            Ok(version) if version < *oldest => {
                (Some(version), None, Some(format!("too old: relay knows {oldest} and later; {install}")))
            }
            Ok(version) => {
                let signed_in = signed_in();
                let trouble = (signed_in == Some(false)).then(|| format!("not signed in; {sign_in}"));
                (Some(version), signed_in, trouble)
            }
        };
        let version = version.map(|version| version.to_string());
        FriendProbeReport { found: Some(found), version, signed_in, models: None, trouble }
    }

    pub(crate) fn failed(&self, said: impl Into<String>) -> FriendFailure {
        FriendFailure::Failed { friend: self.name.to_string(), said: said.into() }
    }

    pub(crate) fn not_signed_in(&self, said: impl Into<String>) -> FriendFailure {
        let (friend, hint) = (self.name.to_string(), self.sign_in.to_string());
        FriendFailure::NotSignedIn { friend, said: said.into(), hint }
    }

    pub(crate) fn unreachable(&self, said: impl Into<String>) -> FriendFailure {
        FriendFailure::Unreachable { friend: self.name.to_string(), said: said.into() }
    }

    pub(crate) fn unsupported(&self, what: impl Into<String>) -> FriendFailure {
        FriendFailure::Unsupported { friend: self.name.to_string(), what: what.into() }
    }

    pub(crate) fn access_mismatch(&self, wanted: Access, got: impl Into<String>) -> FriendFailure {
        FriendFailure::AccessMismatch { friend: self.name.to_string(), wanted, got: got.into() }
    }

    pub(crate) fn unknown_session(&self, id: &str) -> FriendFailure {
        FriendFailure::UnknownSession { friend: self.name.to_string(), id: id.to_string() }
    }

    pub(crate) fn exec_failure(&self, source: ExecError) -> FriendFailure {
        let friend = self.name.to_string();
        match source {
            ExecError::NotFound { program } => {
                FriendFailure::NotInstalled { friend, program, hint: self.install.to_string() }
            }
            source => FriendFailure::Exec { friend, source },
        }
    }

    pub(crate) fn unknown_version(&self, said: impl Into<String>) -> FriendFailure {
        let (friend, hint) = (self.name.to_string(), self.install.to_string());
        FriendFailure::UnknownVersion { friend, said: said.into(), hint }
    }

    pub(crate) fn input_stalled(&self) -> FriendFailure {
        FriendFailure::InputStalled { friend: self.name.to_string(), most: MAX_UNREAD_BYTES }
    }

    /// Refuses one that is too old.
    pub(crate) fn check_version(&self, found: FriendVersion) -> TurnResult<()> {
        if found >= self.oldest {
            return Ok(());
        }
        let (friend, oldest) = (self.name.to_string(), self.oldest.to_string());
        Err(FriendFailure::TooOld { friend, found: found.to_string(), oldest })
    }

    /// Refuses one that is too old or does not say how old it is, by what its program answers: before a way is taken
    /// on which it does not say so by itself.
    pub(crate) fn check_program(
        &self,
        program: OsString,
        environment: JobEnvironment,
        request: &AskRequest,
        world: &FriendContext<'_>,
    ) -> TurnResult<()> {
        let found = program_version(world, program, environment);
        // That it was broken off is no fault of the program's.
        let clock = TurnClock::new(self.name, request.limits);
        match clock.check_expired(world.stop_requested, String::new) {
            Some(failure) => Err(failure),
            None => self.check_version(found.map_err(|said| self.unknown_version(said))?),
        }
    }
}

/// A friend's program: the one in PATH, or one at a place.
#[derive(Debug)]
pub(crate) struct FriendProgram {
    name: &'static str,
    path: Option<PathBuf>,
}

impl FriendProgram {
    pub(crate) const fn in_path(name: &'static str) -> FriendProgram {
        FriendProgram { name, path: None }
    }

    pub(crate) fn with_path(name: &'static str, place: &Path) -> FriendProgram {
        FriendProgram { name, path: Some(place.to_path_buf()) }
    }

    /// The first word of its command line.
    pub(crate) fn argv0(&self) -> OsString {
        self.path.as_ref().map_or_else(|| self.name.into(), |place| place.clone().into())
    }

    pub(crate) fn find(&self, world: &FriendContext<'_>) -> Option<PathBuf> {
        match &self.path {
            Some(place) => place.is_file().then(|| place.clone()),
            None => find_program(world, self.name),
        }
    }

    /// The same, or that it is missing; `install` says what to do then.
    pub(crate) fn require(&self, world: &FriendContext<'_>, install: &str) -> TurnResult<()> {
        let program = self.argv0().to_string_lossy().into_owned();
        let (friend, hint) = (self.name.to_string(), install.to_string());
        self.find(world).map(drop).ok_or(FriendFailure::NotInstalled { friend, program, hint })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: ProgramProfile = ProgramProfile {
        name: "codex",
        oldest: FriendVersion::new(0, 154, 0),
        install: "install it",
        sign_in: "sign in",
    };

    #[test]
    fn what_is_in_the_way_of_using_a_program_is_said_with_what_to_do() {
        let there = |version: Result<FriendVersion, String>, signed_in| {
            let presence = KNOWN.installed_report("/bin/codex".to_string(), version, || signed_in);
            presence.trouble.unwrap_or_default()
        };
        let new = || Ok(FriendVersion::new(0, 166, 0));
        assert_eq!(KNOWN.missing_report().trouble.as_deref(), Some("not installed; install it"));
        assert_eq!(
            there(Ok(FriendVersion::new(0, 99, 1)), None),
            "too old: relay knows 0.154.0 and later; install it"
        );
        let said = "`codex --version` does not say its version: it says nothing";
        assert_eq!(there(Err("it says nothing".to_string()), None), said);
        assert_eq!(there(new(), Some(false)), "not signed in; sign in");
        assert_eq!((there(new(), Some(true)), there(new(), None)), (String::new(), String::new()));
    }

    #[test]
    fn one_that_is_too_old_is_refused() {
        assert!(matches!(
            KNOWN.check_version(FriendVersion::new(0, 99, 1)),
            Err(FriendFailure::TooOld { .. })
        ));
        assert!(KNOWN.check_version(KNOWN.oldest).is_ok());
    }
}
