//! git in a test's repository: with an author, and without the machine's configuration.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::expect::expect_ok;

/// The environment for git.
pub const GIT_ENV: [(&str, &str); 6] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_AUTHOR_NAME", "A"),
    ("GIT_AUTHOR_EMAIL", "a@example.invalid"),
    ("GIT_COMMITTER_NAME", "C"),
    ("GIT_COMMITTER_EMAIL", "c@example.invalid"),
];

/// git's output in this directory, without trailing blanks. The test fails if git does.
#[track_caller]
pub fn git(directory: &Path, words: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(words).current_dir(directory).envs(GIT_ENV).stdin(Stdio::null());
    let output = expect_ok(git.output(), "git cannot be started");
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_string()
}
