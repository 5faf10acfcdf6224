//! What commands and edits of a prompt change is one entry, and `relay undo` takes it back.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use relaycode_testkit::model::ScriptedTurn;
use serde_json::json;

use super::{ShellRun, command};

#[test]
fn what_a_command_changes_is_in_the_entry_of_the_prompt_and_undo_takes_it_back() {
    let run = ShellRun::turns([
        ScriptedTurn::call("write", json!({"path": "b.txt", "content": "new\n"})),
        ScriptedTurn::call(
            "bash",
            command("echo three >> a.txt; chmod 755 a.txt; mkdir -p d/e; echo x > d/e/f; ls"),
        ),
        ScriptedTurn::call("bash", command("rm b.txt; mv d/e/f g")),
    ]);
    let before = run.project.tree();
    run.run(&["--access", "workspace"]);
    assert_eq!(run.results()[1], "a.txt\nb.txt\nd");
    assert_eq!(run.project.text("a.txt"), "one\ntwo\nthree\n");
    assert_eq!((run.project.text("g").as_str(), run.project.path("b.txt").exists()), ("x\n", false));
    let log = run.project.log();
    assert_eq!(log.len(), 1, "{log:?}");
    assert_eq!(log[0]["summary"], "Go", "{log:?}");
    run.project.done(&["undo"]);
    assert_eq!(run.project.tree(), before);
}

#[test]
fn a_whole_prompt_of_edits_and_commands_is_one_line_and_undo_restores_every_byte_and_mode() {
    let mut turns: Vec<ScriptedTurn> = (0..5)
        .map(|number| {
            let call =
                json!({"path": format!("src/edited{number}.txt"), "content": format!("edited {number}\n")});
            ScriptedTurn::call("write", call)
        })
        .collect();
    turns.extend([
        ScriptedTurn::call("bash", command("./format.sh")),
        ScriptedTurn::call("bash", command("rm untracked.bin && ./test.sh")),
        ScriptedTurn::call("write", json!({"path": "src/edited0.txt", "content": "fixed\n"})),
        ScriptedTurn::call("bash", command("./test.sh")),
    ]);
    let run = ShellRun::turns(turns);
    let project = &run.project;
    for number in 0..5 {
        project.put(&format!("src/edited{number}.txt"), b"before\n");
    }
    for number in 0..40 {
        project.put(&format!("src/many/f{number}.txt"), format!("  line {number}  \n").as_bytes());
        let mode = [0o644, 0o600, 0o755, 0o444][number % 4];
        let path = project.path(&format!("src/many/f{number}.txt"));
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    project.put("untracked.bin", &[0, 159, 146, 150, b'\n', 255]);
    project.put("format.sh", b"#!/bin/sh\nfor f in src/many/*; do sed 's/ *$//; s/^ *//' $f > $f.new; mv -f $f.new $f; done\nmkdir out\necho done > out/log\n");
    project.put(
        "test.sh",
        b"#!/bin/sh\ngrep -q fixed src/edited0.txt || { echo 'test failed'; exit 1; }\necho 'test passed'\n",
    );
    for script in ["format.sh", "test.sh"] {
        fs::set_permissions(project.path(script), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let before = project.tree();
    let ran = run.run(&["--access", "workspace"]);
    let results = run.results();
    assert_eq!(results[5], "(no output)");
    assert_eq!(results[6], "test failed\n\nCommand exited with code 1");
    assert_eq!(results[8], "test passed");
    assert!(!ran.err.contains("nobody to ask"), "{ran:?}");
    assert_eq!(project.text("src/many/f7.txt"), "line 7\n");
    let log = project.done(&["log"]);
    assert_eq!(log.lines().filter(|line| line.contains("agent")).count(), 1, "{log}");
    project.done(&["undo"]);
    assert_eq!(project.tree(), before);
    project.done(&["redo"]);
    assert_eq!(
        (project.text("src/edited0.txt").as_str(), project.text("out/log").as_str()),
        ("fixed\n", "done\n")
    );
}
