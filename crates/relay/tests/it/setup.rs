//! Setting a project up: where one can be, what is there already, a package of a monorepo, what the original tool left, and
//! a configuration with mistakes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use relaycode_testkit::directory_tree::read_tree;
use serde_json::json;

use crate::fixture::configured_project::{
    configure, configured, git, relay_git, repository, trust, with_git,
};
use crate::fixture::scratch_project::{Project, Ran, edit, run};
use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;

const UUID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

/// `relay` where the project's directory is the user's home.
fn at_home(project: &Project, args: &[&str]) -> Command {
    let mut command = project.command(args);
    command.env_remove("RELAY_HOME").env("HOME", project.path(""));
    command
}

#[test]
fn no_command_takes_the_home_directory_for_a_project_or_writes_there() {
    for files in [
        &[("a.md", "x")][..],
        &[("a.md", "x"), (".relaycode/config.yml", ""), (".git/HEAD", "ref: refs/heads/main\n")],
        &[("a.md", "x"), (".relaycode/config.yml", ""), ("relaycode.config.json", "{\"projectId\": \"x\"}")],
    ] {
        let project = Project::new(files);
        let before = read_tree(&project.path(""), &[]);
        for args in [
            &["init"][..],
            &["init", "--here"],
            &["apply", "a.md", "-y"],
            &["preview", "a.md"],
            &["record", "--", "true"],
            &["watch"],
            &["log"],
            &["undo"],
            &["recover"],
            &["trust", "-y"],
            &["prompt"],
        ] {
            let ran = run(&mut at_home(&project, args));
            assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {ran:?}");
            assert!(ran.err.contains("is your home directory, not a project"), "{args:?}: {ran:?}");
        }
        assert_eq!(read_tree(&project.path(""), &[]), before);
    }
    relay_snapshot!(run(&mut at_home(&Project::new(&[]), &["init"])), @"
    exit 2
    ----- stderr -----
    ✗ <project> is your home directory, not a project; nothing was changed
      go to your project's directory, or name it with `-C DIR`
    ");
    let ran = run(&mut at_home(&Project::new(&[]), &["doctor"]));
    assert!(ran.out.contains("is your home directory, not a project"), "{ran:?}");
    assert!(!ran.out.contains("ledger"), "{ran:?}");
}

#[test]
fn the_file_system_is_no_project() {
    let project = Project::new(&[]);
    let mut transcript = Transcript::default();
    for args in [&["-C", "/", "init"][..], &["-C", "/", "log"]] {
        transcript.add(&args.join(" "), &project.relay(args));
    }
    relay_snapshot!(transcript, @"
    # -C / init
    exit 2
    ----- stderr -----
    ✗ / is the whole file system, not a project; nothing was changed
      go to your project's directory, or name it with `-C DIR`

    # -C / log
    exit 2
    ----- stderr -----
    ✗ / is the whole file system, not a project; nothing was changed
      go to your project's directory, or name it with `-C DIR`
    ");
    assert!(!Path::new("/.relaycode").exists() && !Path::new("/relaycode.config.json").exists());
    assert!(!project.home().join("ledgers").exists() && !project.home().join("seal").exists());
}

#[test]
fn a_project_that_holds_relays_own_directory_is_refused_before_anything_is_written() {
    let mut transcript = Transcript::default();
    for home in [".relaycode", "deep/inside", "."] {
        let project = Project::new(&[("a.txt", "one\n")]);
        let before = read_tree(&project.path(""), &[]);
        let relay = |args: &[&str]| run(project.command(args).env("RELAY_HOME", project.path(home)));
        transcript.add(home, &relay(&["init"]));
        for args in [&["apply", "a.md", "-y"][..], &["log"], &["record", "--", "true"]] {
            let ran = relay(args);
            assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {ran:?}");
        }
        assert_eq!(read_tree(&project.path(""), &[]), before);
    }
    relay_snapshot!(transcript, @"
    # .relaycode
    exit 2
    ----- stderr -----
    ✗ <project> cannot be a project: relay keeps your own files inside it, in <project>/.relaycode; nothing was changed
      set RELAY_HOME to a directory outside of it

    # deep/inside
    exit 2
    ----- stderr -----
    ✗ <project> cannot be a project: relay keeps your own files inside it, in <project>/deep/inside; nothing was changed
      set RELAY_HOME to a directory outside of it

    # .
    exit 2
    ----- stderr -----
    ✗ <project> cannot be a project: relay keeps your own files inside it, in <project>/.; nothing was changed
      set RELAY_HOME to a directory outside of it
    ");
}

#[test]
fn a_repository_in_the_home_directory_works_where_relays_own_directory_is_outside() {
    let project = Project::new(&[("a.txt", "one\n")]);
    repository(&project);
    let relay = |args: &[&str]| run(project.command(args).env("HOME", project.path("")));
    assert_eq!(relay(&["init", "-q"]).code, 0);
    assert_eq!(relay(&["log"]).code, 0);
    let project = Project::new(&[]);
    let ran = run(project.command(&["init"]).env("HOME", project.path("")));
    assert_eq!(ran.code, 2, "nothing marks it: {ran:?}");
}

#[test]
fn init_says_which_configuration_it_uses_and_writes_no_other() {
    let mut transcript = Transcript::default();
    for (name, text) in [
        ("relaycode.config.json", r#"{"projectId": "shop", "linter": "make lint", "approval": "yes"}"#),
        ("relay.config.json", r#"{"projectId": "shop", "patch": {"linter": "make lint"}}"#),
        ("relaycode.config.ts", "export default { projectId: 'shop', patch: { linter: 'make lint' } };\n"),
    ] {
        let project = Project::new(&[(name, text)]);
        let ran = project.relay(&["init"]);
        transcript.add(name, &Ran { out: String::new(), ..ran });
        assert_eq!(project.listing(), [".gitignore", name], "{name}");
        assert_eq!(project.text(name), text);
        let found = project.relay(&["init", "--json", "-q"]).json();
        assert_eq!((&found["config"], &found["made"]), (&json!(name), &json!([])));
    }
    relay_snapshot!(transcript, @"
    # relaycode.config.json
    exit 0
    ----- stderr -----
    ✓ .relaycode/ and .gitignore are in place for shop; your relaycode.config.json is used and stays as it is
      check: make lint
      next: `relay prompt --copy`, give it to your model as its instructions, then `relay watch`
      (the prompt follows on stdout)

    # relay.config.json
    exit 0
    ----- stderr -----
    ✓ .relaycode/ and .gitignore are in place for shop; your relay.config.json is used and stays as it is
      check: make lint
      next: `relay prompt --copy`, give it to your model as its instructions, then `relay watch`
      (the prompt follows on stdout)

    # relaycode.config.ts
    exit 0
    ----- stderr -----
    ✓ .relaycode/ and .gitignore are in place for shop; your relaycode.config.ts is used and stays as it is
      check: make lint
      next: `relay prompt --copy`, give it to your model as its instructions, then `relay watch`
      (the prompt follows on stdout)
    ");
}

#[test]
fn init_leaves_a_gitignore_that_is_no_plain_file_alone_and_says_so() {
    let mut transcript = Transcript::default();
    let linked = Project::new(&[("shared/ignore", "target/\n")]);
    std::os::unix::fs::symlink("shared/ignore", linked.path(".gitignore")).unwrap();
    let huge = Project::new(&[]);
    let file = std::fs::File::create(huge.path(".gitignore")).unwrap();
    file.set_len(1 << 30).unwrap();
    for (name, project) in [("a link", &linked), ("a gigabyte", &huge)] {
        let ran = project.relay(&["init", "--id", "shop"]);
        transcript.add(name, &Ran { out: String::new(), ..ran });
    }
    assert_eq!(linked.text("shared/ignore"), "target/\n");
    relay_snapshot!(transcript, @r#"
    # a link
    exit 0
    ----- stderr -----
    ✓ relaycode.config.json and .relaycode/ are in place for shop
      .gitignore stays as it is: it is a symbolic link; git ignores .relaycode/ all the same
      check: none yet. Set patch.linter to a command such as "make check", and changes that pass it go in by themselves
      next: `relay prompt --copy`, give it to your model as its instructions, then `relay watch`
      (the prompt follows on stdout)

    # a gigabyte
    exit 0
    ----- stderr -----
    ✓ relaycode.config.json and .relaycode/ are in place for shop
      .gitignore stays as it is: it is too large or cannot be read; git ignores .relaycode/ all the same
      check: none yet. Set patch.linter to a command such as "make check", and changes that pass it go in by themselves
      next: `relay prompt --copy`, give it to your model as its instructions, then `relay watch`
      (the prompt follows on stdout)
    "#);
}

#[test]
fn names_in_a_module_stand_for_the_values_they_were_declared_with() {
    let text = "import { defineConfig } from 'relaycode';\n\nconst linter = 'make lint';\nconst limits = { files: 7 };\n\
                const patch = { linter, approvalOnErrorCount: 2 } as const;\n\n\
                export default defineConfig({ projectId: 'shop', patch, limits });\n";
    let project = Project::new(&[("relaycode.config.ts", text)]);
    for (key, value) in
        [("patch.linter", "\"make lint\""), ("patch.approvalOnErrorCount", "2"), ("limits.files", "7")]
    {
        assert_eq!(project.done(&["config", "show", key]).trim(), value);
    }
    let mut transcript = Transcript::default();
    for (what, text) in [
        ("a name that is nowhere", "export default { projectId: 'shop', patch };\n"),
        (
            "a sum",
            "const linter = 'make ' + 'lint';\nexport default { projectId: 'shop', patch: { linter } };\n",
        ),
        (
            "a call",
            "const linter = which('tsc');\nexport default { projectId: 'shop', patch: { linter } };\n",
        ),
        (
            "a part",
            "const all = { linter: 'x' };\nexport default { projectId: 'shop', patch: { linter: all.linter } };\n",
        ),
        ("a value", "const linter = 3;\n\nexport default { projectId: 'shop', patch: { linter } };\n"),
    ] {
        project.put("relaycode.config.ts", text.as_bytes());
        transcript.add(what, &project.relay(&["config", "check"]));
    }
    relay_snapshot!(transcript, @r#"
    # a name that is nowhere
    exit 2
    ----- stderr -----
    ✗ the configuration has 1 error
      relaycode.config.ts:1:37: `patch` is a name, not a value. relay reads this file without running it: write the value out, or move the configuration to relaycode.config.json

    # a sum
    exit 2
    ----- stderr -----
    ✗ the configuration has 1 error
      relaycode.config.ts:1:24: this value is the result of an expression. relay reads this file without running it: write the value out, or move the configuration to relaycode.config.json

    # a call
    exit 2
    ----- stderr -----
    ✗ the configuration has 1 error
      relaycode.config.ts:1:16: `which` is a name, not a value. relay reads this file without running it: write the value out, or move the configuration to relaycode.config.json

    # a part
    exit 2
    ----- stderr -----
    ✗ the configuration has 1 error
      relaycode.config.ts:2:57: this value is the result of an expression. relay reads this file without running it: write the value out, or move the configuration to relaycode.config.json

    # a value
    exit 2
    ----- stderr -----
    ✗ the configuration has 1 error
      relaycode.config.ts:1:16: `patch.linter` is 3; it must be a command line in quotes, or "" for none
    ! relaycode.config.ts: this file is read without running it; relaycode.config.json is the usual form
    "#);
}

#[test]
fn config_check_lists_everything_that_is_wrong() {
    let text = "{\n  \"projectId\": \"\",\n  \"patch\": { \"approvalMode\": \"never\", \"linter\": 3, \"foo\": 1 },\n  \
                \"core\": { \"logLevel\": \"x\" },\n  \"git\": []\n}\n";
    let project = Project::new(&[("relaycode.config.json", text)]);
    fs::write(project.home().join("config.yml"), "friends:\n  timeout: soon\n").unwrap();
    relay_snapshot!(project.relay(&["config", "check"]), @r#"
    exit 2
    ----- stderr -----
    ✗ the configuration has 6 errors
      <home>/config.yml:2:12: `friends.timeout` is "soon"; it must be a whole number from 1 to 86400
      relaycode.config.json:2:16: `projectId` is empty. It must be a text of 1 to 100 visible characters
      relaycode.config.json:3:30: `patch.approvalMode` is "never"; it must be "auto" or "manual"
      relaycode.config.json:3:49: `patch.linter` is 3; it must be a command line in quotes, or "" for none
      relaycode.config.json:4:25: `core.logLevel` is "x"; it must be "silent", "error", "warn", "info" or "debug"
      relaycode.config.json:5:10: `git` is a list; it must be an object
    ! relaycode.config.json:3: `patch.foo` is not a key that relay knows, so it does nothing
    "#);
    let found = project.relay(&["config", "check", "--json", "-q"]).json();
    let rows: Vec<String> = found["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| {
            let [line, key, allowed] = ["line", "key", "allowed"].map(|name| error[name].to_string());
            format!("{line} {key} {allowed}\n")
        })
        .collect();
    relay_snapshot!(rows.concat(), @r#"
    2 "friends.timeout" "a whole number from 1 to 86400"
    2 "projectId" "a text of 1 to 100 visible characters"
    3 "patch.approvalMode" "\"auto\" or \"manual\""
    3 "patch.linter" "a command line in quotes, or \"\" for none"
    4 "core.logLevel" "\"silent\", \"error\", \"warn\", \"info\" or \"debug\""
    5 "git" "an object"
    "#);
    assert_eq!(found["errors"][0]["message"], found["error"]["message"]);
}

#[test]
fn stricter_settings_need_no_new_trust() {
    let patch =
        json!({"approvalMode": "auto", "approvalOnErrorCount": 5, "linter": "true", "postCommand": "true"});
    let project = configured(&[("a.txt", "one\n")], json!({"patch": patch}));
    trust(&project);
    for stricter in [
        json!({"approvalMode": "auto", "approvalOnErrorCount": 5, "linter": "true"}),
        json!({"approvalMode": "auto", "approvalOnErrorCount": 0, "linter": "true", "postCommand": "true"}),
        json!({"approvalMode": "manual", "approvalOnErrorCount": 2, "linter": "true"}),
        json!({"linter": "true"}),
        patch,
    ] {
        configure(&project, json!({"patch": stricter}));
        let ran = project.relay(&["trust"]);
        assert_eq!(ran.code, 0, "{stricter}: {ran:?}");
        assert!(ran.out.contains("all of it is trusted already"), "{stricter}: {ran:?}");
    }
    for laxer in [
        json!({"approvalMode": "auto", "approvalOnErrorCount": 6, "linter": "true"}),
        json!({"approvalMode": "auto", "linter": "true", "preCommand": "true"}),
        json!({"approvalMode": "auto", "linter": "true; true"}),
    ] {
        configure(&project, json!({"patch": laxer}));
        assert_eq!(project.relay(&["trust"]).code, 13, "{laxer}");
        assert_eq!(project.apply(&edit("a.txt", "one", "1")).code, 7, "{laxer}");
    }
}

#[test]
fn the_question_for_trust_shows_all_that_was_trusted_is_new_or_went() {
    let project = Project::new(&[("a.txt", "one\n")]);
    repository(&project);
    let relay = |args: &[&str]| relay_git(&project, args);
    let hook = |text: &str| {
        let path = project.path(".git/hooks/pre-commit");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let patch = json!({"approvalMode": "auto", "approvalOnErrorCount": 2, "linter": "true", "postCommand": "make fmt"});
    configure(&project, json!({"patch": patch}));
    hook("#!/bin/sh\n");
    assert_eq!(relay(&["trust", "-y", "-q"]).code, 0);
    let mut transcript = Transcript::default();
    hook("#!/bin/sh\ntrue\n");
    transcript.add("another hook", &relay(&["trust"]));
    let patch =
        json!({"approvalMode": "manual", "approvalOnErrorCount": 9, "linter": "true", "preCommand": "make"});
    configure(&project, json!({"patch": patch}));
    transcript.add("another configuration, too", &relay(&["trust"]));
    relay_snapshot!(transcript, @"
    # another hook
    exit 13
    ----- stdout -----
    this project wants to run 2 commands and to say who approves
        linter        true
        postCommand   make fmt
      these settings decide who approves
        patch.approvalMode           auto
        patch.approvalOnErrorCount   2
      the repository runs these on `relay git commit`
      - hook pre-commit   .git/hooks/pre-commit (sha256 a8076d3d28d21e02012b20eaf7dbf754)
      + hook pre-commit   .git/hooks/pre-commit (sha256 9ab8fabc8c72bfa0416414631e26bd71)
    ----- stderr -----
    ✗ this needs a yes from you, and there is no terminal to ask on; nothing was changed
      `relay trust -y` accepts what it shows

    # another configuration, too
    exit 13
    ----- stdout -----
    this project wants to run 2 commands and to say who approves
        linter        true
      + preCommand    make
      - postCommand   make fmt
      these settings decide who approves
      - patch.approvalOnErrorCount   2
      + patch.approvalOnErrorCount   9
      - patch.approvalMode           auto
      the repository runs these on `relay git commit`
      - hook pre-commit   .git/hooks/pre-commit (sha256 a8076d3d28d21e02012b20eaf7dbf754)
      + hook pre-commit   .git/hooks/pre-commit (sha256 9ab8fabc8c72bfa0416414631e26bd71)
    ----- stderr -----
    ✗ this needs a yes from you, and there is no terminal to ask on; nothing was changed
      `relay trust -y` accepts what it shows
    ");
}

/// A repository with two packages.
fn monorepo() -> Project {
    let project = Project::new(&[
        ("package.json", "{\"name\": \"all\"}"),
        ("packages/a/package.json", "{\"name\": \"pkg-a\"}"),
        ("packages/a/src/x.txt", "one\n"),
        ("packages/b/package.json", "{\"name\": \"pkg-b\"}"),
    ]);
    repository(&project);
    project
}

#[test]
fn a_package_of_a_monorepo_can_be_the_project() {
    let project = monorepo();
    let relay = |directory: &str, args: &[&str]| {
        let mut command = project.command(args);
        let ran = run(with_git(&mut command).current_dir(project.path(directory)));
        if args[0] == "init" { Ran { out: String::new(), ..ran } } else { ran }
    };
    let mut transcript = Transcript::default();
    transcript.add("init in packages/a", &relay("packages/a", &["init"]));
    transcript.add("init --here in packages/a", &relay("packages/a", &["init", "--here"]));
    transcript.add("init again in packages/a/src", &relay("packages/a/src", &["init"]));
    relay_snapshot!(transcript, @r#"
    # init in packages/a
    exit 0
    ----- stderr -----
    ✓ relaycode.config.json, .relaycode/ and .gitignore are in place for all
      the project is <project>; `relay init --here` makes packages/a a project of its own
      check: none yet. Set patch.linter to a command such as "npx tsc --noEmit", and changes that pass it go in by themselves
      next: `relay prompt --copy`, give it to your model as its instructions, then `relay watch`
      (the prompt follows on stdout)

    # init --here in packages/a
    exit 0
    ----- stderr -----
    ✓ relaycode.config.json, .relaycode/ and .gitignore are in place for pkg-a
      inside <project>/packages/a relay uses this project; the one around it, <project>, stays separate
      check: none yet. Set patch.linter to a command such as "npx tsc --noEmit", and changes that pass it go in by themselves
      next: `relay prompt --copy`, give it to your model as its instructions, then `relay watch`
      (the prompt follows on stdout)

    # init again in packages/a/src
    exit 0
    ----- stderr -----
    ✓ everything is in place for pkg-a: nothing was changed
      check: none yet. Set patch.linter to a command such as "npx tsc --noEmit", and changes that pass it go in by themselves
      next: `relay prompt --copy`, give it to your model as its instructions, then `relay watch`
      (the prompt follows on stdout)
    "#);
    assert!(
        !project.path("packages/a/src/.relaycode").exists()
            && !project.path("packages/b/.relaycode").exists()
    );
    fs::write(project.home().join("answer.md"), edit("src/x.txt", "one", "two")).unwrap();
    let answer = project.home().join("answer.md");
    let ran = relay("packages/a/src", &["apply", answer.to_str().unwrap(), "-y", "-q"]);
    assert_eq!((ran.code, project.text("packages/a/src/x.txt").as_str()), (0, "two\n"), "{ran:?}");
    let ran = relay("packages/a", &["git", "commit", "-y", "-q", "-m", "two"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let committed = git(&project, &["show", "--name-only", "--format=%s", "HEAD"]);
    assert_eq!(committed, "two\n\npackages/a/src/x.txt");
    let mut transcript = Transcript::default();
    for (directory, args) in [
        ("packages/a/src", &["log", "--oneline"][..]),
        ("packages/a/src", &["blame", "x.txt"]),
        (".", &["log", "--oneline"]),
        ("packages/b", &["config", "show", "projectId"]),
        ("packages/a", &["config", "show", "projectId"]),
    ] {
        transcript.add(&format!("{} in {directory}", args.join(" ")), &relay(directory, args));
    }
    relay_snapshot!(transcript, @r#"
    # log --oneline in packages/a/src
    exit 0
    ----- stdout -----
    change-1 edit src/x.txt
    change-2 relay: set the project up

    # blame x.txt in packages/a/src
    exit 0
    ----- stdout -----
    change-1  edit src/x.txt                1  two

    # log --oneline in .
    exit 0
    ----- stdout -----
    change-1 relay: set the project up

    # config show projectId in packages/b
    exit 0
    ----- stdout -----
    "all"

    # config show projectId in packages/a
    exit 0
    ----- stdout -----
    "pkg-a"
    "#);
    let prompt =
        |directory: &str| relay(directory, &["prompt", "--json", "-q"]).json()["projectId"].to_string();
    assert_ne!(
        prompt("packages/a").rsplit_once('.'),
        prompt(".").rsplit_once('.'),
        "each has a key of its own"
    );
}

/// A project of the original tool: no linter, and a change that nobody decided about.
fn original() -> Project {
    let pending = format!("uuid: {UUID}\nprojectId: shop\noperations: []\nsnapshot: {{}}\napproved: false\n");
    Project::new(&[
        ("a.txt", "one\n"),
        ("relaycode.config.ts", "export default { projectId: 'shop', patch: { approvalMode: 'auto' } };\n"),
        (&format!(".relaycode/{UUID}.pending.yml"), &pending),
    ])
}

#[test]
fn a_linter_that_the_original_tool_ran_unasked_is_named_once_and_not_run() {
    let project = original();
    fs::remove_file(project.path(&format!(".relaycode/{UUID}.pending.yml"))).unwrap();
    let answers = [edit("a.txt", "one", "1"), edit("a.txt", "1", "2")];
    let [first, second] = answers.map(|answer| project.apply(&answer));
    relay_snapshot!(first, @r#"
    exit 0
    ----- stdout -----
    ▸ stdin                                                                    1 file  +1 −1
        M  a.txt  +1 −1   1 exact
    ✓ applied change-1 · 1 file · `relay undo` undoes it
    ----- stderr -----
    ! no linter is set here: the original tool ran `bun tsc --noEmit` then, relay runs none
      to keep it, set patch.linter to "bun tsc --noEmit" in relaycode.config.ts
    "#);
    assert_eq!((second.code, second.err.as_str()), (0, ""), "{second:?}");
    let project = original();
    fs::remove_file(project.path(&format!(".relaycode/{UUID}.pending.yml"))).unwrap();
    relay_snapshot!(project.relay(&["init"]).err, @r#"
    ✓ .relaycode/ and .gitignore are in place for shop; your relaycode.config.ts is used and stays as it is
      check: none. The original tool ran `bun tsc --noEmit` here because no linter is set; relay runs only what you name. To keep it, set patch.linter to "bun tsc --noEmit" in relaycode.config.ts
      next: `relay prompt --copy`, give it to your model as its instructions, then `relay watch`
      (the prompt follows on stdout)
    "#);
    assert_eq!(project.apply(&edit("a.txt", "one", "1")).err, "", "init has said it");
    for text in [
        "export default { projectId: 'shop', patch: { linter: '' } };\n",
        "export default { projectId: 'shop', patch: { linter: 'true' } };\n",
    ] {
        let project = Project::new(&[("relaycode.config.ts", text), ("a.txt", "one\n")]);
        assert!(!project.relay(&["init"]).err.contains("bun tsc"), "{text}");
    }
}

#[test]
fn what_the_original_tool_left_undecided_is_said_once_and_settled_by_recover_keep() {
    let project = original();
    project.put("relaycode.config.ts", b"export default { projectId: 'shop', patch: { linter: '' } };\n");
    let before = project.tree();
    relay_snapshot!(project.relay(&["record", "--", "true"]).err, @"
    ! 0f8fad5b looks like a change that the original tool left undecided; relay leaves it alone
      next: `relay recover --keep` keeps the files as they are and sets it aside
    backed up 2 files, 65 bytes in <duration>
    ✓ nothing changed while `true` ran: nothing to record
    ");
    let mut transcript = Transcript::default();
    for args in [&["record", "--", "true"][..], &["recover"], &["recover", "--keep"], &["recover"]] {
        transcript.add(&args.join(" "), &project.relay(args));
    }
    relay_snapshot!(transcript, @"
    # record -- true
    exit 0
    ----- stderr -----
    backed up 2 files, 65 bytes in <duration>
    ✓ nothing changed while `true` ran: nothing to record

    # recover
    exit 0
    ----- stdout -----
    ! 0f8fad5b looks like a change that the original tool left undecided; relay leaves it alone
      next: `relay recover --keep` keeps the files as they are and sets it aside

    # recover --keep
    exit 0
    ----- stdout -----
    ! 0f8fad5b was set aside without being acted on: it is in .relaycode/tx/0f8fad5b-d9cb-469f-a165-70867728950e.kept

    # recover
    exit 0
    ----- stdout -----
    ✓ nothing to recover: no run stopped in the middle
    ");
    assert_eq!(project.tree(), before);
    assert!(!project.path(&format!(".relaycode/{UUID}.pending.yml")).exists());
    let ran = project.relay(&["doctor"]);
    assert!(!ran.out.contains("original tool"), "{ran:?}");
}
