//! Prompts are found again, by words and by directory, whatever was typed and whatever happened to the
//! file.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Instant;

use super::*;

fn texts(prompts: &[HistoryPrompt]) -> Vec<&str> {
    prompts.iter().map(|prompt| prompt.prompt.as_str()).collect()
}

fn opened() -> (tempfile::TempDir, PromptHistory) {
    let dir = tempfile::tempdir().unwrap();
    let history = PromptHistory::open(&dir.path().join("history.db")).unwrap();
    (dir, history)
}

#[test]
fn prompts_come_back_newest_first_and_by_directory() {
    let (dir, mut history) = opened();
    for (at, (text, cwd)) in [("one", "/a"), ("two", "/b"), ("three", "/a")].into_iter().enumerate() {
        assert!(history.add(text, Path::new(cwd), at as i64).unwrap());
    }
    assert_eq!(texts(&history.recent(2, None).unwrap()), ["three", "two"]);
    assert_eq!(texts(&history.recent(9, Some(Path::new("/a"))).unwrap()), ["three", "one"]);
    assert!(!history.add(" \n", Path::new("/a"), 9).unwrap());
    for name in ["history.db", "history.db-wal", "history.db-shm"] {
        let mode = fs::metadata(dir.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn the_same_prompt_twice_in_a_row_is_kept_once_across_processes_too() {
    let (dir, mut one) = opened();
    let mut other = PromptHistory::open(&dir.path().join("history.db")).unwrap();
    assert!(one.add("fix it", Path::new("/a"), 1).unwrap());
    assert!(!other.add("fix it", Path::new("/b"), 2).unwrap());
    assert!(other.add("again", Path::new("/b"), 3).unwrap());
    assert!(one.add("fix it", Path::new("/a"), 4).unwrap());
    assert_eq!(texts(&one.recent(9, None).unwrap()), ["fix it", "again", "fix it"]);
    assert_eq!(texts(&one.search("fix", 9).unwrap()), ["fix it"]);
}

#[test]
fn words_find_prompts_whatever_is_typed_between_them() {
    let (_dir, mut history) = opened();
    for text in ["Fix the lint in cart.ts", "why -> does \"it\" fail", "größe ändern", "a\0b c"] {
        history.add(text, Path::new("/a"), 1).unwrap();
    }
    let mut found = |query: &str| history.search(query, 9).unwrap().len();
    for (query, count) in [
        ("lint FIX", 1),
        ("fix li", 1),
        ("li fix", 0),
        ("cart.ts", 1),
        ("GROSSE", 0),
        ("grosse", 0),
        ("größe", 1),
        ("grö", 1),
        ("->", 1),
        ("\"it\"", 1),
        ("%", 0),
        ("", 0),
        ("*", 0),
        ("NEAR(", 0),
        ("a AND", 0),
        ("prompt:fix", 0),
        ("^fix", 1),
        ("'); DROP TABLE history; --", 0),
        ("\0", 0),
    ] {
        assert_eq!(found(query), count, "{query:?}");
    }
}

#[test]
fn prompts_and_their_number_are_bounded() {
    let (_dir, mut history) = opened();
    let long = "é".repeat(MAX_PROMPT);
    history.add(&long, Path::new("/a"), 1).unwrap();
    assert_eq!(history.recent(1, None).unwrap()[0].prompt.len(), MAX_PROMPT);
    let next = (MAX_ROWS / TIDY_EVERY + 2) * TIDY_EVERY;
    let row = "INSERT INTO history (id, prompt, created_at, cwd) VALUES (?1, 'x', 1, '/')";
    history.connection.execute(row, [next - 1]).unwrap();
    history.add("newest", Path::new("/a"), 2).unwrap();
    assert_eq!(texts(&history.recent(9, None).unwrap()), ["newest", "x"]);
    assert!(history.search("é", 9).unwrap().is_empty());
}

#[test]
fn a_damaged_file_is_moved_aside_and_said() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history.db");
    for n in 1..=2 {
        fs::write(&path, b"this is no database, it only stands where one should be").unwrap();
        let mut history = PromptHistory::open(&path).unwrap();
        let aside = dir.path().join(format!("history.db.damaged-{n}"));
        assert_eq!(history.damaged_file(), Some(aside.as_path()));
        assert!(fs::read(&aside).unwrap().starts_with(b"this is no database"));
        assert!(history.add("after", Path::new("/a"), 1).unwrap());
        assert_eq!(PromptHistory::open(&path).unwrap().damaged_file(), None);
        drop(history);
        let _ = (
            fs::remove_file(dir.path().join("history.db-wal")),
            fs::remove_file(dir.path().join("history.db-shm")),
        );
    }
}

#[test]
fn damage_in_the_middle_is_noticed_when_it_is_met() {
    let (dir, mut history) = opened();
    let path = dir.path().join("history.db");
    for n in 0..400 {
        history.add(&format!("prompt number {n} {}", "word ".repeat(40)), Path::new("/a"), n).unwrap();
    }
    drop(history);
    let mut bytes = fs::read(&path).unwrap();
    let len = bytes.len();
    bytes[4096..len - 4096].fill(0x5a);
    fs::write(&path, bytes).unwrap();
    let mut history = PromptHistory::open(&path).unwrap();
    history.search("number", 9).unwrap();
    history.recent(500, None).unwrap();
    history.add("goes on", Path::new("/a"), 1).unwrap();
    assert_eq!(texts(&history.recent(1, None).unwrap()), ["goes on"]);
    assert!(history.damaged_file().is_some());
}

#[test]
fn a_file_of_a_newer_relay_is_left_alone() {
    let (dir, history) = opened();
    history.connection.pragma_update(None, "user_version", 7).unwrap();
    drop(history);
    let path = dir.path().join("history.db");
    assert!(matches!(PromptHistory::open(&path), Err(HistoryError::Newer { version: 7, .. })));
    assert!(!dir.path().join("history.db.damaged-1").exists());
}

#[test]
fn a_writer_elsewhere_is_not_waited_for_long() {
    let (dir, mut history) = opened();
    let other = Connection::open(dir.path().join("history.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let began = Instant::now();
    assert!(matches!(history.add("x", Path::new("/a"), 1), Err(HistoryError::Busy { .. })));
    assert!(began.elapsed().as_secs() < 5);
    assert_eq!(history.recent(9, None).unwrap(), []);
    other.execute_batch("COMMIT").unwrap();
    assert!(history.add("x", Path::new("/a"), 1).unwrap());
}

#[test]
fn two_processes_lose_nothing_of_each_other() {
    let (dir, _history) = opened();
    let path = dir.path().join("history.db");
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let path = &path;
            scope.spawn(move || {
                let mut history = PromptHistory::open(path).unwrap();
                for n in 0..100 {
                    while history.add(&format!("{writer} {n}"), Path::new("/a"), n).is_err() {}
                }
            });
        }
    });
    assert_eq!(PromptHistory::open(&path).unwrap().recent(999, None).unwrap().len(), 200);
}
