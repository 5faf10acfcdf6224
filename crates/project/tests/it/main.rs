//! git under the process runner itself: what the tests beside the code say of git alone holds with a
//! keeper in between. And what the permission engine says of lines, against what bash does.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests fail by panicking, and say what they measured"
)]
#![cfg(target_os = "linux")]

mod permission_bash;
mod permission_lines;
mod permissions;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use relaycode_exec::Runner;
use relaycode_project::git::{Git, GitError, GitFileState};
use relaycode_testkit::git::{GIT_ENV, git as plain};
use relaycode_testkit::process::keeper_path;

fn runner() -> Runner {
    Runner::new(keeper_path("relaycode-project", "keep_git"))
}

#[test]
fn a_file_is_read_committed_and_refused_under_the_keeper() {
    let dir = tempfile::TempDir::new().unwrap();
    let root = dir.path();
    plain(root, &["init", "-q", "-b", "main", "."]);
    fs::write(root.join("[a].txt"), "one\n").unwrap();
    let runner = runner();
    let git = Git::new(&runner, root).with_environment(&GIT_ENV);
    assert_eq!(git.status(&["[a].txt"]).unwrap()[0].state, GitFileState::Untracked);
    let made = git.commit(&["[a].txt"], "$(touch PWNED)\n\n`touch PWNED`").unwrap();
    assert_eq!(made.id, plain(root, &["rev-parse", "HEAD"]).trim());
    assert_eq!(plain(root, &["log", "-1", "--format=%B"]), "$(touch PWNED)\n\n`touch PWNED`");
    assert_eq!(git.content_at_head("[a].txt").unwrap().as_deref(), Some(&b"one\n"[..]));
    let name = git.free_branch_name("relay/", "feat: x").unwrap();
    git.create_branch_here(&name).unwrap();
    assert_eq!(plain(root, &["symbolic-ref", "HEAD"]), "refs/heads/relay/feat-x");
    assert!(!root.join("PWNED").exists());

    let large: Vec<u8> = (0..3_000_000_u32).map(|number| (number % 251) as u8).collect();
    fs::write(root.join("large"), &large).unwrap();
    git.commit(&["large"], "large").unwrap();
    assert!(git.content_at_head("large").unwrap().unwrap() == large);

    let none = tempfile::TempDir::new().unwrap();
    let none = Git::new(&runner, none.path()).with_environment(&GIT_ENV).top_level();
    assert!(matches!(none, Err(GitError::NotARepository { .. })), "{none:?}");
}

#[test]
fn a_commit_that_is_stopped_in_a_hook_leaves_everything_as_it_was() {
    let dir = tempfile::TempDir::new().unwrap();
    let root = dir.path();
    plain(root, &["init", "-q", "-b", "main", "."]);
    fs::write(root.join("new.txt"), "one\n").unwrap();
    fs::create_dir_all(root.join(".git/hooks")).unwrap();
    let hook = root.join(".git/hooks/pre-commit");
    fs::write(&hook, "#!/bin/sh\ntouch .git/begun\nsleep 600\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let runner = runner();
    let begun = root.join(".git/begun");
    let stop = || begun.exists();
    let git = Git::new(&runner, root).with_environment(&GIT_ENV).with_stop(&stop);
    let outcome = git.commit(&["new.txt"], "m");
    assert!(matches!(outcome, Err(GitError::Stopped { .. })), "{outcome:?}");
    assert_eq!(plain(root, &["status", "--porcelain"]), "?? new.txt");
    assert!(!root.join(".git/index.lock").exists());
}
