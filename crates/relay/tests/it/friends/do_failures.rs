//! Work that goes wrong: what is not kept is kept in a file, what half happened did not happen, and both are said.

use std::fs;

use relaycode_exec::{FenceLevel, probe_fence};
use serde_json::json;

use crate::friends::fixture::{Codex, Stage};
use crate::relay_snapshot;

/// Runs `relay do` on a codex that does this in its copy.
fn stage(work: &str) -> Stage {
    Stage::new().codex(&Codex::working(work))
}

#[test]
fn what_needs_a_person_is_kept_in_a_file_that_apply_takes() {
    let stage = stage("echo KEY=1 >.env; echo three >a.txt; mkdir -p src; echo new >src/new.txt");
    let said = stage.fails(&["do", "x", "-y"], 13, "nobodyToAsk");
    relay_snapshot!(said, @"
    exit 13
    ----- stderr -----
      codex works in a copy of 1 file
    Done.
    ▸ x                                                                       3 files  +3 −1
        M  a.txt        +1 −1
        A  .env         +1
        A  src/new.txt  +1
    ✗ this needs a yes from you, and there is no terminal to ask on: .env is guarded: it may hold secrets; nothing was changed
      `--allow guarded` applies it without asking
      it is kept: `relay apply <home>/kept/<time>-codex.md` applies it later
    ");
    let kept = said.object["kept"].as_str().unwrap().to_string();
    assert!(said.err.contains(&kept), "{}", said.err);
    let ran = stage.run_changing(&mut stage.json(&["apply", &kept, "-y", "--allow", "guarded"]));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(stage.project.text(".env"), "KEY=1\n");
    assert_eq!(
        (stage.project.text("a.txt").as_str(), stage.project.text("src/new.txt").as_str()),
        ("three\n", "new\n")
    );
    let ran = stage.run_changing(&mut stage.json(&["revert", "-y"]));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(stage.project.text("a.txt"), "two\n");
    assert!(!stage.project.path(".env").exists() && !stage.project.path("src").exists());
}

#[test]
fn one_that_deletes_everything_has_to_ask() {
    let stage = stage("rm -rf ./* .git .gitignore");
    let said = stage.fails(&["do", "x"], 13, "nobodyToAsk");
    relay_snapshot!(said.err, @"
      codex works in a copy of 1 file
    Done.
    ▸ x                                                                           1 file  −1
        D  a.txt  −1
    ✗ this needs a yes from you, and there is no terminal to ask on: the project has no configuration; nothing was changed
      `-y` applies it without asking
      it is kept: `relay apply <home>/kept/<time>-codex.md` applies it later
    ");
    assert!(said.object["kept"].is_string(), "{said:?}");
    for number in 0..12 {
        stage.project.put(&format!("f{number}.txt"), b"x\n");
    }
    relay_snapshot!(stage.fails(&["do", "x", "-y"], 13, "nobodyToAsk"), @"
    exit 13
    ----- stderr -----
      codex works in a copy of 13 files
    Done.
    ▸ x                                                                        13 files  −13
        D  a.txt    −1
        D  f0.txt   −1
        D  f1.txt   −1
        D  f10.txt  −1
        D  f11.txt  −1
        D  f2.txt   −1
        D  f3.txt   −1
        D  f4.txt   −1
        D  f5.txt   −1
        D  f6.txt   −1
        D  f7.txt   −1
        D  f8.txt   −1
        D  f9.txt   −1
      ! a.txt: 13 files would be deleted, this one first (mass-deletion)
    ✗ this needs a yes from you, and there is no terminal to ask on: a.txt: 13 files would be deleted, this one first; nothing was changed
      `--allow mass-deletion` applies it without asking
      it is kept: `relay apply <home>/kept/<time>-codex.md` applies it later
    ");
}

#[test]
fn what_it_does_to_git_stays_in_its_copy() {
    let hook = "mkdir -p .git/hooks; printf '#!/bin/sh\\ntouch sprung\\n' >.git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit; echo '[core] pager=x' >>.git/config; rm -rf .relaycode; mkdir .relaycode; echo x >.relaycode/lock";
    let stage = stage(hook);
    let ran = stage.run(&mut stage.json(&["do", "x", "-y"]));
    assert_eq!((ran.code, &ran.json()["applied"]), (0, &json!(false)), "{ran:?}");
    relay_snapshot!(ran.err, @"
      codex works in a copy of 1 file
    Done.
    ✓ codex changed nothing
    ! what no change may write is left out: .relaycode
    ");
}

#[test]
fn one_that_changes_nothing_says_so() {
    let stage = stage("true");
    let ran = stage.run(&mut stage.command(&["do", "x", "-y"]));
    relay_snapshot!(ran, @"
    exit 0
    ----- stdout -----
    Done.
    ✓ codex changed nothing
    ----- stderr -----
      codex works in a copy of 1 file
    ");
}

#[test]
fn one_that_fails_after_it_changed_files_has_changed_nothing() {
    for work in
        ["echo x >new.txt; echo y >a.txt; kill -9 $$", "echo x >new.txt; exit 0", "rm -rf .; sleep 1000"]
    {
        let stage = stage(work);
        let (time, code, kind) = match work.contains("sleep") {
            true => ("3", 12, "timedOut"),
            false => ("60", 10, "friendFailed"),
        };
        let said = stage.fails(&["do", "x", "-y", "--timeout", time], code, kind).says(&["codex"]);
        assert!(said.err.contains("nothing was changed"), "{}", said.err);
        let left: Vec<_> = fs::read_dir(stage.beside("tmp")).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn odd_files_that_it_makes_are_said_or_come_through() {
    let stage = stage(
        "ln -s /etc/passwd link 2>/dev/null; mkdir -p d; : >d/empty; printf 'a\\0b' >binary; chmod 755 a.txt",
    );
    let ran = stage.run(&mut stage.json(&["do", "x"]));
    assert_eq!(ran.code, 13, "{ran:?}");
    relay_snapshot!(ran.err, @"
      codex works in a copy of 1 file
    Done.
    ▸ x                                                                              3 files
        M  a.txt       becomes executable
        A  binary
        A  d/empty     empty
    ✗ this needs a yes from you, and there is no terminal to ask on: the project has no configuration; a.txt is guarded: it becomes executable; nothing was changed
      `-y` with `--allow guarded` applies it without asking
    ! links that were made, changed or removed in the copy are left out: link
      it is kept: `relay apply <home>/kept/<time>-codex.md` applies it later
      not in that file, because an answer cannot carry it: binary
    ");
}

#[test]
fn without_a_place_for_the_copy_it_says_what_it_needs() {
    let stage = stage("echo x >new.txt");
    fs::write(stage.beside("file"), "").unwrap();
    let nowhere = stage.beside("file/home");
    relay_snapshot!(stage
        .fails_as(stage.json(&["do", "x"]).env("RELAY_HOME", &nowhere), 3, "copy"), @"
    exit 3
    ----- stderr -----
    ! relay cannot mark its changes as yours, so undo will ask first: <stage>/file/home cannot be used: Not a directory (os error 20)
    ! your own copy of this project's history cannot be used: cannot open <stage>/file/home: Not a directory (os error 20)
    ✗ <stage>/file cannot be used: File exists (os error 17); nothing was changed
      the copy is made in RELAY_HOME: a place that can be written to, outside of the project
    ");
    let mut homeless = stage.json(&["do", "x"]);
    homeless.env_remove("RELAY_HOME").env_remove("HOME");
    relay_snapshot!(stage.fails_as(&mut homeless, 3, "copy"), @"
    exit 3
    ----- stderr -----
    ! relay cannot mark its changes as yours, so undo will ask first: neither HOME nor RELAY_HOME names an absolute path, so relay has no place for its own files; set one of them
    ✗ neither HOME nor RELAY_HOME names an absolute path, so relay has no place for its own files; set one of them; nothing was changed
      the copy is made in RELAY_HOME: a place that can be written to, outside of the project
    ");
    // Where temporary files go does not matter.
    stage.fails_as(stage.json(&["do", "x"]).env("TMPDIR", &nowhere), 13, "nobodyToAsk");
}

#[test]
fn a_friend_that_fails_in_the_fence_is_told_as_such_with_the_way_around_it() {
    let level = probe_fence(env!("CARGO_BIN_EXE_relay").as_ref(), &std::env::temp_dir()).level;
    if level != FenceLevel::Namespaces {
        println!("skipped: the fence here is of level {}", level.number());
        return;
    }
    let stage = Stage::new().script(
        "opencode",
        "[ \"$1\" = --version ] && echo 1.18.33 && exit\necho 'no such database' >&2; exit 1",
    );
    let said = stage.fails(&["do", "x", "--to", "opencode"], 10, "friendFailed");
    assert_eq!(said.object["sandbox"], json!({"kind": "fence", "level": 1, "why": null}));
    relay_snapshot!(said.err, @"
      opencode works in a copy of 1 file, in a fence
    ✗ opencode failed: it ended in the middle of the conversation: no such database; nothing was changed
      `relay friends --test` says whether it answers at all
      opencode ran in a fence; if that stopped it, `--access full` runs it without one
    ");
}
