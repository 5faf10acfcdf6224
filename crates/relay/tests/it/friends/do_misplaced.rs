//! What `relay do` says of work that is not where it should be: in the project itself, in words, in no file, under
//! names that no change can have, or too much of it.

use std::fs;
use std::path::Path;

use relaycode_testkit::model::{Script, ScriptedServer, ScriptedTurn};
use serde_json::{Value, json};

use crate::friends::fixture::{Codex, Stage};
use crate::relay_snapshot;

/// A codex that does this in its copy; `ROOT` stands for the project itself.
fn stage(work: &str) -> Stage {
    working_at(Stage::new(), work)
}

fn working_at(stage: Stage, work: &str) -> Stage {
    let work = work.replace("ROOT", stage.project.path("").to_str().unwrap().trim_end_matches('/'));
    stage.codex(&Codex::working(&work))
}

/// The same codex, as it says that nothing confines it.
fn unconfined(stage: Stage) -> Stage {
    let script = fs::read_to_string(stage.bin("codex")).unwrap();
    let script = script.replace(r#""type":"workspaceWrite""#, r#""type":"dangerFullAccess""#);
    let script = script.replace(r#""approvalPolicy":"on-request""#, r#""approvalPolicy":"never""#);
    fs::write(stage.bin("codex"), script).unwrap();
    stage
}

/// A model server that is called `work` and says this.
fn saying(text: &str) -> (ScriptedServer, Stage) {
    let server = ScriptedServer::start(Script::any([ScriptedTurn::text(text).repeat(8)]));
    let stage = Stage::new();
    let file = format!(
        "providers:\n  work:\n    baseUrl: {}/v1\n    api: openai-completions\n    apiKey: sk-test\n    models:\n      \
         - {{id: m1, contextWindow: 32000, maxTokens: 4000}}\n",
        server.url()
    );
    fs::write(stage.project.home().join("models.yml"), file).unwrap();
    (server, stage)
}

fn entries(directory: &Path) -> usize {
    fs::read_dir(directory).map_or(0, Iterator::count)
}

#[test]
fn what_it_writes_into_the_project_itself_is_named_and_nothing_is_not_claimed() {
    let strays = "echo x >ROOT/stray.txt; echo three >ROOT/a.txt";
    let changed = json!([{"path": "a.txt", "kind": "changed"}, {"path": "stray.txt", "kind": "created"}]);
    for access in ["workspace", "full"] {
        let mut stage = stage(strays);
        if access == "full" {
            stage = unconfined(stage);
        }
        let ran = stage.run_changing(&mut stage.command(&["do", "x", "-y", "--access", access]));
        assert_eq!(ran.code, 6, "{ran:?}");
        assert!(ran.err.contains("2 files changed while it ran; codex was to work in its copy"), "{ran:?}");
        assert!(ran.err.contains("stray.txt  created") && ran.err.contains("a.txt  changed"), "{ran:?}");
        assert!(ran.out.contains("codex changed nothing in its copy"), "{ran:?}");
        stage.project.put("a.txt", b"two\n");
        fs::remove_file(stage.project.path("stray.txt")).unwrap();
        let ran = stage.run_changing(&mut stage.json(&["do", "x", "-y", "--access", access]));
        let object = ran.json();
        assert_eq!((&object["code"], &object["ok"]), (&json!(6), &json!(false)), "{ran:?}");
        assert_eq!((&object["changed"], &object["unchecked"]), (&changed, &Value::Null), "{ran:?}");
    }
    // Whoever does not want to know is not told.
    let stage = stage(strays);
    let ran = stage.run_changing(&mut stage.json(&["do", "x", "-y", "--no-tree-check"]));
    assert_eq!((ran.code, &ran.json()["changed"]), (0, &json!([])), "{ran:?}");
}

#[test]
fn what_lands_through_the_door_is_not_taken_for_a_stray() {
    let stage = stage("echo x >ROOT/stray.txt; echo three >a.txt; echo new >new.txt");
    let ran = stage.run_changing(&mut stage.json(&["do", "x", "-y"]));
    let object = ran.json();
    assert_eq!((ran.code, &object["applied"]), (6, &json!(true)), "{ran:?}");
    assert_eq!(object["changed"], json!([{"path": "stray.txt", "kind": "created"}]), "{ran:?}");
    assert_eq!(stage.project.text("new.txt"), "new\n");
    // The same without one.
    let stage = self::stage("echo three >a.txt");
    let ran = stage.run_changing(&mut stage.json(&["do", "x", "-y"]));
    assert_eq!((ran.code, &ran.json()["changed"]), (0, &json!([])), "{ran:?}");
}

#[test]
fn what_a_build_makes_outside_git_is_no_part_of_the_work() {
    let stage = working_at(Stage::bare(), "echo three >a.txt; mkdir -p target/debug; echo o >target/debug/o");
    stage.project.put("Cargo.toml", b"[package]\n");
    let ran = stage.run_changing(&mut stage.json(&["do", "x", "-y"]));
    assert_eq!((ran.code, stage.project.text("a.txt").as_str()), (0, "three\n"), "{ran:?}");
    assert!(!stage.project.path("target").exists(), "{ran:?}");
    assert!(!ran.err.contains("changed while it ran"), "{ran:?}");
}

#[test]
fn a_failure_does_not_say_that_nothing_was_changed_when_something_was() {
    for (work, code, kind) in [
        ("echo x >ROOT/stray.txt; kill -9 $$", 10, "friendFailed"),
        ("echo x >ROOT/stray.txt; echo KEY=1 >.env", 13, "nobodyToAsk"),
    ] {
        let stage = stage(work);
        let ran = stage.run_changing(&mut stage.json(&["do", "x", "-y"]));
        let object = ran.json();
        assert_eq!((ran.code, &object["error"]["kind"]), (code, &json!(kind)), "{ran:?}");
        assert_eq!(object["changed"][0]["path"], "stray.txt", "{ran:?}");
        assert_eq!(object["error"].get("state"), None, "{ran:?}");
        assert!(ran.err.contains("stray.txt  created"), "{ran:?}");
        // What the door says is said of the change alone.
        let claimed = ran.err.contains("nothing was changed");
        assert!(!claimed || ran.err.contains("what changed while it ran is named above"), "{ran:?}");
    }
}

#[test]
fn an_answer_in_words_of_a_friend_without_hands_is_shown_and_is_no_success() {
    let (_server, stage) = saying("Which of the totals do you mean?");
    let args = ["do", "x", "--to", "work/m1", "-y"];
    let ran = stage.relay(&args);
    relay_snapshot!(ran, @"
    exit 11
    ----- stdout -----
    Which of the totals do you mean?
    ----- stderr -----
    ✗ work answered in words, without a patch; nothing was changed
      name the files that it has to see, and say what to change; `relay ask` is for questions
    ");
    let said = stage.fails(&args, 11, "noPatch");
    assert_eq!(said.object["friend"]["text"], "Which of the totals do you mean?", "{said:?}");
    // Words that stand there already are not said twice.
    let ran = stage.relay(&["do", "x", "--to", "work/m1", "-y", "--stream"]);
    assert_eq!((ran.code, ran.out.matches("Which of").count()), (11, 1), "{ran:?}");
}

#[test]
fn an_answer_that_cannot_be_read_is_shown() {
    let (_server, stage) = saying("Both:\n\n```txt // a.txt\nx\n```\n\n```txt // b.txt\ny\n```\n");
    let args = ["do", "x", "--to", "work/m1", "-y", "--limit", "files=1"];
    let ran = stage.relay(&args);
    relay_snapshot!(ran, @"
    exit 11
    ----- stdout -----
    Both:

    ```txt // a.txt
    x
    ```

    ```txt // b.txt
    y
    ```
    ----- stderr -----
    ✗ work's answer cannot be read: the answer changes more files than the limit `files` allows, which is 1; nothing was changed
      raise it with `--limit files=5000`, or with `limits.files` in the configuration, if the answer really is that large
    ");
    let said = stage.fails(&args, 11, "unreadable");
    relay_snapshot!(said, @"
    exit 11
    ----- stderr -----
    Both:

    ```txt // a.txt
    x
    ```

    ```txt // b.txt
    y
    ```
    ✗ work's answer cannot be read: the answer changes more files than the limit `files` allows, which is 1; nothing was changed
      raise it with `--limit files=5000`, or with `limits.files` in the configuration, if the answer really is that large
    ");
    assert!(said.object["friend"]["text"].as_str().unwrap().starts_with("Both:"), "{said:?}");
}

#[test]
fn work_that_cannot_be_kept_where_it_belongs_is_not_lost() {
    let stage = stage("echo KEY=1 >.env");
    fs::write(stage.project.home().join("kept"), "in the way").unwrap();
    let said = stage.fails(&["do", "x", "-y"], 13, "nobodyToAsk");
    let wanted = stage.project.home().join("kept");
    assert!(said.err.contains(&format!("cannot be kept in {}", wanted.display())), "{}", said.err);
    let kept = said.object["kept"].as_str().unwrap().to_string();
    assert!(Path::new(&kept).starts_with(stage.beside("tmp")) && said.err.contains(&kept), "{}", said.err);
    let ran = stage.run_changing(&mut stage.json(&["apply", &kept, "-y", "--allow", "guarded"]));
    assert_eq!((ran.code, stage.project.text(".env").as_str()), (0, "KEY=1\n"), "{ran:?}");
    // And it does not stay when the change is in.
    let stage = self::stage("echo three >a.txt");
    fs::write(stage.project.home().join("kept"), "in the way").unwrap();
    let ran = stage.run_changing(&mut stage.json(&["do", "x", "-y"]));
    assert_eq!((ran.code, &ran.json()["kept"]), (0, &Value::Null), "{ran:?}");
    assert_eq!(entries(&stage.beside("tmp")), 0);
}

#[test]
fn names_that_are_no_text_and_directories_that_cannot_be_read_are_said() {
    let work = r#"n=$(printf 'b\377d'); echo x >"$n.txt"; mkdir "$n"; echo y >"$n/in.txt"; echo three >a.txt
mkdir closed; echo z >closed/in.txt; chmod 000 closed"#;
    let stage = stage(work);
    let ran = stage.run_changing(&mut stage.json(&["do", "x", "-y"]));
    assert_eq!((ran.code, stage.project.text("a.txt").as_str()), (0, "three\n"), "{ran:?}");
    let said = ran.json()["leftOut"].to_string();
    for name in [r"b\\xffd,", r"b\\xffd.txt"] {
        assert!(said.contains(name), "{name} in {said}");
    }
    assert!(ran.err.contains(r"b\xffd.txt"), "{ran:?}");
    // Somebody who may read everything has it in the change.
    let landed = stage.project.path("closed/in.txt").exists();
    assert!(landed || said.contains("directories that cannot be read are left out: closed"), "{said}");
}

#[test]
fn nothing_is_copied_for_somebody_who_is_not_there() {
    let stage = Stage::new();
    for name in ["codex", "claude", "gemini", "opencode"] {
        stage.fails(&["do", "x", "--to", name], 10, "notInstalled").says(&[name]);
    }
    assert!(!stage.project.home().join("scratch").exists());
}

#[test]
fn nothing_that_is_sealed_lands_in_whatever_spelling() {
    let work = "for d in .relaycode .RelayCode pkg/.relaycode pkg/.GIT GIT~1; do mkdir -p $d; echo x >$d/lock; done; \
                echo three >a.txt";
    let stage = stage(work);
    let ran = stage.run_changing(&mut stage.json(&["do", "x", "-y"]));
    assert_eq!((ran.code, stage.project.text("a.txt").as_str()), (0, "three\n"), "{ran:?}");
    let plan = &ran.json()["plan"]["files"];
    assert_eq!(plan.as_array().unwrap().len(), 1, "{plan}");
    relay_snapshot!(ran.err, @"
      codex works in a copy of 1 file
    Done.
    ▸ x                                                                        1 file  +1 −1
        M  a.txt  +1 −1
    ✓ applied change-1 · 1 file · `relay undo` undoes it
    ! what no change may write is left out: .RelayCode, .relaycode, GIT~1, pkg/.GIT, pkg/.relaycode
    ");
    for name in [".RelayCode/lock", "pkg", "GIT~1"] {
        assert!(!stage.project.path(name).exists(), "{name}");
    }
}

#[test]
fn work_on_more_files_than_the_limit_says_how_to_bring_it_in() {
    let many = "i=0; while [ $i -lt 300 ]; do echo $i >f$i.txt; i=$((i+1)); done";
    let stage = stage(many);
    let said = stage.fails(&["do", "x", "-y"], 3, "refused");
    let kept = said.object["kept"].as_str().unwrap().to_string();
    let next = format!("relay apply {kept} --limit files=300");
    assert!(said.err.contains("the limit `files` is 200") && said.err.contains(&next), "{}", said.err);
    assert!(!said.err.contains("--repair"), "{}", said.err);
    let ran = stage.run_changing(&mut stage.json(&["apply", &kept, "--limit", "files=300", "-y"]));
    assert_eq!((ran.code, stage.project.text("f299.txt").as_str()), (0, "299\n"), "{ran:?}");
    let stage = self::stage(many);
    let ran = stage.run_changing(&mut stage.json(&["do", "x", "-y", "--limit", "files=300"]));
    assert_eq!((ran.code, stage.project.text("f299.txt").as_str()), (0, "299\n"), "{ran:?}");
}

#[test]
fn a_file_that_is_moved_counts_once() {
    let stage = Stage::new();
    for number in 0..150 {
        stage.project.put(&format!("f{number}.txt"), format!("{number}\n").as_bytes());
    }
    let stage = working_at(stage, "mkdir moved; for f in f*.txt; do ln $f moved/$f; rm $f; done");
    let ran = stage.run_changing(&mut stage.json(&["do", "x", "-y"]));
    assert_eq!((ran.code, stage.project.text("moved/f149.txt").as_str()), (0, "149\n"), "{ran:?}");
    assert!(!stage.project.path("f149.txt").exists());
}
