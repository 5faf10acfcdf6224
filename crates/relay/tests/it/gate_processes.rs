//! What a gate's commands start, and what ends them. relay is stopped, or killed, while the project's commands run: nothing of theirs goes on, and the project
//! is as it was, at once or after the next command.

use std::fs;

use relaycode_testkit::process::unshare_command;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::fixture::keyed_project::{Scene, processes_with, surround, wait_until};
use crate::fixture::scratch_project::{edit, run};

const BEFORE: &str = "one\ntwo\n";

fn change() -> String {
    edit("a.txt", "two", "two CHANGED")
}

/// Says that it is here, starts a few that want to stay, and stays.
const STAYS: &str = "setsid sleep 600 & nohup sleep 600 >/dev/null 2>&1 & (sleep 600 &); trap '' TERM INT; touch here; while :; do sleep 600; done";

/// The step that stays: a script of its own, so that relay's own arguments do not name it.
fn scene(key: &str, script: &str) -> Scene {
    let scene = Scene::trusted(&[("a.txt", BEFORE)], &json!({key: "sh step.sh"}));
    scene.project.put("step.sh", script.as_bytes());
    scene
}

fn with(patch: &Value) -> Scene {
    Scene::trusted(&[("a.txt", BEFORE)], patch)
}

fn here(scene: &Scene) {
    wait_until("the command begins", || scene.project.path("here").exists());
}

fn all_gone(scene: &Scene) {
    let home = scene.project.home().to_str().unwrap();
    wait_until("everything ends", || processes_with(home).is_empty());
}

#[test]
fn a_signal_during_any_step_ends_it_and_leaves_the_project_as_it_was() {
    let baseline = STAYS.to_string();
    let linter = format!("grep -q CHANGED a.txt || exit 0; {STAYS}");
    for (key, script, says) in [
        ("preCommand", &baseline, "nothing was changed"),
        ("linter", &baseline, "nothing was changed"),
        ("postCommand", &baseline, "everything was put back"),
        ("linter", &linter, "everything was put back"),
    ] {
        for signal in [Signal::INT, Signal::TERM] {
            let scene = scene(key, script);
            let child = scene.begin(&change(), &["-y"]);
            here(&scene);
            kill_process(Pid::from_child(&child), signal).unwrap();
            let output = child.wait_with_output().unwrap();
            let err = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(130), "{key} {signal:?}: {err}");
            assert!(err.contains("interrupted") && err.contains(says), "{key} {signal:?}: {err}");
            assert_eq!(scene.text("a.txt"), BEFORE, "{key} {signal:?}");
            scene.assert_settled();
            all_gone(&scene);
        }
    }
}

/// Starts two bystanders and relay, breaks that off, and ends as relay does if the bystanders live, and nobody else.
const BESIDE: &str = "sleep 600 & one=$!; sleep 600 & two=$!; \"$@\" & relay=$!; \
    n=0; while [ ! -e here ] && [ $((n += 1)) -lt 6000 ]; do sleep 0.01; done; kill $relay; wait $relay; code=$?; \
    kill -0 $one && kill -0 $two || exit 98; for pid in $(cat here); do kill -0 $pid && exit 99; done; exit $code";

#[test]
fn where_proc_is_of_another_namespace_the_group_is_ended_and_nobody_else() {
    let Some(mut command) = unshare_command(&[], "sh") else { return };
    let scene = scene("linter", "sleep 600 & echo $$ $! > pids; mv pids here; wait");
    let relay = scene.command(&scene.answer(&change(), &["-y"]));
    command.args(["-c", BESIDE, "sh"]).arg(relay.get_program()).args(relay.get_args());
    scene.project.surround(&mut command);
    surround(&mut command);
    let ran = run(&mut command);
    assert_eq!(ran.code, 130, "{ran:?}");
    assert_eq!(scene.text("a.txt"), BEFORE, "{ran:?}");
    scene.assert_settled();
}

#[test]
fn killed_in_the_middle_of_a_gate_nothing_goes_on_and_the_next_command_puts_everything_back() {
    let linter = format!("grep -q CHANGED a.txt || exit 0; sed -i s/one/1/ a.txt; {STAYS}");
    for (next, key, script) in [
        (&["recover"][..], "linter", &linter),
        (&["apply", "none.md", "-y"][..], "linter", &linter),
        (&["revert"][..], "postCommand", &linter),
    ] {
        let scene = scene(key, script);
        scene.project.put("none.md", edit("a.txt", "one", "1 ONE").as_bytes());
        let mut child = scene.begin(&change(), &["-y"]);
        here(&scene);
        assert!(scene.text("a.txt").contains("CHANGED"), "it is on disk while it is judged");
        child.kill().unwrap();
        child.wait().unwrap();
        all_gone(&scene);
        scene.project.put("step.sh", b"exit 0\n");
        let ran = scene.relay(next);
        assert!(format!("{}{}", ran.out, ran.err).contains("stopped in the middle"), "{next:?}: {ran:?}");
        if next[0] == "apply" {
            assert_eq!(ran.code, 0, "{ran:?}");
            assert_eq!(scene.text("a.txt"), "1 ONE\ntwo\n", "planned on what was put back");
        } else {
            assert_eq!(scene.text("a.txt"), BEFORE, "{next:?}: {ran:?}");
        }
        scene.assert_settled();
    }
}

#[test]
fn killed_in_the_middle_of_a_pre_command_nothing_was_begun() {
    let scene = scene("preCommand", STAYS);
    let mut child = scene.begin(&change(), &["-y"]);
    here(&scene);
    child.kill().unwrap();
    child.wait().unwrap();
    all_gone(&scene);
    assert_eq!(scene.text("a.txt"), BEFORE);
    assert_eq!(scene.relay(&["recover"]).code, 0);
}

#[test]
fn another_relay_works_while_a_gate_runs_and_cannot_take_its_files() {
    let linter = "grep -q CHANGED a.txt || exit 0; [ -e here ] && exit 0; touch here; while [ ! -e go ]; do sleep 0.01; done";
    let scene = scene("linter", linter);
    scene.project.put("b.txt", b"b\n");
    let child = scene.begin(&change(), &["-y"]);
    here(&scene);
    assert_eq!(scene.relay(&["log"]).code, 0);
    assert_eq!(scene.relay(&["recover"]).code, 0, "somebody is at work: nothing to recover");
    assert!(scene.text("a.txt").contains("CHANGED"), "it was left alone");
    scene.project.put("same.md", edit("a.txt", "one", "1").as_bytes());
    let other = scene.relay(&["apply", "same.md", "-y", "--json", "-q"]);
    assert_ne!(other.code, 0, "a.txt is claimed: {other:?}");
    scene.project.put("go", b"");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(scene.text("a.txt"), "one\ntwo CHANGED\n");
    let other = scene.relay(&["apply", "same.md", "-y"]);
    assert_eq!(other.code, 0, "{other:?}");
}

#[test]
fn nothing_that_a_gate_starts_outlives_it() {
    let start = "setsid sleep 600 & nohup sleep 600 >/dev/null 2>&1 & (sleep 600 &) ; (setsid sh -c 'sleep 600 & exit' &) ; exit 0";
    let scene = with(&json!({"preCommand": start, "linter": start, "postCommand": start}));
    let (code, value) = scene.json(&change(), &["-y"]);
    assert_eq!(code, 0, "{value}");
    assert_eq!(processes_with(scene.project.home().to_str().unwrap()), [] as [u32; 0]);
    let left: u64 = value["gate"]["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["leftBehind"].as_u64().unwrap())
        .sum();
    assert!(left >= 12, "it is told how many there were: {value}");
}

#[test]
fn a_linter_may_read_the_ledger_and_a_second_apply_inside_of_it_ends() {
    let scene = with(&json!({"linter": "sh inside.sh", "commandTimeout": 60}));
    let relay = env!("CARGO_BIN_EXE_relay");
    // Not to be judged by itself again and again.
    let inside = format!(
        "{relay} log > log.txt 2>&1 || exit 1\n\
         [ -z \"$INSIDE\" ] || exit 0\n\
         export INSIDE=1\n\
         {relay} apply \"$RELAY_HOME/inner.md\" -y > inner.txt 2>&1\n\
         echo $? >> codes.txt\n"
    );
    scene.project.put("inside.sh", inside.as_bytes());
    fs::write(scene.project.home().join("inner.md"), change()).unwrap();
    let ran = scene.apply(&change(), &["-y"]);
    assert_eq!(ran.code, 0, "{ran:?}\n{}", scene.text("inner.txt"));
    for code in scene.text("codes.txt").lines() {
        assert_eq!(code, "3", "{}", scene.text("inner.txt"));
    }
    assert!(scene.text("inner.txt").contains("a command that judges a change cannot apply one"));
    scene.assert_settled();
}

#[test]
fn a_linter_that_applies_the_same_answer_again_does_not_go_on_for_ever() {
    let relay = env!("CARGO_BIN_EXE_relay");
    let linter =
        format!("echo x >> depth; {relay} apply \"$RELAY_HOME/answer.md\" -y >> inner.txt 2>&1; exit 0");
    let scene = with(&json!({"linter": linter, "commandTimeout": 20}));
    let ran = scene.apply(&change(), &["-y"]);
    let depth = scene.text("depth").lines().count();
    assert!(depth < 10, "{depth} deep: {ran:?}");
    assert_eq!(ran.code, 0, "{ran:?}\n{}", scene.text("inner.txt"));
    assert_eq!(processes_with(scene.project.home().to_str().unwrap()), [] as [u32; 0]);
}
