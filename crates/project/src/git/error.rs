//! Why git did not do what was asked, in words for the user.

use std::path::PathBuf;

use relaycode_exec::ExecError;

use super::version::{GitVersion, OLDEST_SUPPORTED};

/// What may help where something is missing from a history that was cut off.
const SHALLOW: &str = "; the history is cut off, `git fetch --unshallow` completes it";

/// Why git did not do what was asked. Unless it says otherwise, nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no git.
    #[error("git is not installed, or not in PATH")]
    NoGit,
    /// This git cannot be told to leave a repository's own commands alone.
    #[error(
        "git {found} is too old for relay to read a repository safely; {OLDEST_SUPPORTED} or newer is needed"
    )]
    TooOld { found: GitVersion },
    /// There is no repository.
    #[error("{} is not in a git repository; `git init` creates one", root.display())]
    NotARepository { root: PathBuf },
    /// A repository without files, or one that lies among the project's files.
    #[error("{} is a git repository without a work tree; relay does not use it", root.display())]
    Bare { root: PathBuf },
    /// The repository says that its files are somewhere else.
    #[error("the repository of {} says that its files are in {}; relay does not use it", root.display(), top.display())]
    OtherWorkTree { root: PathBuf, top: PathBuf },
    /// git refuses a repository that belongs to another user.
    #[error(
        "git refuses the repository of {}, because it belongs to somebody else; if you trust it: \
         `git config --global --add safe.directory {}`", root.display(), root.display()
    )]
    DubiousOwner { root: PathBuf },
    /// A path that is none of the project's files.
    #[error("`{path}` is not the path of a file in the project")]
    BadPath { path: String },
    /// A directory stands where a file was.
    #[error("`{path}` is a directory now; commit it with git itself")]
    Directory { path: String },
    /// Files that git is told to leave out.
    #[error("git ignores {}; `git add -f` adds it anyway", paths.join(", "))]
    Ignored { paths: Vec<String> },
    /// Files with a merge that was not finished.
    #[error("{} still has conflicts; resolve them first", paths.join(", "))]
    Conflicted { paths: Vec<String> },
    /// All of it is in the last commit already.
    #[error("there is nothing to commit: the files are as they are in the last commit")]
    NothingToCommit,
    /// The message has no text.
    #[error("the commit message is empty")]
    EmptyMessage,
    /// More than relay handles at once.
    #[error("{what} is more than relay handles ({most} at most); use git itself")]
    LimitExceeded { what: String, most: String },
    /// More new files than relay reads: somebody forgot to ignore a directory. The fullest folder comes first; their
    /// names are foreign text.
    #[error(
        "there are at least {count} files that git does not track, and relay reads {most} at most{}",
        largest_folders(folders)
    )]
    ManyNewFiles { count: usize, most: usize, folders: Vec<(String, usize)> },
    /// No name for a branch.
    #[error("`{name}` cannot be the name of a branch")]
    BadBranch { name: String },
    /// There is such a branch.
    #[error("there is a branch `{name}` already")]
    BranchExists { name: String },
    /// Something of git's is going on that a new branch would disturb.
    #[error("{what} is going on in this repository; finish it first")]
    OperationInProgress { what: &'static str },
    /// There is nothing to compare with.
    #[error("{} has no commits yet", root.display())]
    NoCommits { root: PathBuf },
    /// There is no such commit; `shallow`: only the last part of the history is here.
    #[error("there is no commit `{name}` here{}", if *shallow { SHALLOW } else { "" })]
    NoBase { name: String, shallow: bool },
    /// Two histories without a common beginning.
    #[error("`{base}` and what is compared with it have no commit in common{}", if *shallow { SHALLOW } else { "" })]
    NoMergeBase { base: String, shallow: bool },
    /// It took too long, and was ended.
    #[error("`git {what}` took longer than {seconds} s and was ended")]
    TimedOut { what: String, seconds: u64 },
    /// The user stopped it.
    #[error("`git {what}` was stopped")]
    Stopped { what: String },
    /// git, or a hook, said no.
    #[error("`git {what}` failed: {words}")]
    Failed { what: String, words: String },
    /// A hook that would run cannot be looked at, so that nobody can say what would run.
    #[error("the hook {} cannot be looked at: {source}", path.display())]
    Hook { path: PathBuf, source: std::io::Error },
    /// The repository of a copy cannot be written.
    #[error("{} cannot be written: {source}", path.display())]
    Copy { path: PathBuf, source: std::io::Error },
    /// It could not be started.
    #[error(transparent)]
    Exec(#[from] ExecError),
}

impl GitError {
    /// git, or a hook, said no.
    pub(super) fn failed(what: &str, words: impl Into<String>) -> GitError {
        GitError::Failed { what: what.to_string(), words: words.into() }
    }
}

fn largest_folders(folders: &[(String, usize)]) -> String {
    if folders.is_empty() {
        return String::new();
    }
    let named: Vec<String> = folders.iter().map(|(path, count)| format!("{path} ({count})")).collect();
    format!("; most are in {}", named.join(", "))
}
