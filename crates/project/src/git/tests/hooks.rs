//! What would run is listed: all of the repository's, none of the user's.

use super::*;

fn names(scene: &Scene) -> Vec<String> {
    scene.git().commands_on_commit().unwrap().into_iter().map(|(name, _)| name).collect()
}

#[test]
fn an_ordinary_repository_runs_nothing() {
    let scene = Scene::new();
    scene.plain(&["config", "core.fsmonitor", "true"]);
    scene.plain(&["config", "alias.x", "!touch x"]);
    scene.plain(&["config", "core.sshCommand", "ssh -i key"]);
    scene.plain(&["config", "commit.template", "t"]);
    fs::write(scene.root().join(".git/hooks/pre-commit"), "not executable").ok();
    assert_eq!(names(&scene), Vec::<String>::new());
}

#[test]
fn hooks_are_listed_with_what_they_hold() {
    let scene = Scene::new();
    scene.hook("pre-commit", "exit 0");
    scene.hook("pre-push", "exit 0");
    let before = scene.git().commands_on_commit().unwrap();
    assert_eq!(before.len(), 1);
    assert_eq!(before[0].0, "hook pre-commit");
    assert!(before[0].1.starts_with(".git/hooks/pre-commit (sha256 "), "{}", before[0].1);
    scene.hook("pre-commit", "exit 1");
    assert_ne!(scene.git().commands_on_commit().unwrap(), before);
}

#[test]
fn hooks_are_found_wherever_the_repository_says() {
    let scene = Scene::new();
    fs::create_dir_all(scene.root().join(".husky")).unwrap();
    script(&scene.root().join(".husky/commit-msg"), "exit 0");
    scene.plain(&["config", "core.hooksPath", ".husky"]);
    assert_eq!(names(&scene), ["hook commit-msg", "core.hookspath"]);
    let below = Git::with_runner(&scene.run, &scene.root().join("sub"));
    assert_eq!(below.commands_on_commit().unwrap(), scene.git().commands_on_commit().unwrap());
}

#[test]
fn commands_of_the_configuration_are_listed_with_what_it_includes() {
    let scene = Scene::new();
    scene.file("more", "[filter \"x\"]\n\tclean = evil\n[GPG \"Ssh\"]\n\tprogram = evil\n");
    for (key, value) in [
        ("include.path", "../more"),
        ("core.fsmonitor", "evil"),
        ("core.editor", "evil"),
        ("gpg.program", "evil"),
        ("gpg.ssh.defaultKeyCommand", "evil"),
        ("filter.y.process", "evil"),
        ("hook.z.command", "evil"),
    ] {
        scene.plain(&["config", key, value]);
    }
    let mut found = names(&scene);
    found.sort();
    let expected = [
        "core.editor",
        "core.fsmonitor",
        "filter.x.clean",
        "filter.y.process",
        "gpg.Ssh.program",
        "gpg.program",
        "gpg.ssh.defaultkeycommand",
        "hook.z.command",
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_the_user_configured_is_the_users_own() {
    let scene = Scene::new();
    let hooks = scene.dir.path().join("hooks");
    fs::create_dir(&hooks).unwrap();
    script(&hooks.join("pre-commit"), "exit 0");
    let global = scene.dir.path().join("gitconfig");
    let configured = |hooks: &str| {
        fs::write(&global, format!("[core]\n\thooksPath = {hooks}\n[filter \"lfs\"]\n\tclean = git-lfs\n"))
            .unwrap();
        let set = [("GIT_CONFIG_GLOBAL", global.to_str().unwrap())];
        scene.git().with_environment(&set).commands_on_commit().unwrap()
    };
    assert_eq!(configured(hooks.to_str().unwrap()), []);
    // A relative one is looked for in the repository: what is there is the repository's.
    fs::create_dir(scene.root().join("h")).unwrap();
    script(&scene.root().join("h/pre-commit"), "exit 0");
    assert_eq!(configured("h").len(), 1);
}

#[test]
fn a_clone_without_all_objects_lists_what_fetches_them() {
    let scene = Scene::new();
    scene.plain(&["config", "remote.origin.promisor", "true"]);
    scene.plain(&["config", "remote.origin.url", "ext::evil"]);
    scene.plain(&["config", "core.sshCommand", "evil"]);
    let found = names(&scene);
    for name in ["remote.origin.url", "core.sshcommand"] {
        assert!(found.iter().any(|found| found == name), "{found:?}");
    }
}
