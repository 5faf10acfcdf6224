//! The project's own check after a prompt that changed files: only if it is trusted, only so often, and the model hears of it.

use std::fs;

use relaycode_testkit::model::{ScriptedServer, ScriptedTurn};
use serde_json::json;

use crate::agent_run::{WIRES, lines, serving};
use crate::fixture::scratch_project::Project;

/// Writes a line to a file beside the project each time, and finds `bad` in a text.
const LINTER: &str =
    r#"echo ran >> "$PWD.runs"; sed -n 's/bad.*/n.txt:1:1: error: bad/p' n.txt; ! grep -q bad n.txt"#;

fn checked(turns: impl IntoIterator<Item = ScriptedTurn>) -> (ScriptedServer, Project) {
    let (server, project) = serving(WIRES[0], turns);
    let config = json!({"projectId": "shop", "patch": {"linter": LINTER}});
    project.put("relaycode.config.json", config.to_string().as_bytes());
    (server, project)
}

fn write(text: &str) -> ScriptedTurn {
    ScriptedTurn::call("write", json!({"path": "n.txt", "content": text}))
}

fn runs(project: &Project) -> usize {
    let root = project.path(".").canonicalize().unwrap();
    fs::read_to_string(root.with_extension("runs")).map_or(0, |text| text.lines().count())
}

#[test]
fn what_a_trusted_check_finds_goes_to_the_model_until_it_is_mended() {
    let say = ScriptedTurn::text;
    let (server, project) =
        checked([write("bad\n"), say("Written."), write("good\n"), say("Mended."), say("Nothing to do.")]);
    assert_eq!(project.relay(&["trust", "-y"]).code, 0);
    let ran = project.relay(&["run", "Go"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Mended.\n"), "{ran:?}");
    assert_eq!(runs(&project), 2);
    let sent = server.requests()[2].body.to_string();
    assert!(sent.contains("(relay: the project's check `echo ran") && sent.contains("n.txt:1"), "{sent}");
    assert!(ran.err.contains("; the agent goes on with them") && ran.err.contains("succeeded"), "{ran:?}");
    // Nothing changed, so nothing is checked.
    let ran = project.relay(&["run", "--continue", "More?"]);
    assert_eq!((ran.code, runs(&project)), (0, 2), "{ran:?}");
    assert_eq!(project.log().len(), 1);
}

#[test]
fn a_model_that_does_not_mend_it_is_told_three_times() {
    let turns = (0..5).flat_map(|at| [write(&"bad\n".repeat(at + 1)), ScriptedTurn::text("There.")]);
    let (server, project) = checked(turns);
    assert_eq!(project.relay(&["trust", "-y"]).code, 0);
    let ran = project.relay(&["run", "--json", "Go"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!((server.requests().len(), runs(&project)), (8, 4));
    let ends: Vec<_> =
        lines(&ran.out).into_iter().filter(|event| event["type"] == "project_check_end").collect();
    let told: Vec<_> = ends.iter().map(|end| end["told"].as_bool().unwrap()).collect();
    assert_eq!(told, [true, true, true, false]);
    assert_eq!((&ends[0]["errors"], &ends[0]["newErrors"]), (&json!(1), &json!(null)));
}

#[test]
fn a_check_that_is_not_trusted_or_not_wanted_does_not_run() {
    let (server, project) = checked([write("bad\n"), ScriptedTurn::text("Written.")]);
    let ran = project.relay(&["run", "Go"]);
    assert_eq!((ran.code, runs(&project)), (0, 0), "{ran:?}");
    assert!(ran.err.contains("did not run: it is not trusted (`relay trust` shows it)"), "{ran:?}");
    assert_eq!(server.requests().len(), 2);
    let (_server, project) = checked([write("bad\n"), ScriptedTurn::text("Written.")]);
    assert_eq!(project.relay(&["trust", "-y"]).code, 0);
    fs::write(project.home().join("config.yml"), "agent: {check: false}\n").unwrap();
    let ran = project.relay(&["run", "Go"]);
    assert_eq!((ran.code, runs(&project)), (0, 0), "{ran:?}");
}
