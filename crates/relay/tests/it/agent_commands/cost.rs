//! What a prompt costs.

use relaycode_testkit::model::ScriptedTurn;
use serde_json::{Value, json};

use super::{ShellRun, command};

/// Edits of a prompt in a project that was never set up: nobody is asked, and each is one call.
#[test]
fn twenty_edits_in_a_project_never_set_up_ask_nothing() {
    let mut turns = vec![ScriptedTurn::call("bash", command("ls >/dev/null"))];
    turns.extend((0..20).map(|number| {
        let call = json!({"path": format!("src/f{number}.txt"), "content": format!("after {number}\n")});
        ScriptedTurn::call("write", call)
    }));
    let run = ShellRun::turns(turns);
    for number in 0..20 {
        run.project.put(&format!("src/f{number}.txt"), format!("before {number}\n").as_bytes());
    }
    let before = run.project.tree();
    let ran = run.project.relay(&["run", "Go", "--access", "workspace", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let events: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(
        !events.iter().any(|event| event["type"] == "question_asked" || event["type"] == "notice"),
        "{}",
        ran.out
    );
    let mut took: Vec<u64> = events
        .iter()
        .filter(|event| event["type"] == "tool_execution_end" && event["toolName"] == "write")
        .map(|event| {
            assert_eq!(event["isError"], false, "{event}");
            event["durationMs"].as_u64().unwrap()
        })
        .collect();
    took.sort_unstable();
    assert_eq!(took.len(), 20, "{}", ran.out);
    println!("p50 per edit: {} ms, most {} ms", took[10], took[19]);
    let log = run.project.log();
    assert_eq!((log.len(), log[0]["members"].as_array().unwrap().len()), (1, 20), "{log:?}");
    run.project.done(&["undo"]);
    assert_eq!(run.project.tree(), before);
}
