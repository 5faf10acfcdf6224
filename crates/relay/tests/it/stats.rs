//! `relay stats`: sums of sessions that are read once.

use std::fs;

use relaycode_testkit::model::ScriptedTurn;
use serde_json::{Value, json};

use crate::agent_run::{WIRES, serving};
use crate::fixture::scratch_project::Project;
use crate::relay_snapshot;

/// A session of the project, on a day in the past.
fn put(project: &Project, name: &str, cwd: &str, day: &str, cost: f64) {
    let at = |time: &str| format!("{day}T{time}.000Z");
    let header =
        json!({"type": "session", "version": 3, "id": name, "timestamp": at("10:00:00"), "cwd": cwd});
    let entry = |time: &str, message: Value| json!({"type": "message", "id": time, "parentId": null, "timestamp": at(time), "message": message});
    let usage = json!({"input": 1200, "output": 300, "cacheRead": 4_000_000, "cacheWrite": 0, "totalTokens": 0,
        "cost": {"input": 0.0, "output": 0.0, "cacheRead": 0.0, "cacheWrite": 0.0, "total": cost}});
    let answer = |time: &str, model: &str| {
        entry(
            time,
            json!({"role": "assistant", "provider": "work", "model": model, "content": [], "usage": usage.clone()}),
        )
    };
    let tool = |time: &str, name: &str, failed: bool| {
        entry(
            time,
            json!({"role": "toolResult", "toolCallId": "1", "toolName": name, "isError": failed, "content": []}),
        )
    };
    let lines = [
        header,
        entry("10:00:00", json!({"role": "user", "content": "Go"})),
        answer("10:00:30", "m1"),
        tool("10:02:00", "bash", false),
        tool("10:02:10", "bash", true),
        tool("10:02:11", "read", false),
        answer("10:03:00", "m\u{1b}[31m2"),
    ];
    let directory = project.home().join("sessions/--x--");
    fs::create_dir_all(&directory).unwrap();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(directory.join(format!("{name}.jsonl")), text).unwrap();
}

#[test]
fn sums_are_shown_by_day_model_project_and_tool() {
    let project = Project::new(&[]);
    relay_snapshot!(project.done(&["stats"]), @"nothing was used in 30 days");
    put(&project, "one", "/work/shop", "2026-03-01", 3.0);
    put(&project, "two", "/work/shop", "2026-03-02", 1.0);
    put(
        &project,
        "three",
        "/work/a project with a long name beneath/several/directories/of/a/home",
        "2026-03-02",
        0.5,
    );
    relay_snapshot!(project.done(&["stats", "--days", "3650"]), @r"
    last 3650 days: 3 sessions, 3 prompts, 6 answers
      tokens  7.2k read, 24.0M from the cache, 1.8k written
      cost    $9.00
      time    9 min

    by day
      2026-03-01  ████████████████  $6.00, 8.0M tokens
      2026-03-02  ████████          $3.00, 16.0M tokens

    by model
      work/m\u{1b}[31m2  ████████████████  $4.50, 12.0M tokens
      work/m1            ████████████████  $4.50, 12.0M tokens

    by project
      /work/shop                                ████████████████  $8.00, 16.0M tokens
      /work/a project w…/directories/of/a/home  ██                $1.00, 8.0M tokens

    by tool
      bash  ████████████████  6 calls, 3 failed
      read  ████████          3 calls
    ");
    let ascii =
        crate::fixture::scratch_project::run(project.command(&["stats", "--days", "3650"]).env("LANG", "C"));
    assert!(ascii.out.contains("####") && ascii.out.is_ascii(), "{ascii:?}");
    let told = project.relay(&["stats", "--days", "3650", "--json"]).json();
    assert_eq!(
        (&told["sessions"], &told["total"]["answers"], &told["total"]["seconds"]),
        (&json!(3), &json!(6), &json!(540))
    );
    assert_eq!(
        told["days"][0],
        json!({"day": "2026-03-01", "prompts": 1, "answers": 2, "input": 2400, "output": 600,
        "cacheRead": 8_000_000, "cacheWrite": 0, "tokens": 8_003_000, "cost": 6.0, "seconds": 180})
    );
    assert_eq!(
        told["tools"],
        json!([{"tool": "bash", "calls": 6, "errors": 3}, {"tool": "read", "calls": 3, "errors": 0}])
    );
    assert_eq!((&told["directory"], told["models"].as_array().unwrap().len()), (&Value::Null, 2));
}

#[test]
fn a_run_is_counted_for_its_directory_and_a_file_is_read_once() {
    let (_server, project) =
        serving(WIRES[0], [ScriptedTurn::call("read", json!({"path": "a.txt"})), ScriptedTurn::text("Two.")]);
    put(&project, "one", "/work/shop", "2026-03-01", 3.0);
    assert_eq!(project.relay(&["run", "Go"]).code, 0);
    let told = project.relay(&["stats", "--here", "--json"]).json();
    assert_eq!(
        (&told["sessions"], &told["total"]["prompts"], &told["total"]["answers"]),
        (&json!(1), &json!(1), &json!(2))
    );
    assert_eq!(told["tools"], json!([{"tool": "read", "calls": 1, "errors": 0}]));
    assert_eq!(told["projects"].as_array().unwrap().len(), 1);
    let kept = project.home().join("usage.index");
    let before = fs::metadata(&kept).unwrap().modified().unwrap();
    assert_eq!(project.relay(&["stats", "--here", "--json"]).json(), told);
    assert_eq!(fs::metadata(&kept).unwrap().modified().unwrap(), before);
    fs::write(project.home().join("sessions/--x--/torn.jsonl"), "no session").unwrap();
    let ran = project.relay(&["stats"]);
    assert!(ran.code == 0 && ran.err.contains("1 file cannot be read as sessions: not counted"), "{ran:?}");
    assert_eq!(project.relay(&["stats", "--days", "0"]).code, 2);
}
