//! What the tools share is shared between threads, and bounded.

use std::os::unix::fs::DirBuilderExt;

use relaycode_project::permissions::{PermissionLayer, PermissionRule, PermissionStore};
use serde_json::json;

use super::*;
use crate::fixture::TestProject;
use crate::host::HostAnswer;
use crate::tool::{Tool, ToolInvocation};

#[test]
fn it_can_be_used_from_several_threads() {
    fn is_sync<T: Sync>() {}
    is_sync::<ToolWorkspace>();
}

#[test]
fn limit_30_shown_files() {
    let mut files = ShownFiles::default();
    for at in 0..=MAX_SHOWN_FILES {
        files.show(Path::new(&format!("/{at}")), b"x\n", &["x"], [0]);
    }
    assert!(files.get(Path::new("/0")).is_none());
    assert!(files.get(Path::new("/1")).is_some());
    // The one that was used last stays.
    files.show(Path::new("/1"), b"x\n", &["x"], [0]);
    files.show(Path::new("/new"), b"x\n", &["x"], [0]);
    assert!(files.get(Path::new("/1")).is_some() && files.get(Path::new("/2")).is_none());
}

/// A project with rules of the user's, in a directory of the user's own.
fn ruled(files: &[(&str, &str)], rules: &[&str]) -> TestProject {
    let mut project = TestProject::new(files);
    let home = project.outside().join("home");
    std::fs::DirBuilder::new().mode(0o700).create(&home).unwrap();
    let store = PermissionStore::new(Some(&home));
    for rule in rules {
        let rule = PermissionRule::parse_with_effect(rule).unwrap();
        store.add(PermissionLayer::AlwaysHere, project.workspace.root(), &rule, "now").unwrap();
    }
    project.workspace.surroundings = Some(CommandSurroundings {
        scratch_dir: project.outside(),
        relay_home: Some(home),
        variables: BTreeMap::new(),
        secret_variables: Vec::new(),
    });
    project
}

#[test]
fn what_a_rule_denies_no_tool_reads_or_changes() {
    let files = [(".env", "KEY=1\n"), ("src/a.c", "int a;\n"), ("b.txt", "KEY\n")];
    let project = ruled(&files, &["deny read .env", "deny edit src/**"]);
    std::os::unix::fs::symlink(".env", project.path("link")).unwrap();
    for path in [".env", "./.env", "link", ".env:1"] {
        let said = project.refusal("read", json!({ "path": path }));
        assert!(said.contains("the rule `deny read .env` denies reading"), "{path}: {said}");
    }
    let said = project.refusal("search", json!({"pattern": "KEY", "paths": ".env"}));
    assert_eq!(said, "`.env` is not looked through: the rule `deny read .env` is about it");
    let found = project.text("search", json!({"pattern": "KEY"}));
    assert!(found.contains("# b.txt") && !found.contains("KEY=1"), "{found}");
    assert!(
        found.contains("[1 file left out: a rule of the user's or the project's is about them]"),
        "{found}"
    );
    assert!(!project.text("find", json!({"paths": "**/*"})).contains(".env"));
    // A change would show what stood there.
    let said = project.refusal("write", json!({"path": ".env", "content": "x\n"}));
    assert!(said.contains("`deny read .env` denies reading `.env`"), "{said}");
    for path in ["src/a.c", "src/new.c"] {
        let said = project.refusal("write", json!({ "path": path, "content": "x\n"}));
        assert!(said.contains("`deny edit src/**` denies changing"), "{said}");
        let said = project.refusal("edit", json!({ "input": format!("§{path}\n»EOF\nx\n") }));
        assert!(said.contains("`deny edit src/**` denies changing"), "{said}");
    }
    assert_eq!((project.get(".env"), project.get("src/a.c")), ("KEY=1\n".into(), "int a;\n".into()));
    assert!(project.text("read", json!({"path": "src/a.c"})).contains("int a;"));
}

#[test]
fn what_a_rule_denies_is_in_no_listing() {
    let project = ruled(
        &[("keys/id", "k\n"), ("d/.env", "k\n"), ("d/a.txt", "a\n")],
        &["deny read keys/**", "deny read **/.env"],
    );
    let text = project.text("read", json!({"path": "d"}));
    assert!(text.starts_with("a.txt (2 B, "), "{text}");
    assert!(
        text.ends_with("[1 entry left out: a rule of the user's or the project's is about them]\n"),
        "{text}"
    );
    let text = project.text("read", json!({"path": "."}));
    assert!(!text.contains("  id ("), "{text}");
}

#[test]
fn what_a_rule_asks_about_is_asked_and_with_nobody_there_not_done() {
    let project = ruled(&[("a.txt", "one\n")], &["ask read a.txt", "ask edit b.txt"]);
    let yes = || HostAnswer::Options { chosen: vec![0] };
    let no = || HostAnswer::Options { chosen: vec![1] };
    project.host.answers.lock().unwrap().extend([yes(), no(), yes()]);
    assert!(project.text("read", json!({"path": "a.txt"})).contains("one"));
    let said = project.refusal("read", json!({"path": "a.txt"}));
    assert_eq!(said, "not done: the user said no (the rule `ask read a.txt` asks about reading `a.txt`)");
    project.text("write", json!({"path": "b.txt", "content": "x\n"}));
    let said = project.refusal("read", json!({"path": "a.txt"}));
    assert!(said.contains("there is nobody to ask"), "{said}");
    assert_eq!(project.workspace.take_unanswered(), ["the rule `ask read a.txt` asks about reading `a.txt`"]);
    let asked = project.host.questions.lock().unwrap();
    assert_eq!(asked[2].text, "the rule `ask edit b.txt` asks about changing `b.txt`. Allow it?");
}

fn tool(name: &str) -> &'static dyn Tool {
    &**crate::registry::by_name(name).unwrap()
}

#[test]
fn tools_are_denied_and_asked_about_by_their_names_and_rules_count_from_the_next_prompt() {
    let project = ruled(&[], &["deny tool bash", "ask tool write"]);
    let workspace = &project.workspace;
    assert_eq!(workspace.rule_against_tool("bash").unwrap().unwrap(), "deny tool bash");
    assert_eq!(workspace.rule_against_tool("write").unwrap(), None);
    let arguments = serde_json::Map::new();
    let (host, cancel) = (&project.host, &project.cancel);
    let call = ToolInvocation { id: "c", arguments: &arguments, workspace, host, cancel };
    assert_eq!(workspace.permit_tool(&call, tool("read")), Ok(()));
    assert!(workspace.permit_tool(&call, tool("bash")).unwrap_err().to_string().contains("`deny tool bash`"));
    let said = workspace.permit_tool(&call, tool("write")).unwrap_err().to_string();
    assert!(said.contains("`ask tool write` asks about the tool `write`, and there is nobody"), "{said}");
    let home = workspace.surroundings.as_ref().unwrap().relay_home.clone();
    let rule = PermissionRule::parse_with_effect("deny tool read").unwrap();
    let store = PermissionStore::new(home.as_deref());
    store.add(PermissionLayer::AlwaysHere, workspace.root(), &rule, "now").unwrap();
    assert_eq!(workspace.permit_tool(&call, tool("read")), Ok(()));
    workspace.set_group(None, None);
    assert!(workspace.permit_tool(&call, tool("read")).is_err());
}
