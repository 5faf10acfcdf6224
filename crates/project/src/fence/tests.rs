//! Fences of made-up projects and homes.

use std::fs;

use super::*;

struct Scene {
    base: tempfile::TempDir,
}

impl Scene {
    fn new(directories: &[&str], files: &[(&str, &str)]) -> Scene {
        let base = tempfile::tempdir().unwrap();
        for name in ["project", "home", "temp"].iter().chain(directories) {
            fs::create_dir_all(base.path().join(name)).unwrap();
        }
        let scene = Scene { base };
        for (name, text) in files {
            let text = text.replace("BASE", &scene.path("").display().to_string());
            fs::create_dir_all(scene.path(name).parent().unwrap()).unwrap();
            fs::write(scene.path(name), text).unwrap();
        }
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.base.path().canonicalize().unwrap().join(name)
    }

    fn fence(&self) -> ProjectFence {
        let (root, home, relay, temp) =
            (self.path("project"), self.path("home"), self.path("home/.relaycode"), self.path("temp"));
        let place = FencePlace {
            root: &root,
            user_home: Some(&home),
            relay_home: Some(&relay),
            temp: &temp,
            listings: None,
        };
        project_fence(&place, FenceAccess::Workspace, &FenceGrants::default(), &|_| None)
    }

    fn short(&self, paths: &[PathBuf]) -> Vec<String> {
        let base = self.path("");
        paths.iter().map(|path| path.strip_prefix(&base).unwrap().display().to_string()).collect()
    }
}

#[test]
fn what_is_protected_secret_and_cached_is_found_where_it_is() {
    let scene = Scene::new(
        &[
            "project/.git/hooks",
            "project/.vscode",
            "project/src",
            "home/.ssh",
            "home/.cargo",
            "home/.relaycode/keys",
        ],
        &[("project/.git/config", ""), ("project/AGENTS.md", ""), ("home/.relaycode/cache/x", "")],
    );
    let ProjectFence { fence, environment, git } = scene.fence();
    assert!(git.is_some());
    assert_eq!(scene.short(&fence.directories), ["project"]);
    let mut read_only = scene.short(&fence.read_only);
    read_only.sort();
    assert_eq!(
        read_only,
        [
            "project/.git/commondir",
            "project/.git/config",
            "project/.git/config.worktree",
            "project/.git/hooks",
            "project/.git/info/attributes",
            "project/.vscode",
            "project/AGENTS.md"
        ]
    );
    let mut own = fence.masked.clone();
    own.retain(|path| path.starts_with(scene.path("")));
    own.sort();
    assert_eq!(scene.short(&own), ["home/.relaycode/keys", "home/.ssh", "project/.relaycode"]);
    assert_eq!(fence.layers.len(), 1);
    assert_eq!(PathBuf::from(&fence.layers[0].directory), scene.path("home/.cargo"));
    assert_eq!(environment.len(), 2, "{environment:?}");
}

#[test]
fn a_worktree_is_believed_only_if_its_repository_knows_it() {
    let files: &[(&str, &str)] = &[
        ("project/.git", "gitdir: BASE/main/.git/worktrees/w\n"),
        ("main/.git/worktrees/w/commondir", "../..\n"),
        ("main/.git/worktrees/w/gitdir", "BASE/project/.git\n"),
        ("main/.git/config", ""),
    ];
    let scene = Scene::new(&["main/.git/hooks"], files);
    let fence = scene.fence().fence;
    assert_eq!(scene.short(&fence.directories), ["project", "main/.git"]);
    let read_only = scene.short(&fence.read_only);
    for name in ["project/.git", "main/.git/hooks", "main/.git/config", "main/.git/worktrees/w/commondir"] {
        assert!(read_only.iter().any(|known| known == name), "{name} in {read_only:?}");
    }
    for (file, text) in [
        ("main/.git/worktrees/w/gitdir", "BASE/other/.git\n"),
        ("main/.git/worktrees/w/commondir", "BASE/home\n"),
        ("project/.git", "gitdir: BASE/home\n"),
    ] {
        let scene = Scene::new(&["main/.git/hooks", "other/.git"], files);
        fs::write(scene.path(file), text.replace("BASE", &scene.path("").display().to_string())).unwrap();
        assert_eq!(scene.short(&scene.fence().fence.directories), ["project"], "{file}");
    }
}

#[test]
fn a_submodule_has_its_directory_in_that_of_another_repository() {
    let files: &[(&str, &str)] = &[
        ("project/.git", "gitdir: ../top/.git/modules/m\n"),
        ("top/.git/modules/m/config", "[core]\n\tworktree = ../../../../project\n"),
        ("top/.git/modules/m/HEAD", "ref: refs/heads/main\n"),
    ];
    let scene = Scene::new(&[], files);
    assert_eq!(scene.short(&scene.fence().fence.directories), ["project", "top/.git/modules/m"]);
    fs::write(scene.path("top/.git/modules/m/config"), "[core]\n").unwrap();
    assert_eq!(scene.short(&scene.fence().fence.directories), ["project"]);
}

#[test]
fn known_commands_need_what_they_need_and_others_nothing() {
    let need = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        find_need(&words).map(|need| need.rule())
    };
    for (line, rule) in [
        ("npm publish --tag next", "npm publish * [outside the fence]"),
        ("/usr/bin/npm install", "npm install * [network]"),
        ("cargo +nightly publish", "cargo publish * [outside the fence]"),
        ("cargo install ripgrep", "cargo install * [network]"),
        ("twine upload dist/x", "twine upload * [outside the fence]"),
        ("python3 -m twine upload dist/x", "twine upload * [outside the fence]"),
        ("git -C sub -c a.b=c push origin", "git push * [outside the fence]"),
        ("git clone https://example.org/x", "git clone * [outside the fence]"),
        ("ssh host", "ssh * [outside the fence]"),
        ("docker ps", "docker * [outside the fence]"),
        ("curl example.org", "curl * [network]"),
        ("python3 -m pip install x", "pip install * [network]"),
        ("sudo make install", "sudo * [outside the fence]"),
    ] {
        assert_eq!(need(line).as_deref(), Some(rule), "{line}");
    }
    for line in [
        "git status",
        "git commit -m push",
        "cargo build",
        "cargo --offline fetch",
        "npm ci --offline",
        "npm test",
        "pip install --no-index --find-links wheels x",
        "python script.py",
        "npm --version",
        "make",
        "ssh-keygen",
    ] {
        assert_eq!(need(line), None, "{line}");
    }
}

#[test]
fn a_hit_is_known_by_the_systems_words_and_the_path() {
    let scene = Scene::new(&["project/.git/hooks", "home/.ssh"], &[]);
    let fence = scene.fence().fence;
    let (hook, key) = (scene.path("project/.git/hooks/x"), scene.path("home/.ssh/id"));
    let hit = |output: &str| find_fence_hit(output, &fence);
    let line = format!("sh: 1: cannot create {}: Read-only file system\n", hook.display());
    assert_eq!(hit(&line), Some(FenceHit::Write(hook)));
    assert_eq!(hit("cp: cannot create '/etc/x': Permission denied"), Some(FenceHit::Write("/etc/x".into())));
    assert_eq!(hit(&format!("cat: {}: Permission denied", key.display())), Some(FenceHit::Secret(key)));
    assert_eq!(hit("curl: (6) Could not resolve host: example.org"), Some(FenceHit::Network));
    assert_eq!(
        hit("Cannot connect to the Docker daemon at unix:///var/run/docker.sock."),
        Some(FenceHit::Socket)
    );
    let inside = scene.path("project/closed");
    assert_eq!(hit(&format!("cat: {}: Permission denied", inside.display())), None);
    assert_eq!(hit("error: test failed"), None);
}

#[test]
fn an_agent_in_a_copy_has_its_own_places_and_nobody_elses() {
    let files: &[(&str, &str)] = &[
        ("home/.claude/.credentials.json", ""),
        ("home/.claude.json", ""),
        ("home/.codex/auth.json", ""),
        ("home/.ssh/id", ""),
        ("home/.relaycode/keys/x", ""),
        ("home/.relaycode/scratch/1/app/.git/config", ""),
        ("home/.relaycode/scratch/2/app/a", ""),
    ];
    let scene =
        Scene::new(&["home/.relaycode/scratch/1/app/.git/hooks", "home/.relaycode/scratch/1/layers"], files);
    let (root, home, relay) = (scene.path("project"), scene.path("home"), scene.path("home/.relaycode"));
    let (top, layers) = (relay.join("scratch/1/app"), relay.join("scratch/1/layers"));
    let temp = scene.path("temp");
    let place = FencePlace {
        root: &root,
        user_home: Some(&home),
        relay_home: Some(&relay),
        temp: &temp,
        listings: None,
    };
    let own = AgentPlaces {
        state: vec![home.join(".claude"), home.join(".absent")],
        sign_in: vec![home.join(".claude/.credentials.json"), home.join(".claude/absent")],
        lent: vec![home.join(".claude.json")],
    };
    let fence = |level| {
        let copy = CopyPlace { top: &top, layers: &layers };
        copy_fence(&place, &copy, &own, level, &|_| None).fence
    };
    let found = fence(FenceLevel::Namespaces);
    let (copy, sign_in) = ("home/.relaycode/scratch/1/app", "home/.claude/.credentials.json");
    assert_eq!(scene.short(&found.directories), [copy, sign_in]);
    assert_eq!(PathBuf::from(&found.layers[0].directory), home.join(".claude"));
    assert_eq!((found.layers.len(), found.network, found.sockets.len()), (1, true, 0));
    let mut masked = found.masked.clone();
    masked.retain(|path| path.starts_with(scene.path("")));
    masked.sort();
    let masked = scene.short(&masked);
    let others = [
        "home/.codex/auth.json",
        "home/.relaycode/keys",
        "home/.relaycode/scratch/1/layers",
        "home/.relaycode/scratch/2",
        "home/.ssh",
        "project/.relaycode",
    ];
    assert_eq!(masked, others);
    let protected = scene.short(&found.read_only);
    assert!(protected.contains(&format!("{copy}/.git/hooks")), "{protected:?}");
    let alone = fence(FenceLevel::Rules);
    assert_eq!(scene.short(&alone.directories), [copy, "home/.claude", sign_in]);
    assert!(alone.layers.is_empty());
}
