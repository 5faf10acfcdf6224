//! Words are found in every role, across chunks, and memory does not grow with the file.

use std::cell::Cell;
use std::fs;

use relaycode_durable::RealFs;

use super::*;
use crate::HomeLayout;
use crate::file::lines::PIECE;
use crate::find::list::SessionLister;

fn message(id: &str, role: &str, text: &str) -> String {
    serde_json::json!({"type": "message", "id": id, "parentId": null, "timestamp": "t",
        "message": {"role": role, "content": [{"type": "text", "text": text}]}})
    .to_string()
        + "\n"
}

fn session(body: &str) -> (tempfile::TempDir, SessionSummary) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("2026-02-16T10-20-30-000Z_aa.jsonl");
    let header = "{\"type\":\"session\",\"version\":3,\"id\":\"aa\",\"cwd\":\"/shop\"}\n";
    fs::write(&path, header.to_string() + body).unwrap();
    let info =
        SessionLister::new(&RealFs::default(), &HomeLayout::new(dir.path())).summarize_file(&path).unwrap();
    (dir, info)
}

fn found(body: &str, words: &str) -> Vec<String> {
    let (_dir, info) = session(body);
    let hits = search_session(&RealFs::default(), &info, &SearchWords::parse(words).unwrap(), 100, &|| false)
        .unwrap();
    hits.hits.into_iter().map(|hit| hit.entry).collect()
}

#[test]
fn all_words_must_be_in_one_message_whatever_their_case() {
    let body = message("a", "user", "Fix the CART, please")
        + &message("b", "assistant", "The cart is \"fixed\"\nnow: größer 42%")
        + "garbage\n"
        + r#"{"type":"compaction","id":"c","summary":"a cart"}"#;
    assert_eq!(found(&body, "cart"), ["a", "b", "c"]);
    assert_eq!(found(&body, "fix PLEASE"), ["a"]);
    assert_eq!(found(&body, "\"fixed\" GRÖSSER"), Vec::<String>::new());
    assert_eq!(found(&body, "\"fixed\" GRÖßER 42%"), ["b"]);
    assert_eq!(found(&body, "43%"), Vec::<String>::new());
    // Field names are not part of the text.
    assert_eq!(found(&body, "parentId"), Vec::<String>::new());
}

#[test]
fn a_clip_shows_what_stands_around() {
    let text = format!("{} needle\n\n and {}", "before ".repeat(50), "after ".repeat(100));
    let (_dir, info) = session(&message("a", "user", &text));
    let hits =
        search_session(&RealFs::default(), &info, &SearchWords::parse("needle").unwrap(), 1, &|| false)
            .unwrap();
    let clip = &hits.hits[0].clip;
    assert!(
        clip.starts_with('…') && clip.ends_with('…') && clip.contains("before needle and after"),
        "{clip}"
    );
    assert!(clip.chars().count() <= CLIP_CHARS + 2);
}

#[test]
fn long_lines_are_found_across_chunks_and_beyond_the_bound_skipped() {
    let long = message("a", "user", &("x".repeat(PIECE * 3) + " needle"));
    let huge = message("b", "user", &("y".repeat(MAX_LINE) + " needle"));
    let body = long + &huge + &message("c", "user", "needle");
    let (_dir, info) = session(&body);
    let hits =
        search_session(&RealFs::default(), &info, &SearchWords::parse("needle").unwrap(), 9, &|| false)
            .unwrap();
    let ids: Vec<&str> = hits.hits.iter().map(|hit| hit.entry.as_str()).collect();
    assert_eq!((ids, hits.skipped), (vec!["a", "c"], 1));
}

#[test]
fn it_stops_when_it_has_enough_or_is_asked_to() {
    let body: String = (0..20_000).map(|n| message(&n.to_string(), "user", "needle")).collect();
    let (_dir, info) = session(&body);
    let words = SearchWords::parse("needle").unwrap();
    let asked = Cell::new(0);
    let hits = search_session(&RealFs::default(), &info, &words, 3, &|| false).unwrap();
    assert_eq!((hits.hits.len(), hits.stopped), (3, false));
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() > 2
    };
    let hits = search_session(&RealFs::default(), &info, &words, usize::MAX, &stop).unwrap();
    assert!(hits.stopped && hits.hits.len() < 20_000);
    assert_eq!(SearchWords::parse("  "), None);
}
