//! One session through the binary: shown, as a tree, forked, exported, repaired, deleted; and how one is named.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use relaycode_durable::{Fs, RealFs};
use relaycode_session::{HomeLayout, OpenMode, Session};
use serde_json::json;

use crate::fixture::snapshot::Transcript;
use crate::relay_snapshot;
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
    relay_snapshot!(kept.relay(&["show"]), @r#"
    exit 0
    ----- stdout -----
    aaaa1111bbbb  round totals
      <project> · 5 messages · <time>

    you  <time>
      round totals

    assistant  anthropic/sonnet
      thought
        let me look
      I look.
      ▸ read {"path":"cart.ts"}
          1
          2
          3
          4
          … 3 lines more

    assistant  <time>
      Rounded in one place.
    "#);
    relay_snapshot!(kept.relay(&["show", "1", "--full"]), @r#"
    exit 0
    ----- stdout -----
    aaaa1111bbbb  round totals
      <project> · 5 messages · <time>

    you  <time>
      round totals

    assistant  anthropic/sonnet
      thought
        let me look
      I look.
      ▸ read {"path":"cart.ts"}
          1
          2
          3
          4
          5
          6
          7

    assistant  <time>
      Rounded in one place.
    "#);
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
    relay_snapshot!(out, @"
    • [start] user: round totals
    ├─ assistant: Another way.
    └─ • assistant: I look.
       • toolResult: 1 2 3 4 5 6 7
       • assistant: Rounded in one place.
    ");
    assert_eq!(kept.done(&["tree", "--filter", "labeled-only"]), "• [start] user: round totals\n");
    assert_eq!(kept.done(&["tree", "--search", "ANOTHER way"]), "assistant: Another way.\n");
    relay_snapshot!(kept.relay(&["tree", "--search", "nowhere"]), @"
    exit 0
    ----- stdout -----
    nothing fits; `--filter all` shows everything
    ");
    let value = kept.relay(&["tree", "--filter", "all", "--json"]).json();
    assert_eq!((&value["total"], &value["leaf"]), (&6.into(), &"z1".into()));
    assert_eq!(value["entries"].as_array().unwrap().len(), 6);
}

#[test]
fn words_that_name_no_session_or_several_are_wrong_usage() {
    let kept = Kept::new();
    kept.answered("aaaa1111bbbb", 60, "round totals");
    kept.answered("aaaa2222bbbb", 30, "fix the cart");
    relay_snapshot!(kept.relay(&["show", "aaaa"]), @"
    exit 2
    ----- stderr -----
    ✗ aaaa matches 2 sessions
      use more of the id: aaaa2222 fix the cart, aaaa1111 round totals
    ");
    let value = kept.relay(&["show", "aaaa", "--json"]).json();
    assert_eq!(value["error"]["kind"], "ambiguous");
    let mut transcript = Transcript::default();
    for (word, kind) in [
        ("zzzz", "unknown"),
        ("9", "unknown"),
        ("totals", "unknown"),
        ("./nothing.jsonl", "unknown"),
        ("/", "notASession"),
    ] {
        transcript.add(word, &kept.relay(&["tree", word]));
        assert_eq!(kept.relay(&["tree", word, "--json"]).json()["error"]["kind"], kind, "{word}");
    }
    relay_snapshot!(transcript, @"
    # zzzz
    exit 2
    ----- stderr -----
    ✗ there is no session zzzz
      `relay sessions` lists them, with `--all` of every directory

    # 9
    exit 2
    ----- stderr -----
    ✗ there is no session 9
      `relay sessions` lists them, with `--all` of every directory

    # totals
    exit 2
    ----- stderr -----
    ✗ there is no session totals
      did you mean aaaa1111 round totals

    # ./nothing.jsonl
    exit 2
    ----- stderr -----
    ✗ there is no session ./nothing.jsonl
      `relay sessions` lists them, with `--all` of every directory

    # /
    exit 2
    ----- stderr -----
    ✗ / is not a session
      a session is a file of lines of JSON that begins with a header; `relay sessions` lists them
    ");
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
    relay_snapshot!(kept.relay(&["show"]), @"
    exit 0
    ----- stdout -----
    <session>  far away
      <project> · 2 messages · <time>

    you  <time>
      far away

    assistant  <time>
      Done.
    ");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn an_export_is_private_and_overwrites_nothing() {
    let kept = Kept::new();
    kept.put("aaaa1111bbbb", 60, &talk("round <script>alert(1)</script>", "Done."));
    let out = kept.done(&["export", "1"]);
    let file = kept.project.path("session-aaaa1111bbbb.html");
    relay_snapshot!(out, @"✓ exported to <project>/session-aaaa1111bbbb.html");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let page = fs::read_to_string(&file).unwrap();
    assert!(page.contains("round &lt;script&gt;") && !page.contains("<script>alert"), "{page:.400}");
    fs::write(&file, "mine").unwrap();
    relay_snapshot!(kept.relay(&["export", "1"]), @"
    exit 2
    ----- stderr -----
    ✗ <project>/session-aaaa1111bbbb.html already exists; nothing was changed
      --force overwrites it
    ");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    kept.done(&["export", "1", "--force"]);
    assert_ne!(fs::read_to_string(&file).unwrap(), "mine");
    let value = kept.relay(&["export", "-o", "talk.md", "--json"]).json();
    assert_eq!((&value["format"], &value["entries"]), (&"markdown".into(), &2.into()));
    assert!(kept.project.text("talk.md").contains("Done."));
    relay_snapshot!(kept.relay(&["export", "--markdown", "-o", "-"]), @r#"
    exit 0
    ----- stdout -----
    ---
    id: "aaaa1111bbbb"
    title: "round <script>alert(1)</script>"
    cwd: "<project>"
    began: "<time>"
    last: "<time>"
    models: ["assistant"]
    tokensIn: 0
    tokensOut: 0
    tokensCached: 0
    cost: 0.0
    entries: 2
    parentSession: null
    ---

    # round \<script\>alert(1)\</script\>


    ## 1 · you · <time>

    > round <script>alert(1)</script>

    ## 2 · assistant · <time>

    > Done.
    "#);
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
    relay_snapshot!(shown, @"
    aaaa1111bbbb  x
      <project> · 2 messages · <time>
    ! byte 293: 7 bytes were skipped: it is not a JSON object
      `relay sessions repair aaaa1111bbbb` writes what can be read in its place

    you  <time>
      x

    assistant  <time>
      y
    ");
    assert!(shown.lines().all(|line| line == line.trim_end()), "no blanks at the ends of lines: {shown:?}");
    relay_snapshot!(kept.relay(&["repair", "1"]), @"
    exit 0
    ----- stdout -----
    ! byte 293: 7 bytes were skipped: it is not a JSON object
    ✓ repaired; entries now: 2
      the file as it was: <home>/sessions/<sessions>/2026-02-16T10-20-30-000Z_aaaa1111bbbb.jsonl.before-repair-1
    ");
    let original =
        path.with_file_name(path.file_name().unwrap().to_str().unwrap().to_string() + ".before-repair-1");
    assert_eq!(fs::read(original).unwrap(), before);
    relay_snapshot!(kept.relay(&["repair", "1"]), @"
    exit 0
    ----- stdout -----
    ✓ nothing to repair
    ");
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
    relay_snapshot!(ran, @"
    exit 3
    ----- stderr -----
    ✗ 2026-02-16T10-20-30-000Z_aaaa1111bbbb.jsonl is open in another relay; it can be read, forked, or continued when that one ends; nothing was changed
    ");
    assert!(one.exists());
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
    relay_snapshot!(kept.relay(&["show"]), @"
    exit 0
    ----- stdout -----
    cccc1111bbbb  newer
      <project> · 2 messages · <time>

    you  <time>
      newer

    assistant  <time>
      Done.
    ");
    let crumbs = HomeLayout::new(kept.project.home()).terminals_dir();
    fs::create_dir_all(&crumbs).unwrap();
    fs::write(crumbs.join("tmux-%7"), format!("{}\n{}\n", kept.cwd().display(), old.display())).unwrap();
    relay_snapshot!(crate::fixture::scratch_project::run(
        kept.project.command(&["sessions", "show"]).env("TMUX_PANE", "%7"),
    ), @"
    exit 0
    ----- stdout -----
    aaaa1111bbbb  older
      <project> · 2 messages · <time>

    you  <time>
      older

    assistant  <time>
      Done.
    ");
}

#[test]
fn old_sessions_without_an_answer_go_when_sessions_are_listed() {
    let kept = Kept::new();
    let asked = message("a1", None, "user", "hello?");
    let old = kept.put("aaaa1111bbbb", 3 * 24 * 3600, &asked);
    let young = kept.put("cccc1111bbbb", 3600, &asked);
    let damaged = kept.put("eeee1111bbbb", 3 * 24 * 3600, &(asked + "{\"ty"));
    relay_snapshot!(kept.relay(&["--unanswered"]), @"
    exit 0
    ----- stdout -----
          cccc1111  1 h ago     1 message  hello?   no answer
      1 ! eeee1111  3 days ago  1 message  its last line is cut off: hello?
          aaaa1111  3 days ago  1 message  hello?   no answer
    ");
    assert!(old.exists());
    relay_snapshot!(kept.relay(&[]), @"
    exit 0
    ----- stdout -----
      1 ! eeee1111  3 days ago  1 message  its last line is cut off: hello?
    1 session has no answer; `relay sessions --unanswered` lists it, too
    ");
    assert!(!old.exists() && young.exists() && damaged.exists());
    relay_snapshot!(kept.relay(&["show", "cccc"]), @"
    exit 0
    ----- stdout -----
    cccc1111bbbb  hello?
      <project> · 1 message · <time>

    you  <time>
      hello?
    ");
}

#[test]
fn copies_of_one_session_are_told_apart_by_their_paths() {
    let kept = Kept::new();
    let one = kept.answered("aaaa1111bbbb", 60, "x");
    let copy = one.with_file_name("copy.jsonl");
    fs::copy(&one, &copy).unwrap();
    relay_snapshot!(kept.relay(&["show", "aaaa1111"]), @"
    exit 2
    ----- stderr -----
    ✗ aaaa1111 matches 2 sessions
      they have the same id; give the path: <home>/sessions/<sessions>/copy.jsonl, <home>/sessions/<sessions>/2026-02-16T10-20-30-000Z_aaaa1111bbbb.jsonl
    ");
}

#[test]
fn a_link_in_place_of_the_sessions_is_followed_by_nobody_and_said() {
    let kept = Kept::new();
    let path = kept.answered("aaaa1111bbbb", 60, "x");
    let sessions = HomeLayout::new(kept.project.home()).sessions_dir();
    let moved = kept.project.path("moved");
    fs::rename(&sessions, &moved).unwrap();
    std::os::unix::fs::symlink(&moved, &sessions).unwrap();
    relay_snapshot!(kept.relay(&[]), @"
    exit 2
    ----- stderr -----
    ✗ the sessions cannot be read: a link stands where a directory has to be
      in <home>/sessions
      put the directory itself there, or set RELAY_HOME to where it is
    ");
    relay_snapshot!(kept.relay(&["fork", path.to_str().unwrap()]), @"
    exit 2
    ----- stderr -----
    ✗ the session cannot be written: a link stands where a directory has to be; nothing was changed
      in <home>/sessions/<sessions>
      put the directory itself there, or set RELAY_HOME to where it is
    ");
}

#[test]
fn a_list_of_no_sessions_is_wrong_usage() {
    let kept = Kept::new();
    let mut transcript = Transcript::default();
    for args in [&["-n", "0"][..], &["search", "-n", "0", "x"], &["list", "-n", "many"]] {
        transcript.add(&args.join(" "), &kept.relay(args));
    }
    relay_snapshot!(transcript, @"
    # -n 0
    exit 2
    ----- stderr -----
    error: invalid value '0' for '--count <N>': give a number, 1 or more

    For more information, try '--help'.

    # search -n 0 x
    exit 2
    ----- stderr -----
    error: invalid value '0' for '--count <N>': give a number, 1 or more

    For more information, try '--help'.

    # list -n many
    exit 2
    ----- stderr -----
    error: invalid value 'many' for '--count <N>': give a number, 1 or more

    For more information, try '--help'.
    ");
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
