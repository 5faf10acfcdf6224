//! Which programs a run starts, as the kernel sees it, and which of them relay may start.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use super::relay::{self, Ran};

/// One program that somebody tried to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Exec {
    /// As passed to the kernel.
    pub(super) path: String,
    /// As strace prints them.
    pub(super) words: Vec<String>,
}

/// The programs that may be started without trust.
pub(super) struct Allowed {
    relay: String,
    git: String,
    /// Where git keeps its own parts.
    parts: String,
}

impl Allowed {
    /// relay at this path, and the machine's git.
    pub(super) fn new(relay: &Path) -> anyhow::Result<Allowed> {
        let git = on_path("git").context("there is no git")?;
        let parts = Command::new(&git).arg("--exec-path").output()?;
        let parts = String::from_utf8_lossy(&parts.stdout).trim().to_owned();
        Ok(Allowed { relay: relay.display().to_string(), git: git.display().to_string(), parts })
    }

    /// Whether relay may start this without trust; the error says what is wrong with it.
    pub(super) fn judge(&self, exec: &Exec) -> anyhow::Result<()> {
        // Only relay itself starts itself so: what it enters a fence with.
        let enters_fence =
            exec.path == "/proc/self/exe" && exec.words.get(1).is_some_and(|word| word == "__fence");
        if exec.path == self.relay || enters_fence {
            return Ok(());
        }
        if PathBuf::from(&exec.path).starts_with(&self.parts) {
            return Ok(());
        }
        ensure!(exec.path == self.git, "{} was started: {:?}", exec.path, exec.words);
        let has = |word: &str| exec.words.iter().any(|own| own == word);
        let mut needed = vec!["--no-pager", "core.fsmonitor=false", "gc.auto=0", "maintenance.auto=false"];
        // Only a commit of trusted content runs with hooks.
        if !has("--only") {
            needed.extend([
                "safe.bareRepository=explicit",
                "core.attributesFile=/dev/null",
                "diff.external=",
            ]);
        }
        match needed.iter().find(|word| !has(word)) {
            Some(missing) => bail!("git was called without {missing}: {:?}", exec.words),
            None => Ok(()),
        }
    }
}

/// Runs relay in `directory`, and lists every program that it and its descendants tried to start.
pub(super) fn logged(
    relay: &Path,
    room: &Path,
    directory: &Path,
    path: &str,
    words: &[String],
) -> anyhow::Result<(Vec<Exec>, Ran)> {
    let trace = room.join("trace");
    // By its absolute path: the PATH of the run may be a trap.
    let mut command = Command::new(on_path("strace").context("strace is not installed")?);
    command.args(["-f", "-qq", "-s", "4096", "--seccomp-bpf"]);
    command.args(["-e", "trace=execve,execveat", "-e", "signal=none", "-o"]);
    command.arg(&trace).arg("--").arg(relay).args(words);
    relay::in_room(&mut command, room);
    command.current_dir(directory).env("PATH", path);
    let ran = relay::finish(command, room)?;
    let text = fs::read(&trace).context("strace wrote nothing")?;
    Ok((parse(&String::from_utf8_lossy(&text))?, ran))
}

/// A program of the machine.
fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).filter(|place| place.is_absolute());
    places.map(|place| place.join(name)).find(|file| file.is_file())
}

/// The programs in a log. An unfinished call counts as well.
fn parse(trace: &str) -> anyhow::Result<Vec<Exec>> {
    let mut found = Vec::new();
    for line in trace.lines() {
        if line.contains("execveat(") && !line.contains("resumed>") {
            bail!("a program was started by a descriptor: {line}");
        }
        let Some((_, rest)) = line.split_once("execve(\"") else { continue };
        let (path, rest) = rest.split_once('"').with_context(|| format!("no path in {line}"))?;
        let rest = rest.trim_start_matches(", ");
        let words = rest.strip_prefix('[').map(strings).unwrap_or_default();
        found.push(Exec { path: path.to_owned(), words });
    }
    Ok(found)
}

/// The strings of a list, up to its end.
fn strings(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (&mut word, c) {
            (None, '"') => word = Some(String::new()),
            (None, ']') => break,
            (None, _) => {}
            (Some(own), '\\') => {
                own.push('\\');
                own.extend(chars.next());
            }
            (Some(_), '"') => words.extend(word.take()),
            (Some(own), c) => own.push(c),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_gives_every_program_that_was_tried() {
        let log = "12 execve(\"/r/relay\", [\"relay\", \"log\"], 0x7ffd /* 5 vars */) = 0\n\
                   13 execve(\"./git\", [\"git\", \"a\\\"b]\", \"c\"], 0x1 /* 5 vars */ <unfinished ...>\n\
                   13 <... execve resumed>)             = -1 ENOENT (No such file)\n";
        let execs = parse(log).unwrap();
        assert_eq!(execs.len(), 2);
        assert_eq!((execs[1].path.as_str(), execs[1].words.len()), ("./git", 3));
        assert_eq!(execs[1].words[1], "a\\\"b]");
        assert!(parse("1 execveat(3, \"\", [\"x\"], 0x1, AT_EMPTY_PATH) = 0\n").is_err());
    }

    #[test]
    fn only_relay_and_a_hardened_git_may_be_started() {
        let allowed =
            Allowed { relay: "/r/relay".into(), git: "/usr/bin/git".into(), parts: "/usr/lib/git".into() };
        let exec = |path: &str, words: &[&str]| Exec {
            path: path.to_owned(),
            words: words.iter().map(ToString::to_string).collect(),
        };
        assert!(allowed.judge(&exec("/r/relay", &["relay"])).is_ok());
        for path in ["/bin/sh", "git", "./git", "/usr/bin/git", "/usr/lib/gitx", "/r/project/relay"] {
            assert!(allowed.judge(&exec(path, &["git", "status"])).is_err(), "{path}");
        }
    }
}
