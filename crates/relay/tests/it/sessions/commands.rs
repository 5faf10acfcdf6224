//! One session through the binary: shown, as a tree, forked, exported, repaired, deleted; and how one is named.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use relaycode_durable::{Fs, RealFs};
use relaycode_session::{HomeLayout, OpenMode, Session};
use serde_json::json;

use crate::sessions::list::{Kept, line, message, talk};

/// A question, a tool, an answer, and another way from the question.
fn branched(kept: &Kept) {
    let call = line(
        &json!({"type": "message", "id": "c1", "parentId": "a1", "timestamp": "2026-02-16T10:21:01.000Z",
        "message": {"role": "assistant", "provider": "anthropic", "model": "sonnet", "content": [
            {"type": "thinking", "thinking": "let me look"}, {"type": "text", "text": "I look."},
            {"type": "toolCall", "id": "t1", "name": "read", "arguments": {"path": "cart.ts"}}]}}),
    );
    let result = line(
        &json!({"type": "message", "id": "r1", "parentId": "c1", "timestamp": "2026-02-16T10:21:02.000Z",
        "message": {"role": "toolResult", "toolCallId": "t1", "toolName": "read",
            "content": [{"type": "text", "text": "1\n2\n3\n4\n5\n6\n7"}]}}),
    );
    let body = message("a1", None, "user", "round totals")
        + &call
        + &result
        + &message("o1", Some("a1"), "assistant", "Another way.")
        + &line(
            &json!({"type": "label", "id": "l1", "parentId": "o1", "timestamp": "2026-02-16T10:22:00.000Z",
            "targetId": "a1", "label": "start"}),
        )
        + &message("z1", Some("r1"), "assistant", "Rounded in one place.");
    kept.put("aaaa1111bbbb", 60, &body);
}

#[test]
fn a_conversation_is_shown_with_its_tools_and_without_other_branches() {
    let kept = Kept::new();
    branched(&kept);
    let out = kept.done(&["show"]);
    for part in [
        "aaaa1111bbbb  round totals\n",
        "5 messages",
        "you  2026-02-16",
        "  round totals\n",
        "assistant  anthropic/sonnet\n",
        "  ▸ read {\"path\":\"cart.ts\"}\n      1\n      2\n      3\n      4\n      … 3 lines more\n",
        "  Rounded in one place.\n",
    ] {
        assert!(out.contains(part), "{part:?} is missing in\n{out}");
    }
    assert!(!out.contains("Another way"), "{out}");
    assert!(kept.done(&["show", "1", "--full"]).contains("      7\n"));
    let value = kept.relay(&["show", "aaaa", "--json"]).json();
    assert_eq!(value["header"]["id"], "aaaa1111bbbb");
    assert_eq!(value["entries"].as_array().unwrap().len(), 4);
    assert_eq!(value["entries"][3]["message"]["content"][0]["text"], "Rounded in one place.");
}

#[test]
fn a_tree_shows_branches_labels_and_what_is_filtered() {
    let kept = Kept::new();
    branched(&kept);
    let expected = "• [start] user: round totals\n\
                    ├─ • assistant: I look.\n\
                    │  • toolResult: 1 2 3 4 5 6 7\n\
                    │  • assistant: Rounded in one place.\n\
                    └─ assistant: Another way.\n";
    let out = kept.done(&["tree", "1"]);
    let sorted = |text: &str| {
        let mut lines: Vec<String> =
            text.lines().map(|line| line.trim_start_matches(['│', '├', '└', '─', ' ']).to_string()).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&out), sorted(expected), "{out}");
    assert!(out.contains("├─ ") && out.contains("└─ "), "{out}");
    assert_eq!(kept.done(&["tree", "--filter", "labeled-only"]), "• [start] user: round totals\n");
    assert_eq!(kept.done(&["tree", "--search", "ANOTHER way"]), "assistant: Another way.\n");
    assert!(kept.done(&["tree", "--search", "nowhere"]).contains("nothing fits"));
    let value = kept.relay(&["tree", "--filter", "all", "--json"]).json();
    assert_eq!((&value["total"], &value["leaf"]), (&6.into(), &"z1".into()));
    assert_eq!(value["entries"].as_array().unwrap().len(), 6);
}

#[test]
fn words_that_name_no_session_or_several_are_wrong_usage() {
    let kept = Kept::new();
    kept.answered("aaaa1111bbbb", 60, "round totals");
    kept.answered("aaaa2222bbbb", 30, "fix the cart");
    let ran = kept.relay(&["show", "aaaa"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{ran:?}");
    assert!(ran.err.contains("aaaa1111") && ran.err.contains("fix the cart"), "{}", ran.err);
    let value = kept.relay(&["show", "aaaa", "--json"]).json();
    assert_eq!(value["error"]["kind"], "ambiguous");
    for (word, kind, said) in [
        ("zzzz", "unknown", "relay sessions"),
        ("9", "unknown", "relay sessions"),
        ("totals", "unknown", "did you mean aaaa1111"),
        ("./nothing.jsonl", "unknown", "nothing.jsonl"),
        ("/", "notASession", "not a session"),
    ] {
        let ran = kept.relay(&["tree", word]);
        assert_eq!(ran.code, 2, "{word}: {ran:?}");
        assert!(ran.err.contains(said), "{word}: {}", ran.err);
        assert_eq!(kept.relay(&["tree", word, "--json"]).json()["error"]["kind"], kind, "{word}");
    }
    assert_eq!(Kept::new().relay(&["show"]).code, 2);
}

#[test]
fn a_fork_belongs_here_and_the_original_stays() {
    let kept = Kept::new();
    let path = kept.put_about(Path::new("/elsewhere"), "cccc1111bbbb", 60, &talk("far away", "Done."));
    let before = fs::read(&path).unwrap();
    assert_eq!(kept.done(&[]), "no session here yet\n");
    let value = kept.relay(&["fork", "cccc", "--json"]).json();
    assert_eq!((&value["entries"], &value["parentSession"]), (&2.into(), &"cccc1111bbbb".into()));
    let listed = kept.relay(&["--json"]).json();
    assert_eq!((&listed["total"], &listed["sessions"][0]["id"]), (&1.into(), &value["id"]));
    assert_eq!(listed["sessions"][0]["cwd"], kept.cwd().to_str().unwrap());
    assert!(kept.done(&["show"]).contains("far away"));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn an_export_is_private_and_overwrites_nothing() {
    let kept = Kept::new();
    kept.put("aaaa1111bbbb", 60, &talk("round <script>alert(1)</script>", "Done."));
    let out = kept.done(&["export", "1"]);
    let file = kept.project.path("session-aaaa1111bbbb.html");
    assert!(out.contains("session-aaaa1111bbbb.html"), "{out}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let page = fs::read_to_string(&file).unwrap();
    assert!(page.contains("round &lt;script&gt;") && !page.contains("<script>alert"), "{page:.400}");
    fs::write(&file, "mine").unwrap();
    let ran = kept.relay(&["export", "1"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("--force"), "{}", ran.err);
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    kept.done(&["export", "1", "--force"]);
    assert_ne!(fs::read_to_string(&file).unwrap(), "mine");
    let value = kept.relay(&["export", "-o", "talk.md", "--json"]).json();
    assert_eq!((&value["format"], &value["entries"]), (&"markdown".into(), &2.into()));
    assert!(kept.project.text("talk.md").contains("Done."));
    assert!(kept.done(&["export", "--markdown", "-o", "-"]).contains("Done."));
    assert_eq!(kept.relay(&["export", "-o", "-", "--json"]).code, 2);
    assert_eq!(kept.relay(&["export", "-o", "no/such/place.html"]).code, 1);
    let left: Vec<String> = kept.project.listing().into_iter().filter(|name| name.contains(".tmp")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_repair_says_what_it_found_and_keeps_the_original() {
    let kept = Kept::new();
    let body = message("a1", None, "user", "x") + "garbage\n" + &message("a2", Some("a1"), "assistant", "y");
    let path = kept.put("aaaa1111bbbb", 60, &body);
    let before = fs::read(&path).unwrap();
    let shown = kept.done(&["show"]);
    assert!(
        shown.contains("bytes were skipped") && shown.contains("`relay sessions repair aaaa1111bbbb`"),
        "{shown}"
    );
    assert!(shown.lines().all(|line| line == line.trim_end()), "no blanks at the ends of lines: {shown:?}");
    let out = kept.done(&["repair", "1"]);
    assert!(out.contains("8 bytes") || out.contains("7 bytes"), "{out}");
    assert!(out.contains("repaired; entries now: 2") && out.contains(".before-repair-1"), "{out}");
    let original =
        path.with_file_name(path.file_name().unwrap().to_str().unwrap().to_string() + ".before-repair-1");
    assert_eq!(fs::read(original).unwrap(), before);
    assert!(kept.done(&["repair", "1"]).contains("nothing to repair"));
    let value = kept.relay(&["repair", "1", "--json"]).json();
    assert_eq!((&value["repaired"], &value["entries"]), (&false.into(), &2.into()));
}

#[test]
fn deleting_asks_takes_what_belongs_to_it_and_refuses_one_in_use() {
    let kept = Kept::new();
    let one = kept.answered("aaaa1111bbbb", 60, "one");
    let two = kept.answered("cccc1111bbbb", 30, "two");
    fs::write(one.with_extension("index"), "x").unwrap();
    let ran = kept.relay(&["delete", "1"]);
    assert_eq!(ran.code, 13, "{ran:?}");
    assert_eq!(kept.relay(&["delete", "1", "zzzz", "-y"]).code, 2);
    assert!(one.exists() && two.exists());
    let real: Arc<dyn Fs> = Arc::new(RealFs::default());
    let dir = real.open_root(one.parent().unwrap()).unwrap();
    let held = Session::open(real, dir, one.file_name().unwrap().to_str().unwrap(), OpenMode::Write).unwrap();
    let ran = kept.relay(&["delete", "aaaa", "-y"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.err.contains("nothing was changed") && one.exists(), "{}", ran.err);
    drop(held);
    assert_eq!(
        kept.relay(&["delete", "1", "2", "aaaa", "-y", "--json"]).json()["deleted"].as_array().unwrap().len(),
        2
    );
    assert_eq!(fs::read_dir(one.parent().unwrap()).unwrap().count(), 0);
    assert_eq!(kept.relay(&["delete", "-y"]).code, 2);
}

#[test]
fn the_terminal_decides_what_the_latest_is() {
    let kept = Kept::new();
    let old = kept.answered("aaaa1111bbbb", 60, "older");
    kept.answered("cccc1111bbbb", 30, "newer");
    assert!(kept.done(&["show"]).contains("newer"));
    let crumbs = HomeLayout::new(kept.project.home()).terminals_dir();
    fs::create_dir_all(&crumbs).unwrap();
    fs::write(crumbs.join("tmux-%7"), format!("{}\n{}\n", kept.cwd().display(), old.display())).unwrap();
    let ran = crate::fixture::scratch_project::run(
        kept.project.command(&["sessions", "show"]).env("TMUX_PANE", "%7"),
    );
    assert!(ran.out.contains("older"), "{ran:?}");
}

#[test]
fn old_sessions_without_an_answer_go_when_sessions_are_listed() {
    let kept = Kept::new();
    let asked = message("a1", None, "user", "hello?");
    let old = kept.put("aaaa1111bbbb", 3 * 24 * 3600, &asked);
    let young = kept.put("cccc1111bbbb", 3600, &asked);
    let damaged = kept.put("eeee1111bbbb", 3 * 24 * 3600, &(asked + "{\"ty"));
    assert!(kept.done(&["--unanswered"]).contains("aaaa1111") && old.exists());
    let out = kept.done(&[]);
    assert!(out.contains("1 session has no answer") && out.contains("! eeee1111"), "{out}");
    assert!(!old.exists() && young.exists() && damaged.exists());
    assert!(kept.done(&["show", "cccc"]).contains("hello?"));
}

#[test]
fn copies_of_one_session_are_told_apart_by_their_paths() {
    let kept = Kept::new();
    let one = kept.answered("aaaa1111bbbb", 60, "x");
    let copy = one.with_file_name("copy.jsonl");
    fs::copy(&one, &copy).unwrap();
    let ran = kept.relay(&["show", "aaaa1111"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("give the path") && ran.err.contains("copy.jsonl"), "{}", ran.err);
}

#[test]
fn a_link_in_place_of_the_sessions_is_followed_by_nobody_and_said() {
    let kept = Kept::new();
    let path = kept.answered("aaaa1111bbbb", 60, "x");
    let sessions = HomeLayout::new(kept.project.home()).sessions_dir();
    let moved = kept.project.path("moved");
    fs::rename(&sessions, &moved).unwrap();
    std::os::unix::fs::symlink(&moved, &sessions).unwrap();
    for args in [&[][..], &["fork", path.to_str().unwrap()]] {
        let ran = kept.relay(args);
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        assert!(ran.err.contains("a link stands") && ran.err.contains("RELAY_HOME"), "{}", ran.err);
    }
}

#[test]
fn a_list_of_no_sessions_is_wrong_usage() {
    let kept = Kept::new();
    for args in [&["-n", "0"][..], &["search", "-n", "0", "x"], &["list", "-n", "many"]] {
        let ran = kept.relay(args);
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.err.contains("from 1 on"), "{}", ran.err);
    }
}

#[test]
fn a_hostile_session_is_shown_without_what_a_terminal_obeys() {
    let kept = Kept::new();
    let evil = format!("\x1b]0;owned\x07\u{202e}{}", "A".repeat(1_000_000));
    kept.put("aaaa1111bbbb", 10, &talk(&evil, &evil));
    for args in [&["show"][..], &["tree"], &["show", "--full"], &["export", "--markdown", "-o", "x.md"]] {
        let out = kept.done(args);
        assert!(!out.contains(['\x1b', '\u{7}', '\u{202e}']), "{args:?}: {out:.300}");
        assert!(out.len() < 10_000 || args.contains(&"--full"), "{args:?}: {}", out.len());
    }
}

#[test]
fn what_would_be_deleted_stands_above_the_question() {
    for (typed, code) in [("n\n", 4), ("y\n", 0)] {
        let kept = Kept::new();
        let path = kept.answered("aaaa1111bbbb", 60, "round totals");
        let mut at =
            crate::terminal_questions::Session::start(&kept.project, &["sessions", "delete", "1"], "");
        at.wait_for("round totals");
        at.wait_for("delete it for good? [y/N]");
        at.type_in(typed);
        let (ended, seen) = at.end();
        assert_eq!((ended, path.exists()), (Some(code), code != 0), "{seen}");
    }
}
