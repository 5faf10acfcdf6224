//! A friend that was only asked and did something all the same, where nobody looks at once: it is told, whatever it
//! answers.

use std::fs;

use serde_json::Value;

use crate::friends::fixture::{Codex, Stage, answering};

/// A stage with a codex that does this when it is asked, and answers.
fn meddling(stage: Stage, work: &str) -> Stage {
    stage.codex(&Codex::turning(&format!("{work}\n{}", answering("Fine."))))
}

/// What is told of changes, each with its kind.
fn changed(stage: &Stage, args: &[&str]) -> Vec<String> {
    let ran = stage.run_changing(&mut stage.json(args));
    assert_eq!(ran.code, 6, "{ran:?}");
    let object = ran.json();
    assert_eq!(object["unchecked"], Value::Null, "{ran:?}");
    let list = object["changed"].as_array().unwrap();
    list.iter()
        .map(|one| format!("{} {}", one["path"].as_str().unwrap(), one["kind"].as_str().unwrap()))
        .collect()
}

#[test]
fn a_hook_and_a_setting_in_places_that_only_this_repository_uses_are_told() {
    let work =
        "mkdir .git/myhooks; echo '#!/bin/sh' >.git/myhooks/pre-commit; echo '[alias] st=!x' >.git/extra";
    let stage = meddling(Stage::new(), work);
    stage.git(&["config", "core.hooksPath", ".git/myhooks"]);
    stage.git(&["config", "include.path", "extra"]);
    let expected = [".git/extra created", ".git/myhooks/ created", ".git/myhooks/pre-commit created"];
    assert_eq!(changed(&stage, &["ask", "x"]), expected);
}

#[test]
fn what_is_staged_is_told_and_a_look_by_git_is_not() {
    for work in [
        "git rm -q --cached a.txt",
        "git update-index --assume-unchanged a.txt",
        "git update-index --add --cacheinfo 100644,$(git rev-parse main:a.txt),a.txt",
    ] {
        let stage = meddling(Stage::new(), work);
        assert_eq!(changed(&stage, &["ask", "x"]), [".git/index staged"], "{work}");
        let stage = meddling(Stage::new(), work);
        let ran = stage.run_changing(&mut stage.command(&["ask", "x"]));
        assert!(ran.err.contains(".git/index  what is staged changed"), "{ran:?}");
    }
    let stage = meddling(Stage::new(), "touch a.txt; git status >/dev/null; git diff >/dev/null");
    let ran = stage.run_changing(&mut stage.json(&["ask", "x"]));
    assert_eq!((ran.code, &ran.json()["changed"]), (0, &serde_json::json!([])), "{ran:?}");
}

#[test]
fn records_that_a_revert_would_write_back_are_told() {
    let stage = meddling(
        Stage::new(),
        "mkdir -p .relaycode/blobs; echo x >.relaycode/blobs/x; echo x >.relaycode/x.yml",
    );
    let expected = [
        ".relaycode/ created",
        ".relaycode/blobs/ created",
        ".relaycode/blobs/x created",
        ".relaycode/x.yml created",
    ];
    assert_eq!(changed(&stage, &["ask", "x"]), expected);
}

#[test]
fn a_project_that_is_gone_is_told_as_such() {
    let stage = meddling(Stage::new(), "rm -rf \"$PWD\"");
    let root = stage.project.path("").canonicalize().unwrap();
    assert_eq!(changed(&stage, &["ask", "x"]), [format!("{}/ removed", root.display())]);
}

#[test]
fn several_friends_are_watched_as_one_is() {
    let stage = meddling(Stage::new(), "git update-index --assume-unchanged a.txt");
    let both = ["ask", "x", "--to", "codex/m,codex/n"];
    assert_eq!(changed(&stage, &both), [".git/index staged"]);
    // Nobody looks so deep, whatever their rights.
    let stage = Stage::answered();
    fs::create_dir_all((0..1_100).fold(stage.project.path("deep"), |path, _| path.join("d"))).unwrap();
    for args in [&["ask", "x"][..], &both] {
        let ran = stage.run_changing(&mut stage.json(args));
        let unchecked = ran.json()["unchecked"].as_str().unwrap_or_default().to_string();
        assert!(unchecked.contains("cannot be looked into"), "{ran:?}");
        assert!(ran.code == 0 && ran.err.contains("was not compared"), "{ran:?}");
    }
}
