//! What differs, since when, and how it looks, whatever is configured.

use super::*;

const ALL: usize = 1 << 20;

fn uncommitted(scene: &Scene) -> GitDiff {
    scene.git().diff(DiffRange::Uncommitted, &[], ALL).unwrap()
}

fn paths(diff: &GitDiff) -> Vec<&str> {
    diff.files.iter().map(|part| part.path.as_str()).collect()
}

/// A second commit, on a branch of its own.
fn branch(scene: &Scene) {
    scene.plain(&["checkout", "-q", "-b", "work"]);
    scene.file("a.txt", "two\n");
    scene.plain(&["commit", "-q", "-a", "-m", "second"]);
}

#[test]
fn uncommitted_work_is_staged_unstaged_and_new_files() {
    let scene = Scene::new();
    assert!(uncommitted(&scene).is_empty());
    scene.file("a.txt", "changed\n");
    scene.file("sub/staged.txt", "staged\n");
    scene.plain(&["add", "sub/staged.txt"]);
    scene.file("new ü/x y.txt", "no newline");
    scene.file("bin", "a\0b");
    scene.file(".gitignore", "*.log\n");
    scene.file("x.log", "ignored\n");
    scene.file(".env", "KEY=1\n");
    fs::create_dir(scene.root().join("nested")).unwrap();
    assert!(scene.try_plain(&scene.root().join("nested"), &["init", "-q", "."]).0);
    scene.file("nested/x", "x\n");
    std::os::unix::fs::symlink("/etc/passwd", scene.root().join("link")).unwrap();
    fs::remove_file(scene.root().join("sub/b.txt")).unwrap();
    let diff = uncommitted(&scene);
    assert_eq!(
        paths(&diff),
        ["a.txt", "sub/b.txt", "sub/staged.txt", ".gitignore", "bin", "link", "new ü/x y.txt"]
    );
    assert_eq!(diff.files.iter().filter(|part| part.untracked).count(), 4);
    let left_out: Vec<_> = diff.omitted.iter().map(|file| (file.path.as_str(), file.why)).collect();
    assert_eq!(
        left_out,
        [(".env", "by its name it holds secrets"), ("nested/", "it is a repository of its own")]
    );
    assert!(!diff.text.contains("KEY") && !diff.text.contains("root:"), "{}", diff.text);
    assert!(
        diff.text.contains("-one\n+changed\n")
            && diff.text.contains("Binary files /dev/null and b/bin differ")
    );
    assert_eq!(diff.text.len() as u64, diff.bytes());
    assert!(!diff.truncated);
    // git itself takes it.
    fs::remove_dir_all(scene.root().join("nested")).unwrap();
    scene.plain(&["stash", "-q", "-u"]);
    let patch = scene.dir.path().join("patch");
    let text = diff.text.replace(
        "diff --git a/bin b/bin\nnew file mode 100644\nBinary files /dev/null and b/bin differ\n",
        "",
    );
    fs::write(&patch, text).unwrap();
    scene.plain(&["apply", "--check", &patch.display().to_string()]);
    scene.plain(&["apply", &patch.display().to_string()]);
    assert_eq!(fs::read_to_string(scene.root().join("new ü/x y.txt")).unwrap(), "no newline");
}

#[test]
fn only_the_wanted_files_are_in_it_and_names_are_only_names() {
    let scene = Scene::new();
    for name in ["[a].txt", "-rf", ":!x", "sub/n"] {
        scene.file(name, "x\n");
    }
    scene.file("a.txt", "changed\n");
    let some = |paths: &[&str]| scene.git().diff(DiffRange::Uncommitted, paths, ALL).unwrap();
    assert_eq!(paths(&some(&["[a].txt"])), ["[a].txt"]);
    assert_eq!(paths(&some(&["-rf", ":!x"])), ["-rf", ":!x"]);
    assert_eq!(paths(&some(&["sub"])), ["sub/n"]);
    assert!(some(&["none"]).is_empty());
    for bad in ["../x", "/etc/passwd", ""] {
        assert!(matches!(
            scene.git().diff(DiffRange::Uncommitted, &[bad], ALL),
            Err(GitError::BadPath { .. })
        ));
    }
}

#[test]
fn a_branch_is_compared_with_where_it_left_its_base() {
    let scene = Scene::new();
    branch(&scene);
    // The base goes on meanwhile: what it got does not count.
    scene.plain(&["checkout", "-q", "main"]);
    scene.file("later.txt", "x\n");
    scene.plain(&["add", "."]);
    scene.plain(&["commit", "-q", "-m", "later"]);
    scene.plain(&["checkout", "-q", "work"]);
    scene.file("new.txt", "new\n");
    let base = scene.git().default_base().unwrap();
    assert_eq!((base.name.as_str(), base.reason), ("main", BaseReason::CommonName));
    assert_eq!(paths(&scene.git().diff(DiffRange::SinceBase(&base), &[], ALL).unwrap()), ["a.txt"]);
    let work = scene.git().diff(DiffRange::SinceBaseUncommitted(&base), &[], ALL).unwrap();
    assert_eq!(paths(&work), ["a.txt", "new.txt"]);
    assert_eq!(paths(&scene.git().diff(DiffRange::LastCommit, &[], ALL).unwrap()), ["a.txt"]);
    assert!(scene.git().has_uncommitted(&[]).unwrap());
    assert!(!scene.git().has_uncommitted(&["a.txt"]).unwrap());
}

#[test]
fn renames_modes_and_odd_names_have_their_path() {
    let scene = Scene::new();
    scene.file("long.txt", &"line\n".repeat(50));
    scene.plain(&["add", "."]);
    scene.plain(&["commit", "-q", "-m", "long"]);
    scene.plain(&["mv", "long.txt", "sub/re named.txt"]);
    fs::set_permissions(scene.root().join("a.txt"), fs::Permissions::from_mode(0o755)).unwrap();
    scene.file("tab\t\"q\".txt", "");
    scene.file("ü b/c d.bin", "\0");
    scene.plain(&["add", "."]);
    let diff = uncommitted(&scene);
    assert_eq!(paths(&diff), ["a.txt", "sub/re named.txt", "tab\\t\"q\".txt", "ü b/c d.bin"]);
    assert!(diff.text.contains("similarity index 100%"), "{}", diff.text);
    let sum: u64 = diff.files.iter().map(|part| part.bytes).sum();
    assert_eq!(sum, diff.text.len() as u64);
}

#[test]
fn conflicts_are_shown_as_they_stand_in_the_files() {
    let scene = Scene::new();
    branch(&scene);
    scene.plain(&["checkout", "-q", "main"]);
    scene.file("a.txt", "three\n");
    scene.plain(&["commit", "-q", "-a", "-m", "other"]);
    assert!(!scene.try_plain(&scene.root(), &["merge", "-q", "work"]).0);
    let diff = uncommitted(&scene);
    assert!(diff.files.iter().all(|part| part.path == "a.txt"), "{diff:?}");
    assert!(diff.text.contains("<<<<<<<"), "{}", diff.text);
}

#[test]
fn a_base_is_found_in_this_order_and_a_name_is_only_a_name() {
    let scene = Scene::new();
    let first = scene.plain(&["rev-parse", "HEAD"]).trim().to_string();
    branch(&scene);
    let default = |scene: &Scene| scene.git().default_base().map(|base| (base.name, base.reason));
    assert_eq!(default(&scene).unwrap(), ("main".to_string(), BaseReason::CommonName));
    scene.plain(&["branch", "-m", "main", "master"]);
    assert_eq!(default(&scene).unwrap(), ("master".to_string(), BaseReason::CommonName));
    scene.plain(&["branch", "-D", "master"]);
    assert_eq!(default(&scene).unwrap(), ("HEAD~1".to_string(), BaseReason::PreviousCommit));
    scene.plain(&["update-ref", "refs/remotes/origin/trunk", &first]);
    scene.plain(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk"]);
    assert_eq!(default(&scene).unwrap(), ("origin/trunk".to_string(), BaseReason::RemoteHead));
    // One that leads nowhere is passed over.
    scene.plain(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/gone"]);
    assert_eq!(default(&scene).unwrap().1, BaseReason::PreviousCommit);
    // A tag called main is no branch.
    scene.plain(&["tag", "main", "HEAD"]);
    assert_eq!(default(&scene).unwrap().1, BaseReason::PreviousCommit);

    scene.plain(&["update-ref", "refs/heads/-o/x", &first]);
    scene.plain(&["update-ref", "refs/heads/--output=PWNED", &first]);
    for name in ["-o/x", "--output=PWNED", "HEAD~1", "work~1", &first, &first[..8], "@~1"] {
        let base = scene.git().resolve_base(name).unwrap();
        assert_eq!((base.commit.as_str(), base.reason), (first.as_str(), BaseReason::Explicit), "{name}");
        assert_eq!(paths(&scene.git().diff(DiffRange::SinceBase(&base), &[], ALL).unwrap()), ["a.txt"]);
    }
    for name in
        ["", "none", "--help", "-p", "^work", "work..main", "HEAD:a.txt", "HEAD^{tree}", "a\nb", "x\0y"]
    {
        assert!(matches!(scene.git().resolve_base(name), Err(GitError::NoBase { .. })), "{name:?}");
    }
    assert!(scene.git().resolve_base(&"x".repeat(2_000)).is_err());
    assert!(!scene.root().join("PWNED").exists());
}

#[test]
fn no_commits_one_commit_detached_and_shallow_are_told_apart() {
    let unborn = Scene::unborn();
    unborn.file("staged.txt", "x\n");
    unborn.plain(&["add", "."]);
    unborn.file("new.txt", "y\n");
    assert_eq!(paths(&uncommitted(&unborn)), ["staged.txt", "new.txt"]);
    assert!(matches!(unborn.git().default_base(), Err(GitError::NoCommits { .. })));
    assert!(matches!(unborn.git().resolve_base("main"), Err(GitError::NoCommits { .. })));
    assert!(matches!(unborn.git().diff(DiffRange::LastCommit, &[], ALL), Err(GitError::NoCommits { .. })));

    let one = Scene::new();
    assert_eq!(paths(&one.git().diff(DiffRange::LastCommit, &[], ALL).unwrap()), ["a.txt", "sub/b.txt"]);
    one.plain(&["branch", "-m", "main", "dev"]);
    let error = one.git().default_base().unwrap_err();
    assert!(matches!(error, GitError::NoBase { shallow: false, .. }), "{error}");

    let detached = Scene::new();
    branch(&detached);
    detached.plain(&["checkout", "-q", "--detach"]);
    let base = detached.git().default_base().unwrap();
    assert_eq!(paths(&detached.git().diff(DiffRange::SinceBase(&base), &[], ALL).unwrap()), ["a.txt"]);

    detached.plain(&["checkout", "-q", "work"]);
    let from = format!("file://{}", detached.root().display());
    let shallow = detached.dir.path().join("shallow");
    let words = ["clone", "-q", "--depth=1", "--single-branch", "-b", "work", &from, "shallow"];
    assert!(detached.try_plain(detached.dir.path(), &words).0);
    let git = Git::with_runner(&detached.run, &shallow);
    assert!(matches!(git.resolve_base("HEAD~1"), Err(GitError::NoBase { shallow: true, .. })));
    let error = git.diff(DiffRange::LastCommit, &[], ALL).unwrap_err();
    assert!(error.to_string().contains("--unshallow"), "{error}");
    assert!(git.diff(DiffRange::Uncommitted, &[], ALL).unwrap().is_empty());

    let other = Scene::new();
    other.plain(&["checkout", "-q", "--orphan", "island"]);
    other.plain(&["commit", "-q", "-m", "alone"]);
    let base = other.git().resolve_base("main").unwrap();
    assert!(matches!(
        other.git().diff(DiffRange::SinceBase(&base), &[], ALL),
        Err(GitError::NoMergeBase { .. })
    ));

    let none = TempDir::new().unwrap();
    let git = Git::with_runner(&other.run, none.path());
    assert!(matches!(git.default_base(), Err(GitError::NotARepository { .. })));
    assert!(matches!(git.diff(DiffRange::Uncommitted, &[], ALL), Err(GitError::NotARepository { .. })));
}

#[test]
fn a_project_below_the_top_sees_only_itself() {
    let scene = Scene::new();
    scene.file("a.txt", "outside\n");
    scene.file("outside.txt", "x\n");
    scene.file("sub/b.txt", "inside\n");
    scene.file("sub/new.txt", "x\n");
    let below = Git::with_runner(&scene.run, &scene.root().join("sub"));
    let diff = below.diff(DiffRange::Uncommitted, &[], ALL).unwrap();
    assert_eq!(paths(&diff), ["b.txt", "new.txt"]);
    assert!(diff.text.contains("diff --git a/b.txt b/b.txt"), "{}", diff.text);
    assert_eq!(paths(&below.diff(DiffRange::Uncommitted, &["b.txt"], ALL).unwrap()), ["b.txt"]);
    assert_eq!(paths(&below.diff(DiffRange::LastCommit, &[], ALL).unwrap()), ["b.txt"]);
}

#[test]
fn what_is_configured_changes_nothing_about_how_it_looks() {
    let scene = Scene::new();
    scene.file("a.txt", "changed\n");
    scene.file("ü.txt", "x\n");
    scene.plain(&["add", "-N", "ü.txt"]);
    let before = uncommitted(&scene);
    for (key, value) in [
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.context", "0"),
        ("diff.interHunkContext", "9"),
        ("diff.algorithm", "patience"),
        ("diff.renames", "copies"),
        ("diff.submodule", "log"),
        ("diff.relative", "false"),
        ("diff.orderFile", "a.txt"),
        ("diff.wordRegex", "."),
        ("color.ui", "always"),
        ("color.diff", "always"),
        ("core.quotePath", "true"),
    ] {
        scene.plain(&["config", key, value]);
        assert_eq!(uncommitted(&scene), before, "{key}");
    }
    assert!(!before.text.contains('\u{1b}'));
}

#[test]
fn what_is_too_large_names_its_files_and_keeps_their_sizes() {
    let scene = Scene::new();
    scene.file("a.txt", &"long line\n".repeat(1_000));
    scene.file("new.txt", &"x\n".repeat(5_000));
    scene.file("small.txt", "x\n");
    let diff = scene.git().diff(DiffRange::Uncommitted, &[], 1_000).unwrap();
    assert!(diff.truncated && diff.text.len() <= 1_000 && diff.bytes() > 1_000);
    let largest = diff.largest(2);
    assert_eq!(largest.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), ["a.txt", "new.txt"]);
    let whole = uncommitted(&scene);
    let exact = scene.git().diff(DiffRange::Uncommitted, &[], whole.text.len()).unwrap();
    assert_eq!(exact, whole);
    let less = scene.git().diff(DiffRange::Uncommitted, &[], whole.text.len() - 1).unwrap();
    assert!(less.truncated && less.bytes() > whole.text.len() as u64 - 1);
}

#[test]
fn what_git_ignores_is_listed_by_directories() {
    let scene = Scene::new();
    scene.file(".gitignore", "target/\n*.log\n");
    scene.file("target/deep/x", "");
    scene.file("sub/y.log", "");
    let mut ignored = scene.git().ignored().unwrap();
    ignored.sort();
    assert_eq!(ignored, [b"sub/y.log".to_vec(), b"target/".to_vec()]);
    let below = Git::with_runner(&scene.run, &scene.root().join("sub"));
    assert_eq!(below.ignored().unwrap(), [b"y.log".to_vec()]);
}
