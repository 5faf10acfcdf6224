//! What git knows of a project, and the things relay does with it: a branch, a commit, and the repository
//! of a scratch copy.
//!
//! A repository is hostile until the user trusted it: its configuration, its attributes and its hooks
//! name commands. Every call but [`Git::commit`] runs none of them ([`call`]); a commit is only for
//! projects in which the user trusted exactly [`Git::what_would_run`]. No call goes through a shell, and
//! every path is literal.

mod base;
mod branch;
mod call;
mod commit;
mod commit_note;
mod content;
mod diff;
mod error;
mod files;
pub mod head;
mod hooks;
mod ignored;
mod scratch;
pub mod snapshot;
mod status;
#[cfg(test)]
mod tests;
mod untracked;
mod version;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::{cell::OnceCell, os::unix::ffi::OsStrExt};

use relaycode_exec::{ExecError, JobInput, JobOutcome, Runner};

pub use base::{BaseReason, DiffBase};
pub use commit::GitCommit;
pub use commit_note::{CommitNotes, CommitRemains};
pub use diff::{DiffRange, GitDiff, GitFileDiff, OmittedFile};
pub use error::GitError;
pub use files::GitFiles;
pub use status::{GitFileState, GitPathStatus};
pub use version::GitVersion;

use call::{GitCallPolicy, GitRunner};
use version::{ATTR_SOURCE_SINCE, OLDEST_SUPPORTED};

/// Bytes of an ordinary answer.
const OUTPUT_BYTES: usize = 4 << 20;
/// Bytes of the configuration that is read; a larger one is refused.
const CONFIG_BYTES: usize = 1 << 20;
/// Filters and hooks that a configuration may name; more are refused.
const MOST_NAMES: usize = 256;
/// Bytes of all paths in one call, below what systems allow for arguments.
const PATHS_BYTES: usize = 768 << 10;

/// What git answers, or why it does not.
pub type GitResult<T> = Result<T, GitError>;

/// git, in one project.
pub struct Git<'r> {
    run: &'r dyn GitRunner,
    root: PathBuf,
    set: Vec<(OsString, OsString)>,
    stop: &'r dyn Fn() -> bool,
    notes: Option<CommitNotes>,
    repository: OnceCell<GitRepository>,
}

/// What is found out once, before anything else is asked.
#[derive(Debug)]
struct GitRepository {
    /// Where its files begin, without links.
    top: PathBuf,
    /// The project's root below that, ending in `/`, or empty.
    prefix: Vec<u8>,
    /// Objects are named by SHA-256.
    sha256: bool,
    /// The name of the tree without anything.
    empty_tree: Option<&'static str>,
    /// Settings that silence every filter and hook which the configuration names.
    mute_settings: Vec<(String, String)>,
}

impl<'r> Git<'r> {
    /// git in the project at `root`. Nothing is run yet.
    pub fn new(runner: &'r Runner, root: &Path) -> Git<'r> {
        Git::with_runner(runner, root)
    }

    fn with_runner(run: &'r dyn GitRunner, root: &Path) -> Git<'r> {
        let (root, set) = (root.to_path_buf(), Vec::new());
        Git { run, root, set, stop: &|| false, notes: None, repository: OnceCell::new() }
    }

    /// Sets these variables for every call, a commit included.
    #[must_use]
    pub fn with_environment(self, set: &[(&str, &str)]) -> Git<'r> {
        let set = set.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Git { set, ..self }
    }

    /// Asks `stop` often while a commit runs; when it says yes, git and its hooks are ended. Everything
    /// else is short, and must also work when somebody has stopped: it cleans up.
    #[must_use]
    pub fn with_stop(self, stop: &'r dyn Fn() -> bool) -> Git<'r> {
        Git { stop, ..self }
    }

    /// Keeps a note of every commit while it is made, so that [`CommitNotes::mend`] can clear up after one that was cut
    /// short.
    #[must_use]
    pub fn with_notes(self, notes: CommitNotes) -> Git<'r> {
        Git { notes: Some(notes), ..self }
    }

    /// Which git this is.
    ///
    /// # Errors
    /// If there is none, or one that does not say.
    pub fn version(&self) -> GitResult<GitVersion> {
        let text = self.run_checked(UNKNOWN_REPOSITORY, &["version"], OUTPUT_BYTES)?;
        let text = String::from_utf8_lossy(&text);
        GitVersion::parse(&text).ok_or_else(|| GitError::failed("version", text.trim()))
    }

    /// Where the repository's files begin, without links. The project's root is there or below.
    ///
    /// # Errors
    /// If there is no repository, or one that relay does not use.
    pub fn top_level(&self) -> GitResult<PathBuf> {
        Ok(self.repository()?.top.clone())
    }

    fn repository(&self) -> GitResult<&GitRepository> {
        if let Some(known) = self.repository.get() {
            return Ok(known);
        }
        let found = self.version()?;
        if found < OLDEST_SUPPORTED {
            return Err(GitError::TooOld { found });
        }
        let words = ["rev-parse", "--show-object-format", "--show-toplevel"];
        let answer = self.run_checked(UNKNOWN_REPOSITORY, &words, OUTPUT_BYTES)?;
        let failed = |words| GitError::failed("rev-parse", words);
        let mut parts = answer.splitn(2, |byte| *byte == b'\n');
        let (sha256, empty_tree) = match parts.next() {
            Some(b"sha1") => (false, "4b825dc642cb6eb9a060e54bf8d69288fbee4904"),
            Some(b"sha256") => (true, "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"),
            _ => return Err(failed("it names objects in a way that relay does not know")),
        };
        let top = parts.next().and_then(|top| top.strip_suffix(b"\n")).filter(|top| !top.is_empty());
        let top = top.ok_or_else(|| failed("it does not say where its files are"))?;
        let top = PathBuf::from(OsStr::from_bytes(top));
        let (top, root) = match (top.canonicalize(), self.root.canonicalize()) {
            (Ok(real), Ok(root)) if root.starts_with(&real) => (real, root),
            _ => return Err(GitError::OtherWorkTree { root: self.root.clone(), top }),
        };
        let below = root.strip_prefix(&top).unwrap_or(Path::new(""));
        let mut prefix = below.as_os_str().as_bytes().to_vec();
        if !prefix.is_empty() {
            prefix.push(b'/');
        }
        let empty_tree = (found >= ATTR_SOURCE_SINCE).then_some(empty_tree);
        let mute_settings = self.muting_settings()?;
        Ok(self.repository.get_or_init(|| GitRepository { top, prefix, sha256, empty_tree, mute_settings }))
    }

    /// The settings that silence every filter and every configured hook, whoever configured it.
    fn muting_settings(&self) -> GitResult<Vec<(String, String)>> {
        let names =
            self.run_checked(UNKNOWN_REPOSITORY, &["config", "--list", "-z", "--name-only"], CONFIG_BYTES)?;
        let mut muted: Vec<(String, String)> = Vec::new();
        for name in split_nul(&names) {
            let known = name.starts_with(b"filter.") || name.starts_with(b"hook.");
            let Some(cut) = name.iter().rposition(|byte| *byte == b'.').filter(|_| known) else { continue };
            let Ok(driver) = std::str::from_utf8(&name[..cut]) else {
                return Err(GitError::failed("config", "a filter's name is no text; relay runs no git here"));
            };
            if muted.iter().any(|(key, _)| key.rsplit_once('.').is_some_and(|(other, _)| other == driver)) {
                continue;
            }
            let silent: &[(&str, &str)] = if driver.starts_with("hook") {
                &[("enabled", "false")]
            } else {
                &[("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")]
            };
            muted.extend(silent.iter().map(|(key, value)| (format!("{driver}.{key}"), value.to_string())));
            if muted.len() > MOST_NAMES * 4 {
                let what = "the number of filters and hooks in git's configuration".to_string();
                return Err(GitError::LimitExceeded { what, most: MOST_NAMES.to_string() });
            }
        }
        Ok(muted)
    }

    /// How git is called once the repository is known.
    fn safe_policy(&self) -> GitResult<GitCallPolicy<'_>> {
        let GitRepository { empty_tree, mute_settings: muted, .. } = self.repository()?;
        Ok(GitCallPolicy::RunNothing { attributes: *empty_tree, muted, allow_hooks_path: false })
    }

    /// What git answers in the repository, whole; anything but success is an error.
    fn ask<S: AsRef<OsStr>>(&self, words: &[S]) -> GitResult<Vec<u8>> {
        self.run_checked(self.safe_policy()?, words, OUTPUT_BYTES)
    }

    /// The same as text, without its last line end.
    fn ask_text<S: AsRef<OsStr>>(&self, words: &[S]) -> GitResult<String> {
        Ok(String::from_utf8_lossy(&self.ask(words)?).trim_end().to_string())
    }

    /// What git answers with its exit code, whatever that is.
    fn try_ask<S: AsRef<OsStr>>(&self, words: &[S], most: usize) -> GitResult<(i32, JobOutcome)> {
        let leave = self.safe_policy()?;
        let finished = self.call(leave, words, JobInput::Null, most)?;
        Ok((call::exit_code(&finished, &command_name(words), leave)?, finished))
    }

    /// Gives git a list of names to read.
    fn feed<S: AsRef<OsStr>>(&self, words: &[S], input: Vec<u8>, most: usize) -> GitResult<Vec<u8>> {
        let leave = self.safe_policy()?;
        let finished = self.call(leave, words, JobInput::Bytes(input), most)?;
        self.checked_output(finished, leave, &command_name(words), most)
    }

    /// What git answers, whole; anything but success is an error.
    fn run_checked<S: AsRef<OsStr>>(
        &self,
        leave: GitCallPolicy<'_>,
        words: &[S],
        most: usize,
    ) -> GitResult<Vec<u8>> {
        let finished = self.call(leave, words, JobInput::Null, most)?;
        self.checked_output(finished, leave, &command_name(words), most)
    }

    /// The same for a call that has ended.
    fn checked_output(
        &self,
        finished: JobOutcome,
        leave: GitCallPolicy<'_>,
        what: &str,
        most: usize,
    ) -> GitResult<Vec<u8>> {
        if call::exit_code(&finished, what, leave)? != 0 {
            return Err(self.explain_failure(&finished, what));
        }
        if finished.stdout.dropped > 0 || !finished.stdout.tail.is_empty() {
            let what = format!("what `git {what}` has to say");
            return Err(GitError::LimitExceeded { what, most: format!("{} MiB", most >> 20) });
        }
        Ok(finished.stdout.head)
    }

    fn call<S: AsRef<OsStr>>(
        &self,
        leave: GitCallPolicy<'_>,
        words: &[S],
        input: JobInput,
        most: usize,
    ) -> GitResult<JobOutcome> {
        self.call_in(&self.root, leave, words, input, most)
    }

    fn call_in<S: AsRef<OsStr>>(
        &self,
        directory: &Path,
        leave: GitCallPolicy<'_>,
        words: &[S],
        input: JobInput,
        most: usize,
    ) -> GitResult<JobOutcome> {
        let mut job = call::git_job(directory, leave, words, input, most);
        job.environment.set.extend(self.set.iter().cloned());
        let stop: &dyn Fn() -> bool = match leave {
            GitCallPolicy::RunCommitHooks => self.stop,
            GitCallPolicy::RunNothing { .. } => &|| false,
        };
        self.run.run(&job, stop).map_err(|error| match error {
            ExecError::NotFound { .. } => GitError::NoGit,
            other => GitError::Exec(other),
        })
    }

    /// Why a call failed, by what git said in its own language.
    fn explain_failure(&self, finished: &JobOutcome, what: &str) -> GitError {
        let text = finished.stderr.text();
        let root = self.root.clone();
        if text.contains("dubious ownership") {
            GitError::DubiousOwner { root }
        } else if text.contains("cannot use bare repository") || text.contains("must be run in a work tree") {
            GitError::Bare { root }
        } else if text.contains("not a git repository") {
            GitError::NotARepository { root }
        } else {
            GitError::failed(what, call::error_tail(&text))
        }
    }
}

/// How git is called before anything is known of the repository. Such calls read no attributes.
const UNKNOWN_REPOSITORY: GitCallPolicy<'static> =
    GitCallPolicy::RunNothing { attributes: None, muted: &[], allow_hooks_path: false };

/// The parts of a list that ends each with a zero byte.
fn split_nul(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|byte| *byte == 0).filter(|part| !part.is_empty())
}

/// Names, each followed by a zero byte.
fn join_nul<'n>(names: impl IntoIterator<Item = &'n [u8]>) -> Vec<u8> {
    names.into_iter().flat_map(|name| name.iter().copied().chain([0])).collect()
}

/// The command, for messages.
fn command_name<S: AsRef<OsStr>>(words: &[S]) -> String {
    words.first().map(|word| word.as_ref().to_string_lossy().into_owned()).unwrap_or_default()
}

/// Paths, relative to the project's root, in the form in which git takes each of them literally. The
/// variable that does the same for all of them would reach the user's hooks.
fn literal_pathspecs(paths: &[&str]) -> GitResult<Vec<OsString>> {
    paths.iter().map(|path| checked_path(path).map(|path| format!(":(literal){path}").into())).collect()
}

/// A path of a file in the project, as relay writes it.
fn checked_path(path: &str) -> GitResult<&str> {
    let component = |part: &str| !part.is_empty() && part != "." && part != "..";
    if path.contains('\0') || !path.split('/').all(component) {
        return Err(GitError::BadPath { path: path.to_string() });
    }
    Ok(path)
}
