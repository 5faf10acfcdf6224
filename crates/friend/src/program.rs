//! Where a friend's program is, and which version of it.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use relaycode_exec::Job;

use crate::failure::Failure;
use crate::version::Version;
use crate::world::World;

/// How long a program may take to say its version.
const VERSION_LIMIT: Duration = Duration::from_secs(30);

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

/// The version that a program says it has.
pub(crate) fn version(world: &World<'_>, program: &Path, more: &[(OsString, OsString)]) -> Option<String> {
    let mut job = Job::argv([program.as_os_str(), "--version".as_ref()], "/");
    job.environment = world.environment();
    job.environment.set.extend(more.iter().cloned());
    job.deadlines.total = Some(VERSION_LIMIT);
    let finished = world.runner.run(&job, world.stop, &mut |_| {}).ok()?;
    let said = finished.stdout.text();
    let word = said.split_whitespace().find(|word| Version::read(word).is_some())?;
    finished.end.is_success().then(|| word.trim_start_matches('v').to_string())
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

    /// Where it is, as far as that can be told.
    pub(crate) fn found(&self, world: &World<'_>) -> String {
        let found = self.place.clone().or_else(|| find(world, self.name));
        found.map_or_else(|| self.name.to_string(), |file| file.display().to_string())
    }
}
