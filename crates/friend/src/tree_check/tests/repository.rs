//! What of a repository is looked at.

use super::*;

#[test]
fn what_makes_git_do_something_else_is_found_and_what_git_touches_is_not() {
    for path in [
        ".git/config",
        ".git/config.worktree",
        ".git/hooks/pre-commit",
        ".git/info/attributes",
        ".git/HEAD",
        ".git/refs/heads/main",
        ".git/refs/heads/new",
        ".git/packed-refs",
        ".git/commondir",
        ".git/modules/sub/config",
        ".git/modules/a/b/hooks/post-checkout",
        ".git/worktrees/w/config.worktree",
        ".git/objects/info/alternates",
        ".git/objects/info/http-alternates",
        // Whatever a setting could name, and what a commit would go on with.
        ".git/myhooks/pre-commit",
        ".git/extra",
        ".git/index.extra",
        ".git/MERGE_HEAD",
        ".git/hooks/x.lock",
        ".git/modules/a/b/extra",
        ".git/lfs/objects/x",
        ".git/x.lock/hook",
        ".git/gc.log/hook",
        "nested/.git/hooks/pre-commit",
    ] {
        let differences = found(|root| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "changed").unwrap();
            for folder in [".git/modules/sub", ".git/modules/a/b", ".git/worktrees/w"] {
                if root.join(folder).exists() {
                    fs::write(root.join(folder).join("HEAD"), "x").unwrap();
                }
            }
        });
        assert!(differences.iter().any(|(found, _)| found == path), "{path}: {differences:?}");
    }
    let quiet = found(|root| {
        for path in [
            ".git/index.lock",
            ".git/sharedindex.0123",
            ".git/refs/heads/main.lock",
            ".git/objects/aa/bb",
            ".git/logs/HEAD",
            ".git/FETCH_HEAD",
            ".git/ORIG_HEAD",
            ".git/COMMIT_EDITMSG",
            ".git/gc.log",
            ".git/gc.pid",
            ".git/opencode",
            ".git/fsmonitor--daemon/cookies/1",
            ".git/fsmonitor--daemon.ipc",
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "changed").unwrap();
        }
    });
    assert_eq!(quiet, []);
}

#[test]
fn the_repository_of_a_worktree_and_of_a_project_below_it_is_looked_at() {
    let (dir, top) = project();
    let shared = top.join(".git");
    let own = shared.join("worktrees/w");
    fs::create_dir_all(&own).unwrap();
    for (path, text) in [("HEAD", "ref: refs/heads/w\n"), ("commondir", "../..\n"), ("gitdir", "x\n")] {
        fs::write(own.join(path), text).unwrap();
    }
    let tree = dir.path().canonicalize().unwrap().join("tree");
    fs::create_dir(&tree).unwrap();
    fs::write(tree.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
    let (worktree, below) = (take(&tree), take(&top.join("src")));
    assert_eq!((compared(&worktree), compared(&below)), (vec![], vec![]));
    fs::write(shared.join("hooks/pre-commit"), "x").unwrap();
    fs::write(own.join("config.worktree"), "x").unwrap();
    let hook = shared.join("hooks/pre-commit").display().to_string();
    let config = own.join("config.worktree").display().to_string();
    for snapshot in [worktree, below] {
        let found = compared(&snapshot);
        assert!(found.contains(&(hook.clone(), ObservedChangeKind::Created)), "{found:?}");
        assert!(found.contains(&(config.clone(), ObservedChangeKind::Created)), "{found:?}");
    }
}

#[test]
fn what_is_passed_over_must_be_what_it_is_called() {
    let links = found(|root| {
        fs::rename(root.join(".git/objects"), root.join("../objects")).unwrap();
        fs::rename(root.join(".git/logs"), root.join("../logs")).unwrap();
        symlink("../../objects", root.join(".git/objects")).unwrap();
        symlink("../../logs", root.join(".git/logs")).unwrap();
        symlink("/dev/null", root.join(".git/FETCH_HEAD")).unwrap();
    });
    let expected = [".git/FETCH_HEAD", ".git/logs", ".git/objects"];
    assert_eq!(links, expected.map(|path| (path.to_string(), ObservedChangeKind::Created)));
}

/// A repository made by git itself, with a remote: branches, a tag, and a second commit there that was not fetched.
fn cloned() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (origin, app) = (root.join("origin"), root.join("app"));
    git(&root, "init -q -b main origin");
    git(&origin, "commit -q --allow-empty -m one");
    git(&origin, "branch side/deep");
    git(&root, "clone -q origin app");
    git(&app, "branch mine");
    git(&app, "branch folder/mine");
    git(&origin, "commit -q --allow-empty -m two");
    git(&origin, "tag v2");
    (dir, app)
}

fn git(directory: &Path, words: &str) {
    let mut command = std::process::Command::new("git");
    command.args(["-c", "user.name=n", "-c", "user.email=e@example.com"]).args(words.split(' '));
    for (name, value) in [("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_SYSTEM", "/dev/null")] {
        command.env(name, value);
    }
    assert!(command.current_dir(directory).status().unwrap().success(), "git {words}");
}

#[test]
fn a_fetch_a_gc_and_packed_refs_in_the_background_are_no_changes() {
    for line in ["fetch -q", "pack-refs --all", "gc -q", "fetch -q --prune", "update-server-info"] {
        let (_dir, app) = cloned();
        let before = take(&app);
        git(&app, line);
        assert_eq!(compared(&before), [], "git {line}");
        git(&app, "pack-refs --all");
        git(&app, "gc -q");
        assert_eq!(compared(&before), [], "git {line}, then packed");
    }
}

#[test]
fn a_branch_that_moves_is_found_also_when_refs_are_packed_meanwhile() {
    let found = |lines: &[&str]| {
        let (_dir, app) = cloned();
        let before = take(&app);
        lines.iter().for_each(|line| git(&app, line));
        let mut found = compared(&before);
        found.retain(|(path, _)| path.starts_with(".git/refs") || path == ".git/packed-refs");
        found
    };
    let one = |path: &str, kind| vec![(path.to_string(), kind)];
    assert_eq!(
        found(&["fetch -q", "branch -f mine origin/main", "pack-refs --all"]),
        one(".git/refs/heads/mine", ObservedChangeKind::Changed)
    );
    assert_eq!(
        found(&["pack-refs --all", "branch -q -D folder/mine"]),
        one(".git/refs/heads/folder/mine", ObservedChangeKind::Removed)
    );
    assert_eq!(
        found(&["branch new", "pack-refs --all"]),
        one(".git/refs/heads/new", ObservedChangeKind::Created)
    );
    // A name that means a branch until somebody makes such a tag.
    assert_eq!(found(&["tag mine"]), one(".git/refs/tags/mine", ObservedChangeKind::Created));
    assert_eq!(found(&["tag other"]), []);
}
