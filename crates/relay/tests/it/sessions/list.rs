//! What `relay sessions` says: lists, searches, and what becomes of words that name no session.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use relaycode_session::HomeLayout;
use serde_json::{Value, json};

use crate::fixture::scratch_project::{Project, Ran};
use crate::relay_snapshot;

/// A project, and sessions in the user's own directory.
pub(crate) struct Kept {
    pub(crate) project: Project,
}

/// A line of a session file.
pub(crate) fn line(value: &Value) -> String {
    value.to_string() + "\n"
}

/// A message that follows `parent`.
pub(crate) fn message(id: &str, parent: Option<&str>, role: &str, text: &str) -> String {
    line(&json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-02-16T10:21:00.000Z",
        "message": {"role": role, "content": [{"type": "text", "text": text}], "timestamp": 1_771_237_260_000_i64}}))
}

impl Kept {
    pub(crate) fn new() -> Kept {
        Kept { project: Project::new(&[]) }
    }

    /// The directory as relay names it.
    pub(crate) fn cwd(&self) -> PathBuf {
        self.project.path("").canonicalize().unwrap()
    }

    /// A session of this directory, written `age` seconds ago.
    pub(crate) fn put(&self, id: &str, age: u64, body: &str) -> PathBuf {
        self.put_about(&self.cwd(), id, age, body)
    }

    /// A session of any directory.
    pub(crate) fn put_about(&self, cwd: &Path, id: &str, age: u64, body: &str) -> PathBuf {
        let layout = HomeLayout::new(self.project.home());
        let path = layout.session_path(cwd, "2026-02-16T10:20:30Z".parse().unwrap(), id);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, header(id, cwd) + body).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        path
    }

    /// One in which a question was answered.
    pub(crate) fn answered(&self, id: &str, age: u64, question: &str) -> PathBuf {
        self.put(id, age, &talk(question, "Done."))
    }

    pub(crate) fn relay(&self, args: &[&str]) -> Ran {
        let mut all = vec!["sessions"];
        all.extend(args);
        self.project.relay(&all)
    }

    pub(crate) fn done(&self, args: &[&str]) -> String {
        let ran = self.relay(args);
        assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
        ran.out
    }
}

fn header(id: &str, cwd: &Path) -> String {
    line(
        &json!({"type": "session", "version": 3, "id": id, "timestamp": "2026-02-16T10:20:30.000Z", "cwd": cwd}),
    )
}

pub(crate) fn talk(question: &str, answer: &str) -> String {
    message("a1", None, "user", question) + &message("a2", Some("a1"), "assistant", answer)
}

#[test]
fn sessions_are_numbered_newest_first_and_damaged_ones_marked() {
    let kept = Kept::new();
    kept.answered("aaaa1111bbbb", 3600, "round totals");
    kept.answered("cccc2222dddd", 60, "fix the cart");
    kept.put("eeee3333ffff", 30, "garbage\n{\"ty");
    kept.put("99994444ffff", 10, &message("a1", None, "user", "anybody there?"));
    kept.put_about(Path::new("/elsewhere"), "77775555ffff", 1, &talk("other", "ok"));
    let out = kept.done(&[]);
    let expected = "  1 ! eeee3333  now        0 messages  line 2 cannot be read\n\
                    \u{20} 2   cccc2222  1 min ago  2 messages  fix the cart\n\
                    \u{20} 3   aaaa1111  1 h ago    2 messages  round totals\n\
                    1 session has no answer; `relay sessions --unanswered` lists it, too\n";
    assert_eq!(out, expected);
    assert_eq!(kept.done(&["list"]), out);
    let all = kept.done(&["--all", "--unanswered"]);
    relay_snapshot!(all, @"
      77775555  now        2 messages  other   /elsewhere
      99994444  now        1 message   anybody there?   <project>
    ! eeee3333  now        0 messages  line 2 cannot be read   <project>
      cccc2222  1 min ago  2 messages  fix the cart   <project>
      aaaa1111  1 h ago    2 messages  round totals   <project>
    ");
    assert!(all.lines().all(|line| line.starts_with("    ")), "numbers of one directory: {all}");
    relay_snapshot!(kept.relay(&["-n", "1"]), @"
    exit 0
    ----- stdout -----
      1 ! eeee3333  now  0 messages  line 2 cannot be read
    and 2 more; `relay sessions -n 3` lists them all
    1 session has no answer; `relay sessions --unanswered` lists it, too
    ");
}

#[test]
fn json_says_everything_of_each() {
    let kept = Kept::new();
    let path = kept.answered("aaaa1111bbbb", 60, "round totals");
    let value = kept.relay(&["--json"]).json();
    assert_eq!(
        (&value["command"], &value["total"], &value["hidden"]),
        (&"sessions".into(), &1.into(), &0.into())
    );
    let one = &value["sessions"][0];
    assert_eq!((&one["index"], &one["id"], &one["messages"]), (&1.into(), &"aaaa1111bbbb".into(), &2.into()));
    assert_eq!(one["path"], path.to_str().unwrap());
    assert_eq!(one["firstMessage"], "round totals");
    assert_eq!(one["created"], "2026-02-16T10:20:30.000Z");
    assert_eq!(kept.done(&["-q"]), "aaaa1111bbbb\n");
}

#[test]
fn without_any_session_it_says_so() {
    let kept = Kept::new();
    assert_eq!(kept.done(&[]), "no session here yet\n");
    assert_eq!(kept.done(&["search", "x"]), "nothing found in 0 sessions\n");
    assert_eq!(kept.relay(&["--json"]).json()["sessions"], json!([]));
}

#[test]
fn words_are_found_in_whatever_was_said() {
    let kept = Kept::new();
    kept.put("aaaa1111bbbb", 60, &talk("Round the totals", "I round them to CENTS now"));
    kept.answered("cccc2222dddd", 10, "something else");
    let out = kept.done(&["search", "cents", "round"]);
    assert_eq!(out, "aaaa1111  1 min ago  Round the totals\n  assistant: I round them to CENTS now\n");
    let value = kept.relay(&["search", "round", "--json"]).json();
    assert_eq!((&value["searched"], &value["more"]), (&2.into(), &false.into()));
    assert_eq!(
        value["sessions"][0]["hits"][0],
        json!({"entry": "a1", "role": "user", "clip": "Round the totals"})
    );
    assert_eq!(kept.done(&["search", "nowhere"]), "nothing found in 2 sessions\n");
    assert_eq!(kept.relay(&["search", " "]).code, 2);
}

#[test]
fn hostile_sessions_come_out_escaped_and_clipped() {
    let kept = Kept::new();
    let evil = format!("\x1b]0;owned\x07\u{202e}needle{}", "A".repeat(1_000_000));
    kept.put("aaaa1111bbbb", 10, &talk(&evil, &evil));
    kept.answered("\x1b[31mid\u{202e}", 20, "x");
    for args in [&[][..], &["search", "needle"], &["--all"], &["-q"]] {
        let out = kept.done(args);
        assert!(
            !out.contains(['\x1b', '\u{7}', '\u{202e}']) && out.len() < 5000,
            "{args:?}: {} {out:.300}",
            out.len()
        );
    }
    let ran = kept.relay(&["--json"]);
    assert!(!ran.out.contains(['\x1b', '\u{202e}']), "{:.300}", ran.out);
}

#[test]
fn thousands_of_sessions_are_listed_without_a_wait() {
    let kept = Kept::new();
    for n in 0..2000 {
        kept.answered(&format!("{n:012x}"), n, "what is this");
    }
    let began = Instant::now();
    let out = kept.done(&[]);
    assert!(began.elapsed() < Duration::from_secs(10));
    assert!(out.contains("and 1980 more"), "{out}");
}
