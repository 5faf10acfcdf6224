//! Projects that git cannot say much of, or that set traps for whoever asks git.

use std::fs;

use crate::friends::fixture::{Codex, Stage};
use crate::relay_snapshot;

#[test]
fn a_project_that_is_not_git_can_be_asked_about_and_not_reviewed() {
    let stage = Stage::bare().codex(&Codex::answering("Fine."));
    stage.works(&["ask", "x"]);
    let ran = stage.relay(&["ask", "x", "--include-diff"]);
    // Which difference went with it is said.
    relay_snapshot!(ran, @"
    exit 0
    ----- stdout -----
    Fine.
    ----- stderr -----
      for codex: no difference: <project> is not in a git repository; `git init` creates one
    ");
    relay_snapshot!(stage.fails(&["review"], 2, "git"), @"
    exit 2
    ----- stderr -----
    ✗ <project> is not in a git repository; `git init` creates one; nothing was changed
    ");
    relay_snapshot!(stage.fails(&["review", "--base", "main"], 2, "git"), @"
    exit 2
    ----- stderr -----
    ✗ <project> is not in a git repository; `git init` creates one; nothing was changed
    ");
    let stage = stage.codex(&Codex::working("true"));
    assert_eq!(stage.works(&["do", "x"])["applied"], false);
}

#[test]
fn a_repository_without_commits_a_detached_one_and_a_shallow_one() {
    let stage = Stage::bare().codex(&Codex::answering("Fine."));
    stage.git(&["init", "-q", "-b", "main"]);
    stage.works(&["ask", "x", "--include-diff"]);
    relay_snapshot!(stage.fails(&["review"], 2, "git"), @"
    exit 2
    ----- stderr -----
    ✗ <project> has no commits yet; nothing was changed
      make a first commit, then try again
    ");

    let stage = Stage::answered();
    stage.git(&["checkout", "-q", "--detach"]);
    let said = stage.works(&["review"]);
    assert_eq!(said["answers"][0]["way"], "app-server");
    assert!(
        stage.log().contains("review/start") && !stage.log().contains("turn/start"),
        "its own review: {}",
        stage.log()
    );
    stage.works(&["review", "--uncommitted"]);
    stage.git(&["checkout", "-q", "main"]);
    stage.git(&["branch", "-q", "-D", "work"]);
    relay_snapshot!(stage.fails(&["review"], 3, "nothing"), @"
    exit 3
    ----- stderr -----
    ✗ there is nothing to review: nothing was committed since main (there is a branch of that name, and no origin/HEAD), and nothing is uncommitted; nothing was changed
      `--base REF` compares with something else; nothing was sent
    ");

    let stage = Stage::answered();
    let head = stage.git(&["rev-parse", "HEAD"]);
    stage.project.put(".git/shallow", head.as_bytes());
    stage.git(&["branch", "-q", "-D", "main"]);
    stage.works(&["ask", "x", "--include-diff"]);
    relay_snapshot!(stage.fails(&["review"], 2, "git"), @"
    exit 2
    ----- stderr -----
    ✗ there is no commit `HEAD~1` here; the history is cut off, `git fetch --unshallow` completes it; nothing was changed
      `--base REF` names a branch, a tag or a commit that is here
    ");
}

#[test]
fn a_base_that_is_none_is_named_and_never_an_option() {
    let stage = Stage::answered();
    for base in ["nowhere", "-o/x", "--output=x", "", "main..work", "HEAD:a.txt", "@{-1}x", "a\u{1b}[2J"] {
        let said = stage.fails(&["review", &format!("--base={base}")], 2, "git");
        assert!(!said.hint.is_empty() || said.message.contains("--base"), "{base}: {said:?}");
    }
    relay_snapshot!(stage.fails(&["review", "--base", "--output=x"], 2, "git"), @"
    exit 2
    ----- stderr -----
    ✗ there is no commit `--output=x` here; nothing was changed
      `--base REF` names a branch, a tag or a commit that is here
    ");
    assert!(!stage.project.path("x").exists());
    assert!(!stage.log().contains("review/start"), "{}", stage.log());
    // A branch may be called like that.
    stage.git(&["update-ref", "refs/heads/-o/x", "main"]);
    stage.works(&["review", "--base=-o/x"]);
    stage.git(&["symbolic-ref", "HEAD", "refs/heads/-o/x"]);
    stage.works(&["ask", "x", "--include-diff"]);
    stage.works(&["review", "--base", "work"]);
}

#[test]
fn nothing_that_a_repository_configures_is_run() {
    let stage = Stage::new().codex(&Codex::answering("Fine."));
    let trap = format!("touch '{}'", stage.beside("sprung").display());
    for (name, value) in [
        ("core.fsmonitor", trap.as_str()),
        ("core.pager", &trap),
        ("core.hooksPath", "hooks"),
        ("core.sshCommand", &trap),
        ("core.editor", &trap),
        ("core.alternateRefsCommand", &trap),
        ("diff.external", &trap),
        ("diff.x.textconv", &trap),
        ("diff.x.command", &trap),
        ("filter.x.clean", &trap),
        ("filter.x.smudge", &trap),
        ("filter.x.process", &trap),
        ("pager.diff", &trap),
        ("alias.diff", &format!("!{trap}")),
        ("gpg.program", &trap),
    ] {
        stage.git(&["config", name, value]);
    }
    stage.project.put(".gitattributes", b"* diff=x filter=x\n");
    for hook in ["post-index-change", "pre-commit", "post-checkout", "reference-transaction"] {
        for folder in ["hooks", ".git/hooks"] {
            let path = format!("{folder}/{hook}");
            stage.project.put(&path, format!("#!/bin/sh\n{trap}\n").as_bytes());
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(stage.project.path(&path), mode).unwrap();
        }
    }
    stage.project.put("a.txt", b"three\n");
    stage.project.put("new.txt", b"new\n");
    let stage = stage.script("less", &trap);
    stage.works(&["ask", "x", "--include-diff"]);
    stage.works(&["review"]);
    stage.works(&["review", "--uncommitted"]);
    stage.works(&["review", "--base", "main", "a.txt"]);
    let stage = stage.codex(&Codex::working("true"));
    stage.works(&["do", "x"]);
    assert!(!stage.beside("sprung").exists(), "a command of the repository ran");
}
