//! Repositories that name commands in every way git knows, and every function that reads: nothing runs.
//! Each way is first shown to work with plain git, so that the test means something.

use super::*;

struct Poison {
    name: &'static str,
    /// Spreads it; says in which directory relay and git are called.
    spread: fn(&Scene) -> PathBuf,
    /// What makes plain git run it; none where that needs a terminal or a newer git.
    bait: &'static [&'static str],
}

fn config(scene: &Scene, key: &str, value: &str) {
    scene.plain(&["config", key, value]);
}

fn filter(scene: &Scene) {
    config(scene, "filter.x=y.clean", &scene.evil());
    config(scene, "filter.x=y.smudge", &scene.evil());
    config(scene, "filter.z.process", &scene.evil());
    config(scene, "filter.z.required", "true");
}

/// Something else in the work tree than in the index, of the same length.
fn touch(scene: &Scene) {
    scene.file("a.txt", "two\n");
}

const POISONS: &[Poison] = &[
    Poison {
        name: "fsmonitor",
        spread: |scene| {
            config(scene, "core.fsmonitor", &scene.evil());
            scene.root()
        },
        bait: &["status"],
    },
    Poison {
        name: "hooks",
        spread: |scene| {
            for hook in ["reference-transaction", "post-index-change", "pre-commit", "post-checkout"] {
                scene.hook(hook, &format!("exec '{}'", scene.evil()));
            }
            scene.root()
        },
        bait: &["update-ref", "refs/heads/bait", "HEAD"],
    },
    Poison {
        name: "hooks in the tree",
        spread: |scene| {
            fs::create_dir(scene.root().join(".hooks")).unwrap();
            for hook in ["reference-transaction", "post-index-change"] {
                script(&scene.root().join(".hooks").join(hook), &format!("exec '{}'", scene.evil()));
            }
            config(scene, "core.hooksPath", ".hooks");
            scene.root()
        },
        bait: &["update-ref", "refs/heads/bait", "HEAD"],
    },
    Poison {
        name: "a filter by .gitattributes",
        spread: |scene| {
            filter(scene);
            scene.file(".gitattributes", "* filter=x=y\n");
            touch(scene);
            scene.root()
        },
        bait: &["status"],
    },
    Poison {
        name: "a filter process by .gitattributes",
        spread: |scene| {
            filter(scene);
            scene.file(".gitattributes", "* filter=z\n");
            touch(scene);
            scene.root()
        },
        bait: &["status"],
    },
    Poison {
        name: "a filter by info/attributes",
        spread: |scene| {
            filter(scene);
            fs::create_dir_all(scene.root().join(".git/info")).unwrap();
            fs::write(scene.root().join(".git/info/attributes"), "* filter=x=y\n").unwrap();
            touch(scene);
            scene.root()
        },
        bait: &["status"],
    },
    Poison {
        name: "a filter by core.attributesFile",
        spread: |scene| {
            filter(scene);
            scene.file("attributes", "* filter=x=y\n");
            config(scene, "core.attributesFile", &scene.root().join("attributes").display().to_string());
            touch(scene);
            scene.root()
        },
        bait: &["status"],
    },
    Poison {
        name: "diff.external and textconv",
        spread: |scene| {
            config(scene, "diff.external", &scene.evil());
            config(scene, "diff.x.textconv", &scene.evil());
            config(scene, "diff.x.command", &scene.evil());
            scene.file(".gitattributes", "* diff=x\n");
            touch(scene);
            scene.root()
        },
        bait: &["diff"],
    },
    Poison {
        name: "pager, editor, alias, ssh, signatures",
        spread: |scene| {
            for key in ["core.pager", "pager.status", "core.editor", "core.sshCommand", "gpg.program"] {
                config(scene, key, &scene.evil());
            }
            for name in ["status", "bait", "ls-files", "rev-parse", "ls-tree"] {
                config(scene, &format!("alias.{name}"), &format!("!{}", scene.evil()));
            }
            config(scene, "commit.gpgSign", "true");
            scene.root()
        },
        bait: &["bait"],
    },
    Poison {
        name: "an included configuration",
        spread: |scene| {
            scene.file("more", &format!("[core]\n\tfsmonitor = {}\n", scene.evil()));
            config(scene, "include.path", "../more");
            scene.root()
        },
        bait: &["status"],
    },
    Poison {
        name: "a bare repository among the files",
        spread: |scene| {
            let bare = scene.root().join("docs");
            let git = |words: &[&str]| assert!(scene.try_plain(&bare, words).0, "{words:?}");
            fs::create_dir(&bare).unwrap();
            git(&["clone", "-q", "--bare", "..", "."]);
            git(&["config", "core.bare", "false"]);
            git(&["config", "core.worktree", "."]);
            git(&["read-tree", "HEAD"]);
            git(&["config", "core.fsmonitor", &scene.evil()]);
            bare
        },
        bait: &["status"],
    },
    Poison {
        name: "a .git file that points elsewhere",
        spread: |scene| {
            config(scene, "core.fsmonitor", &scene.evil());
            fs::rename(scene.root().join(".git"), scene.dir.path().join("elsewhere")).unwrap();
            scene.file(".git", "gitdir: ../elsewhere\n");
            scene.root()
        },
        bait: &["status"],
    },
    Poison {
        name: "a commondir that points elsewhere",
        spread: |scene| {
            let other = scene.dir.path().join("shared");
            assert!(scene.try_plain(scene.dir.path(), &["clone", "-q", "app", "shared"]).0);
            let text = format!("[core]\n\trepositoryformatversion = 0\n\tfsmonitor = {}\n", scene.evil());
            fs::write(other.join(".git/config"), text).unwrap();
            fs::write(scene.root().join(".git/commondir"), "../../shared/.git\n").unwrap();
            scene.root()
        },
        bait: &["status"],
    },
    Poison {
        name: "a work tree elsewhere",
        spread: |scene| {
            fs::create_dir(scene.dir.path().join("victim")).unwrap();
            config(scene, "core.worktree", "../../victim");
            config(scene, "core.fsmonitor", &scene.evil());
            scene.root()
        },
        bait: &["status"],
    },
    Poison {
        name: "an object that must be fetched by a command",
        spread: |scene| {
            let object = scene.plain(&["rev-parse", "HEAD:a.txt"]);
            let object = object.trim();
            config(scene, "core.repositoryFormatVersion", "1");
            config(scene, "extensions.partialClone", "origin");
            config(scene, "remote.origin.promisor", "true");
            // It ends at once: git would talk to it for as long as it listens.
            let fetch = scene.dir.path().join("fetch");
            script(&fetch, &format!("'{}' </dev/null; exit 1", scene.evil()));
            config(scene, "remote.origin.url", &format!("ext::{}", fetch.display()));
            config(scene, "protocol.ext.allow", "always");
            let (folder, name) = object.split_at(2);
            fs::remove_file(scene.root().join(".git/objects").join(folder).join(name)).unwrap();
            scene.root()
        },
        bait: &["cat-file", "blob", "HEAD:a.txt"],
    },
    Poison {
        name: "a submodule with a configuration of its own",
        spread: |scene| {
            assert!(scene.try_plain(&scene.root(), &["clone", "-q", ".", "module"]).0);
            scene.plain(&["add", "module"]);
            scene.plain(&["commit", "-q", "-m", "module"]);
            let path = scene.root().join("module");
            assert!(scene.try_plain(&path, &["config", "core.fsmonitor", &scene.evil()]).0);
            scene.root()
        },
        bait: &["status"],
    },
    Poison {
        name: "hooks in the configuration",
        spread: |scene| {
            for event in ["reference-transaction", "post-index-change"] {
                config(scene, &format!("hook.{event}-x.command"), &scene.evil());
                config(scene, &format!("hook.{event}-x.event"), event);
            }
            scene.root()
        },
        bait: &[],
    },
];

/// Every function that reads, or that makes a branch; a failure is fine.
fn everything(git: &Git<'_>) {
    let _ = git.version();
    let _ = git.top_level();
    let _ = git.status(&["a.txt", "sub/b.txt", "new.txt", "module"]);
    let _ = git.is_tracked("a.txt");
    let _ = git.content_at_head("a.txt");
    let _ = git.check_branch_name("fine");
    let _ = git.branch_exists("main");
    let _ = git.free_branch_name("relay/", "text");
    let _ = git.commands_on_commit();
    let _ = git.ignored();
    let _ = git.default_base();
    for name in ["HEAD", "--output=PWNED", "main"] {
        if let Ok(base) = git.resolve_base(name) {
            let _ = git.diff(DiffRange::SinceBase(&base), &[], 1 << 20);
            let _ = git.diff(DiffRange::SinceBaseUncommitted(&base), &["a.txt"], 1 << 20);
        }
    }
    let _ = git.diff(DiffRange::Uncommitted, &[], 1 << 20);
    let _ = git.diff(DiffRange::LastCommit, &[], 1 << 20);
    let _ = git.files();
    let _ = git.would_ignore(&["a.txt", "new.txt"]);
    let copy = TempDir::new().unwrap();
    let made = git.make_scratch(copy.path(), &Default::default());
    assert!(made.is_err() || !copy.path().join(".git/hooks").exists());
    let _ = git.in_scratch(copy.path()).ignored();
    let empty = TempDir::new().unwrap();
    let _ = git.make_empty_scratch(empty.path());
    let _ = git.create_branch_here("relay/made");
    let _ = git.content_at_head("sub/b.txt");
}

#[test]
fn nothing_that_a_repository_names_runs_when_it_is_read() {
    for poison in POISONS {
        let scene = Scene::new();
        let directory = (poison.spread)(&scene);
        scene.was_run();
        everything(&Git::with_runner(&scene.run, &directory));
        assert!(!scene.was_run(), "{}: it ran", poison.name);
        // The index may have been refreshed by what follows, so this comes last.
        if !poison.bait.is_empty() {
            scene.try_plain(&directory, poison.bait);
            assert!(scene.was_run(), "{}: plain git does not run it either", poison.name);
        }
    }
}

#[test]
fn reading_says_the_same_of_a_poisoned_repository() {
    for poison in POISONS.iter().filter(|poison| poison.name.contains("filter") || poison.name == "fsmonitor")
    {
        let scene = Scene::new();
        (poison.spread)(&scene);
        scene.file("a.txt", "longer than before\n");
        let states = scene.git().status(&["a.txt", "sub/b.txt"]).unwrap();
        assert_eq!(
            states[0].state,
            GitFileState::Changed { staged: false, unstaged: true },
            "{}",
            poison.name
        );
        assert_eq!(scene.git().content_at_head("a.txt").unwrap().as_deref(), Some(&b"one\n"[..]));
    }
}

#[test]
fn a_work_tree_elsewhere_and_a_bare_repository_are_refused() {
    for (name, expected) in
        [("a work tree elsewhere", "says that its files"), ("a bare repository", "without a work tree")]
    {
        let poison = POISONS.iter().find(|poison| poison.name.starts_with(name)).unwrap();
        let scene = Scene::new();
        let directory = (poison.spread)(&scene);
        let git = Git::with_runner(&scene.run, &directory);
        let error = git.commit(&["a.txt"], "m").unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(!scene.was_run());
    }
}

#[test]
fn a_configuration_with_too_many_filters_is_refused() {
    let scene = Scene::new();
    let path = scene.root().join(".git/config");
    let mut text = fs::read_to_string(&path).unwrap();
    (0..MOST_NAMES * 2).for_each(|number| text.push_str(&format!("[filter \"f{number}\"]\n\tclean = x\n")));
    fs::write(path, text).unwrap();
    assert!(matches!(scene.git().status(&["a.txt"]), Err(GitError::LimitExceeded { .. })));
}
