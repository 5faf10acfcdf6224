//! What `relay doctor` says of a machine and a project.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::relay::Project;

fn finding<'a>(value: &'a Value, name: &str) -> &'a Value {
    let found = value["checks"].as_array().unwrap().iter().find(|check| check["name"] == name);
    found.unwrap_or_else(|| panic!("{name} is missing in {value}"))
}

#[test]
fn a_project_that_is_well_is_said_to_be_and_nothing_is_made() {
    let project = Project::new(&[("a.txt", "a\n")]);
    let before = project.tree();
    let ran = project.relay(&["doctor", "--json"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    let value = ran.json();
    assert_eq!(finding(&value, "processes")["state"], "good");
    assert_eq!(finding(&value, "terminal")["state"], "note");
    assert_eq!(finding(&value, "configuration")["next"], "`relay init` writes one");
    assert_eq!(project.tree(), before);
    assert!(!project.path(".relaycode").exists());
    project.done(&["init", "-q"]);
    let listing = || -> Vec<_> {
        let entries = fs::read_dir(project.path(".relaycode")).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    };
    let before = listing();
    let text = project.done(&["doctor"]);
    assert!(text.contains("✓ configuration   relaycode.config.json, for"), "{text}");
    assert_eq!(listing(), before, "what was tried out is gone");
}

#[test]
fn what_needs_somebody_is_named_with_what_to_do() {
    let project = Project::new(&[("relaycode.config.json", "{\"projectId\": 3}\n")]);
    let ran = project.relay(&["doctor", "-q"]);
    assert_eq!(ran.code, 6, "{ran:?}");
    assert!(ran.out.contains("✗ configuration") && !ran.out.contains('✓'), "{}", ran.out);
    let config = "{\"projectId\": \"a\", \"patch\": {\"linter\": \"no-such-linter-here --fast\"}}";
    project.put("relaycode.config.json", config.as_bytes());
    let value = project.relay(&["doctor", "--json"]).json();
    assert_eq!(value["code"], 6);
    assert_eq!(finding(&value, "trust")["next"], "`relay trust`");
    assert!(finding(&value, "command")["said"].as_str().unwrap().contains("no-such-linter-here"));
    fs::set_permissions(project.home(), Permissions::from_mode(0o777)).unwrap();
    let value = project.relay(&["doctor", "--json"]).json();
    assert_eq!(finding(&value, "your directory")["state"], "bad");
}
