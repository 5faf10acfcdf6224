//! Where a friend's program is, and which version of it.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use relaycode_exec::Job;

use crate::failure::Failure;
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
    let word = said.split_whitespace().find(|word| numbers(word).is_some())?;
    finished.end.is_success().then(|| word.trim_start_matches('v').to_string())
}

/// Whether a version is not older than another. One that cannot be read is.
pub(crate) fn is_at_least(found: &str, oldest: &str) -> bool {
    match (numbers(found), numbers(oldest)) {
        (Some(found), Some(oldest)) => found >= oldest,
        _ => false,
    }
}

fn numbers(version: &str) -> Option<[u64; 3]> {
    let version = version.trim_start_matches('v').split(['-', '+']).next()?;
    let mut parts = version.split('.').map(|part| part.parse::<u64>().ok());
    Some([parts.next()??, parts.next()??, parts.next().unwrap_or(Some(0))?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        assert!(is_at_least("0.61.0", "0.61.0") && is_at_least("v1.2", "0.61.0"));
        assert!(is_at_least("0.100.0-preview.1", "0.61.0"));
        assert!(!is_at_least("0.9.12", "0.61.0") && !is_at_least("latest", "0.1.0"));
    }
}
