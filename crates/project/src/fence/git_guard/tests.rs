//! What a command does to repositories, and what is told of it.

use std::os::unix::fs::symlink;

use super::*;

const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
const HEAD: &str = "ref: refs/heads/main\n";
const EVIL: &str = "[core]\n\tfsmonitor = ./x\n";

/// A project that is a repository, with another in it.
struct Project(tempfile::TempDir);

impl Project {
    fn new() -> Project {
        let project = Project(tempfile::tempdir().unwrap());
        project.repository(".git");
        project.repository("sub/.git");
        project
    }

    fn root(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    fn put(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn repository(&self, git: &str) {
        for name in ["objects", "refs", "hooks"] {
            fs::create_dir_all(self.root().join(git).join(name)).unwrap();
        }
        self.put(&format!("{git}/HEAD"), HEAD);
        self.put(&format!("{git}/config"), CONFIG);
        self.put(&format!("{git}/hooks/pre-commit.sample"), "sample");
    }

    fn guard(&self) -> GitGuard {
        GitGuard::new(&self.root(), None, Arc::default())
    }

    /// What a command did, each as its path and verb.
    fn told(&self, guard: &GitGuard) -> Vec<String> {
        self.told_with(guard, &[], &[])
    }

    fn told_with(&self, guard: &GitGuard, held: &[&str], further: &[&str]) -> Vec<String> {
        let paths = |names: &[&str]| names.iter().map(|name| self.root().join(name)).collect::<Vec<_>>();
        let changes = guard.changes(&paths(held), &paths(further));
        assert!(!changes.is_cut);
        let line = |change: &GitControlChange| {
            let path = change.path.strip_prefix(self.root()).unwrap().display();
            format!("{path} {}", change.verb())
        };
        changes.files.iter().map(line).collect()
    }
}

#[test]
fn what_makes_git_run_something_is_told_in_every_repository() {
    let project = Project::new();
    project.put(".git/hooks/pre-push", "mine");
    let guard = project.guard();
    for name in [".git", "sub/.git"] {
        project.put(&format!("{name}/config"), EVIL);
        for made in ["hooks/pre-commit", "commondir", "config.worktree", "info/attributes"] {
            project.put(&format!("{name}/{made}"), "evil");
        }
    }
    fs::remove_file(project.root().join(".git/hooks/pre-push")).unwrap();
    let all = [
        ".git/commondir was made",
        ".git/config was changed",
        ".git/config.worktree was made",
        ".git/hooks/pre-commit was made",
        ".git/hooks/pre-push was removed",
        ".git/info/attributes was made",
        "sub/.git/commondir was made",
        "sub/.git/config was changed",
        "sub/.git/config.worktree was made",
        "sub/.git/hooks/pre-commit was made",
        "sub/.git/info/attributes was made",
    ];
    assert_eq!(project.told(&guard), all);
    let held = project.told_with(&guard, &[".git/config", ".git/hooks"], &[]);
    // A hook that is new in a directory that was closed cannot be the command's, and is told all the same.
    assert_eq!(held, [&all[..1], &all[2..4], &all[5..]].concat());
}

#[test]
fn what_git_does_by_itself_is_told_by_nobody() {
    let project = Project::new();
    let guard = project.guard();
    project.put(".git/HEAD", "ref: refs/heads/other\n");
    project.put(".git/index", "x");
    project.put(".git/hooks/post-commit.sample", "sample");
    project.repository("new/.git");
    project.repository("server.git");
    project.put(".git/worktrees/w/commondir", "../..\n");
    project.put(".git/worktrees/w/gitdir", &format!("{}/w/.git\n", project.root().display()));
    project.put("w/.git", &format!("gitdir: {}/.git/worktrees/w\n", project.root().display()));
    fs::remove_dir_all(project.root().join("sub")).unwrap();
    assert_eq!(project.told(&guard), [""; 0]);
    assert!(guard.changes(&[], &[]).has_new_index);
}

#[test]
fn a_new_repository_that_is_not_plain_is_told_wherever_it_is() {
    let project = Project::new();
    let guard = project.guard();
    project.repository("new/.git");
    project.put("new/.git/config", EVIL);
    project.repository("bare");
    project.put("bare/config", EVIL);
    project.repository(".git/modules/m");
    project.put(".git/modules/m/hooks/pre-commit", "evil");
    project.put("pointer/.git", "gitdir: ../bare\n");
    symlink("../bare", project.root().join("w")).unwrap();
    fs::create_dir(project.root().join("linked")).unwrap();
    symlink("../bare", project.root().join("linked/.git")).unwrap();
    project.put(".git/worktrees/w/commondir", "../../../bare\n");
    let told = project.told(&guard);
    for line in [
        ".git/modules/m/hooks/pre-commit was made",
        ".git/worktrees/w/commondir was made",
        "linked/.git was made",
        "new/.git/config was made",
        "pointer/.git was made",
    ] {
        assert!(told.iter().any(|known| known == line), "{line} in {told:#?}");
    }
    assert!(told.iter().any(|line| line.starts_with("bare/")), "{told:#?}");
    // Where nobody looks unless the index names it.
    project.repository("node_modules/x/.git");
    project.put("node_modules/x/.git/config", EVIL);
    let further = "node_modules/x/.git/config was made".to_string();
    assert!(!project.told(&guard).contains(&further));
    assert!(project.told_with(&guard, &[], &["node_modules/x"]).contains(&further));
}

#[test]
fn a_project_that_is_made_look_like_a_repository_is_told() {
    let project = Project::new();
    let guard = project.guard();
    fs::remove_file(project.root().join(".git/HEAD")).unwrap();
    fs::remove_dir(project.root().join(".git/refs")).unwrap();
    for name in ["objects", "refs"] {
        fs::create_dir(project.root().join(name)).unwrap();
    }
    project.put("HEAD", HEAD);
    project.put("config", EVIL);
    assert_eq!(project.told(&guard), [".git/HEAD was removed", ".git/refs was removed", "HEAD was made"]);

    let plain = Project(tempfile::tempdir().unwrap());
    let guard = plain.guard();
    plain.repository(".git");
    assert_eq!(plain.told(&guard), [""; 0]);
    plain.put(".git/config", EVIL);
    plain.put(".git/hooks/pre-commit", "evil");
    assert_eq!(plain.told(&guard), [".git/config was made", ".git/hooks/pre-commit was made"]);
}

#[test]
fn what_a_configuration_names_in_the_project_is_told() {
    let project = Project::new();
    project.put(".git/config", "[core]\n\thooksPath = tools/hooks\n[include]\n\tpath = ../shared\n");
    project.put("tools/hooks/pre-commit", "mine");
    let guard = project.guard();
    let closed: Vec<PathBuf> = guard.protected();
    for name in ["tools/hooks", "sub/.git/config", "sub/.git/hooks"] {
        assert!(closed.contains(&project.root().join(name)), "{name} in {closed:?}");
    }
    project.put("tools/hooks/pre-commit", "evil");
    project.put("tools/hooks/notes.txt", "fine");
    project.put("shared", EVIL);
    assert_eq!(project.told(&guard), ["shared was made", "tools/hooks/pre-commit was changed"]);
}

#[test]
fn a_directory_that_became_a_link_is_put_back_before_what_is_in_it() {
    let project = Project::new();
    project.put(".git/hooks/pre-commit", "mine");
    let guard = project.guard();
    fs::remove_dir_all(project.root().join(".git/hooks")).unwrap();
    symlink("../sub", project.root().join(".git/hooks")).unwrap();
    assert_eq!(project.told(&guard), [".git/hooks was changed", ".git/hooks/pre-commit was removed"]);
}
