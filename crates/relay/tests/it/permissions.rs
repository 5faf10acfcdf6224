//! `relay permissions`: rules are listed with where they stand, kept where nobody else can write, and tried on lines.

use std::fs;

use serde_json::json;

use crate::fixture::scratch_project::Project;
use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;

fn project() -> Project {
    let config = json!({
        "projectId": "app",
        "permissions": {"allow": ["rm *"], "deny": ["edit ci/**"], "ask": ["git push *"]},
    });
    Project::new(&[("relaycode.config.json", &config.to_string())])
}

#[test]
fn rules_are_added_listed_with_where_they_stand_and_removed() {
    let project = Project::new(&[]);
    let mut seen = Transcript::default();
    for args in [
        &["permissions"][..],
        &["permissions", "add", "allow", "cargo  test *"],
        &["permissions", "add", "allow", "cargo test *", "--here"],
        &["permissions", "add", "deny", "sudo *", "--user"],
        &["permissions", "add", "allow", "sudo *"],
        &["permissions"],
        &["permissions", "remove", "deny", "sudo *"],
        &["permissions", "remove", "deny", "sudo *", "--user"],
        &["permissions", "remove", "allow", "make"],
    ] {
        seen.add(&args.join(" "), &project.relay(args));
    }
    relay_snapshot!(seen, @"
    # permissions
    exit 0
    ----- stdout -----
      there are no rules yet; `relay permissions add allow 'cargo test *'` adds one for this project

    # permissions add allow cargo  test *
    exit 0
    ----- stdout -----
    ✓ added: allow cargo test * (for this project)

    # permissions add allow cargo test * --here
    exit 0
    ----- stdout -----
    ✓ there already: allow cargo test * (for this project)

    # permissions add deny sudo * --user
    exit 0
    ----- stdout -----
    ✓ added: deny sudo * (for all your projects)

    # permissions add allow sudo *
    exit 0
    ----- stdout -----
    ✓ added: allow sudo * (for this project)
      `deny sudo *` still wins over it (your own rules)

    # permissions
    exit 0
    ----- stdout -----
      deny   sudo *        for all your projects
      allow  cargo test *  for this project
      allow  sudo *        for this project

    # permissions remove deny sudo *
    exit 2
    ----- stderr -----
    ✗ there is no rule `deny sudo *` for this project; nothing was changed
      it holds for all your projects: add --user

    # permissions remove deny sudo * --user
    exit 0
    ----- stdout -----
    ✓ removed: deny sudo * (for all your projects)

    # permissions remove allow make
    exit 2
    ----- stderr -----
    ✗ there is no rule `allow make` for this project; nothing was changed
      `relay permissions` lists them
    ");
}

#[test]
fn what_a_project_allows_is_ignored_and_reported() {
    let project = project();
    fs::write(project.home().join("config.yml"), "permissions:\n  allow: [\"git push *\", \"make *\"]\n")
        .unwrap();
    let mut seen = Transcript::default();
    for args in [
        &["permissions", "list"][..],
        &["permissions", "test", "make && git push"],
        &["permissions", "remove", "ask", "git push *"],
    ] {
        seen.add(&args.join(" "), &project.relay(args));
    }
    relay_snapshot!(seen, @"
    # permissions list
    exit 0
    ----- stdout -----
      deny   edit ci/**  relaycode.config.json
      ask    git push *  relaycode.config.json
      allow  git push *  your config.yml
      allow  make *      your config.yml
    ! relaycode.config.json:1: `permissions.allow` does nothing here: only your own config.yml can set it

    # permissions test make && git push
    exit 0
    ----- stdout -----
    ! asks first: ask git push * (relaycode.config.json)
      why       `ask git push *` in the project's configuration says so
      starts    make
                git push

    # permissions remove ask git push *
    exit 2
    ----- stderr -----
    ✗ there is no rule `ask git push *` for this project; nothing was changed
      it stands in relaycode.config.json: remove it there
    ");
    let listed = project.relay(&["permissions", "--json"]).json();
    assert_eq!(listed["rules"].as_array().map(Vec::len), Some(4), "{listed}");
    let file = project.home().join("config.yml");
    assert_eq!(listed["rules"][0]["file"].as_str(), file.to_str(), "{listed}");
}

#[test]
fn a_line_is_tried_without_running_it() {
    let project = Project::new(&[("a.txt", "a\n")]);
    project.done(&["permissions", "add", "allow", "cargo test *"]);
    let mut seen = Transcript::default();
    for line in [
        "cargo test -p app | tail -3",
        "cargo test && rm -rf target a.txt > log",
        "make; npm run build | xargs rm",
        "$TOOL --version",
        "ls |",
    ] {
        seen.add(line, &project.relay(&["permissions", "test", line]));
    }
    let full = project.relay(&["permissions", "test", "rm a.txt", "--access", "full"]);
    seen.add("with full access", &full);
    relay_snapshot!(seen, @"
    # cargo test -p app | tail -3
    exit 0
    ----- stdout -----
    ✓ allowed: allow cargo test * (for this project)
      starts    cargo test -p app
                tail -3

    # cargo test && rm -rf target a.txt > log
    exit 0
    ----- stdout -----
    ! asks first: built-in:no-rule
      why       no rule allows `rm -rf target a.txt`
                no rule allows writing ./log
      starts    cargo test
                rm -rf target a.txt
      writes    log
      destroys  log (>)
                target and everything in it (rm)
                a.txt and everything in it (rm)
      allow it  relay permissions add allow 'rm -rf target a.txt'
                relay permissions add allow 'edit ./log'

    # make; npm run build | xargs rm
    exit 0
    ----- stdout -----
    ! asks first: built-in:no-rule
      why       no rule allows `make`
                no rule allows `npm run build`
                no rule allows `rm …`
      starts    make
                npm run build
                xargs rm
                rm … (by xargs)
      destroys  files that are not known (rm)

    # $TOOL --version
    exit 0
    ----- stdout -----
    ! asks first: built-in:not-understood
      why       which program `… --version` starts is only known when it runs
                no rule allows `… --version`
      starts    … --version

    # ls |
    exit 0
    ----- stdout -----
    ! asks first: built-in:not-understood
      why       a line that ends in `&&`, `||` or `|` can mean several things

    # with full access
    exit 0
    ----- stdout -----
    ✓ allowed: built-in:full-access
      starts    rm a.txt
      destroys  a.txt and everything in it (rm)
    ");
    assert_eq!(project.text("a.txt"), "a\n");
    let tried = project.relay(&["permissions", "test", "rm a.txt", "--json"]).json();
    assert_eq!((&tried["effect"], &tried["decidedBy"]["rule"]), (&json!("ask"), &json!("built-in:no-rule")));
    assert_eq!(tried["reading"]["destroys"][0]["act"], "rm", "{tried}");
}

#[test]
fn what_is_no_rule_is_refused() {
    let project = Project::new(&[]);
    let mut seen = Transcript::default();
    for args in [
        &["permissions", "add", "allow", "a && b"][..],
        &["permissions", "add", "allow", "*"],
        &["permissions", "add", "permit", "a"],
        &["permissions", "add", "allow", "cargo", "test"],
    ] {
        seen.add(&args.join(" "), &project.relay(args));
    }
    relay_snapshot!(seen, @"
    # permissions add allow a && b
    exit 2
    ----- stderr -----
    ✗ `a && b` is not a plain command: a rule names one program and its words, and `*` for any; nothing was changed
      docs/permissions.md shows rules

    # permissions add allow *
    exit 2
    ----- stderr -----
    ✗ `*` as the program would allow every command; use `--access full` for that; nothing was changed
      docs/permissions.md shows rules

    # permissions add permit a
    exit 2
    ----- stderr -----
    error: invalid value 'permit' for '<EFFECT>': use allow, ask or deny

    For more information, try '--help'.

    # permissions add allow cargo test
    exit 2
    ----- stderr -----
    error: unexpected argument 'test' found

    Usage: relay permissions add [OPTIONS] <EFFECT> <RULE>

    For more information, try '--help'.
    ");
    assert!(!project.home().join("permissions").exists());
}

#[test]
fn a_damaged_file_of_rules_is_an_error() {
    let project = Project::new(&[]);
    project.done(&["permissions", "add", "deny", "sudo *", "--user"]);
    fs::write(project.home().join("permissions/user.json"), "{").unwrap();
    relay_snapshot!(project.relay(&["permissions"]), @"
    exit 2
    ----- stderr -----
    ✗ <home>/permissions/user.json is not a file of rules: EOF while parsing an object at line 1 column 1; move it away; nothing was changed
    ");
}
