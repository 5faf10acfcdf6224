//! Nothing is left of a command, and nothing grows without end.

use std::fs;
use std::process::Stdio;

use relaycode_testkit::model::ScriptedTurn;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::{ShellRun, command, is_running, result, wait_until};

#[test]
fn a_flood_is_bounded_in_memory_and_on_disk() {
    // The output alone nearly fills the small window of the model.
    let run = ShellRun::of([json!({"command": "yes flood", "timeout": 4})])
        .configure("compaction: {enabled: false}\n");
    let quiet = || Stdio::null();
    let mut relay = run.project.command(&["run", "Go"]).stdout(quiet()).stderr(quiet()).spawn().unwrap();
    let status = format!("/proc/{}/status", relay.id());
    let mut peak = 0;
    while relay.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak = peak.max(line.map_or(0, |line| line.trim_end_matches("kB").trim().parse::<u64>().unwrap()));
        std::thread::yield_now();
    }
    println!("peak memory: {peak} kB");
    assert!(peak > 0 && peak < 150_000, "{peak} kB");
    let said = &run.results()[0];
    assert!(said.len() < 52 << 10 && said.contains("artifact://0"), "{}", said.len());
    assert!(said.ends_with("Command timed out after 4 seconds"));
    let mut open = vec![run.project.home().join("sessions")];
    let mut sizes = Vec::new();
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            if entry.path().is_dir() {
                open.push(entry.path());
            } else if entry.file_name() == "0.bash.log" {
                sizes.push(entry.metadata().unwrap().len());
            }
        }
    }
    println!("kept of the flood: {sizes:?} bytes");
    assert!(sizes.len() == 1 && sizes[0] <= 64 << 20, "{sizes:?}");
}

#[test]
fn what_daemonises_closes_its_output_or_leaves_is_ended() {
    for (number, line) in [
        ("887001", "setsid sleep 887001 & disown"),
        ("887002", "(setsid nohup sleep 887002 >/dev/null 2>&1 &) ; exec >&- 2>&-"),
        ("887003", "cd /; for i in 1 2 3 4 5; do (sleep 887003 &) ; done"),
    ] {
        let said = result(line);
        assert!(said.contains("left running"), "{line}: {said}");
        assert!(!is_running(number), "{line}");
    }
}

#[test]
fn an_abort_ends_everything_that_runs() {
    for (number, signal) in [(887_011, Signal::INT), (887_012, Signal::TERM), (887_013, Signal::KILL)] {
        let number = number.to_string();
        let run = ShellRun::turns([
            ScriptedTurn::call("bash", json!({"command": format!("sleep {number}"), "async": true})),
            ScriptedTurn::call(
                "bash",
                command(&format!("echo x > made.txt; trap '' TERM INT; setsid sleep {number}")),
            ),
        ]);
        let mut child = run
            .project
            .command(&["run", "Go"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_until("the command begins", || run.project.path("made.txt").exists());
        kill_process(Pid::from_child(&child), signal).unwrap();
        let status = child.wait().unwrap();
        if signal != Signal::KILL {
            assert_eq!(status.code(), Some(130), "{signal:?}");
        }
        wait_until("nothing is left", || !is_running(&number));
        // What it had changed is recorded, by the run itself or by whoever comes next.
        // The one that watched the command may hold its recording for a moment longer than the command lives.
        wait_until("it is undone", || run.project.relay(&["undo", "-y"]).code == 0);
        assert!(!run.project.path("made.txt").exists(), "{signal:?}");
    }
}
