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

#[test]
fn what_a_rule_gives_goes_to_its_command_only_if_the_line_is_allowed() {
    let engine = engine(&["allow npm publish * [network]", "allow make *"]);
    let grants = |text: &str| engine.decide(&line(text)).grants;
    assert_eq!(grants("npm publish --tag x"), [CommandGrant::Network]);
    assert_eq!(grants("make && npm publish"), [CommandGrant::Network]);
    assert!(grants("make").is_empty() && grants("npm publish; cargo x").is_empty());
}
