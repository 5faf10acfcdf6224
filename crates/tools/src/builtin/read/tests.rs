//! Each row of the tool's inputs, limits and errors that is built.

use std::fs;
use std::os::unix::fs::symlink;

use relaycode_change::hashline::format_line;
use relaycode_llm::message::UserContent;
use relaycode_project::access::Access;
use serde_json::json;

use crate::fixture::{TestProject, text_of};
use crate::tool::ToolError;

fn numbered(count: usize) -> String {
    (1..=count).map(|line| format!("line {line}\n")).collect()
}

fn anchored(lines: impl IntoIterator<Item = usize>) -> String {
    lines.into_iter().map(|line| format_line(line, &format!("line {line}")) + "\n").collect()
}

fn read(project: &TestProject, path: &str) -> String {
    project.text("read", json!({ "path": path }))
}

fn refused(project: &TestProject, path: &str) -> String {
    project.refusal("read", json!({ "path": path }))
}

#[test]
fn a_file_is_shown_with_anchors() {
    let project = TestProject::new(&[("a.txt", &numbered(3))]);
    assert_eq!(read(&project, "a.txt"), anchored(1..=3));
    let output = project.call("read", json!({ "path": "./a.txt" })).unwrap();
    assert_eq!((output.card.title.as_str(), output.card.summary.as_str()), ("read a.txt", "3 lines"));
}

#[test]
fn raw_is_the_text_itself() {
    let project = TestProject::new(&[("a.txt", &numbered(3))]);
    assert_eq!(read(&project, "a.txt:raw"), numbered(3));
    assert_eq!(read(&project, "a.txt:raw:3-3"), "line 2\nline 3\n");
}

#[test]
fn ranges_come_with_context_on_the_constrained_sides() {
    let project = TestProject::new(&[("a.txt", &numbered(30))]);
    assert_eq!(read(&project, "a.txt:10-12"), anchored(9..=15));
    assert_eq!(read(&project, "a.txt:10+3"), anchored(9..=15));
    assert_eq!(read(&project, "a.txt:L10-L12"), anchored(9..=15));
    assert_eq!(read(&project, "a.txt:1-2"), anchored(1..=5));
    assert_eq!(read(&project, "a.txt:28"), anchored(27..=30));
    assert_eq!(read(&project, "a.txt:29-99"), anchored(28..=30));
}

#[test]
fn limit_3000_lines() {
    let project = TestProject::new(&[("a.txt", &"x\n".repeat(3_000)), ("b.txt", &"x\n".repeat(3_001))]);
    assert!(!read(&project, "a.txt").contains('['));
    let text = read(&project, "b.txt");
    assert!(text.ends_with("[Lines 1-3000 of 3001. Use :3001 to continue.]\n"));
    assert_eq!(text.lines().count(), 3_001);
    assert!(read(&project, "b.txt:3001").ends_with("|x\n"));
}

#[test]
fn limit_50_kib() {
    let project = TestProject::new(&[("a.txt", &format!("{}\n", "x".repeat(999)).repeat(100))]);
    let text = read(&project, "a.txt");
    assert!(text.len() < 50 * 1024 + 100, "{}", text.len());
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("[Lines 1-50 of 100."), "{last}");
}

#[test]
fn a_line_longer_than_the_limit_is_cut() {
    let project = TestProject::new(&[("a.txt", &"x".repeat(200_000))]);
    let text = read(&project, "a.txt");
    assert!(text.len() < 51 * 1024 && text.contains("too long to be shown whole"), "{}", text.len());
}

#[test]
fn the_default_limit_can_be_set() {
    let mut project = TestProject::new(&[("a.txt", &numbered(30))]);
    project.workspace.settings.read_lines = 5;
    assert!(read(&project, "a.txt").ends_with("[Lines 1-5 of 30. Use :6 to continue.]\n"));
}

#[test]
fn beyond_the_end_is_explained() {
    let project = TestProject::new(&[("a.txt", &numbered(3))]);
    let said = "Line 9 is beyond the end of the file, which has 3 lines. Use :1 to read from the start, or :3 to read the last line.";
    assert_eq!(read(&project, "a.txt:9"), said);
}

#[test]
fn an_empty_file() {
    let project = TestProject::new(&[("a.txt", "")]);
    assert_eq!(read(&project, "a.txt"), "(empty file)");
}

#[test]
fn error_line_zero() {
    let project = TestProject::new(&[("a.txt", "x\n")]);
    assert_eq!(refused(&project, "a.txt:0"), "Line selector 0 is invalid; lines are 1-indexed. Use :1.");
}

#[test]
fn error_missing_names_what_is_near() {
    let project = TestProject::new(&[("src/one/mod.rs", "1\n"), ("src/two/mod.rs", "2\n")]);
    assert_eq!(refused(&project, "nowhere.rs"), "`nowhere.rs` does not exist; `find` lists what is there");
    let said = refused(&project, "mod.rs");
    assert_eq!(said, "`mod.rs` does not exist; did you mean `src/one/mod.rs` or `src/two/mod.rs`?");
}

#[test]
fn a_unique_end_of_a_path_is_enough() {
    let project = TestProject::new(&[("src/one/mod.rs", "1\n"), ("src/two/mod.rs", "2\n")]);
    let text = read(&project, "one/mod.rs:raw");
    assert_eq!(text, "[Path 'one/mod.rs' not found; resolved to 'src/one/mod.rs' via suffix match]\n1\n");
}

#[test]
fn a_file_whose_name_looks_like_a_selector() {
    let project = TestProject::new(&[("a:5", "x\n")]);
    assert!(read(&project, "a:5").ends_with("|x\n"));
}

#[test]
fn a_directory_is_a_tree() {
    let project = TestProject::new(&[("d/a.txt", "12345"), ("d/e/f/g.txt", "x"), (".git/config", "x")]);
    let text = read(&project, ".");
    assert!(text.contains("d/") && text.contains("a.txt (5 B") && text.contains("e/"), "{text}");
    assert!(!text.contains("g.txt") && !text.contains(".git") && !text.contains(".relaycode"), "{text}");
    assert!(read(&project, "/").contains("a.txt (5 B"));
    fs::create_dir(project.path("empty")).unwrap();
    assert_eq!(read(&project, "empty"), "(empty directory)\n");
}

#[test]
fn limit_12_children_below_the_first_level() {
    let project = TestProject::new(&[]);
    for at in 0..13 {
        project.put(&format!("top/{at}.txt"), "x");
        project.put(&format!("top/deep/{at}.txt"), "x");
    }
    let text = read(&project, "top");
    assert!(text.contains("  [1 more]\n"), "{text}");
    assert_eq!(text.lines().filter(|line| !line.starts_with(' ')).count(), 14);
}

#[test]
fn images_go_to_the_model() {
    let project = TestProject::new(&[]);
    let kinds: [(&[u8], &str); 4] = [
        (b"\x89PNG\r\n\x1a\nrest", "image/png"),
        (b"\xff\xd8\xffrest", "image/jpeg"),
        (b"GIF89a rest", "image/gif"),
        (b"RIFF\0\0\0\0WEBPrest", "image/webp"),
    ];
    for (bytes, mime_type) in kinds {
        // By content, whatever the name says.
        project.put("picture.txt", bytes);
        let output = project.call("read", json!({ "path": "picture.txt" })).unwrap();
        let [UserContent::Text(_), UserContent::Image(image)] = &output.content[..] else { panic!() };
        assert_eq!(image.mime_type, mime_type);
    }
}

#[test]
fn limit_20_mib_of_an_image() {
    let project = TestProject::new(&[]);
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    bytes.resize(20 * 1024 * 1024, 0);
    project.put("a.png", &bytes);
    assert!(project.call("read", json!({ "path": "a.png" })).is_ok());
    bytes.push(0);
    project.put("a.png", &bytes);
    assert!(refused(&project, "a.png").contains("at most 20.0 MiB"));
}

#[test]
fn error_binary_and_what_cannot_be_opened_yet() {
    let project = TestProject::new(&[]);
    project.put("a.bin", b"a\0b\xff");
    assert!(refused(&project, "a.bin").contains("is a binary file (4 B)"));
    project.put("a.zip", b"PK\x03\x04\0\0");
    assert!(refused(&project, "a.zip").contains("is an archive"));
    assert!(refused(&project, "a.zip:inner/x.txt").contains("is an archive"));
    project.put("a.db", b"SQLite format 3\0\0");
    assert!(refused(&project, "a.db").contains("is an SQLite database"));
    project.put("a.pdf", b"%PDF-1.7\n\0");
    assert!(refused(&project, "a.pdf").contains("is a document"));
    assert!(refused(&project, "https://example.com").contains("`https://` cannot be read"));
}

#[test]
fn artifacts_are_read_without_anchors() {
    let mut project = TestProject::new(&[("a.txt", "x\n")]);
    assert_eq!(refused(&project, "artifact://1"), "this session keeps no artifacts");
    let directory = project.outside().join("artifacts");
    fs::create_dir(&directory).unwrap();
    project.workspace.artifacts = Some(directory.clone());
    assert_eq!(refused(&project, "artifact://1"), "there is no artifact `1`; there are none");
    fs::write(directory.join("7.bash.log"), "one\ntwo\n").unwrap();
    assert_eq!(read(&project, "artifact://7"), "1|one\n2|two\n");
    assert_eq!(read(&project, "artifact://7:raw"), "one\ntwo\n");
    for odd in ["8", "../a", "7/../7", ""] {
        assert!(refused(&project, &format!("artifact://{odd}")).contains("there are artifact://7"), "{odd}");
    }
}

#[test]
fn nothing_outside_is_reached() {
    let mut project = TestProject::new(&[("a.txt", "x\n")]);
    let secret = project.outside().join("secret.txt");
    fs::write(&secret, "secret\n").unwrap();
    symlink(&secret, project.path("link.txt")).unwrap();
    symlink(project.outside(), project.path("up")).unwrap();
    for path in
        ["../secret.txt", "link.txt", "up/secret.txt", secret.to_str().unwrap(), "a.txt/../../secret.txt"]
    {
        assert!(refused(&project, path).contains("secret.txt"), "{path}");
        let error = project.call("read", json!({ "path": path })).unwrap_err().to_string();
        assert!(!error.contains("secret\n"), "{error}");
    }
    project.workspace.extra_directories = vec![project.outside()];
    assert_eq!(read(&project, "link.txt"), "1|secret\n");
    project.workspace.extra_directories.clear();
    project.workspace.access = Access::Full;
    assert_eq!(read(&project, "link.txt"), "1|secret\n");
}

#[test]
fn home_and_file_addresses() {
    let mut project = TestProject::new(&[("a.txt", "x\n")]);
    assert!(refused(&project, "~/a.txt").contains("no home directory"));
    project.workspace.user_home = Some(project.workspace.root().to_path_buf());
    assert_eq!(read(&project, "~/a.txt:raw"), "x\n");
    let address = format!("file://{}", project.path("a.txt").display());
    assert_eq!(read(&project, &format!("{address}:raw")), "x\n");
}

#[test]
fn relative_paths_follow_the_current_directory() {
    let project = TestProject::new(&[("d/a.txt", "x\n")]);
    project.workspace.set_current_directory(project.path("d"));
    assert_eq!(read(&project, "a.txt:raw"), "x\n");
    assert!(read(&project, "/").contains("a.txt"));
}

#[test]
fn a_cancelled_call_ends() {
    let project = TestProject::new(&[("a.txt", "x\n")]);
    project.cancel.cancel();
    assert_eq!(project.call("read", json!({ "path": "a.txt" })), Err(ToolError::Aborted));
}

#[test]
fn error_invalid_arguments() {
    let project = TestProject::new(&[]);
    for arguments in [json!({}), json!({ "path": 5 }), json!({ "path": null })] {
        assert!(project.refusal("read", arguments).starts_with("the arguments are not valid"));
    }
    assert_eq!(refused(&project, " "), "the path is empty");
    assert!(refused(&project, "a\0b").contains("NUL"));
}

#[test]
fn legacy_encodings_are_decoded() {
    let project = TestProject::new(&[]);
    project.put("a.txt", b"caf\xe9 und stra\xdfe\n");
    let output = project.call("read", json!({ "path": "a.txt:raw" })).unwrap();
    assert_eq!(text_of(&output), "café und straße\n");
}

#[test]
fn a_pipe_is_not_waited_for() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let project = TestProject::new(&[("a.txt", "one\n")]);
    mknodat(CWD, project.path("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    let said = project.refusal("read", json!({"path": "pipe"}));
    assert_eq!(said, "`pipe` cannot be read: it is not a regular file");
    let found = project.text("search", json!({"pattern": "one", "paths": ["pipe", "a.txt"]}));
    assert!(found.contains("# a.txt"), "{found}");
}

#[test]
fn the_details_say_what_was_read() {
    let project = TestProject::new(&[("src/a.txt", &numbered(3_002)), ("d/b.txt", "x\n")]);
    let details = |path: &str| project.call("read", json!({ "path": path })).unwrap().details.unwrap();
    let of_file = details("src/a.txt");
    assert_eq!(of_file["resolvedPath"], json!(project.path("src/a.txt")));
    assert_eq!(of_file["meta"]["source"], "src/a.txt");
    let size = numbered(3_002).len();
    let truncation = json!({ "firstLine": 1, "lastLine": 3_000, "totalLines": 3_002, "totalBytes": size, "nextOffset": 3_001 });
    assert_eq!(of_file["meta"]["truncation"], truncation);
    assert!(details("src/a.txt:5-6")["meta"].get("truncation").is_none());
    let of_directory = details("d");
    assert_eq!(
        (&of_directory["isDirectory"], &of_directory["meta"]["limits"]["resultLimit"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(details("a.txt:1-1")["suffixResolution"], json!({ "from": "a.txt", "to": "src/a.txt" }));
}

#[test]
fn a_directory_with_a_range_lists_so_many_and_says_that_there_are_more() {
    let project = TestProject::new(&[("d/a.txt", ""), ("d/b.txt", ""), ("d/c.txt", "")]);
    let text = read(&project, "d:1-2");
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(text.ends_with("[1 more]\n"), "{text}");
}

#[test]
fn what_changed_last_comes_first_in_a_directory() {
    let project = TestProject::new(&[("d/a.txt", ""), ("d/b.txt", "")]);
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(7_300);
    fs::File::options().write(true).open(project.path("d/a.txt")).unwrap().set_modified(old).unwrap();
    let text = read(&project, "d");
    assert!(text.starts_with("b.txt (0 B, ") && text.ends_with("a.txt (0 B, 2h ago)\n"), "{text}");
}

#[test]
fn limit_10000_entries_that_are_looked_at_and_the_rest_is_counted() {
    let project = TestProject::new(&[("d/e/0", "")]);
    for at in 0..10_003 {
        fs::File::create(project.path(&format!("d/e/{at}"))).unwrap();
    }
    let text = read(&project, "d");
    assert!(text.ends_with("  [9991 more]\n"), "{}", &text[text.len() - 60..]);
    let text = read(&project, "d/e:1-2");
    assert!(text.ends_with("[10001 more]\n"), "{text}");
}

#[test]
fn limit_64_mib_of_a_file() {
    let project = TestProject::new(&[]);
    let file = fs::File::create(project.path("large.log")).unwrap();
    file.set_len(64 * 1024 * 1024).unwrap();
    assert!(refused(&project, "large.log").contains("is a binary file"), "it is looked at");
    file.set_len(64 * 1024 * 1024 + 1).unwrap();
    let said = refused(&project, "large.log:1-5");
    assert!(said.ends_with("it has more than 67108864 bytes; `search` finds lines in large files"), "{said}");
}

#[test]
fn without_anchors_lines_have_numbers_and_the_model_is_told_so() {
    let mut project = TestProject::new(&[("a.txt", "one\n")]);
    let told = |project: &TestProject| {
        let tools = ["read", "search"].map(|name| crate::registry::by_name(name).unwrap());
        tools.map(|tool| tool.definition(&project.workspace).description)
    };
    assert!(told(&project).iter().all(|text| text.contains("`edit` takes") || text.contains("41th|")));
    project.workspace.settings.anchors = false;
    assert_eq!(read(&project, "a.txt"), "1|one\n");
    assert!(told(&project).iter().all(|text| !text.contains("anchor that") && text.contains("41|")));
    assert!(told(&project).iter().all(|text| !text.contains("{lines}")));
}
