//! strace: lists the calls of a run, and ends or fails it at any one of them.
//!
//! `when` counts per call name and per thread, so a call is named by both, as in `renameat2@3`.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::str::FromStr;

use anyhow::{Context, bail};

use super::relay::{self, Do, Ran};

/// Calls that change something, or that decide what is changed.
pub(super) const CHANGING: &[&str] = &[
    "openat",
    "openat2",
    "open",
    "creat",
    "write",
    "pwrite64",
    "writev",
    "fsync",
    "fdatasync",
    "syncfs",
    "sync",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "mkdir",
    "mkdirat",
    "rmdir",
    "chmod",
    "fchmod",
    "fchmodat",
    "chown",
    "fchown",
    "fchownat",
    "setxattr",
    "fsetxattr",
    "ftruncate",
    "flock",
    "link",
    "linkat",
    "symlinkat",
    "utimensat",
    "copy_file_range",
    "sendfile",
    "exit_group",
];

/// Read-only calls, which may fail too.
pub(super) const READING: &[&str] = &[
    "read",
    "pread64",
    "statx",
    "newfstatat",
    "fstat",
    "getdents64",
    "fgetxattr",
    "flistxattr",
    "lseek",
    "fstatfs",
    "statfs",
];

/// Its name, and its number among calls of that name, from 1.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) number: usize,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.name, self.number)
    }
}

impl FromStr for Call {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Call> {
        let (name, number) = text.split_once('@').with_context(|| format!("`{text}` is no call"))?;
        Ok(Call { name: name.to_owned(), number: number.parse()? })
    }
}

/// What is done to a run at a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Injury {
    /// SIGKILL before the call takes place.
    Kill,
    /// The call does not take place and returns this error.
    Fail(String),
}

/// Why strace cannot be used here.
pub(super) fn missing() -> Option<String> {
    if Command::new("strace").arg("-V").output().is_err() {
        return Some("strace is not installed".to_owned());
    }
    let works = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).status();
    (!works.is_ok_and(|status| status.success())).then(|| "strace may not trace here (ptrace)".to_owned())
}

/// The calls among `names` that a run makes from the moment when it first names its room. What the loader
/// does before is not our state.
pub(super) fn calls(
    relay: &Path,
    room: &Path,
    what: &Do,
    names: &[&[&str]],
) -> anyhow::Result<(Vec<Call>, Ran)> {
    let trace = room.join("trace");
    let mut command = strace(names);
    command.arg("-o").arg(&trace).arg("--").arg(relay).args(what.args(room));
    relay::in_room(&mut command, room);
    let ran = relay::finish(command, room)?;
    let text = fs::read(&trace).context("strace wrote nothing")?;
    let calls = parse(&String::from_utf8_lossy(&text), &room.display().to_string());
    if calls.is_empty() {
        bail!("the run never names its directory: {}", ran.told());
    }
    Ok((calls, ran))
}

/// Runs the binary with an injury at a call.
pub(super) fn injured(
    relay: &Path,
    room: &Path,
    what: &Do,
    call: &Call,
    injury: &Injury,
) -> anyhow::Result<Ran> {
    let action = match injury {
        Injury::Kill => "signal=SIGKILL".to_owned(),
        Injury::Fail(error) => format!("error={error}"),
    };
    let mut command = strace(&[&[call.name.as_str()]]);
    command.args(["-o", "/dev/null", "-e"]);
    command.arg(format!("inject={}:{action}:when={}", call.name, call.number));
    command.arg("--").arg(relay).args(what.args(room));
    relay::in_room(&mut command, room);
    relay::finish(command, room)
}

/// Only the first thread is followed: it does all the writing, and a `git` that it starts must not use up
/// the count.
fn strace(names: &[&[&str]]) -> Command {
    let mut command = Command::new("strace");
    let set: Vec<String> = names.concat().iter().map(|name| format!("?{name}")).collect();
    command.args(["-qq", "-s", "4096", "-e", &format!("trace={}", set.join(",")), "-e", "signal=none"]);
    command
}

/// Absolute paths outside the room are reads of the system's own files.
fn parse(trace: &str, room: &str) -> Vec<Call> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut found = Vec::new();
    let mut inside = false;
    for line in trace.lines() {
        let Some((name, rest)) = line.split_once('(') else { continue };
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            continue;
        }
        let number = counts.entry(name).or_insert(0);
        *number += 1;
        inside |= rest.contains(room);
        let elsewhere = rest.split('"').nth(1).is_some_and(|path| {
            path.starts_with('/') && !path.starts_with(room) && name != "write" && !name.ends_with("xattr")
        });
        if inside && !elsewhere {
            found.push(Call { name: name.to_owned(), number: *number });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_the_loader_count_but_are_not_taken() {
        let trace = "openat(AT_FDCWD, \"/etc/ld.so.cache\", O_RDONLY) = 3\n\
                     openat(AT_FDCWD, \"/r/project\", O_RDONLY) = 3\n\
                     openat(AT_FDCWD, \"/proc/self/maps\", O_RDONLY) = 4\n\
                     renameat2(3, \"a\", 3, \"b\", RENAME_EXCHANGE) = 0\n\
                     openat(3, \"x(\", O_RDONLY) = 4\n\
                     +++ exited with 0 +++\n";
        let calls: Vec<String> = parse(trace, "/r").iter().map(ToString::to_string).collect();
        assert_eq!(calls, ["openat@2", "renameat2@1", "openat@4"]);
        assert_eq!("openat@4".parse::<Call>().unwrap().to_string(), "openat@4");
        assert!("openat".parse::<Call>().is_err());
    }
}
