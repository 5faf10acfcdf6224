//! What is listed, in which order, and what is not; from real files.

use std::fs;
use std::time::{Duration, Instant, SystemTime};

use relaycode_durable::RealFs;
use serde_json::json;

use super::*;

struct Home {
    dir: tempfile::TempDir,
    layout: HomeLayout,
}

impl Home {
    fn new() -> Home {
        let dir = tempfile::tempdir().unwrap();
        let layout = HomeLayout::new(dir.path());
        Home { dir, layout }
    }

    /// A file about `cwd`, `age` seconds old.
    fn put(&self, cwd: &str, id: &str, age: u64, text: &str) -> PathBuf {
        let path = self.layout.session_path(Path::new(cwd), "2026-02-16T10:20:30Z".parse().unwrap(), id);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        path
    }

    fn list(&self, scope: ListScope<'_>, unanswered: bool) -> SessionList {
        SessionLister::new(&RealFs::default(), &self.layout).list(scope, unanswered).unwrap()
    }

    fn all(&self) -> Vec<SessionSummary> {
        self.list(ListScope::All, true).sessions
    }
}

fn header(id: &str, cwd: &str) -> String {
    json!({"type": "session", "version": 3, "id": id, "timestamp": "2026-02-16T10:20:30.000Z", "cwd": cwd})
        .to_string()
        + "\n"
}

fn message(id: &str, role: &str, text: &str) -> String {
    json!({"type": "message", "id": id, "parentId": null, "timestamp": "t",
        "message": {"role": role, "content": [{"type": "text", "text": text}]}})
    .to_string()
        + "\n"
}

fn answered(id: &str, cwd: &str, text: &str) -> String {
    header(id, cwd) + &message("a", "user", text) + &message("b", "assistant", "Done.")
}

#[test]
fn sessions_come_newest_first_with_what_they_are_about() {
    let home = Home::new();
    home.put("/shop", "old", 100, &answered("old", "/shop", "first words"));
    home.put("/shop", "new", 10, &answered("new", "/shop", "other words"));
    home.put("/else", "far", 1, &answered("far", "/else", "x"));
    let listed = home.list(ListScope::Project(Path::new("/shop")), false);
    let ids: Vec<&str> = listed.sessions.iter().map(|info| info.id.as_str()).collect();
    assert_eq!(ids, ["new", "old"]);
    let info = &listed.sessions[1];
    assert_eq!(info.first_message.as_deref(), Some("first words"));
    assert_eq!((info.messages, info.answered, &info.damage), (Some(2), Some(true), &None));
    assert_eq!((info.created.as_str(), info.cwd.as_str()), ("2026-02-16T10:20:30.000Z", "/shop"));
    assert_eq!(home.all()[0].id, "far");
}

#[test]
fn two_directories_that_share_a_name_do_not_share_their_sessions() {
    let home = Home::new();
    home.put("/a-b", "one", 1, &answered("one", "/a-b", "x"));
    home.put("/a/b", "two", 1, &answered("two", "/a/b", "x"));
    for (cwd, id) in [("/a-b", "one"), ("/a/b", "two")] {
        let listed = home.list(ListScope::Project(Path::new(cwd)), true).sessions;
        assert_eq!(listed.iter().map(|info| info.id.as_str()).collect::<Vec<_>>(), [id]);
    }
}

#[test]
fn one_without_an_answer_is_hidden_and_counted() {
    let home = Home::new();
    home.put("/shop", "none", 1, &(header("none", "/shop") + &message("a", "user", "hello?")));
    home.put("/shop", "bare", 1, &header("bare", "/shop"));
    let long = "x".repeat(300_000);
    home.put("/shop", "long", 1, &(header("long", "/shop") + &message("a", "user", &long)));
    let listed = home.list(ListScope::Project(Path::new("/shop")), false);
    // The ends of the long one do not tell; it is shown rather than hidden.
    assert_eq!((listed.sessions.len(), listed.unanswered.len()), (1, 2));
    assert_eq!(listed.sessions[0].answered, None);
    assert!(listed.sessions[0].first_message.as_ref().unwrap().starts_with("xxx"));
    assert_eq!(home.list(ListScope::Project(Path::new("/shop")), true).sessions.len(), 3);
}

#[test]
fn what_a_repair_or_a_torn_end_left_without_an_answer_is_not_hidden() {
    let home = Home::new();
    for (id, beside) in [("a", ".jsonl.before-repair-1"), ("b", ".damaged")] {
        let path = home.put("/shop", id, 1, &(header(id, "/shop") + &message("m", "user", "x")));
        fs::write(path.with_extension("").display().to_string() + beside, "half an answer").unwrap();
    }
    let listed = home.list(ListScope::All, false);
    assert_eq!(listed.sessions.iter().map(|info| info.answered).collect::<Vec<_>>(), [None, None]);
}

#[test]
fn damaged_files_are_listed_with_what_is_wrong_and_others_are_not_sessions() {
    let home = Home::new();
    let whole = answered("a", "/shop", "x");
    let cases = [
        ("e1", String::new(), "empty"),
        ("e2", "garbage\n".to_string() + &message("a", "user", "x"), "header cannot be read"),
        ("e3", whole[..whole.len() - 9].to_string(), "last line is cut off"),
        ("e4", header("e4", "/shop") + "garbage\n" + &message("a", "assistant", "x"), "line 2"),
        (
            "e5",
            answered("e5", "/shop", "x") + &message("c", "user", &"y".repeat(9000)) + "{\"ty",
            "last line",
        ),
        ("e6", "x".repeat(70_000), "header is too long"),
    ];
    for (id, text, _) in &cases {
        home.put("/shop", id, 1, text);
    }
    let dir = home.layout.project_dir(Path::new("/shop"));
    fs::write(dir.join("notes.jsonl"), "{\"type\":\"note\"}\n").unwrap();
    fs::write(dir.join("notes.txt"), "x").unwrap();
    fs::write(dir.join("copy of one.jsonl"), answered("copied", "/shop", "x")).unwrap();
    fs::create_dir(dir.join("2026-02-16T10-20-30-000Z_dir.jsonl")).unwrap();
    let listed = home.list(ListScope::Project(Path::new("/shop")), false).sessions;
    assert_eq!(listed.len(), cases.len() + 1);
    for (id, _, said) in cases {
        let info =
            listed.iter().find(|info| info.path.to_string_lossy().contains(&format!("_{id}."))).unwrap();
        assert!(info.damage.as_ref().is_some_and(|damage| damage.contains(said)), "{id}: {info:?}");
    }
    assert!(listed.iter().any(|info| info.id == "copied" && info.damage.is_none()));
}

#[test]
fn what_opens_without_a_word_is_listed_without_one() {
    let home = Home::new();
    let whole = answered("a", "/shop", "x");
    let cases = [
        format!("\u{feff}{whole}"),
        format!("\n\r\n{whole}"),
        whole.replace('\n', "\r\n"),
        format!("{whole}\n\n"),
    ];
    for (number, text) in cases.iter().enumerate() {
        home.put("/shop", &format!("{number}"), 1, text);
    }
    let listed = home.list(ListScope::All, false).sessions;
    assert_eq!(listed.len(), cases.len());
    for info in listed {
        assert_eq!(
            (info.damage, info.messages, info.id.as_str()),
            (None, Some(2), "a"),
            "{}",
            info.path.display()
        );
    }
}

#[test]
fn titles_come_from_the_header_or_the_last_summary() {
    let home = Home::new();
    let compaction = |text: &str| {
        json!({"type": "compaction", "id": "c", "parentId": "b", "timestamp": "t", "summary": "s",
            "shortSummary": text, "firstKeptEntryId": "a", "tokensBefore": 1})
        .to_string()
            + "\n"
    };
    let titled = json!({"type": "session", "version": 3, "id": "t", "timestamp": "", "cwd": "/shop", "title": "Carts"});
    home.put(
        "/shop",
        "t",
        2,
        &(titled.to_string() + "\n" + &compaction("later") + &message("a", "assistant", "x")),
    );
    let long =
        answered("s", "/shop", "x") + &compaction("first") + &message("d", "user", &"y".repeat(20_000));
    home.put("/shop", "s", 1, &(long + &compaction("second")));
    let titles: Vec<_> = home.all().into_iter().map(|info| info.title.unwrap()).collect();
    assert_eq!(titles, ["second", "Carts"]);
    // A welcome screen shows the name or how it began.
    let recent = SessionLister::new(&RealFs::default(), &home.layout).recent(ListScope::All, 5).unwrap();
    assert_eq!(recent.iter().map(|session| session.name.as_str()).collect::<Vec<_>>(), ["x", "Carts"]);
}

#[test]
fn messages_of_a_long_file_are_counted_on_demand() {
    let home = Home::new();
    let body: String = (0..3000).map(|n| message(&n.to_string(), "user", &"z".repeat(n))).collect();
    home.put("/shop", "n", 1, &(answered("n", "/shop", "x") + &body));
    let mut infos = home.all();
    assert_eq!(infos[0].messages, None);
    SessionLister::new(&RealFs::default(), &home.layout).count_messages(&mut infos);
    assert_eq!(infos[0].messages, Some(3002));
}

#[test]
fn recent_names_are_short_and_plain() {
    let home = Home::new();
    home.put(
        "/shop",
        "a",
        1,
        &answered("a", "/shop", "say \x1b[31m\u{202e}this\n\n and 日本日本日本日本日本日本日本日本日本日本"),
    );
    home.put("/shop", "b", 2, &(header("b", "/shop") + &message("x", "assistant", "hm")));
    home.put("/shop", "c", 0, &(header("c", "/shop") + &message("x", "user", "hm")));
    let recent = SessionLister::new(&RealFs::default(), &home.layout).recent(ListScope::All, 5).unwrap();
    assert_eq!(recent.len(), 2);
    assert!(recent[0].name.starts_with("say [31mthis and 日本"), "{}", recent[0].name);
    assert!(relaycode_text::width::cells(&recent[0].name) <= 40);
    assert_eq!(recent[1].name, "b");
}

#[test]
fn five_thousand_sessions_are_listed_quickly() {
    let home = Home::new();
    let filler = message("f", "toolResult", &"w".repeat(20_000));
    for n in 0..5000 {
        let id = format!("{n:08x}");
        let cwd = format!("/p{}", n % 50);
        let path = home.layout.session_path(
            Path::new(&cwd),
            Timestamp::from_second(1_770_000_000 + n).unwrap(),
            &id,
        );
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, answered(&id, &cwd, "what is this") + &filler + &message("z", "assistant", "ok"))
            .unwrap();
    }
    let began = Instant::now();
    assert_eq!(home.all().len(), 5000);
    let took = began.elapsed();
    println!("5000 sessions in {took:?}");
    assert!(took < Duration::from_secs(5), "{took:?}");
    drop(home.dir);
}
