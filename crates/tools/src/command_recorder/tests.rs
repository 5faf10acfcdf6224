//! What is recorded when, with writes of the test in place of commands.

use std::fs;

use super::*;
use crate::fixture::TestProject;

fn start(call: &str, group: &str, is_fenced: bool) -> RecorderStart {
    RecorderStart {
        call: call.into(),
        argv: vec!["true".into()],
        group: Some(group.into()),
        title: Some(format!("title of {group}")),
        rule: Some("allow true".into()),
        is_fenced,
        doomed: Vec::new(),
        cancel: CancelToken::default(),
    }
}

/// The log, oldest first: groups, with how many records each has, and whether it was left open.
fn log(project: &TestProject) -> Vec<(String, usize, bool)> {
    let page = project.workspace.door.ledger.log_page(0, 100).unwrap();
    let mut all: Vec<_> = page
        .entries
        .iter()
        .map(|entry| (entry.group.clone().unwrap_or_default(), entry.members.len(), entry.interrupted))
        .collect();
    all.reverse();
    all
}

#[test]
fn commands_one_after_the_other_are_records_of_one_group_that_is_closed() {
    let project = TestProject::new(&[("a.txt", "one\n")]);
    let recorder = project.workspace.recorder().clone();
    for (call, text) in [("1", "two\n"), ("2", "two\n"), ("3", "three\n")] {
        recorder.begin(start(call, "g", true)).unwrap();
        project.put("a.txt", text);
        recorder.end(call, None, false).unwrap();
    }
    recorder.end_turn();
    assert_eq!(log(&project), [("g".to_string(), 2, false)]);
    let page = project.workspace.door.ledger.log_page(0, 1).unwrap();
    assert_eq!(page.entries[0].title(), "title of g");
    // The next turn has a group of its own.
    recorder.begin(start("4", "h", true)).unwrap();
    project.put("b.txt", "b\n");
    let changes = recorder.end("4", None, false).unwrap();
    assert_eq!((changes.files, changes.records.len()), (1, 1));
    recorder.close();
    assert_eq!(log(&project), [("g".to_string(), 2, false), ("h".to_string(), 1, false)]);
}

#[test]
fn commands_at_the_same_time_are_one_record_when_the_last_has_ended() {
    let project = TestProject::new(&[]);
    let recorder = project.workspace.recorder().clone();
    recorder.begin(start("job", "g", true)).unwrap();
    project.put("by-job.txt", "1\n");
    recorder.begin(start("2", "g", true)).unwrap();
    project.put("by-2.txt", "2\n");
    assert_eq!(recorder.end("2", None, false).unwrap(), CommandChanges::default());
    recorder.end_turn();
    project.put("by-job.txt", "3\n");
    assert!(log(&project).is_empty());
    assert_eq!(recorder.end("job", None, false).unwrap().files, 2);
    recorder.end_turn();
    assert_eq!(log(&project), [("g".to_string(), 1, false)]);
}

#[test]
fn what_a_job_changes_belongs_to_the_prompt_in_which_it_does() {
    let project = TestProject::new(&[]);
    let recorder = project.workspace.recorder().clone();
    project.workspace.set_group(Some("g".into()), None);
    recorder.begin(start("job", "g", true)).unwrap();
    project.put("a.txt", "1\n");
    recorder.end_turn();
    project.workspace.set_group(Some("h".into()), None);
    assert_eq!(log(&project), [("g".to_string(), 1, false)]);
    project.put("b.txt", "2\n");
    recorder.begin(start("2", "h", true)).unwrap();
    recorder.end("2", None, false).unwrap();
    let changes = recorder.end("job", None, false).unwrap();
    assert_eq!((changes.records.len(), changes.files), (2, 2), "all of it is told");
    recorder.end_turn();
    assert_eq!(log(&project), [("g".to_string(), 1, false), ("h".to_string(), 1, false)]);
}

#[test]
fn what_is_protected_is_set_aside_at_once_and_only_behind_a_fence() {
    let project = TestProject::new(&[]);
    let recorder = project.workspace.recorder().clone();
    let envrc = project.path(".envrc");
    recorder.begin(start("job", "g", true)).unwrap();
    recorder.begin(start("2", "g", true)).unwrap();
    project.put(".envrc", "evil\n");
    let changes = recorder.end("2", None, true).unwrap();
    assert_eq!((changes.set_aside.len(), envrc.exists()), (1, false));
    recorder.begin(start("outside", "g", false)).unwrap();
    project.put(".envrc", "allowed\n");
    assert!(recorder.end("outside", None, true).unwrap().set_aside.is_empty());
    assert_eq!(fs::read_to_string(envrc).unwrap(), "allowed\n");
    recorder.end("job", None, false).unwrap();
    recorder.end_turn();
}

#[test]
fn a_command_that_nobody_began_has_no_end_and_an_unknown_recording_is_refused() {
    let project = TestProject::new(&[]);
    let recorder = project.workspace.recorder().clone();
    assert!(recorder.end("1", None, false).is_err());
    recorder.end_turn();
    // Another relay records a command here.
    let door = project.workspace.door.clone();
    let other = CommandRecorder::new(door);
    other.begin(start("1", "theirs", true)).unwrap();
    let refused = recorder.begin(start("2", "ours", true)).unwrap_err();
    assert!(refused.contains("is being recorded") || refused.contains("record"), "{refused}");
    other.end("1", None, false).unwrap();
    other.close();
    recorder.begin(start("3", "ours", true)).unwrap();
    recorder.end("3", None, false).unwrap();
}

#[test]
fn a_record_of_commands_side_by_side_names_what_let_each_run() {
    let project = TestProject::new(&[("a.txt", "one\n")]);
    let recorder = project.workspace.recorder().clone();
    let by_rule = |call: &str, rule: Option<&str>| RecorderStart {
        rule: rule.map(str::to_string),
        ..start(call, "g", true)
    };
    recorder.begin(by_rule("1", Some("a"))).unwrap();
    project.put("a.txt", "two\n");
    recorder.begin(by_rule("2", Some("b"))).unwrap();
    project.put("a.txt", "three\n");
    recorder.begin(by_rule("3", None)).unwrap();
    project.put("a.txt", "four\n");
    for call in ["1", "2", "3"] {
        recorder.end(call, None, false).unwrap();
    }
    recorder.end_turn();
    let ledger = &project.workspace.door.ledger;
    let page = ledger.log_page(0, 100).unwrap();
    let mut by: Vec<_> = page.entries[0]
        .members
        .iter()
        .map(|member| ledger.record(member.id.unwrap()).unwrap().decided_by.unwrap())
        .collect();
    by.sort();
    assert_eq!(by, ["the rule `a`", "the rule `a` and the rule `b`", "user"]);
}
