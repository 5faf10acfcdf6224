//! What is decided by which rule.

use super::*;

#[test]
fn deny_wins_over_ask_and_ask_over_allow_whatever_the_layer() {
    use PermissionLayer::{AlwaysHere, Project, Session, User};
    let layers = [User, Project, AlwaysHere, Session];
    for strict in layers {
        for loose in layers {
            let rules = [
                (loose, "allow make *"),
                (strict, "ask make *"),
                (loose, "ask make x"),
                (strict, "deny make x"),
            ];
            let engine = engine_with(rules, Access::Full);
            assert_eq!(decided(&engine, &line("make x")), "deny: deny make x", "{strict:?} {loose:?}");
            assert_eq!(decided(&engine, &line("make y")), "ask: ask make *", "{strict:?} {loose:?}");
        }
    }
}

#[test]
fn a_project_cannot_allow_and_a_session_can() {
    let mut layers = PermissionLayers::default();
    assert!(!layers.add(PermissionLayer::Project, allow("make *")));
    assert!(layers.rules().is_empty() && layers.ignored().len() == 1);
    assert!(layers.add(PermissionLayer::Session, allow("make *")));
    let engine = engine_with([(PermissionLayer::Session, "allow make *")], Access::Ask);
    assert_eq!(decided(&engine, &line("make x")), "allow: allow make *");
}

#[test]
fn every_decision_names_its_rule() {
    let asks = engine(&["allow cargo test *"]);
    for (request, rule) in [
        (line("cargo test -p x"), "allow: allow cargo test *"),
        (line("ls -l | head"), "allow: built-in:reads-only"),
        (line("> /tmp/own/list"), "allow: built-in:temporary-files"),
        (line("ls > list"), "ask: built-in:no-rule"),
        (line("cargo build"), "ask: built-in:no-rule"),
        (line("$TOOL x"), "ask: built-in:not-understood"),
        (line("source <(echo make)"), "ask: built-in:not-understood"),
        (line("ls &&"), "ask: built-in:not-understood"),
        (line("echo x >> ~/.bashrc"), "ask: built-in:protected-path"),
        (path(PathVerb::Read, "src/a.rs"), "allow: built-in:reads-project"),
        (path(PathVerb::Read, "/home/me/.ssh/id"), "ask: built-in:protected-path"),
        (path(PathVerb::Edit, "src/a.rs"), "ask: built-in:no-rule"),
        (path(PathVerb::Edit, "src/../.git/config"), "ask: built-in:protected-path"),
        (PermissionRequest::Tool("web".into()), "ask: built-in:no-rule"),
    ] {
        assert_eq!(decided(&asks, &request), rule, "{request:?}");
    }
    let works = engine_with([(PermissionLayer::User, "ask make *")], Access::Workspace);
    for (request, rule) in [
        (line("cargo build"), "allow: built-in:fence"),
        (line("make x"), "ask: ask make *"),
        (line("$TOOL x"), "ask: built-in:may-be-denied"),
        (path(PathVerb::Edit, "src/a.rs"), "allow: built-in:edits-project"),
        (path(PathVerb::Edit, "/home/me/other/a.rs"), "ask: built-in:no-rule"),
    ] {
        assert_eq!(decided(&works, &request), rule, "{request:?}");
    }
    let looks = engine_with([], Access::ReadOnly);
    assert_eq!(decided(&looks, &path(PathVerb::Edit, "a")), "deny: built-in:read-only-access");
    let all = engine_with([], Access::Full);
    assert_eq!(decided(&all, &line("cargo build")), "allow: built-in:full-access");
}

#[test]
fn hosts_are_compared_by_name() {
    let engine =
        engine(&["allow host api.example.org", "allow host *.example.net", "deny host bad.example.net"]);
    for (host, wanted) in [
        ("api.example.org", "allow: allow host api.example.org"),
        ("API.Example.Org", "allow: allow host api.example.org"),
        ("a.b.example.net", "allow: allow host *.example.net"),
        ("bad.example.net", "deny: deny host bad.example.net"),
        ("example.net", "ask: built-in:no-rule"),
        ("notexample.net", "ask: built-in:no-rule"),
        (".example.net", "ask: built-in:no-rule"),
        ("api.example.org.evil.example", "ask: built-in:no-rule"),
        ("bad.example.net.", "deny: built-in:unclear-host"),
        ("bad.example.net%00", "deny: built-in:unclear-host"),
        ("b\u{430}d.example.net", "deny: built-in:unclear-host"),
        ("", "deny: built-in:unclear-host"),
    ] {
        assert_eq!(decided(&engine, &PermissionRequest::Host(host.into())), wanted, "{host:?}");
    }
}

#[test]
fn paths_are_compared_where_they_lead() {
    let engine =
        engine(&["allow edit src/**", "deny edit src/keys/**", "deny read *.pem", "allow edit ~/notes/*.md"]);
    for (verb, name, wanted) in [
        (PathVerb::Edit, "src/a.rs", "allow: allow edit src/**"),
        (PathVerb::Edit, "src/keys/a", "deny: deny edit src/keys/**"),
        (PathVerb::Edit, "src/x/../keys/a", "deny: deny edit src/keys/**"),
        (PathVerb::Edit, "src/../a", "ask: built-in:no-rule"),
        (PathVerb::Read, "deep/down/a.pem", "deny: deny read *.pem"),
        (PathVerb::Edit, "/home/me/notes/a.md", "allow: allow edit ~/notes/*.md"),
        (PathVerb::Edit, "/home/me/notes/b/a.md", "ask: built-in:no-rule"),
    ] {
        assert_eq!(decided(&engine, &path(verb, name)), wanted, "{name}");
    }
}

#[test]
fn what_a_line_destroys_is_listed_with_its_targets() {
    let place = engine(&[]).place;
    let root = "/home/me/project";
    let wanted = [
        ("rm -rf target *.log", "rm beneath target, rm files *.log"),
        ("mv a b", "mv beneath a, mv beneath b"),
        ("cat x > out.txt", "> out.txt"),
        ("cat x >> out.txt", ""),
        ("sed -i s/a/b/ src/a.rs", "sed -i src/a.rs"),
        ("git reset --hard", "git reset beneath ."),
        ("find . -name x -delete", "find -delete beneath ."),
        ("rm $X", "rm anything"),
        ("ls -l", ""),
    ];
    let mut found = Vec::new();
    for (text, _) in wanted {
        let reading = read_line(text, &place);
        let listed: Vec<String> = reading
            .destructive
            .iter()
            .map(|act| {
                let shown = |path: &Path| match path.strip_prefix(root) {
                    Ok(inside) if inside.as_os_str().is_empty() => ".".to_string(),
                    Ok(inside) => inside.display().to_string(),
                    Err(_) => path.display().to_string(),
                };
                match &act.target {
                    LineTarget::Path(path) => format!("{} {}", act.act, shown(path)),
                    LineTarget::Pattern(path) => format!("{} files {}", act.act, shown(path)),
                    LineTarget::Beneath(path) => format!("{} beneath {}", act.act, shown(path)),
                    LineTarget::Unknown => format!("{} anything", act.act),
                }
            })
            .collect();
        found.push((text, listed.join(", ")));
    }
    let wanted: Vec<_> = wanted.iter().map(|(text, acts)| (*text, (*acts).to_string())).collect();
    assert_eq!(found, wanted);
}

#[test]
fn a_line_only_looks_if_all_of_it_is_known_to() {
    let place = engine(&[]).place;
    for text in [
        "ls -l | wc -l; : 3",
        "cd src && grep -rn fn . | head -5",
        "git status --short; git diff HEAD~1",
        "cat a 2>/dev/null",
        "find . -name '*.rs'",
        "test -r a && [ -f b ] && [[ -x c ]]",
        "",
    ] {
        assert!(read_line(text, &place).only_looks(), "{text}: {:?}", read_line(text, &place));
    }
    for text in [
        "ls > list",
        "echo a >> b",
        "cargo build",
        "./ls",
        "rm a",
        "touch a",
        "ls $(touch a)",
        "sed -i s/a/b/ c",
        "sort -o a b",
        "find . -delete",
        "find . -exec touch {} +",
        "xargs touch < a",
        "eval $X",
        "source a",
        "ls() { touch a; }; ls",
        "git stash",
        "date -s now",
        "ls (",
        // Where nothing can be written they say something else.
        "test -w a",
        "if [ -f b -a -w b ]; then cat b; fi",
        "[[ -w a ]] && ls",
        "find . -writable",
        "nohup ls",
    ] {
        assert!(!read_line(text, &place).only_looks(), "{text}");
    }
}

#[test]
fn what_is_suggested_would_allow_the_line() {
    for text in
        ["cargo build --release", "host example.org", "make", "npm run build:all", "time ls; ./x.sh a"]
    {
        let asks = engine(&[]).decide(&line(text));
        assert!(!asks.is_allowed() && !asks.would_allow.is_empty(), "{text}: {asks:?}");
        let rules: Vec<String> = asks.would_allow.iter().map(|rule| format!("allow {rule}")).collect();
        let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
        assert!(engine(&rules).decide(&line(text)).is_allowed(), "{text}: {rules:?}");
    }
    for text in ["rm '*'", "make; ls | xargs rm", "cd .. && make"] {
        let asks = engine(&[]).decide(&line(text));
        assert!(!asks.is_allowed() && asks.would_allow.is_empty(), "{text}: {asks:?}");
    }
}

const PUSH: &str = "allow git push * [outside the fence]";

#[test]
fn what_a_rule_gives_goes_to_its_command_only_if_the_line_is_allowed() {
    let engine = engine(&["allow npm publish * [network]", "allow make *", "allow npm view * [network]"]);
    let grants = |text: &str| engine.decide(&line(text)).grants;
    assert_eq!(grants("npm publish --tag x"), [CommandGrant::Network]);
    assert_eq!(grants("npm view x && npm publish | tail -5; echo x > /tmp/own/y"), [CommandGrant::Network]);
    assert!(grants("make").is_empty() && grants("npm publish; cargo x").is_empty());
    // A fence without the network cannot be around one half of a line.
    assert_eq!(
        engine.decide(&line("make && npm publish")).reasons,
        ["`npm publish` gets the network: run it as a line of its own"]
    );
}

#[test]
fn a_grant_does_not_reach_commands_that_only_the_fence_holds() {
    let rules = [PUSH, "allow npm publish * [network]", "allow curl https://a.example/ [network]"];
    for access in [Access::Workspace, Access::Ask, Access::ReadOnly] {
        let engine = engine_with(rules.iter().map(|rule| (PermissionLayer::User, *rule)), access);
        for text in [
            "git push origin main; python3 evil.py",
            "git push -q origin HEAD; ./evil.sh a",
            "git push | python3 evil.py",
            "git push & rm -rf ~/Documents",
            "git push; cat ~/.ssh/id_rsa",
            "git push; cat \"$(cat list)\"",
            "git push; eval \"$x\"",
            "git push; echo x > ~/.bashrc",
            "git push; echo x > ../other",
            "git push && npm publish",
            "cargo --version; git push",
            "(cd /tmp/own/evil && git status); git push",
            "git -C /tmp/own/evil status && git push",
            "echo '[core]' > sub/config; git -C sub status; git push",
            "mkdir -p sub/objects; git push",
            "git push; find ~ -name id_rsa | xargs cat",
            "npm publish; python3 evil.py",
            "npm publish; python3 -c 'import os'",
            "npm publish; make",
            "npm publish && curl https://b.example/",
            "for f in a b; do npm publish; ./x.sh; done",
            "bash -c 'git push; ./evil.sh'",
            "x=$(./evil.sh) git push",
            "cd sub && npm publish; $TOOL",
            "cat ~/.npmrc | npm publish",
        ] {
            let decision = engine.decide(&line(text));
            assert!(!decision.is_allowed() && decision.grants.is_empty(), "{access:?} {text}: {decision:?}");
            assert!(decision.would_allow.is_empty(), "{text}: {:?}", decision.would_allow);
        }
        // The rule does not cover a word that may be an option.
        assert!(engine.decide(&line("git push origin \"$(python3 evil.py)\"")).grants.is_empty());
        let mixed = engine.decide(&line("git push origin main; python3 evil.py"));
        assert_eq!(mixed.rule.name(), "built-in:grant-alone");
        assert_eq!(mixed.reasons[0], "`git push` gets outside the fence: run it as a line of its own");
        assert!(crate::fence::missing_needs(&[], &mixed).is_empty());
        for text in
            ["git push -u origin main 2>&1 | tail -3", "git status && git push", "git push; git log -1"]
        {
            let decision = engine.decide(&line(text));
            assert_eq!(decision.grants, [CommandGrant::OutsideTheFence], "{access:?} {text}: {decision:?}");
        }
    }
}

/// Whoever says yes to what a command needs adds a rule for the session, and decides again.
#[test]
fn a_yes_to_one_command_of_a_line_does_not_let_the_others_through() {
    let mut engine = engine_with([], Access::Workspace);
    let texts =
        ["git push; ./evil.sh", "git push origin main; rm -rf ~/Documents; cat ~/.ssh/id_rsa; python3 -c x"];
    for text in texts {
        assert!(!crate::fence::missing_needs(&[], &engine.decide(&line(text))).is_empty());
    }
    engine.layers.add_text(PermissionLayer::Session, PermissionEffect::Allow, &PUSH["allow ".len()..]);
    for text in texts {
        let decision = engine.decide(&line(text));
        assert_eq!((decision.effect, decision.grants), (PermissionEffect::Ask, Vec::new()), "{text}");
    }
    let mut asks = engine_with([], Access::Ask);
    asks.layers.add_text(PermissionLayer::Session, PermissionEffect::Allow, "npm view * [network]");
    let text = "npm view x; echo evil > AGENTS.md; rm -rf package.json; ./evil.sh";
    assert_eq!(asks.decide(&line(text)).effect, PermissionEffect::Ask);
}

#[test]
fn a_suggested_rule_ends_in_a_star_only_where_the_options_are_known() {
    for (text, rule) in [
        ("cargo build --release", "cargo build *"),
        ("./x.sh a", "./x.sh a"),
        ("frobnicate build --all", "frobnicate build --all"),
        ("make SHELL=./evil", "make SHELL=./evil"),
        ("git config user.name x", "git config user.name x"),
        ("git commit -m x", "git commit *"),
        ("pytest -p evil", "pytest -p evil"),
        ("grep --new-option x", "grep --new-option x"),
    ] {
        assert_eq!(engine(&[]).decide(&line(text)).would_allow, [rule], "{text}");
    }
}

#[test]
fn directories_and_files_are_compared_where_links_lead() {
    let scratch = tempfile::tempdir().unwrap();
    let base = scratch.path().canonicalize().unwrap();
    for directory in ["project/sub", "evil", "home/.ssh"] {
        std::fs::create_dir_all(base.join(directory)).unwrap();
    }
    std::os::unix::fs::symlink(base.join("evil"), base.join("project/link")).unwrap();
    let mut engine =
        engine(&["allow cargo test *", "allow pytest *", "allow make *", "allow npm run build:*"]);
    engine.place.root = base.join("project");
    engine.place.directory = base.join("project");
    engine.place.home = Some(base.join("home"));
    for (text, wanted) in [
        ("cd link && cargo test", false),
        ("cd sub && cargo test", true),
        ("cd sub/../link; cargo test", false),
        ("cd link/..; cargo test", true),
        ("cargo test --manifest-path link/Cargo.toml", false),
        ("cargo test --manifest-path sub/Cargo.toml", true),
        ("make -C link", false),
        ("make -sClink/../sub", false),
        ("npm run build:x -C link", false),
        ("pytest link/test_x.py::test", false),
        ("pytest sub/test_x.py::test", true),
        ("pytest link/*.py", false),
        ("pytest sub/*.py", true),
        ("cat link/../home/.ssh/id", false),
        ("cat sub/../link/../home/.ssh/id", false),
        ("cat sub/../x", true),
        ("cat < link/../home/.ssh/id", false),
    ] {
        assert_eq!(engine.decide(&line(text)).is_allowed(), wanted, "{text}");
    }
}

#[test]
fn what_reads_all_of_a_directory_reads_what_is_denied_there() {
    let engine = engine(&["deny read .env"]);
    for (text, wanted) in [
        ("cat .env", "deny: deny read .env"),
        ("grep -r TOKEN .", "ask: built-in:may-be-denied"),
        ("grep -rn TOKEN", "ask: built-in:may-be-denied"),
        ("rg TOKEN", "ask: built-in:may-be-denied"),
        ("git grep TOKEN", "ask: built-in:may-be-denied"),
        ("git diff --no-index /dev/null .env", "deny: deny read .env"),
        ("git show HEAD:.env", "deny: deny read .env"),
        ("diff -r . /tmp/own", "ask: built-in:may-be-denied"),
        ("find . -exec cat {} +", "ask: built-in:may-be-denied"),
        ("find . | xargs cat", "ask: built-in:may-be-denied"),
        ("grep --file=.env x", "deny: deny read .env"),
        ("grep TOKEN src/a.rs", "allow: built-in:reads-only"),
        ("find . -name .env", "allow: built-in:reads-only"),
    ] {
        assert_eq!(decided(&engine, &line(text)), wanted, "{text}");
    }
}

#[test]
fn secrets_are_asked_about_however_they_are_named() {
    let engine = engine(&[]);
    for text in [
        "cat ~/.s?h/id_rsa",
        "cat ~/.s*/*",
        "cat ~/.[s]sh/id_rsa",
        "grep -r x ~",
        "rg --hidden x ~",
        "find ~ -name id_rsa -exec cat {} +",
        "git diff --no-index /dev/null ~/.ssh/id_rsa",
        "git grep --no-index x ~/.ssh",
        "git blame --contents ~/.ssh/id_rsa a.txt",
        "grep --file=/home/me/.ssh/id_rsa a",
        "grep -f/home/me/.ssh/id_rsa x",
        "diff --from-file=/home/me/.ssh/id_rsa /dev/null",
        "date -f/home/me/.ssh/x",
        "file -f/home/me/.ssh/x",
        "wc --files0-from=/home/me/.ssh/x",
        "awk 'BEGIN{ARGV[1]=\"/home/me/.ssh/id_rsa\";ARGC=2}1'",
        "base64 ~root/.ssh/id_rsa",
        "cat ~me/.ssh/id_rsa",
        "cat /proc/self/environ",
        "cat /proc/*/environ",
        "xargs -a ~/.ssh/id_rsa echo",
    ] {
        assert!(!engine.decide(&line(text)).is_allowed(), "{text}");
    }
    for text in ["cat /proc/cpuinfo", "ls /proc", "cat ~/notes/*.md", "grep -r x .", "ls ~/*"] {
        assert!(engine.decide(&line(text)).is_allowed(), "{text}");
    }
}

#[test]
fn a_copy_of_a_project_in_relays_own_directory_is_a_project() {
    let mut engine = engine_with([], Access::Workspace);
    engine.place.root = PathBuf::from("/home/me/.relaycode/copies/1");
    engine.place.directory = engine.place.root.clone();
    for (name, wanted) in [
        ("m.txt", "allow: built-in:edits-project"),
        (".envrc", "ask: built-in:protected-path"),
        ("../2/m.txt", "ask: built-in:protected-path"),
        ("/home/me/.relaycode/config.yml", "ask: built-in:protected-path"),
        ("/home/me/.bashrc", "ask: built-in:protected-path"),
    ] {
        assert_eq!(decided(&engine, &path(PathVerb::Edit, name)), wanted, "{name}");
    }
}

#[test]
fn a_rule_for_what_only_writes_what_it_names_holds_for_that_in_the_project() {
    let rules = engine(&["allow touch *", "allow edit src/**"]);
    for (request, rule) in [
        ("touch a b", "allow: allow touch *"),
        ("touch ../a", "ask: built-in:no-rule"),
        ("cd .. && touch a", "ask: built-in:no-rule"),
        ("touch .envrc", "ask: built-in:protected-path"),
        ("touch a > b", "ask: built-in:no-rule"),
        ("touch a; mkdir b", "ask: built-in:no-rule"),
        ("mkdir src/a", "allow: allow edit src/**"),
    ] {
        assert_eq!(decided(&rules, &line(request)), rule, "{request}");
    }
    // Outside the fence, what it writes may be obeyed by the next command.
    let rules = engine(&["allow mkdir *", "allow git push * [outside the fence]"]);
    assert_eq!(decided(&rules, &line("mkdir -p sub/objects; git push")), "ask: built-in:grant-alone");
}
