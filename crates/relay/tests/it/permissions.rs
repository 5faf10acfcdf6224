//! `relay permissions`: rules are listed with where they stand, kept where nobody else can write, and tried on lines.

use std::fs;

use serde_json::json;

use crate::fixture::scratch_project::Project;
use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;

fn project() -> Project {
    let config = json!({
        "projectId": "app",
        "permissions": {"allow": ["rm *"], "deny": ["edit ci/**"], "ask": ["git push *"]},
    });
    Project::new(&[("relaycode.config.json", &config.to_string())])
}

#[test]
fn rules_are_added_listed_with_where_they_stand_and_removed() {
    let project = Project::new(&[]);
    let mut seen = Transcript::default();
    for args in [
        &["permissions"][..],
        &["permissions", "add", "allow", "cargo  test *"],
        &["permissions", "add", "allow", "cargo test *", "--here"],
        &["permissions", "add", "deny", "sudo *", "--user"],
        &["permissions", "add", "allow", "sudo *"],
        &["permissions"],
        &["permissions", "remove", "deny", "sudo *"],
        &["permissions", "remove", "deny", "sudo *", "--user"],
        &["permissions", "remove", "allow", "make"],
    ] {
        seen.add(&args.join(" "), &project.relay(args));
    }
    relay_snapshot!(seen, @"");
}

#[test]
fn what_a_project_allows_is_ignored_and_reported() {
    let project = project();
    fs::write(project.home().join("config.yml"), "permissions:\n  allow: [\"git push *\", \"make *\"]\n")
        .unwrap();
    let mut seen = Transcript::default();
    for args in [
        &["permissions", "list"][..],
        &["permissions", "test", "make && git push"],
        &["permissions", "remove", "ask", "git push *"],
    ] {
        seen.add(&args.join(" "), &project.relay(args));
    }
    relay_snapshot!(seen, @"");
    let listed = project.relay(&["permissions", "--json"]).json();
    assert_eq!(listed["rules"].as_array().map(Vec::len), Some(4), "{listed}");
    let file = project.home().join("config.yml");
    assert_eq!(listed["rules"][0]["file"].as_str(), file.to_str(), "{listed}");
}

#[test]
fn a_line_is_tried_without_running_it() {
    let project = Project::new(&[("a.txt", "a\n")]);
    project.done(&["permissions", "add", "allow", "cargo test *"]);
    let mut seen = Transcript::default();
    for line in [
        "cargo test -p app | tail -3",
        "cargo test && rm -rf target a.txt > log",
        "make; npm run build | xargs rm",
        "$TOOL --version",
        "ls |",
    ] {
        seen.add(line, &project.relay(&["permissions", "test", line]));
    }
    let full = project.relay(&["permissions", "test", "rm a.txt", "--access", "full"]);
    seen.add("with full access", &full);
    relay_snapshot!(seen, @"");
    assert_eq!(project.text("a.txt"), "a\n");
    let tried = project.relay(&["permissions", "test", "rm a.txt", "--json"]).json();
    assert_eq!((&tried["effect"], &tried["decidedBy"]["rule"]), (&json!("ask"), &json!("built-in:no-rule")));
    assert_eq!(tried["reading"]["destroys"][0]["act"], "rm", "{tried}");
}

#[test]
fn what_is_no_rule_is_refused() {
    let project = Project::new(&[]);
    let mut seen = Transcript::default();
    for args in [
        &["permissions", "add", "allow", "a && b"][..],
        &["permissions", "add", "allow", "*"],
        &["permissions", "add", "permit", "a"],
        &["permissions", "add", "allow", "cargo", "test"],
    ] {
        seen.add(&args.join(" "), &project.relay(args));
    }
    relay_snapshot!(seen, @"");
    assert!(!project.home().join("permissions").exists());
}

#[test]
fn a_damaged_file_of_rules_is_an_error() {
    let project = Project::new(&[]);
    project.done(&["permissions", "add", "deny", "sudo *", "--user"]);
    fs::write(project.home().join("permissions/user.json"), "{").unwrap();
    relay_snapshot!(project.relay(&["permissions"]), @"");
}
