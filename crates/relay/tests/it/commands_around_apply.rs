//! What the commands around `apply` do.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::fixture::configured_project::{configure, configured, git, relay_git, repository, trust, trusted};
use crate::fixture::scratch_project::{Project, control, edit, whole};
use crate::relay_snapshot;
use crate::terminal_questions::Session;

const UUID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

fn project() -> Project {
    Project::new(&[("a.txt", "one\ntwo\nthree\n")])
}

#[test]
fn init_twice_changes_nothing_the_second_time() {
    let project = project();
    let first = project.relay(&["init", "--json", "-q"]).json();
    assert_eq!(first["made"], json!(["relaycode.config.json", ".gitignore"]));
    let before = project.tree();
    let ran = project.relay(&["init"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    relay_snapshot!(ran.err, @r#"
    ✓ everything is in place for <project>: nothing was changed
      check: none yet. Set patch.linter to a command such as "make check", and changes that pass it go in by themselves
      next: `relay prompt --copy`, give it to your model as its instructions, then `relay watch`
      (the prompt follows on stdout)
    "#);
    let again = project.relay(&["init", "--json", "-q"]).json();
    assert_eq!((&again["made"], &again["id"]), (&json!([]), &Value::Null));
    assert_eq!(again["prompt"], first["prompt"], "the key stays, too");
    assert_eq!((project.tree(), project.log().len()), (before, 1));
}

#[test]
fn init_in_a_subdirectory_is_about_the_project_it_lies_in() {
    let project = configured(&[("src/a.txt", "x\n")], json!({}));
    let value = project.relay(&["init", "--json", "-q", "-C", "src"]).json();
    assert_eq!((&value["projectId"], &value["made"]), (&"shop".into(), &json!([".gitignore"])));
    assert!(!project.path("src/.relaycode").exists() && !project.path("src/.gitignore").exists());
}

#[test]
fn init_keeps_the_line_endings_of_gitignore() {
    let project = Project::new(&[(".gitignore", "node_modules/\r\ndist/")]);
    project.relay(&["init", "-q"]);
    assert_eq!(project.text(".gitignore"), "node_modules/\r\ndist/\r\n.relaycode/\r\n");
}

#[test]
fn setting_a_project_up_is_not_undone_but_can_be_reverted_by_name() {
    let project = Project::new(&[(".gitignore", "dist/\n")]);
    project.relay(&["init", "-q"]);
    relay_snapshot!(project.relay(&["undo"]), @"
    exit 2
    ----- stderr -----
    ✗ there is nothing to undo; nothing was changed
      `relay log` lists what was done here
    ");
    project.done(&["revert", "1"]);
    assert_eq!(
        (project.listing(), project.text(".gitignore")),
        (vec![".gitignore".into()], "dist/\n".into())
    );
}

#[test]
fn init_where_nothing_may_be_written_says_so() {
    let project = project();
    // Whoever may write everywhere is stopped by a file in the directory's place.
    project.put(".relaycode", b"not a directory\n");
    fs::set_permissions(project.path("."), fs::Permissions::from_mode(0o555)).unwrap();
    let ran = project.relay(&["init"]);
    fs::set_permissions(project.path("."), fs::Permissions::from_mode(0o755)).unwrap();
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains(".relaycode"), "{}", ran.err);
    assert_eq!(project.listing(), ["a.txt"], "nothing was made");
}

#[test]
fn prompt_hands_files_along_by_name_directory_and_glob() {
    let project =
        Project::new(&[("a.txt", "text of a\n"), ("src/b.rs", "fn b() {}\n"), ("src/c.md", "# c\n")]);
    let files = |args: &[&str]| {
        let args: Vec<&str> = ["prompt", "--json", "-q"].iter().chain(args).copied().collect();
        let value = project.relay(&args).json();
        value["files"].as_array().unwrap().iter().map(|f| f.as_str().unwrap().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(files(&[]), Vec::<String>::new());
    assert_eq!(files(&["a.txt"]), ["a.txt"]);
    assert_eq!(files(&["src"]), ["src/b.rs", "src/c.md"]);
    assert_eq!(files(&["**/*.rs"]), ["src/b.rs"]);
    assert_eq!(files(&["b.rs", "-C", "src"]), ["src/b.rs"]);
    let text = project.done(&["prompt", "a.txt"]);
    assert!(text.contains("text of a\n"), "{text}");
    project.put("bin", b"a\0b");
    for odd in ["missing.txt", "bin", "../elsewhere.txt"] {
        let ran = project.relay(&["prompt", odd]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{odd}: {ran:?}");
    }
    let ran = project.pipe(&["apply", "-", "-y"], text.as_bytes());
    assert_eq!(ran.code, 3, "a prompt is no answer: {ran:?}");
}

#[test]
fn prompt_reads_no_ignore_file_through_a_link_and_none_without_end() {
    let project =
        Project::new(&[("src/a.txt", "one\n"), ("src/b.log", "two\n"), ("src/.gitignore", "*.log\n")]);
    for name in [".ignore", ".gitignore"] {
        let path = project.path(name);
        let _ = std::fs::remove_file(&path);
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    }
    assert!(
        std::process::Command::new("mkfifo").arg(project.path("src/.ignore")).status().unwrap().success()
    );
    let files = project.relay(&["prompt", "src", "--json", "-q"]).json()["files"].clone();
    assert_eq!(files, json!(["src/.gitignore", "src/a.txt"]));
}

#[test]
fn an_answer_to_what_prompt_handed_out_is_merged_with_what_came_since() {
    let text: String = (1..=12).map(|n| format!("line {n}\n")).collect();
    let project = Project::new(&[("a.txt", &text)]);
    let answer =
        edit("a.txt", "line 3\nline 4\nline 5\nline 6\nline 7", "line 3\nline 4\nline 5\nline six\nline 7");
    project.done(&["prompt", "a.txt"]);
    project.put("a.txt", text.replace("line 3\n", "mine\n").as_bytes());
    relay_snapshot!(project.apply(&answer), @"
    exit 0
    ----- stdout -----
    ▸ stdin                                                                    1 file  +1 −1
        M  a.txt  +1 −1   1 merged
    ✓ applied change-1 · 1 file · `relay undo` undoes it
    ");
    assert_eq!(project.text("a.txt"), text.replace("line 3\n", "mine\n").replace("line 6", "line six"));
    let unseen = Project::new(&[("a.txt", &text.replace("line 3\n", "mine\n"))]);
    assert_eq!(unseen.apply(&answer).code, 3, "what was never handed out is not");
}

#[test]
fn a_text_of_which_only_a_part_was_applied_can_be_given_again() {
    let project = project();
    let other = "1f8fad5b-d9cb-469f-a165-70867728950e";
    let first = edit("a.txt", "one", "1") + &control(UUID, "one");
    let both = |second: &str| first.clone() + "\n" + &edit("a.txt", second, "2") + &control(other, "two");
    assert_eq!(project.apply(&both("zwei")).code, 3, "the second does not fit");
    assert_eq!((project.text("a.txt"), project.log().len()), ("1\ntwo\nthree\n".into(), 1));
    let ran = project.apply(&both("two"));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.err, "! 0f8fad5b was applied before: skipped\n");
    assert_eq!((project.text("a.txt"), project.log().len()), ("1\n2\nthree\n".into(), 2));
    let ran = project.pipe(&["apply", "-", "-y", "--json", "-q"], both("two").as_bytes());
    assert_eq!((ran.code, &ran.json()["ok"]), (8, &false.into()), "all of it is in: {ran:?}");
    project.done(&["revert", other, "-q"]);
    assert_eq!(project.apply(&both("two")).code, 8, "what was taken back is not passed over");
}

/// A project with four changes, oldest first: `a.txt` with an id, `b.txt`, `a.txt` again, and a revert of `b.txt`.
pub(crate) fn with_history() -> Project {
    let project = project();
    project.applied(&(edit("a.txt", "two", "2") + &control(UUID, "feat: two")));
    project.put("b.md", whole("b.txt", "b\n").as_bytes());
    project.done(&["apply", "b.md", "-y", "-q"]);
    project.applied(
        &(edit("a.txt", "three", "3") + "\n```yaml\nprojectId: shop\npromptSummary: count in digits\n```\n"),
    );
    project.done(&["revert", "2", "-q"]);
    project
}

#[test]
fn log_can_be_narrowed_and_its_numbers_stay() {
    let project = with_history();
    let indexes = |args: &[&str]| {
        let args: Vec<&str> = ["log", "--json"].iter().chain(args).copied().collect();
        let value = project.relay(&args).json();
        let entries = value["entries"].as_array().unwrap();
        entries.iter().map(|entry| entry["index"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(indexes(&[]), [1, 2, 3, 4]);
    assert_eq!(indexes(&["-n", "2"]), [1, 2]);
    assert_eq!(indexes(&["--file", "a.txt"]), [2, 4]);
    assert_eq!(indexes(&["--file", "b.txt"]), [1, 3]);
    assert_eq!(indexes(&["--origin", "file"]), [3]);
    assert_eq!(indexes(&["--origin", "revert"]), [1]);
    assert_eq!(indexes(&["--since", "1h"]), [1, 2, 3, 4]);
    assert_eq!(indexes(&["--file", "a.txt", "-n", "1"]), [2]);
    let shown = project.done(&["log", "--file", "a.txt"]);
    assert!(shown.lines().nth(1).unwrap().starts_with("  4   0f8fad5b"), "{shown}");
    let id = project.relay(&["show", "4", "--json"]).json();
    assert_eq!(id["records"][0]["id"], UUID, "it is the number that other commands take");
    assert_eq!(project.relay(&["log", "--since", "soon"]).code, 2);
}

#[test]
fn log_oneline_is_an_id_and_what_it_was_about() {
    let project = with_history();
    relay_snapshot!(project.relay(&["log", "--oneline"]), @"
    exit 0
    ----- stdout -----
    change-1 undoes: add b.txt
    change-2 count in digits
    change-3 ↩ add b.txt
    0f8fad5b feat: two
    ");
}

#[test]
fn a_log_in_which_nothing_fits_is_not_an_empty_one() {
    let project = with_history();
    for args in [["--file", "other.txt"], ["--origin", "agent"], ["--since", "2999-01-01"]] {
        let out = project.done(&["log", args[0], args[1]]);
        assert_eq!(out, "nothing in the log fits that; `relay log` lists it all\n", "{args:?}");
    }
    let empty = Project::new(&[]);
    assert_eq!(empty.done(&["log", "--origin", "agent"]), "nothing has been applied here yet\n");
}

/// Who wrote each line, as the beginning of an id.
fn blamed(project: &Project, place: &str) -> Vec<(u64, String)> {
    let value = project.relay(&["blame", place, "--json"]).json();
    let lines = value["lines"].as_array().unwrap();
    let by = |line: &Value| line["id"].as_str().map_or(String::new(), |id| id[..8].to_string());
    lines.iter().map(|line| (line["line"].as_u64().unwrap(), by(line))).collect()
}

#[test]
fn blame_names_the_change_of_a_line() {
    let project = project();
    let answer = edit("a.txt", "two", "2")
        + &format!(
            "\n```yaml\nuuid: {UUID}\npromptSummary: digits, please\ngitCommitMsg: \"feat: two\"\n```\n"
        );
    project.applied(&answer);
    let ours = "0f8fad5b".to_string();
    assert_eq!(blamed(&project, "a.txt"), [(1, String::new()), (2, ours.clone()), (3, String::new())]);
    relay_snapshot!(project.relay(&["blame", "a.txt:2"]), @"
    exit 0
    ----- stdout -----
    2  2
      change     0f8fad5b, now, from stdin
      title      feat: two
      asked for  digits, please
      `relay show 0f8fad5b` shows all of it
    ");
    assert_eq!(blamed(&project, "a.txt:2"), [(2, ours.clone())]);
    assert_eq!(project.relay(&["blame", "a.txt:9"]).code, 2);
    fs::create_dir(project.path("dir")).unwrap();
    relay_snapshot!(project.relay(&["blame", "missing.txt"]), @"
    exit 2
    ----- stderr -----
    ✗ there is no file missing.txt
      `relay log --file missing.txt` lists what changed it
    ");
    relay_snapshot!(project.relay(&["blame", "dir"]), @"
    exit 2
    ----- stderr -----
    ✗ dir is a directory, not a file
      name one file
    ");
    project.put("a.txt", b"mine\none\n2\nmine, too\n");
    assert_eq!(
        blamed(&project, "a.txt"),
        [(1, String::new()), (2, String::new()), (3, ours), (4, String::new())],
        "edits by hand are nobody's"
    );
}

#[test]
fn what_is_committed_already_is_not_committed_again() {
    let project = project();
    repository(&project);
    project.applied(&(edit("a.txt", "two", "2") + &control(UUID, "feat: two")));
    let commit = || relay_git(&project, &["git", "commit", "-y", "--json", "-q"]);
    let first = commit().json();
    assert!(first["commit"].is_string() && first["files"] == json!(["a.txt"]), "{first}");
    let ran = commit();
    assert_eq!((ran.code, &ran.json()["commit"]), (0, &Value::Null), "{ran:?}");
    assert_eq!(git(&project, &["rev-list", "--count", "HEAD"]), "2");
    project.put("a.txt", b"one\n2\nmine\n");
    // Edits of the user's are still asked about.
    relay_snapshot!(relay_git(&project, &["git", "commit", "-y"]), @"
    exit 13
    ----- stdout -----
    ▸ commit of 1 file on main
        feat: two
      ! a.txt
    ! 1 file also with edits from elsewhere
    ----- stderr -----
    ✗ files in this commit also have other edits; nothing was changed
      `--with-edits` commits them as they are
    ");
}

#[test]
fn blame_follows_renames_and_reverts() {
    let project = project();
    project.applied(&(edit("a.txt", "two", "2") + &control(UUID, "feat: two")));
    project.applied("```json // rename-file\n{\"from\": \"a.txt\", \"to\": \"dir/moved.txt\"}\n```\n");
    assert_eq!(blamed(&project, "dir/moved.txt")[1], (2, "0f8fad5b".into()));
    assert_eq!(project.relay(&["blame", "a.txt"]).code, 2, "it is not there");
    project.done(&["revert", "-q"]);
    assert_eq!(blamed(&project, "a.txt")[1], (2, "0f8fad5b".into()), "and back again");
    project.done(&["revert", UUID, "-q"]);
    assert_eq!(project.text("a.txt"), "one\ntwo\nthree\n");
    assert_ne!(blamed(&project, "a.txt")[1].1, "0f8fad5b", "what was taken back is not there");
}

#[test]
fn why_names_the_rules_that_decided() {
    let project = trusted(&[("a.txt", "one\n")], json!({"patch": {"linter": "true"}}));
    project.applied(&edit("a.txt", "one", "1"));
    relay_snapshot!(project.relay(&["why"]), @"
    exit 0
    ----- stdout -----
    change-1  from stdin
      admit     by -y: the answer does not carry this project's key: anybody could have written it
      accept    by policy: 0 errors before, 0 after
      gate      linter before: true succeeded
      gate      linter: true succeeded
      gate      errors: 0 before, 0 after, 0 new
      digest    <sha256>
    ");
    let value = project.relay(&["why", "1", "--json"]).json();
    assert_eq!(value["decisions"][0]["decidedBy"], "-y");
    assert_eq!(project.relay(&["why", "7"]).code, 2);
}

#[test]
fn the_schema_knows_every_key_that_init_writes_and_their_values() {
    let project = project();
    project.relay(&["init", "-q"]);
    let config: Value = serde_json::from_str(&project.text("relaycode.config.json")).unwrap();
    let schema: Value = serde_json::from_str(&project.done(&["config", "schema"])).unwrap();
    let mut checked = 0;
    for (name, value) in config.as_object().unwrap() {
        let described = &schema["properties"][name];
        assert!(described.is_object(), "{name} is not in the schema");
        let Some(section) = value.as_object() else { continue };
        for (key, value) in section {
            let rule = &described["properties"][key];
            let kind = match value {
                Value::Bool(_) => "boolean",
                Value::Number(_) => "integer",
                _ => "string",
            };
            assert!(rule["type"] == kind || rule["enum"].is_array(), "{name}.{key}: {rule}");
            if let Some(choices) = rule["enum"].as_array() {
                assert!(choices.contains(value), "{name}.{key}: {value} of {choices:?}");
            }
            checked += 1;
        }
    }
    assert!(checked >= 13, "{checked}");
    assert_eq!(project.done(&["config", "check"]), "✓ relaycode.config.json can be read\n");
    project.put("relaycode.config.json", br#"{"projectId": "shop", "patch": {"lintr": "x"}}"#);
    // What was meant is named.
    relay_snapshot!(project.relay(&["config", "check"]), @"
    exit 0
    ----- stdout -----
    ✓ relaycode.config.json can be read, with 1 remark
    ! relaycode.config.json:1: `patch.lintr` is not a key that relay knows, so it does nothing; did you mean `patch.linter`?
    ");
    project.put(
        "relaycode.config.json",
        b"{\n  \"projectId\": \"shop\",\n  \"patch\": {\"approvalMode\": \"maybe\"}\n}",
    );
    relay_snapshot!(project.relay(&["config", "check"]), @r#"
    exit 2
    ----- stderr -----
    ✗ the configuration has 1 error
      relaycode.config.json:3:29: `patch.approvalMode` is "maybe"; it must be "auto" or "manual"
    "#);
}

#[test]
fn trust_shows_everything_and_asks() {
    let project = configured(&[], json!({"patch": {"linter": "make lint", "approvalMode": "manual"}}));
    // What it wants is shown although there is nobody to ask.
    relay_snapshot!(project.relay(&["trust"]), @"
    exit 13
    ----- stdout -----
    this project wants to run 1 command
        linter   make lint
    ----- stderr -----
    ✗ this needs a yes from you, and there is no terminal to ask on; nothing was changed
      `relay trust -y` accepts what it shows
    ");
    for (typed, code) in [("n\n", 4), ("\n", 4), ("y\n", 0)] {
        let mut session = Session::start(&project, &["trust"], "");
        session.wait_for("make lint");
        session.wait_for("[y/N]");
        session.type_in(typed);
        let (ended, seen) = session.end();
        assert_eq!(ended, Some(code), "{typed:?}: {seen}");
    }
    relay_snapshot!(project.relay(&["trust"]), @"
    exit 0
    ----- stdout -----
    this project wants to run 1 command
        linter   make lint
    ✓ all of it is trusted already
    ");
}

#[test]
fn trust_ends_when_what_is_wanted_changes_or_it_is_taken_back() {
    let project = configured(&[("a.txt", "one\n")], json!({"patch": {"linter": "true"}}));
    let answer = edit("a.txt", "one", "1");
    assert_eq!(project.apply(&answer).code, 7);
    trust(&project);
    configure(&project, json!({"patch": {"linter": "true && true"}}));
    relay_snapshot!(project.apply(&answer), @"
    exit 7
    ----- stderr -----
    ✗ this project wants to run 1 command, which changed since you trusted it; nothing was changed
      `relay trust` shows what it wants to run, and asks
    ");
    relay_snapshot!(project.relay(&["trust"]), @"
    exit 13
    ----- stdout -----
    this project wants to run 1 command
      - linter   true
      + linter   true && true
    ----- stderr -----
    ✗ this needs a yes from you, and there is no terminal to ask on; nothing was changed
      `relay trust -y` accepts what it shows
    ");
    trust(&project);
    configure(&project, json!({"patch": {"linter": "true && true"}, "core": {"watchConfig": false}}));
    assert_eq!(project.apply(&answer).code, 0, "what is nobody's business does not count");
    project.done(&["trust", "--revoke"]);
    assert_eq!(project.apply(&edit("a.txt", "1", "2")).code, 7);
    assert_eq!(project.relay(&["trust", "--revoke", "-y"]).code, 2);
}

#[test]
fn a_question_for_trust_shows_what_it_is_about_wherever_the_output_goes() {
    let project = configured(&[("a.txt", "one\n")], json!({"patch": {"linter": "make lint"}}));
    let mut session = Session::start(&project, &["trust", "--json", "-q"], "");
    session.wait_for("make lint");
    session.wait_for("[y/N]");
    session.type_in("n\n");
    assert_eq!(session.end().0, Some(4));
    project.put("a.md", edit("a.txt", "one", "1").as_bytes());
    let mut session = Session::start(&project, &["apply", "a.md"], "");
    session.wait_for("make lint");
    session.wait_for("[y/N]");
    session.type_in("n\n");
    session.wait_for("apply? [y/N]");
    session.type_in("y\n");
    let (code, seen) = session.end();
    assert_eq!(code, Some(0), "without trust a person decides, and nothing runs: {seen}");
    let value = project.relay(&["why", "--json"]).json();
    assert_eq!(
        (&value["decisions"][0]["decidedBy"], &value["decisions"][0]["gate"]),
        (&"terminal".into(), &Value::Null)
    );
}

#[test]
fn the_schema_is_one_object_with_json_and_without() {
    let project = project();
    let plain: Value = serde_json::from_str(&project.done(&["config", "schema"])).unwrap();
    let json: Value = serde_json::from_str(&project.done(&["config", "schema", "--json"])).unwrap();
    assert_eq!((&plain, plain["type"].as_str()), (&json, Some("object")));
}
