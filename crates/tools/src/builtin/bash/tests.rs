//! What is said before anything runs, and the ways of asking. What commands do is tested through the binary.

use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::fixture::TestProject;
use crate::workspace::CommandSurroundings;

fn project() -> TestProject {
    let mut project = TestProject::new(&[("a.txt", "one\n")]);
    project.workspace.surroundings = Some(CommandSurroundings {
        scratch_dir: project.outside(),
        relay_home: Some(project.outside().join("home")),
        variables: BTreeMap::new(),
        secret_variables: Vec::new(),
    });
    project
}

#[test]
fn limit_1_to_3600_seconds() {
    let seconds = |wanted| clamp_timeout(wanted).unwrap();
    assert_eq!(seconds(None), (Duration::from_secs(300), None));
    assert_eq!(seconds(Some(1.0)), (Duration::from_secs(1), None));
    assert_eq!(seconds(Some(3600.0)), (Duration::from_secs(3600), None));
    for (wanted, clamped) in [(0.0, 1), (-5.0, 1), (3600.5, 3600), (f64::INFINITY, 3600)] {
        let (time, note) = seconds(Some(wanted));
        assert_eq!(time, Duration::from_secs(clamped));
        assert!(note.unwrap().contains("1 to 3600 are possible"));
    }
    assert!(clamp_timeout(Some(f64::NAN)).is_err());
}

#[test]
fn limit_96_kb_of_a_command_and_32_kb_of_variables() {
    let project = project();
    assert!(check_command(&"x".repeat(MAX_COMMAND_BYTES)).is_ok());
    let long = "x".repeat(MAX_COMMAND_BYTES + 1);
    assert!(project.refusal("bash", json!({ "command": long })).contains("more than 96 kB"));
    let said = project.refusal("bash", json!({ "command": "true", "env": { "A": "x".repeat(33 << 10) } }));
    assert!(said.contains("more than 100 variables or 32768 bytes"), "{said}");
    let said = project.refusal("bash", json!({ "command": "true", "env": { "A": "x\0" } }));
    assert_eq!(said, "the value of A has a NUL byte");
}

#[test]
fn nothing_runs_without_surroundings_or_after_a_cancel() {
    let bare = TestProject::new(&[]);
    assert_eq!(bare.refusal("bash", json!({ "command": "true" })), "no commands can be run in this session");
    let project = project();
    project.cancel.cancel();
    assert_eq!(project.call("bash", json!({ "command": "true" })), Err(ToolError::Aborted));
}

#[test]
fn a_keeper_that_is_not_there_is_told_and_nothing_is_recorded() {
    let project = project();
    let said = project.refusal("bash", json!({ "command": "true" }));
    assert!(said.starts_with("the command did not run: "), "{said}");
    project.workspace.end_turn();
    assert!(project.workspace.door.ledger.log_page(0, 10).unwrap().entries.is_empty());
}

#[test]
fn what_nobody_could_be_asked_is_listed_once() {
    let project = project();
    for _ in 0..3 {
        let said = project.refusal("bash", json!({ "command": "npm install" }));
        assert!(said.contains("`npm install` needs the network, and there is nobody to ask"), "{said}");
    }
    let said = project.workspace.take_unanswered();
    assert_eq!(
        said,
        [
            "`npm install` needs the network; the rule `npm install * [network]` would allow it (`relay permissions add`)"
        ]
    );
    assert!(project.workspace.take_unanswered().is_empty());
}

#[test]
fn job_says_so_where_jobs_are_switched_off() {
    let mut project = project();
    assert_eq!(project.text("job", json!({})), "No running background jobs to wait for.");
    assert_eq!(project.text("job", json!({ "list": true })), "No background jobs.");
    project.workspace.settings.async_enabled = false;
    assert_eq!(
        project.text("job", json!({})),
        "Async execution is disabled; no background jobs are available."
    );
    let tool = crate::registry::by_name("job").unwrap();
    assert!(!tool.is_offered(&project.workspace));
    project.workspace.settings.auto_background = Some(Duration::from_secs(1));
    assert!(tool.is_offered(&project.workspace));
}
