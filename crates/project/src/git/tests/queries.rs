//! What reading says, and what it refuses.

use super::*;

fn known(scene: &Scene, path: &str) -> GitFileState {
    scene.git().status(&[path]).unwrap()[0].state
}

#[test]
fn a_file_is_clean_changed_untracked_ignored_or_absent() {
    let scene = Scene::new();
    assert_eq!(known(&scene, "a.txt"), GitFileState::Clean);
    scene.file("a.txt", "other\n");
    assert_eq!(known(&scene, "a.txt"), GitFileState::Changed { staged: false, unstaged: true });
    scene.plain(&["add", "a.txt"]);
    assert_eq!(known(&scene, "a.txt"), GitFileState::Changed { staged: true, unstaged: false });
    fs::remove_file(scene.root().join("sub/b.txt")).unwrap();
    assert_eq!(known(&scene, "sub/b.txt"), GitFileState::Changed { staged: false, unstaged: true });
    scene.file("new dir/ü [x].txt", "new\n");
    assert_eq!(known(&scene, "new dir/ü [x].txt"), GitFileState::Untracked);
    scene.file(".gitignore", "*.log\n");
    scene.file("x.log", "");
    assert_eq!(known(&scene, "x.log"), GitFileState::Ignored);
    assert_eq!(known(&scene, "none"), GitFileState::Absent);
    scene.plain(&["rm", "-q", "--cached", "sub/b.txt"]);
    scene.file("sub/b.txt", "two\n");
    assert_eq!(known(&scene, "sub/b.txt"), GitFileState::Changed { staged: true, unstaged: false });
    assert!(scene.git().is_tracked("a.txt").unwrap());
    assert!(!scene.git().is_tracked("x.log").unwrap());
}

#[test]
fn names_that_mean_something_to_git_are_only_names() {
    let scene = Scene::new();
    let names =
        ["[id].ts", "*.ts", ":(exclude)x", ":!x", "-rf", "a b", "ü", "x\ny", "HEAD", "f-gdeadbee", "@{-1}"];
    for name in names {
        scene.file(name, name);
    }
    scene.file("i.ts", "not meant");
    let states = scene.git().status(&names).unwrap();
    assert!(states.iter().all(|state| state.state == GitFileState::Untracked), "{states:?}");
    assert_eq!(states.iter().map(|state| state.path.as_str()).collect::<Vec<_>>(), names);
    scene.plain(&["add", "."]);
    scene.plain(&["commit", "-q", "-m", "names"]);
    for name in names {
        assert_eq!(scene.git().content_at_head(name).unwrap().as_deref(), Some(name.as_bytes()), "{name}");
    }
    for bad in ["", "/etc/passwd", "../x", "a/../b", "a//b", "a/", "./a", "x\0y"] {
        assert!(matches!(scene.git().status(&[bad]), Err(GitError::BadPath { .. })), "{bad:?}");
        assert!(matches!(scene.git().content_at_head(bad), Err(GitError::BadPath { .. })), "{bad:?}");
    }
}

#[test]
fn a_project_below_the_top_has_paths_of_its_own() {
    let scene = Scene::new();
    let below = Git::with_runner(&scene.run, &scene.root().join("sub"));
    assert_eq!(below.top_level().unwrap(), scene.root());
    assert_eq!(below.content_at_head("b.txt").unwrap().as_deref(), Some(&b"two\n"[..]));
    assert_eq!(below.content_at_head("a.txt").unwrap(), None);
    scene.file("sub/b.txt", "changed\n");
    let states = below.status(&["b.txt", "a.txt"]).unwrap();
    assert_eq!(states[0].state, GitFileState::Changed { staged: false, unstaged: true });
    assert_eq!(states[1].state, GitFileState::Absent);
}

#[test]
fn content_is_what_was_committed_without_any_conversion() {
    let scene = Scene::new();
    assert_eq!(scene.git().content_at_head("a.txt").unwrap().as_deref(), Some(&b"one\n"[..]));
    scene.file("a.txt", "now\n");
    assert_eq!(scene.git().content_at_head("a.txt").unwrap().as_deref(), Some(&b"one\n"[..]));
    assert_eq!(scene.git().content_at_head("sub").unwrap(), None);
    assert_eq!(scene.git().content_at_head("none").unwrap(), None);
    assert_eq!(Scene::unborn().git().content_at_head("a.txt").unwrap(), None);
}

#[test]
fn a_sha256_repository_is_read_too() {
    let scene = Scene::new();
    fs::remove_dir_all(scene.root().join(".git")).unwrap();
    scene.plain(&["init", "-q", "--object-format=sha256", "."]);
    scene.plain(&["add", "."]);
    scene.plain(&["commit", "-q", "-m", "first"]);
    assert_eq!(known(&scene, "a.txt"), GitFileState::Clean);
    assert_eq!(scene.git().content_at_head("a.txt").unwrap().as_deref(), Some(&b"one\n"[..]));
    scene.git().create_branch_here("x").unwrap();
}

#[test]
fn many_files_are_asked_about_in_several_calls() {
    let scene = Scene::new();
    let names: Vec<String> = (0..600).map(|number| format!("many/{number}")).collect();
    names.iter().for_each(|name| scene.file(name, ""));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let states = scene.git().status(&names).unwrap();
    assert_eq!(states.len(), 600);
    assert!(states.iter().all(|state| state.state == GitFileState::Untracked));
}

#[test]
fn no_repository_no_git_and_an_old_git_are_told_apart() {
    let scene = Scene::new();
    let bare = TempDir::new().unwrap();
    let none = Git::with_runner(&scene.run, bare.path());
    assert!(matches!(none.top_level(), Err(GitError::NotARepository { .. })));
    assert!(none.version().unwrap() >= OLDEST_SUPPORTED);

    struct Says(&'static str);
    impl GitRunner for Says {
        fn run(&self, _: &Job, _: &dyn Fn() -> bool) -> Result<JobOutcome, ExecError> {
            if self.0.is_empty() {
                return Err(ExecError::NotFound { program: "git".to_string() });
            }
            let stdout = CapturedOutput { head: self.0.as_bytes().to_vec(), ..CapturedOutput::default() };
            let stderr = CapturedOutput::default();
            Ok(JobOutcome {
                reason: ExitReason::Exited(0),
                stdout,
                stderr,
                took: Duration::ZERO,
                left_behind: 0,
                escaped: 0,
                unprotected: Vec::new(),
            })
        }
    }
    let none = Says("");
    assert!(matches!(Git::with_runner(&none, bare.path()).version(), Err(GitError::NoGit)));
    let old = Says("git version 2.37.1 (Apple Git-137.1)\n");
    let error = Git::with_runner(&old, bare.path()).status(&["a"]).unwrap_err();
    assert!(error.to_string().contains("2.37 is too old"), "{error}");
}

#[test]
fn somebody_elses_repository_is_refused_with_the_fix() {
    if !rustix::process::geteuid().is_root() {
        return; // Only root can give a directory away.
    }
    let scene = Scene::new();
    for path in [scene.root(), scene.root().join(".git")] {
        std::os::unix::fs::chown(path, Some(12_345), None).unwrap();
    }
    let error = scene.git().top_level().unwrap_err();
    assert!(matches!(error, GitError::DubiousOwner { .. }), "{error}");
    assert!(error.to_string().contains("safe.directory"));
}

#[test]
fn the_environment_does_not_point_git_elsewhere() {
    let (mut scene, other) = (Scene::new(), Scene::unborn());
    let elsewhere = other.root().join(".git").display().to_string();
    let index = scene.dir.path().join("index").display().to_string();
    for (name, value) in [
        ("GIT_DIR", elsewhere.as_str()),
        ("GIT_WORK_TREE", "/"),
        ("GIT_INDEX_FILE", &index),
        ("GIT_OBJECT_DIRECTORY", "/nowhere"),
        ("GIT_NAMESPACE", "x"),
        ("GIT_EXEC_PATH", "/nowhere"),
        ("GIT_CONFIG_COUNT", "nonsense"),
        ("GIT_CONFIG_PARAMETERS", "'core.worktree=/'"),
        ("GIT_LITERAL_PATHSPECS", "1"),
        ("GIT_TRACE", "1"),
    ] {
        scene.run.around.push((name.to_string(), value.to_string()));
    }
    assert_eq!(scene.git().top_level().unwrap(), scene.root());
    scene.file("[x].txt", "");
    assert_eq!(scene.git().status(&["a.txt", "[x].txt"]).unwrap()[1].state, GitFileState::Untracked);
    let made = scene.git().commit(&["[x].txt"], "m").unwrap();
    assert_eq!(made.output, "");
}

#[test]
fn branches_are_made_without_touching_files_or_the_index() {
    let scene = Scene::new();
    scene.file("a.txt", "edited\n");
    scene.file("c.txt", "staged\n");
    scene.plain(&["add", "c.txt"]);
    let before = scene.plain(&["status", "--porcelain"]);
    let index = fs::read(scene.root().join(".git/index")).unwrap();
    let name = scene.git().free_branch_name("relay/", "feat: Totals").unwrap();
    assert_eq!(name, "relay/feat-totals");
    scene.git().create_branch_here(&name).unwrap();
    assert_eq!(fs::read(scene.root().join(".git/index")).unwrap(), index);
    assert_eq!(scene.plain(&["symbolic-ref", "HEAD"]).trim(), "refs/heads/relay/feat-totals");
    assert_eq!(scene.plain(&["status", "--porcelain"]), before);
    assert!(scene.git().branch_exists(&name).unwrap());
    assert_eq!(scene.git().free_branch_name("relay/", "feat: Totals").unwrap(), "relay/feat-totals-2");
    assert!(matches!(scene.git().create_branch_here(&name), Err(GitError::BranchExists { .. })));
    // `relay/feat-totals` is there, so that nothing can be below it.
    assert!(matches!(scene.git().create_branch_here("relay/feat-totals/x"), Err(GitError::Failed { .. })));
    assert_eq!(scene.plain(&["symbolic-ref", "HEAD"]).trim(), "refs/heads/relay/feat-totals");
}

#[test]
fn a_branch_can_be_made_before_the_first_commit_and_from_none() {
    let unborn = Scene::unborn();
    unborn.git().create_branch_here("relay/x").unwrap();
    assert_eq!(unborn.plain(&["symbolic-ref", "HEAD"]).trim(), "refs/heads/relay/x");
    let detached = Scene::new();
    detached.plain(&["checkout", "-q", "--detach"]);
    detached.git().create_branch_here("relay/x").unwrap();
    assert_eq!(detached.plain(&["rev-parse", "HEAD"]), detached.plain(&["rev-parse", "main"]));
    fs::write(detached.root().join(".git/MERGE_HEAD"), "").unwrap();
    assert!(matches!(
        detached.git().create_branch_here("y"),
        Err(GitError::OperationInProgress { what: "a merge" })
    ));
}

#[test]
fn bad_names_of_branches_are_refused() {
    let scene = Scene::new();
    for name in
        ["-d", "", "HEAD", "a..b", "a b", "@{-1}", "@", "x.lock", "a\n", "a\u{202e}b", "/x", "x~1", "--help"]
    {
        assert!(matches!(scene.git().check_branch_name(name), Err(GitError::BadBranch { .. })), "{name:?}");
        assert!(scene.git().create_branch_here(name).is_err(), "{name:?}");
    }
    assert!(scene.git().check_branch_name(&"x".repeat(300)).is_err());
    assert!(scene.git().free_branch_name("-x ", "y").is_err());
    scene.git().check_branch_name("relay/fine-1").unwrap();
}

#[test]
fn what_is_ignored_is_listed_by_whole_directories() {
    let scene = Scene::new();
    scene.file(".gitignore", "target/\n*.log\n.env\n");
    for path in ["target/deep/x", "target/y", "sub/a.log", ".env", "sub/kept.txt", "ü.log"] {
        scene.file(path, "x\n");
    }
    let mut ignored = scene.git().ignored().unwrap();
    ignored.sort();
    assert_eq!(ignored, [".env", "sub/a.log", "target/", "ü.log"].map(|name| name.as_bytes().to_vec()));
    // From a project that begins below the repository's top, names are the project's own.
    let below = Git::with_runner(&scene.run, &scene.root().join("sub")).ignored().unwrap();
    assert_eq!(below, [b"a.log".to_vec()]);
}

#[test]
fn the_files_of_a_project_are_told_apart() {
    let scene = Scene::new();
    scene.file("new.txt", "new\n");
    scene.file("sub/.gitignore", "built/\n*.log\n");
    scene.file("sub/built/x.o", "x\n");
    scene.file("sub/y.log", "y\n");
    scene.file("nested/n.txt", "n\n");
    scene.try_plain(&scene.root().join("nested"), &["init", "-q"]);
    fs::remove_file(scene.root().join("a.txt")).unwrap();
    let names = |list: &[Vec<u8>]| -> Vec<String> {
        list.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    };
    let files = scene.git().files().unwrap();
    assert_eq!(names(&files.tracked), ["a.txt", "sub/b.txt"]);
    assert_eq!(names(&files.untracked), ["new.txt", "sub/.gitignore"]);
    assert_eq!(names(&files.ignored), ["sub/built/", "sub/y.log"]);
    assert_eq!(names(&files.nested), ["nested"]);
    assert!(files.sparse.is_empty() && files.submodules.is_empty());
    // From a directory below, only what is there.
    let below = Git::with_runner(&scene.run, &scene.root().join("sub")).files().unwrap();
    assert_eq!(names(&below.tracked), ["b.txt"]);
    assert_eq!(names(&below.ignored), ["built/", "y.log"]);
    let would = scene.git().would_ignore(&["sub/built/z", "sub/c.txt", "a.txt"]).unwrap();
    assert_eq!(would, ["sub/built/z"]);
    assert!(scene.git().would_ignore(&["a.txt"]).unwrap().is_empty());
}

#[test]
fn a_scratch_repository_has_the_history_and_no_part_in_the_users_own() {
    let scene = Scene::new();
    let copy = TempDir::new().unwrap();
    scene.git().make_scratch(copy.path(), &Default::default()).unwrap();
    let told = |words: &[&str]| scene.try_plain(copy.path(), words).1;
    assert!(told(&["log", "--oneline"]).contains("first"));
    assert_eq!(told(&["symbolic-ref", "HEAD"]).trim(), "refs/heads/main");
    assert_eq!(told(&["ls-files"]), "a.txt\nsub/b.txt\n");
    assert_eq!(scene.plain(&["worktree", "list"]).lines().count(), 1);
    assert!(!copy.path().join(".git/hooks").exists());
}
