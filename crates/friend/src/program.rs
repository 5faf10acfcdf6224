//! Where a friend's program is, and which version of it.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use relaycode_clients::lines::MOST_UNREAD;
use relaycode_exec::{Deadlines, End, Environment, ExecError, Finished, Job};

use crate::clock::Clock;
use crate::failure::Failure;
use crate::friend::Presence;
use crate::last_words::last_words;
use crate::turn::{GRACE, Turn};
use crate::version::Version;
use crate::world::World;

/// How long a program may take to answer at once. A large one on a busy machine takes 7 s.
const MOST: Duration = Duration::from_secs(20);

/// Lines of a conversation that are no messages; a program that prints more of them does not hold one.
pub(crate) const MOST_GARBAGE: usize = 1_000;

/// Where a program is, in the world's `PATH`.
pub(crate) fn find(world: &World<'_>, name: &str) -> Option<PathBuf> {
    let path = (world.variable)("PATH")?;
    std::env::split_paths(&path).filter(|folder| folder.is_absolute()).map(|folder| folder.join(name)).find(
        |file| file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0),
    )
}

/// The same, or that it is missing.
pub(crate) fn needed(world: &World<'_>, friend: &str, name: &str, hint: &str) -> Result<PathBuf, Failure> {
    find(world, name).ok_or_else(|| Failure::Missing {
        friend: friend.to_string(),
        program: name.to_string(),
        hint: hint.to_string(),
    })
}

/// Asks a program something that it answers at once. Not in the project, whose settings may name programs to run.
pub(crate) fn call(
    world: &World<'_>,
    words: impl IntoIterator<Item = OsString>,
    environment: Environment,
) -> Result<Finished, ExecError> {
    let mut job = Job::argv(words, "/");
    job.environment = environment;
    job.deadlines = Deadlines { total: Some(MOST), idle: None, grace: GRACE };
    world.runner.run(&job, world.stop, &mut |_| {})
}

/// The version that a program says it has, or why it is not known.
pub(crate) fn version(
    world: &World<'_>,
    program: OsString,
    environment: Environment,
) -> Result<Version, String> {
    let finished =
        call(world, [program, "--version".into()], environment).map_err(|error| error.to_string())?;
    let printed = finished.stdout.text();
    let version = printed.split_whitespace().find_map(Version::read);
    version.filter(|_| finished.end.is_success()).ok_or_else(|| {
        match (finished.end, last_words(&finished.stderr.text(), |_| true)) {
            (End::DeadlinePassed, _) => format!("it took more than {} s", MOST.as_secs()),
            (_, said) if said.is_empty() => "it says nothing".to_string(),
            (_, said) => said,
        }
    })
}

/// What relay knows of a friend's program.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) name: &'static str,
    /// The oldest version that is used: the oldest with which its recipe was tested.
    pub(crate) oldest: Version,
    /// What to do when it is not there, or too old.
    pub(crate) install: &'static str,
    /// What to do when it is not signed in.
    pub(crate) sign_in: &'static str,
}

impl Known {
    /// It is not there.
    pub(crate) fn absent(&self) -> Presence {
        Presence { trouble: Some(format!("not installed; {}", self.install)), ..Presence::default() }
    }

    /// It is at this place, in this version. Only of one that can be used it is asked whether it is signed in.
    pub(crate) fn there(
        &self,
        found: String,
        version: Result<Version, String>,
        signed_in: impl FnOnce() -> Option<bool>,
    ) -> Presence {
        let Known { name, oldest, install, sign_in } = self;
        let mut presence = Presence { found: Some(found), ..Presence::default() };
        match version {
            Err(why) => {
                presence.trouble = Some(format!("`{name} --version` does not say its version: {why}"));
            }
            Ok(version) if version < *oldest => {
                presence.version = Some(version.to_string());
                presence.trouble = Some(format!("too old: relay knows {oldest} and later; {install}"));
            }
            Ok(version) => {
                presence.version = Some(version.to_string());
                presence.signed_in = signed_in();
                if presence.signed_in == Some(false) {
                    presence.trouble = Some(format!("not signed in; {sign_in}"));
                }
            }
        }
        presence
    }

    /// It failed, and said this.
    pub(crate) fn failed(&self, said: impl Into<String>) -> Failure {
        Failure::Failed { friend: self.name.to_string(), said: said.into() }
    }

    /// It is not signed in, and said this.
    pub(crate) fn not_signed_in(&self, said: impl Into<String>) -> Failure {
        let (friend, hint) = (self.name.to_string(), self.sign_in.to_string());
        Failure::NotSignedIn { friend, said: said.into(), hint }
    }

    /// It does not reach its server, and said this.
    pub(crate) fn unreachable(&self, said: impl Into<String>) -> Failure {
        Failure::Unreachable { friend: self.name.to_string(), said: said.into() }
    }

    /// It cannot do this.
    pub(crate) fn cannot(&self, what: impl Into<String>) -> Failure {
        Failure::Cannot { friend: self.name.to_string(), what: what.into() }
    }

    /// It does not know the session.
    pub(crate) fn no_session(&self, id: &str) -> Failure {
        Failure::NoSession { friend: self.name.to_string(), id: id.to_string() }
    }

    /// It could not be started or watched.
    pub(crate) fn not_run(&self, source: ExecError) -> Failure {
        let friend = self.name.to_string();
        match source {
            ExecError::NotFound { program } => {
                Failure::Missing { friend, program, hint: self.install.to_string() }
            }
            source => Failure::Exec { friend, source },
        }
    }

    /// It does not say which version it is, and said this.
    pub(crate) fn no_version(&self, said: impl Into<String>) -> Failure {
        let (friend, hint) = (self.name.to_string(), self.install.to_string());
        Failure::NoVersion { friend, said: said.into(), hint }
    }

    /// It asks and asks, and does not read the answers.
    pub(crate) fn not_reading(&self) -> Failure {
        Failure::NotReading { friend: self.name.to_string(), most: MOST_UNREAD }
    }

    /// Refuses one that is too old.
    pub(crate) fn check(&self, found: Version) -> Result<(), Failure> {
        if found >= self.oldest {
            return Ok(());
        }
        let (friend, oldest) = (self.name.to_string(), self.oldest.to_string());
        Err(Failure::TooOld { friend, found: found.to_string(), oldest })
    }

    /// Refuses one that is too old or does not say how old it is, by what its program answers: before a way is taken
    /// on which it does not say so by itself.
    pub(crate) fn check_program(
        &self,
        program: OsString,
        environment: Environment,
        turn: &Turn,
        world: &World<'_>,
    ) -> Result<(), Failure> {
        let found = version(world, program, environment);
        // That it was broken off is no fault of the program's.
        if let Some(failure) = Clock::new(self.name, turn.limits).over(world.stop, String::new) {
            return Err(failure);
        }
        match found {
            Ok(found) => self.check(found),
            Err(said) => Err(self.no_version(said)),
        }
    }
}

/// A friend's program: the one in PATH, or one at a place.
#[derive(Debug)]
pub(crate) struct Program {
    name: &'static str,
    place: Option<PathBuf>,
}

impl Program {
    pub(crate) const fn in_path(name: &'static str) -> Program {
        Program { name, place: None }
    }

    pub(crate) fn at(name: &'static str, place: &Path) -> Program {
        Program { name, place: Some(place.to_path_buf()) }
    }

    /// The first word of its command line.
    pub(crate) fn word(&self) -> OsString {
        self.place.as_ref().map_or_else(|| self.name.into(), |place| place.clone().into())
    }

    /// Where it is.
    pub(crate) fn find(&self, world: &World<'_>) -> Option<PathBuf> {
        match &self.place {
            Some(place) => place.is_file().then(|| place.clone()),
            None => find(world, self.name),
        }
    }

    /// The same, or that it is missing; `install` says what to do then.
    pub(crate) fn needed(&self, world: &World<'_>, install: &str) -> Result<(), Failure> {
        match self.find(world) {
            Some(_) => Ok(()),
            None => Err(Failure::Missing {
                friend: self.name.to_string(),
                program: self.word().to_string_lossy().into_owned(),
                hint: install.to_string(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: Known =
        Known { name: "codex", oldest: Version::new(0, 154, 0), install: "install it", sign_in: "sign in" };

    #[test]
    fn what_is_in_the_way_of_using_a_program_is_said_with_what_to_do() {
        let there = |version: Result<Version, String>, signed_in| {
            let presence = KNOWN.there("/bin/codex".to_string(), version, || signed_in);
            presence.trouble.unwrap_or_default()
        };
        let new = || Ok(Version::new(0, 166, 0));
        assert_eq!(KNOWN.absent().trouble.as_deref(), Some("not installed; install it"));
        assert_eq!(
            there(Ok(Version::new(0, 99, 1)), None),
            "too old: relay knows 0.154.0 and later; install it"
        );
        let said = "`codex --version` does not say its version: it says nothing";
        assert_eq!(there(Err("it says nothing".to_string()), None), said);
        assert_eq!(there(new(), Some(false)), "not signed in; sign in");
        assert_eq!((there(new(), Some(true)), there(new(), None)), (String::new(), String::new()));
    }

    #[test]
    fn one_that_is_too_old_is_refused() {
        assert!(matches!(KNOWN.check(Version::new(0, 99, 1)), Err(Failure::TooOld { .. })));
        assert!(KNOWN.check(KNOWN.oldest).is_ok());
    }
}
