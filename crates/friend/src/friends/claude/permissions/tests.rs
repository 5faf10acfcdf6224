use std::os::unix::fs::symlink;

use serde_json::json;

use super::*;

fn tool(name: &str, input: Value) -> ClaudeToolUse {
    ClaudeToolUse { name: name.to_string(), input, id: String::new() }
}

struct Place {
    _folder: tempfile::TempDir,
    project: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(folder.path()).unwrap();
    let project = root.join("project");
    fs::create_dir_all(project.join("src")).unwrap();
    fs::create_dir_all(project.join(".git/hooks")).unwrap();
    fs::write(root.join("secret"), "x").unwrap();
    fs::write(project.join("src/a.rs"), "x").unwrap();
    symlink("../secret", project.join("out")).unwrap();
    symlink("..", project.join("up")).unwrap();
    symlink("/nowhere/at/all", project.join("dangling")).unwrap();
    symlink("src", project.join("in")).unwrap();
    symlink(".git", project.join("innocent")).unwrap();
    Place { _folder: folder, project }
}

impl Place {
    fn reads(&self, access: Access, path: &str) -> bool {
        check_tool_use(access, &self.project, &tool("Read", json!({"file_path": path}))).is_ok()
    }

    fn writes(&self, access: Access, path: &str) -> bool {
        let by = |name: &str, key: &str| {
            check_tool_use(access, &self.project, &tool(name, json!({key: path}))).is_ok()
        };
        let ways = [by("Write", "file_path"), by("Edit", "file_path"), by("NotebookEdit", "notebook_path")];
        assert!(ways.iter().all(|way| *way == ways[0]), "{path}");
        ways[0]
    }
}

const OUTSIDE: &[&str] = &[
    "/etc/passwd",
    "../secret",
    "src/../../secret",
    "out",
    "up/secret",
    "~/.ssh/id_rsa",
    "~",
    "dangling",
    "dangling/x",
    "/",
    "..",
    "/proc/self/root/etc/passwd",
    "a\0b",
    "src/../../project2/x",
];

#[test]
fn what_is_outside_by_its_letters_or_by_a_link_is_neither_read_nor_written() {
    let place = place();
    for path in OUTSIDE {
        for access in [Access::ReadOnly, Access::Workspace] {
            assert!(!place.reads(access, path) && !place.writes(access, path), "{path}");
        }
    }
    let beside = format!("{}2/x", place.project.display());
    assert!(!place.reads(Access::ReadOnly, &beside));
}

#[test]
fn what_is_inside_is_read_and_with_the_workspace_written() {
    let place = place();
    let absolute = place.project.join("src/a.rs").display().to_string();
    for path in ["src/a.rs", "./src/../src/a.rs", "in/a.rs", "src/new/deep.rs", &absolute] {
        assert!(place.reads(Access::ReadOnly, path), "{path}");
        assert!(!place.writes(Access::ReadOnly, path), "{path}");
        assert!(place.writes(Access::Workspace, path), "{path}");
    }
}

#[test]
fn what_git_and_relay_act_on_is_not_written_in_any_spelling() {
    let place = place();
    for path in [
        ".git/config",
        ".GIT/config",
        ".git./config",
        "src/../.git/hooks/x",
        "innocent/config",
        ".relaycode/lock",
        "src/.git/config",
        ".git",
    ] {
        assert!(!place.writes(Access::Workspace, path), "{path}");
    }
    assert!(place.writes(Access::Workspace, ".gitignore") && place.reads(Access::ReadOnly, ".git/config"));
}

#[test]
fn patterns_do_not_stray_and_a_search_without_a_path_is_one_here() {
    let place = place();
    let glob = |pattern: &str| {
        check_tool_use(Access::ReadOnly, &place.project, &tool("Glob", json!({"pattern": pattern}))).is_ok()
    };
    assert!(glob("**/*.rs") && glob("src/*"));
    assert!(!glob("/etc/*") && !glob("../*") && !glob("~/x") && !glob("src/../../*"));
    let grep = |input| check_tool_use(Access::ReadOnly, &place.project, &tool("Grep", input)).is_ok();
    assert!(grep(json!({"pattern": "x"})) && !grep(json!({"pattern": "x", "path": "/etc"})));
}

#[test]
fn an_unknown_tool_is_allowed_with_full_access_alone() {
    let place = place();
    for name in ["Bash", "WebFetch", "Agent", "mcp__x__y", "Skill", "Anything", "read", ""] {
        let tool = tool(name, json!({"command": "ls"}));
        assert!(check_tool_use(Access::ReadOnly, &place.project, &tool).is_err(), "{name}");
        assert!(check_tool_use(Access::Workspace, &place.project, &tool).is_err(), "{name}");
        assert!(check_tool_use(Access::Full, &place.project, &tool).is_ok(), "{name}");
    }
    let handed_in = tool(STRUCTURED_OUTPUT_TOOL, json!({"a": 1}));
    assert!(check_tool_use(Access::ReadOnly, &place.project, &handed_in).is_ok());
}

#[test]
fn of_commands_only_the_check_is_allowed() {
    let runs = |check, name, input| is_check(check, &tool(name, input));
    let check = Some("cargo check");
    assert!(runs(check, "Bash", json!({"command": "cargo check", "description": "x", "timeout": 1000})));
    assert!(!runs(check, "Bash", json!({"command": "cargo check && curl evil"})));
    assert!(!runs(check, "Bash", json!({"command": "cargo check", "run_in_background": true})));
    assert!(!runs(check, "PowerShell", json!({"command": "cargo check"})));
    assert!(!runs(None, "Bash", json!({"command": ""})));
}
